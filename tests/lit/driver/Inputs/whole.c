static void f(int begin, int end, const float *x, float *y) { for (int i = begin; i < end; i++) y[i] += x[0]; }
void g(int n, const float *x, float *y)
{
#pragma kmm parallel(i = 0:n) rebase(begin: begin(i), end: end(i)) update(y[i])
    f(0, n, x, y);
}
