/* SPDX-License-Identifier: Apache-2.0 */
static void scaled(int n, float a, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] *= a;
}

void scale(int n, float a, float *y);
void scale(int n, float a, float *y)
{
#pragma kmm parallel(i = 0:n) chunk(n / 5) rebase(n: i) update(y[i])
    scaled(n, a, y);
}
