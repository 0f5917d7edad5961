// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: %s
// A pointer that no clause names: it is an error where the code is not proven to only read through it. What only reads
// is read as a whole, and what is not used costs nothing.
#include <cuda_runtime.h>
#include <new>

struct S {
    float a, b, v[4];
    mutable int m;
    unsigned bits : 3;
    static int count;
    __device__ S &operator+=(float x) { a += x; return *this; }
    __device__ S &operator=(float x) { a = x; return *this; }
    __device__ S &operator++() { a += 1; return *this; }
    __device__ float &operator[](int k) { return v[k]; }
    __device__ float operator()(float x) { return a = x; }
    __device__ void set() { a = 1; }
    __device__ void touch() const { m = 1; }
    __device__ S &self() { return *this; }
    __device__ S *operator->() { return this; }
    __device__ virtual void change() {}
    __device__ float get() const { return a + helper(); }
    __device__ float helper() const { return v[0]; }
};
struct converts { float a; __device__ operator float &() { return a; } };
template <class T> struct base { __device__ void inc() { ((T *)this)->a += 1; } };
struct derived : base<derived> { float a; };
struct inherits : S {};
struct view { float *y; int n; };
struct reader { const float *y; int n; };
struct proxy { float &r; __device__ void put(float x) { r = x; } };
union word { float f; int i; };
__device__ void set(float &r) { r = 1; }
__device__ void poke(float *p) { *p = 1; }
__device__ void pass(float *p, int depth) { if (depth) pass(p + 1, depth - 1); else poke(p); }
__device__ void unseen(float *p);
__device__ void takes(S &s) { s.a = 1; }
__device__ float &at(float *p, int i) { return p[i]; }
__device__ float *next(float *p) { return p + 1; }
__device__ float peek(float *p, int k = 0) { return p[k]; }
__device__ float look(const float &r) { return r; }
__device__ float sum(const float *p, int n) { return n ? *p + sum(p + 1, n - 1) : 0; }
__device__ void keep(float *p);
template <class T> __device__ void swap(T &a, T &b) { T c = a; a = b; b = c; }
template <class T> __device__ T plus(const T &a, const T &b) { return a + b; }
__device__ float *global;

// The index comes from memory, so nothing is inferred.
#define BEGIN int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return; x[i] = 1; i = x[i];
#define USE(k, T) { T *y = (T *)p; _Pragma("kmm parallel(i = 0:n) write(x[i])") k<<<n / 64, 64>>>(n, x, y); }

