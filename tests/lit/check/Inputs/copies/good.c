// SPDX-License-Identifier: Apache-2.0
// A comment may name __BASE_FILE__ and push_macro.
#pragma push_macro("BY")
#define BY(a, k) _Pragma("kmm parallel(i = 0:1000) chunk(100) rebase(n: i) update(x[i])") inc(1000, k, a)
static int x[1000];
static void inc(int n, int k, int *a) { for (int i = 0; i < n; i++) a[i] += k; }
int main(void)
{
    BY(x, 1);
    return 0;
}
