// RUN: %not %kmmcc -c %s -o %t.o 2>&1 | FileCheck %s
// Indices that are not affine in the axes.
void f(int n, float *x);

void affine(int n, float *x, const int *index)
{
// CHECK: :[[#@LINE+1]]:53: error: 'i * i' is not affine in the axes: an index is a sum of axes, each times a value that is the same for the whole launch; name a section that contains it, as x[:] does
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i * i])
    f(n, x);
// CHECK: :[[#@LINE+1]]:53: error: 'i / 2' is not affine in the axes: an index is a sum of axes, each times a value that is the same for the whole launch; name a section that contains it, as x[:] does
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i / 2])
    f(n, x);
// CHECK: :[[#@LINE+1]]:61: error: 'i % 4' is not affine in the axes: an index is a sum of axes, each times a value that is the same for the whole launch; name a section that contains it, as x[:] does
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[n - 1 - i % 4])
    f(n, x);
// CHECK: :[[#@LINE+1]]:53: error: 'index[i]' is not affine in the axes: an index is a sum of axes, each times a value that is the same for the whole launch; name a section that contains it, as x[:] does
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[index[i]])
    f(n, x);
// CHECK: :[[#@LINE+1]]:55: error: '(i > 2 ? 1 : i)' is not affine in the axes: an index is a sum of axes, each times a value that is the same for the whole launch; name a section that contains it, as x[:] does
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i:(i > 2 ? 1 : i)])
    f(n, x);
// CHECK: :[[#@LINE+1]]:53: error: 'i << 1' is not affine in the axes: an index is a sum of axes, each times a value that is the same for the whole launch; name a section that contains it, as x[:] does
#pragma kmm parallel(i = 0:n) rebase(n: i) update(x[i << 1])
    f(n, x);
}
