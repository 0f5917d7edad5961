void f(int n, const float *x, float *y);
void g(int n, const float *x, float *y)
{
#pragma kmm parallel(i = 0:n) rebase(n: i) update(y[i])
    f(n, x, y);
}
