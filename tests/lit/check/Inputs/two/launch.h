// SPDX-License-Identifier: Apache-2.0
template <class T> void launch_two(T *x, int n)
{
    #pragma kmm parallel(i = 0:n) update(x[i])
    sums<<<(n + 255) / 256, 256>>>(x, n);
}
