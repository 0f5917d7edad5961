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

// Ends that are data are offsets: integers of 32 or 64 bits that one array has.
void sums(int lo, int hi, const int *rowptr, const float *val, float *y);
void offsets(int n, const int *rowptr, const short *narrow, const int *ends, const float *val, float *y)
{
// CHECK: :[[#@LINE+4]]:113: error: 'rowptr[i + 1]' stands where the section's length does, and a length that data gives is a difference of two offsets: 'rowptr[i + 1] - rowptr[i]'
// CHECK-NEXT: pragma
// CHECK-NEXT: ^
// CHECK-NEXT: {{^ *}}rowptr[i + 1] - rowptr[i]{{$}}
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read(rowptr[i:2]) write(y[i]) read(val[rowptr[i]:rowptr[i + 1]])
    sums(0, n, rowptr, val, y);
// CHECK: :[[#@LINE+1]]:103: error: 'narrow' is no pointer to integers of 32 or 64 bits, but 'const short *': offsets are such integers, one behind the other; those of a container are its data()
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read(rowptr[i:2]) write(y[i]) read(val[narrow[i]:narrow[i + 1] - narrow[i]])
    sums(0, n, rowptr, val, y);
// CHECK: :[[#@LINE+1]]:93: error: a reduction has the same elements in each chunk, but offsets give each chunk others; name all of them, as y[:] does
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read(rowptr, val) reduce(+: y[rowptr[i]:rowptr[i + 1] - rowptr[i]])
    sums(0, n, rowptr, val, y);
// CHECK: :[[#@LINE+1]]:103: error: 'rowptr[i]' is not affine in the axes
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read(rowptr[i:2]) write(y[i]) read(val[rowptr[i]:ends[i] - rowptr[i]])
    sums(0, n, rowptr, val, y);
// CHECK: :[[#@LINE+1]]:103: error: 'rowptr[ends[i]]' is not affine in the axes
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read(rowptr[i:2]) write(y[i]) read(val[rowptr[ends[i]]:rowptr[ends[i] + 1] - rowptr[ends[i]]])
    sums(0, n, rowptr, val, y);
// CHECK: :[[#@LINE+1]]:103: error: 'rowptr[i]' is not affine in the axes
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read(rowptr[i:2]) write(y[i]) read(val[rowptr[i]:rowptr[i + 1] - rowptr[i] + 1])
    sums(0, n, rowptr, val, y);
// CHECK: :[[#@LINE+1]]:103: error: 'rowptr[i]' is not affine in the axes
#pragma kmm parallel(i = 0:n) rebase(lo: begin(i), hi: end(i)) read(rowptr[i:2]) write(y[i]) read(val[rowptr[i]])
    sums(0, n, rowptr, val, y);
}
