// RUN: %not %kmmcc --emit-source=%t.c %s 2>&1 | FileCheck %s
// A macro that writes a pragma has one definition, also where another macro uses it.
#define N 1000
static int z[N];
static void inc(int n, int *x, int by) { for (int i = 0; i < n; i++) x[i] += by; }
#define PRAGMA(x) _Pragma(#x)
#if 0
#define PAR PRAGMA(kmm parallel(i = 0:N) rebase(n: i) update(z[i])) inc(N, z, 100);
#else
#define PAR PRAGMA(kmm parallel(i = 0:N) rebase(n: i) update(z[i])) inc(N, z, 1);
#endif
#define RUN PAR
// CHECK: ambiguous_macros.c:[[#@LINE+1]]:{{.*}}error: macro 'PAR' writes a pragma and is defined several times
static void twice(void) { RUN }
int main(void)
{
    twice();
    return 0;
}
