// REQUIRES: ir
// RUN: %not %kmmcc --target=host -std=c++17 -c %s -o %t.o 2>&1 | FileCheck %s
// RUN: %kmmcc --target=host -std=c++17 --suggest %S/stored.cu %s | FileCheck %s --check-prefix=SUGGEST
// Clauses of a launch in a template are compared with each instance.
#include <cuda_runtime.h>

#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
template <class T, int R> __global__ void blurs(T *o, const T *x, int n) { int i = INDEX; if (i >= R && i < n - R) { T s = 0; for (int k = -R; k <= R; k++) s += x[i + k]; o[i] = s; } }
template <class T, bool All> __global__ void copies(T *o, const T *x, int n) { int i = INDEX; if (i < n) { if (All) o[i] = x[i]; else if (x[i] > 0) o[i] += x[i]; } }
__global__ void over(float *x, int n) { int i = INDEX; if (i < n) x[i] += 1; }
__global__ void over(double *x, int n) { int i = INDEX; if (i < n / 2) x[2 * i] += 1; }

template <class T, int R> void run(T *o, T *x, int n)
{
    // CHECK: :[[#@LINE+3]]:53: error: 'x[i-3:7]' is less than 'blurs<double, 5>' reads: with
    // CHECK: :[[#@LINE-8]]:{{.*}} note: it is read here
    // CHECK: note: 'blurs<double, 5>' is launched here in the instance 'run<double, 5>'
    #pragma kmm parallel(i = 0:n) update(o[i]) read(x[i-3:7])
    blurs<T, R><<<(n + 255) / 256, 256>>>(o, x, n);
    #pragma kmm parallel(i = 0:n) update(o[i]) read(x[i-R:2*R+1])
    blurs<T, R><<<(n + 255) / 256, 256>>>(o, x, n);
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: warning: 'o[i]' is only written here, so its old values are not brought, but 'copies<float, 0>' depends on them
    #pragma kmm parallel(i = 0:n) write(o[i]) read(x[i])
    copies<T, (R > 3)><<<(n + 255) / 256, 256>>>(o, x, n);
}
template <class T> void differ(T *x, int n)
{
    // SUGGEST: instances.cu:[[#@LINE+4]]: #pragma kmm parallel
    // SUGGEST-NEXT: no clause for x: over({{.*}} works on the axes (x_: global.x = 0:{{.*}}, bounded), and over({{.*}} on (x_: global.x = 0:
    // CHECK: :[[#@LINE+3]]:{{[0-9]+}}: error: no clause says what 'over({{.*}})' does with 'x'
    // CHECK: note: the instances of the template differ: over(
    #pragma kmm parallel
    over<<<(n + 255) / 256, 256>>>(x, n);
}
// An operator or a conversion that depends on the template is looked at in each instance.
struct vec { float a; };
inline vec operator+(vec a, vec b) { return {a.a + b.a}; }
struct constant { int k; operator int() const { return k; } };
struct counts { int *k; operator int() const { return (*k)++; } };
__global__ void moved(float *x, int n, int k) { int i = INDEX; if (i < n) x[i + k] += 1; }
template <class T, class K> void pure(T *x, int n, K k)
{
    #pragma kmm parallel(i = 0:n) update((x + 1)[i - 1 + k])
    moved<<<(n + 255) / 256, 256>>>(x, n, k);
}
template <class T, class K> void impure(T *x, int n, K k)
{
    // CHECK: :[[#@LINE+3]]:{{[0-9]+}}: error: 'i - 1 + k' may have side effects, and a clause has none; compute the value before the pragma
    // CHECK: note: 'moved(float *, int, int)' is launched here in the instance 'impure<float, counts>'
    // CHECK-NOT: error
    #pragma kmm parallel(i = 0:n) update((x + 1)[i - 1 + k])
    moved<<<(n + 255) / 256, 256>>>(x, n, k);
}
template void pure(float *, int, constant);
template void pure(float *, int, int);
template void impure(float *, int, counts);
template <class... P> __global__ void packed(int n, P... x) { int i = INDEX; if (i < n) ((x[i] += 1), ...); }
template <class... P> void packs(int n, P... x)
{
    // CHECK: :[[#@LINE+3]]:5: error: what the parameter pack passes to 'packed' has no name for clauses; give pointers parameters of their own
    // CHECK: note: 'packed<..>' is launched here in the instance 'packs<..>'
    #pragma kmm parallel
    packed<<<(n + 255) / 256, 256>>>(n, x...);
}
// Parameter packs of numbers, and of pointers.
template <class T, class... P> __global__ void adds(int n, T *x, P... p) { int i = INDEX; if (i < n) x[i] += (x[i + 1] + ... + p); }
template <class... P> __global__ void behind(P... p, float *x, int n) { int i = INDEX; if (i + 1 < n) x[i] += (x[i + 1] + ... + p); }
template <class... P> void numbers(int n, float *x, P... p)
{
    // SUGGEST: instances.cu:[[#@LINE+1]]: #pragma kmm parallel({{.*}}) {{read\(x\[.* \+ 1\]\) update\(x\[}}
    #pragma kmm parallel
    adds<<<(n + 255) / 256, 256>>>(n, x, p...);
    // CHECK: :[[#@LINE+3]]:{{[0-9]+}}: error: 'x[i]' is less than 'adds<float, ..>' reads
    // CHECK: note: it is read here
    // CHECK: note: 'adds<float, ..>' is launched here in the instance 'numbers<..>'
    #pragma kmm parallel(i = 0:n) update(x[i])
    adds<<<(n + 255) / 256, 256>>>(n, x, p...);
    // CHECK: :[[#@LINE+2]]:5: warning: it is not known whether the parameter pack passes pointers to 'behind'; no clause can name them [-Wkmm-pack]
    #pragma kmm parallel(i = 0:n) update(x[i]) read(x[i+1])
    behind<P...><<<(n + 255) / 256, 256>>>(p..., x, n);
}
template <class... P> void pointers(int n, float *x, P... p)
{
    // CHECK: :[[#@LINE+3]]:5: error: what the parameter pack passes to 'packed' has no name for clauses; give pointers parameters of their own
    // CHECK: note: 'packed<..>' is launched here in the instance 'pointers<..>'
    #pragma kmm parallel(i = 0:n) update(x[i])
    packed<<<(n + 255) / 256, 256>>>(n, x, p...);
}
template <class T> __global__ void sums(T *x, int n) { int i = INDEX; if (i + 1 < n) x[i] += x[i + 1]; }
// Headers of the same name, with launches on the same line.
#include "Inputs/one/launch.h"
#include "Inputs/two/launch.h"
// Two launches on a line, one of them in a constructor.
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'y[i]' is less than 'sums<float>' reads
template <class T> void both(T *x, int n) { _Pragma("kmm parallel(i = 0:n) update(x[i]) read(x[i + 1])") sums<<<(n + 255) / 256, 256>>>(x, n); } template <class T> struct makes { makes(T *y, int n) { _Pragma("kmm parallel(i = 0:n) update(y[i])") sums<<<(n + 255) / 256, 256>>>(y, n); } };
template <class T> class hidden {
    void run(T *x, int n)
    {
        // CHECK: :[[#@LINE+3]]:{{[0-9]+}}: error: 'x[i]' is less than 'sums<float>' reads
        // CHECK: note: it is read here
        // CHECK: note: 'sums<float>' is launched here in the instance 'hidden<float>::run(float *, int)'
        #pragma kmm parallel(i = 0:n) update(x[i])
        sums<<<(n + 255) / 256, 256>>>(x, n);
    }
};
template class hidden<float>;
void all(float *o, float *x, double *p, double *q, int n)
{
    run<float, 3>(o, x, n), run<double, 5>(p, q, n);
    differ(x, n), differ(p, n);
    packs(n, o, x);
    numbers(n, o), numbers(n, o, 1, 2.5), pointers(n, o, p, q);
    launch_one(o, n), launch_two(p, n), both(o, n), makes<float>(x, n);
}
// Other names and numbers of lines; those of messages are the file's.
#line 5 "other\"\\.cu"
template <class T> void lined(T *x, int n)
{
    auto l = [=](auto *y) {
        // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'y[i]' is less than 'sums<double>' reads
        #pragma kmm parallel(i = 0:n) update(y[i])
        sums<<<(n + 255) / 256, 256>>>(y, n);
    };
    l((double *)x);
    #line 1000
    // CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: 'x[i]' is less than 'sums<float>' reads
    #pragma kmm parallel(i = 0:n) update(x[i])
    sums<<<(n + 255) / 256, 256>>>(x, n);
}
template void lined<float>(float *, int);
// CHECK: one/launch.h:4:42: error: 'x[i]' is less than 'sums<float>' reads
// CHECK: two/launch.h:4:42: error: 'x[i]' is less than 'sums<double>' reads
