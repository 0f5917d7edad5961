static inline void wrong(int n, const float *x, float *y)
{
#pragma kmm parallel(i = 0:n) read(x[i]) update(y[i + m]) rebase(n: i)
    saxpy(n, 1, x, y);
}