// CHECK: error: no clause says what 's00' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s00(int n, float *x, S *y) { BEGIN y[i] += 1; }
// CHECK: error: no clause says what 's01' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s01(int n, float *x, S *y) { BEGIN y[i] = 1.0f; }
// CHECK: error: no clause says what 's02' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s02(int n, float *x, S *y) { BEGIN y[i].set(); }
// CHECK: error: no clause says what 's03' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s03(int n, float *x, S *y) { BEGIN ++y[i]; }
// CHECK: error: no clause says what 's04' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s04(int n, float *x, S *y) { BEGIN y[i][2] = 1; }
// CHECK: error: no clause says what 's05' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s05(int n, float *x, S *y) { BEGIN y[i](3); }
// CHECK: error: no clause says what 's06' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s06(int n, float *x, S *y) { BEGIN y[i]->a = 1; }
// CHECK: error: no clause says what 's07' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s07(int n, float *x, S *y) { BEGIN y[i].touch(); }
// CHECK: error: no clause says what 's08' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s08(int n, float *x, S *y) { BEGIN y[i].self().a = 1; }
// CHECK: error: no clause says what 's09' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s09(int n, float *x, S *y) { BEGIN (y + i)->set(); }
// CHECK: error: no clause says what 's10' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s10(int n, float *x, S *y) { BEGIN y[i].change(); }
// CHECK: error: no clause says what 's11' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s11(int n, float *x, S *y) { BEGIN y[i].v[2] = 1; }
// CHECK: error: no clause says what 's12' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s12(int n, float *x, S *y) { BEGIN y[i].bits = 1; }
// CHECK: error: no clause says what 's13' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s13(int n, float *x, S *y) { BEGIN float &f = y[i].a; f = 1; }
// CHECK: error: no clause says what 's14' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s14(int n, float *x, S *y) { BEGIN takes(y[i]); }
// CHECK: error: no clause says what 's15' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s15(int n, float *x, S *y) { BEGIN float S::*m = &S::a; y[i].*m = 3; }
// CHECK: error: no clause says what 's16' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s16(int n, float *x, S *y) { BEGIN float S::*m = &S::a; (y + i)->*m = 3; }
// CHECK: error: no clause says what 's17' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s17(int n, float *x, S *y) { BEGIN void (S::*m)() = &S::set; (y[i].*m)(); }
// CHECK: error: no clause says what 's18' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s18(int n, float *x, S *y) { BEGIN for (auto &e : y[i].v) e = 1; }
// CHECK: error: no clause says what 's19' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s19(int n, float *x, S *y) { BEGIN auto &[a, b] = *(float2 *)&y[i]; a = 1; }
// CHECK: error: no clause says what 's20' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s20(int n, float *x, converts *y) { BEGIN (float &)y[i] = 1; }
// CHECK: error: no clause says what 's21' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s21(int n, float *x, converts *y) { BEGIN float &r = y[i]; r = 1; }
// CHECK: error: no clause says what 's22' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s22(int n, float *x, derived *y) { BEGIN y[i].inc(); }
// CHECK: error: no clause says what 's23' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s23(int n, float *x, inherits *y) { BEGIN y[i].set(); }
// CHECK: error: no clause says what 's24' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s24(int n, float *x, inherits *y) { BEGIN ((S &)y[i]).a = 1; }
// CHECK: error: no clause says what 's25' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s25(int n, float *x, word *y) { BEGIN y[i].i = 1; }
// CHECK: error: no clause says what 's26' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s26(int n, float *x, float2 *y) { BEGIN y[i].x += 1; }
// CHECK: error: no clause says what 's27' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s27(int n, float *x, float *y) { BEGIN set(y[i]); }
// CHECK: error: no clause says what 's28' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s28(int n, float *x, float *y) { BEGIN poke(&y[i]); }
// CHECK: error: no clause says what 's29' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s29(int n, float *x, float *y) { BEGIN pass(y + i, 2); }
// CHECK: error: no clause says what 's30' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s30(int n, float *x, float *y) { BEGIN unseen(y + i); }
// CHECK: error: no clause says what 's31' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s31(int n, float *x, float *y) { BEGIN at(y, i) = 1; }
// CHECK: error: no clause says what 's32' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s32(int n, float *x, float *y) { BEGIN *next(y) = 1; }
// CHECK: error: no clause says what 's33' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s33(int n, float *x, float *y) { BEGIN void (*f)(float *) = poke; f(y + i); }
// CHECK: error: no clause says what 's34' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s34(int n, float *x, float *y) { BEGIN auto &r = y[i]; r = 2; }
// CHECK: error: no clause says what 's35' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s35(int n, float *x, float *y) { BEGIN float *z; z = y + i; *z = 1; }
// CHECK: error: no clause says what 's36' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s36(int n, float *x, float *y) { BEGIN for (float *z = y; z < y + i; z++) *z = 1; }
// CHECK: error: no clause says what 's37' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s37(int n, float *x, float *y) { BEGIN y += i; *y = 1; }
// CHECK: error: no clause says what 's38' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s38(int n, float *x, float *y) { BEGIN *y++ = 1; }
// CHECK: error: no clause says what 's39' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s39(int n, float *x, float *y) { BEGIN view v = {y, n}; v.y[i] = 1; }
// CHECK: error: no clause says what 's40' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s40(int n, float *x, float *y) { BEGIN view v; v.y = y; v.y[i] = 1; }
// CHECK: error: no clause says what 's41' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s41(int n, float *x, float *y) { BEGIN float *a[2] = {y, x}; a[0][i] = 1; }
// CHECK: error: no clause says what 's42' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s42(int n, float *x, float *y) { BEGIN proxy p{y[i]}; p.put(1); }
// CHECK: error: no clause says what 's43' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s43(int n, float *x, float *y) { BEGIN new (y + i) float(3); }
// CHECK: error: no clause says what 's44' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s44(int n, float *x, float *y) { BEGIN (0, y[i]) = 9; }
// CHECK: error: no clause says what 's45' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s45(int n, float *x, float *y) { BEGIN (i ? y[i] : x[i]) = 9; }
// CHECK: error: no clause says what 's46' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s46(int n, float *x, float *y) { BEGIN (true ? y : x)[i] = 9; }
// CHECK: error: no clause says what 's47' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s47(int n, float *x, float *y) { BEGIN [&]() { y[i] = 1; }(); }
// CHECK: error: no clause says what 's48' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s48(int n, float *x, float *y) { BEGIN auto f = [p = y](int k) { p[k] = 1; }; f(i); }
// CHECK: error: no clause says what 's49' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s49(int n, float *x, float *y) { BEGIN *({ y + i; }) = 1; }
// CHECK: error: no clause says what 's50' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s50(int n, float *x, float *y) { BEGIN size_t a = (size_t)y; ((float *)a)[i] = 1; }
// CHECK: error: no clause says what 's51' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s51(int n, float *x, float *y) { BEGIN ((int *)y)[i] = 1; }
// CHECK: error: no clause says what 's52' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s52(int n, float *x, float *y) { BEGIN *(float4 *)(y + 4 * i) = make_float4(1, 2, 3, 4); }
// CHECK: error: no clause says what 's53' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s53(int n, float *x, float *y) { BEGIN memset(y + i, 0, 4); }
// CHECK: error: no clause says what 's54' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s54(int n, float *x, float *y) { BEGIN memcpy(y + i, x + i, 4); }
// CHECK: error: no clause says what 's55' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s55(int n, float *x, float *y) { BEGIN __builtin_memcpy(y + i, x + i, 4); }
// CHECK: error: no clause says what 's56' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s56(int n, float *x, float *y) { BEGIN swap(x[i], y[i]); }
// CHECK: error: no clause says what 's57' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s57(int n, float *x, float *y) { BEGIN asm volatile("" : "+m"(y[i])); }
// CHECK: error: no clause says what 's58' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s58(int n, float *x, float *y) { BEGIN asm volatile("" ::"r"(y + i) : "memory"); }
// CHECK: error: no clause says what 's59' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s59(int n, float *x, float *y) { BEGIN global = y; global[i] = 1; }
// CHECK: error: no clause says what 's60' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s60(int n, float *x, float *y) { BEGIN keep(y); }
// CHECK: error: no clause says what 's61' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s61(int n, float *x, float *y) { BEGIN float *&r = y; r[i] = 1; }
// CHECK: error: no clause says what 's62' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s62(int n, float *x, float *y) { BEGIN float **pp = &y; (*pp)[i] = 1; }
// CHECK: error: no clause says what 's63' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s63(int n, float *x, float *y) { BEGIN __atomic_store_n((int *)y + i, 1, 0); }
// CHECK: error: no clause says what 's64' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s64(int n, float *x, float *y) { BEGIN 1[y] = 3; }
// CHECK: error: no clause says what 's65' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s65(int n, float *x, int *y) { BEGIN atomicAdd(y + i, 1); }
// CHECK: error: no clause says what 's66' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s66(int n, float *x, int *y) { BEGIN y[i]--; }
// CHECK: error: no clause says what 's67' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s67(int n, float *x, int *y) { BEGIN y[i] <<= 1; }
// CHECK: error: no clause says what 's68' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s68(int n, float *x, const float *y) { BEGIN const_cast<float *>(y)[i] = 1; }
// CHECK: error: no clause says what 's69' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s69(int n, float *x, const float *y) { BEGIN const_cast<float &>(y[i]) = 1; }
// CHECK: error: no clause says what 's70' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s70(int n, float *x, const float *y) { BEGIN ((float *)y)[i] = 1; }
// CHECK: error: no clause says what 's71' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s71(int n, float *x, const float *y) { BEGIN reader r = {y, n}; ((float *)r.y)[i] = 1; }
// CHECK: error: no clause says what 's72' does with 'y'
// CHECK: :[[#@LINE+1]]:{{[0-9]+}}: note: {{it is stored to here|this may store to it}}
__global__ void s72(int n, float *x, const float *y) { BEGIN poke((float *)(size_t)y); }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r00(int n, float *x, float *y) { BEGIN x[i] = y[i] * 2 + y[0] - *(y + i); }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r01(int n, float *x, float *y) { BEGIN const float *p = y + i; x[i] = p[1]; float *q = y; x[i] += *q++; }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r02(int n, float *x, float *y) { BEGIN x[i] = look(y[i]) + peek(y + i) + __ldg(&y[i]); }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r03(int n, float *x, float *y) { BEGIN x[i] = ((float4 *)y)[i / 4].x + (y ? 1 : 2) + (y + i)[1]; }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r04(int n, float *x, float *y) { BEGIN x[i] = at(y, i) + *next(y) + plus(y[0], y[1]); }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r05(int n, float *x, float *y) { BEGIN x[i] = sum(y, 3) + (size_t)y % 16; }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r06(int n, float *x, float *y) { BEGIN float v[2] = {y[i], y[0]}; x[i] = v[1]; memcpy(v, y, 8); }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r07(int n, float *x, float *y) { BEGIN const float &r = y[i]; x[i] = r; switch ((int)y[i]) { case 1: x[i] = 2; } }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r08(int n, float *x, float4 *y) { BEGIN float4 v = y[i]; v.x = 1; x[i] = v.x + y[i].w; }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r09(int n, float *x, S *y) { BEGIN x[i] = y[i].get() + y[i].a + y[i].v[2] + y[i].bits; }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r10(int n, float *x, S *y) { BEGIN const S &s = y[i]; S t = s; t.a = 1; x[i] = s.get() + t.a; }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r11(int n, float *x, const float *y) { BEGIN reader r = {y, n}; x[i] = r.y[i]; }
// CHECK: warning: no clause says what is read of 'y'{{.*}}-Wkmm-whole
__global__ void r12(int n, float *x, const float *y) { BEGIN x[i] = sum(y, n); }
// CHECK-NOT: whole
__global__ void u00(int n, float *x, float *y) { BEGIN  }
__global__ void u01(int n, float *x, float *y) { BEGIN (void)y; }
__global__ void u02(int n, float *x, float *y) { BEGIN if (y) x[i] = 2; }
__global__ void u03(int n, float *x, const float *y) { BEGIN x[i] = sizeof(*y); }

