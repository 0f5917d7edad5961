// RUN: %kmmcc %san -O1 %s -o %t && env KMM_DEVICES=host %t
// A macro that writes a pragma ends at its #undef.
#define N 1000
static int z[N];
static void inc(int n, int *x, int by) { for (int i = 0; i < n; i++) x[i] += by; }
#define PRAGMA(x) _Pragma(#x)
#define inc_all(by) PRAGMA(kmm parallel(i = 0:N) rebase(n: i) update(z[i])) inc(N, z, by)
static void once(void) { inc_all(1); }
#undef inc_all
static void inc_all(int by) { z[1] += by; }
int main(void)
{
    once();
    inc_all(5);
    return z[0] != 1 || z[1] != 6;
}
