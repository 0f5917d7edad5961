/* The type of the sum depends on a condition. */
#if CONDITION
typedef double real;
#else
typedef float real;
#endif
static float x[1000];
static void f(int n, const float *x, real *s)
{
    for (int i = 0; i < n; i++)
        *s += x[i];
}
int main(void)
{
    real s[1] = {1};
#pragma kmm parallel(i = 0:1000) chunk(100) rebase(n: i) read(x[i]) reduce(+: s[0])
    f(1000, x, s);
    return 0;
}