void all(int n, float *x, void *p)
{
    USE(s00, S)
    USE(s01, S)
    USE(s02, S)
    USE(s03, S)
    USE(s04, S)
    USE(s05, S)
    USE(s06, S)
    USE(s07, S)
    USE(s08, S)
    USE(s09, S)
    USE(s10, S)
    USE(s11, S)
    USE(s12, S)
    USE(s13, S)
    USE(s14, S)
    USE(s15, S)
    USE(s16, S)
    USE(s17, S)
    USE(s18, S)
    USE(s19, S)
    USE(s20, converts)
    USE(s21, converts)
    USE(s22, derived)
    USE(s23, inherits)
    USE(s24, inherits)
    USE(s25, word)
    USE(s26, float2)
    USE(s27, float)
    USE(s28, float)
    USE(s29, float)
    USE(s30, float)
    USE(s31, float)
    USE(s32, float)
    USE(s33, float)
    USE(s34, float)
    USE(s35, float)
    USE(s36, float)
    USE(s37, float)
    USE(s38, float)
    USE(s39, float)
    USE(s40, float)
    USE(s41, float)
    USE(s42, float)
    USE(s43, float)
    USE(s44, float)
    USE(s45, float)
    USE(s46, float)
    USE(s47, float)
    USE(s48, float)
    USE(s49, float)
    USE(s50, float)
    USE(s51, float)
    USE(s52, float)
    USE(s53, float)
    USE(s54, float)
    USE(s55, float)
    USE(s56, float)
    USE(s57, float)
    USE(s58, float)
    USE(s59, float)
    USE(s60, float)
    USE(s61, float)
    USE(s62, float)
    USE(s63, float)
    USE(s64, float)
    USE(s65, int)
    USE(s66, int)
    USE(s67, int)
    USE(s68, const float)
    USE(s69, const float)
    USE(s70, const float)
    USE(s71, const float)
    USE(s72, const float)
    USE(r00, float)
    USE(r01, float)
    USE(r02, float)
    USE(r03, float)
    USE(r04, float)
    USE(r05, float)
    USE(r06, float)
    USE(r07, float)
    USE(r08, float4)
    USE(r09, S)
    USE(r10, S)
    USE(r11, const float)
    USE(r12, const float)
    USE(u00, float)
    USE(u01, float)
    USE(u02, float)
    USE(u03, const float)
}
