static void saxpy(int n, float a, const float *x, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] += a * x[i];
}
static inline void run_saxpy(int n, float a, const float *x, float *y)
{
#pragma kmm parallel(i = 0:n) rebase(n: i) read(x[i]) update(y[i]) chunk(10)
    saxpy(n, a, x, y);
}
