// RUN: %not %kmmcc --target=host -c %s -o %t.o 2>&1 | FileCheck --implicit-check-not=error: --implicit-check-not=warning: %s
// REQUIRES: ir
// Reductions of kernels: loops with compare-and-swap, and what becomes of the target's values.
#include <cuda_runtime.h>
#define IX (blockIdx.x * blockDim.x + threadIdx.x)
__device__ double add(double *p, double v) { unsigned long long *q = (unsigned long long *)p, old = *q, as; do { as = old; old = atomicCAS(q, as, __double_as_longlong(v + __longlong_as_double(as))); } while (old != as); return __longlong_as_double(old); }
__device__ void fmaxa(float *p, float v) { int *q = (int *)p, old = *q, as; do { as = old; if (__int_as_float(as) >= v) break; old = atomicCAS(q, as, __float_as_int(v)); } while (old != as); }
__device__ float fmaxb(float *p, float v) { int *q = (int *)p, old = *q, as; do { as = old; old = atomicCAS(q, as, __float_as_int(fmaxf(v, __int_as_float(as)))); } while (old != as); return __int_as_float(old); }
__device__ float mula(float *p, float v) { int *q = (int *)p, old = *q, as; do { as = old; old = atomicCAS(q, as, __float_as_int(v * __int_as_float(as))); } while (old != as); return __int_as_float(old); }
__global__ void w_flag(int n, const int *a, int *s) { int i = IX; if (i < n && a[i] == 77) *s = 1; }
__global__ void w_limit(int n, const int *a, int *s) { int i = IX; if (i < n) { int o = *s, as; do { as = o; o = atomicCAS(s, as, min(as + a[i], 1000)); } while (as != o); } }
__global__ void w_first(int n, const int *a, int *s) { int i = IX; if (i < n && a[i] == 77) atomicCAS(s, 0, 7); }
__global__ void w_distinct(int n, const int *a, int *s) { int i = IX; if (i < n) { int bit = 1 << (a[i] & 31), t = atomicOr(s, bit); if (!(t & bit)) atomicAdd(s + 1, 1); } }
__global__ void k_range(int n, const int *a, int *s) { int i = IX; if (i < n) { if (a[i] < s[0]) atomicMin(s, a[i]); if (a[i] > s[1]) atomicMax(s + 1, a[i]); } }
__global__ void k_add(int n, const double *a, double *s) { int i = IX; if (i < n) add(s, a[i]); }
__global__ void k_maxa(int n, const float *a, float *s) { int i = IX; if (i < n) fmaxa(s, a[i]); }
__global__ void k_maxb(int n, const float *a, float *s) { int i = IX; if (i < n) fmaxb(s, a[i]); }
__global__ void k_mul(int n, const float *a, float *s) { int i = IX; if (i < n) mula(s, a[i]); }
__global__ void k_pre(int n, const int *a, int *s) { int i = IX; if (i < n && a[i] > *s) atomicMax(s, a[i]); }
__global__ void k_pos(int n, const float *a, float *s) { int i = IX; if (i < n) { if (a[i] >= 0) atomicMax((int *)s, __float_as_int(a[i])); else atomicMin((unsigned *)s, __float_as_uint(a[i])); } }
__global__ void k_block(int n, const float *a, float *s) { __shared__ float t[128]; int i = IX; t[threadIdx.x] = i < n ? a[i] : 0; __syncthreads(); for (int k = 64; k; k /= 2) { if (threadIdx.x < k) t[threadIdx.x] += t[threadIdx.x + k]; __syncthreads(); } if (threadIdx.x == 0) atomicAdd(s, t[0]); }
__global__ void k_stride(int n, const int *a, int *s) { int t = 0; for (int i = IX; i < n; i += gridDim.x * blockDim.x) t += a[i]; atomicAdd(s, t); }
__global__ void k_hist(int n, const int *a, int *h, int *o) { __shared__ int b[16]; int i = IX; if (threadIdx.x < 16) b[threadIdx.x] = 0; __syncthreads(); if (i < n) { int r = atomicAdd(&b[a[i] & 15], 1); o[i] = r; } __syncthreads(); if (threadIdx.x < 16) atomicAdd(&h[threadIdx.x], b[threadIdx.x]); }
__global__ void k_two(int n, const int *a, int *s, int *o) { int i = IX; if (i < n) { if (a[i] > 3) atomicAdd(s, 1); o[i] = a[i]; } }
__global__ void k_any(int n, const int *a, int *s) { int i = IX; if (i < n && !*s) if (a[i] == 7) atomicOr(s, 1); }
__global__ void k_minmax(int n, const int *a, int *lo, int *hi) { int i = IX; if (i < n) { atomicMin(lo, a[i]); atomicMax(hi, a[i]); } }
__global__ void k_64(int n, const int *a, unsigned long long *s) { int i = IX; if (i < n) atomicAdd(s, (unsigned long long)a[i]); }
__global__ void k_warp(int n, const int *a, int *s) { int i = IX; int v = i < n ? a[i] : 0; for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d); if (threadIdx.x % 32 == 0) atomicAdd(s, v); }
__global__ void k_sub(int n, const int *a, int *s) { int i = IX; if (i < n) atomicSub(s, a[i]); }
__global__ void k_zero(int n, const int *a, int *s) { int i = IX; if (threadIdx.x == 0) s[blockIdx.x] = 0; __syncthreads(); if (i < n) atomicAdd(&s[blockIdx.x], a[i]); }
__global__ void k_peek(int n, const int *a, int *s) { __shared__ int best; int i = IX; if (threadIdx.x == 0) best = *s; __syncthreads(); if (i < n && a[i] > best) atomicMax(s, max(a[i], best)); }
/* wrong ones */
__global__ void w_plain(int n, const int *a, int *s) { int i = IX; if (i < n) atomicAdd(s, a[i]); if (i == 0) s[0] = 5; }
__global__ void w_shared(int n, const int *a, int *s) { __shared__ int t; if (!threadIdx.x) t = s[0]; __syncthreads(); int i = IX; if (i < n) atomicMax(&t, a[i]); __syncthreads(); if (!threadIdx.x) atomicAdd(s, t); }
__global__ void w_twice(int n, const int *a, int *s) { int i = IX; if (i < n) atomicAdd(s, a[i] + *s); }
__global__ void w_last(int n, const int *a, int *c, int *o) { __shared__ int last; if (!threadIdx.x) last = atomicAdd(c, 1) == 7; __syncthreads(); int i = IX; if (i < n && last) o[i] = a[i]; }
__global__ void w_cas(int n, const int *a, int *s) { int i = IX; if (i < n) { int v = *s, w; do { w = v; v = atomicCAS(s, w, max(w, a[i])); } while (v != w); } }
__device__ int next(int *c) { return atomicAdd(c, 1); }
__global__ void w_next(int n, int *c, int *o) { int i = IX; if (i < n) { int r = next(c); if (r < 100) o[i] = 1000; } }
__global__ void w_max(int n, const int *a, int *c, int *o) { int i = IX; if (i < n) o[i] = a[i] > atomicMax(c, a[i]); }
__global__ void w_read(int n, int *c, int *o) { int i = IX; if (i < n) { atomicAdd(c, 1); o[i] = c[0] > 25000; } }
__global__ void w_test(int n, const int *a, int *c) { int i = IX; if (i < n) { if (c[0] < a[i]) atomicAdd(c, 5); } }
/* not the operator, or not proven to be it */
#define SWAP(...) int i = IX; if (i < n) { int v = *s, w; do { w = v; __VA_ARGS__; } while (v != w); }
__device__ void atomicAddUpTo(int *s, int x) { int v = *s, w; do { w = v; v = atomicCAS(s, w, min(w + x, 1000)); } while (v != w); }
__global__ void o_upto(int n, const int *a, int *s) { int i = IX; if (i < n) atomicAddUpTo(s, a[i]); }
__global__ void o_rest(int n, const int *a, int *s) { SWAP(v = atomicCAS(s, w, (w + a[i]) % 1000)) }
__global__ void o_first(int n, const int *a, int *s) { int i = IX; if (i < n) atomicCAS(s, 0, 7); }
__global__ void o_bits(int n, const float *f, float *t) { int *s = (int *)t; SWAP(v = atomicCAS(s, w, w + (int)f[i])) }
__global__ void o_flag(int n, const int *a, int *s) { int i = IX; if (i < n && a[i] == 7) *s = 1; }
__global__ void o_bool(int n, const int *a, bool *s) { int i = IX; if (i < n && a[i] == 7) *s = true; }
__global__ void o_none(int n, const int *a, int *s) { int i = IX; if (i < n && a[i] == 7) *s = 0; }
__global__ void o_stop(int n, const int *a, int *s) { SWAP(if (w > 50) break; v = atomicCAS(s, w, w + a[i])) }
__global__ void o_done(int n, const int *a, int *s) { int i = IX; bool done = i >= n; while (!done) { int w = *s; done = atomicCAS(s, w, w + a[i]) == w; } }
__global__ void o_pair(int n, const int *a, int *s) { int i = IX; if (i < n) { int t = atomicOr(s, 1 << (a[i] & 31)); if (!(t >> (a[i] & 31) & 1)) atomicAdd(s + 1, 1); } }
__global__ void o_max(int n, const int *a, int *s) { int i = IX; if (i < n && atomicMax(s, a[i]) < a[i]) atomicAdd(s + 1, 1); }
__global__ void o_bins(int n, const int *a, int *s) { int i = IX; if (i < n && s[a[i] & 15] < i) atomicMax(&s[a[i] & 15], i); }
__global__ void o_ends(int n, const int *a, int *s) { int i = IX; if (i < n) { if (a[i] < s[0]) atomicMin(s, a[i]); if (a[i] > s[1]) atomicMax(s + 1, a[i]); } }
__global__ void o_place(int n, const int *a, int *s, int *o) { int i = IX; if (i < n) o[atomicAdd(s, 1)] = a[i]; }
__global__ void o_given(int n, const int *a, int *s, int *o) { int i = IX; if (i < n) { int p = next(s); o[p] = a[i]; } }
void all(int n, int *a, float *f, double *d, int *s, float *t, double *u, int *o, int *s2, unsigned long long *l, bool *q)
{
#define P(...) _Pragma(#__VA_ARGS__)
P(kmm parallel(i = 0:n) chunk(1024) read(d[i]) reduce(+: u[0])) k_add<<<(n + 127) / 128, 128>>>(n, d, u);
P(kmm parallel(i = 0:n) chunk(1024) read(f[i]) reduce(max: t[0])) k_maxa<<<(n + 127) / 128, 128>>>(n, f, t);
P(kmm parallel(i = 0:n) chunk(1024) read(f[i]) reduce(max: t[0])) k_maxb<<<(n + 127) / 128, 128>>>(n, f, t);
P(kmm parallel(i = 0:n) chunk(1024) read(f[i]) reduce(*: t[0])) k_mul<<<(n + 127) / 128, 128>>>(n, f, t);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(max: s[0])) k_pre<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n) chunk(1024) read(f[i]) reduce(+: t[0])) k_block<<<(n + 127) / 128, 128>>>(n, f, t);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) k_stride<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) write(o[i]) reduce(+: s[0:16])) k_hist<<<(n + 127) / 128, 128>>>(n, a, s, o);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) write(o[i]) reduce(+: s[0])) k_two<<<(n + 127) / 128, 128>>>(n, a, s, o);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(|: s[0])) k_any<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(min: s[0]) reduce(max: s2[0])) k_minmax<<<(n + 127) / 128, 128>>>(n, a, s, s2);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: l[0])) k_64<<<(n + 127) / 128, 128>>>(n, a, l);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) k_warp<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) k_sub<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n, b: block.x) chunk(1024) read(a[i]) reduce(+: s[b])) k_zero<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(max: s[0])) k_peek<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here by another operator than that of 'w_cas'; say reduce(max: s[0])
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) w_cas<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 'u[0]' is reduced here by another operator than that of 'k_add'; say reduce(+: u[0])
P(kmm parallel(i = 0:n) chunk(1024) read(d[i]) reduce(max: u[0])) k_add<<<(n + 127) / 128, 128>>>(n, d, u);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 't[0]' is reduced here by another operator than that of 'k_maxa'; say reduce(max: t[0])
P(kmm parallel(i = 0:n) chunk(1024) read(f[i]) reduce(+: t[0])) k_maxa<<<(n + 127) / 128, 128>>>(n, f, t);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 't[0]' is reduced here by another operator than that of 'k_mul'; say reduce(*: t[0])
P(kmm parallel(i = 0:n) chunk(1024) read(f[i]) reduce(+: t[0])) k_mul<<<(n + 127) / 128, 128>>>(n, f, t);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'w_next' also uses its values: a chunk has a copy of its own, with the values of this chunk alone
P(kmm parallel(i = 0:n) chunk(1024) update(o[i]) reduce(+: s[0])) w_next<<<(n + 127) / 128, 128>>>(n, s, o);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'w_max' also uses its values: a chunk has a copy of its own, with the values of this chunk alone
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) write(o[i]) reduce(max: s[0])) w_max<<<(n + 127) / 128, 128>>>(n, a, s, o);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'w_read' also uses its values: a chunk has a copy of its own, with the values of this chunk alone
P(kmm parallel(i = 0:n) chunk(1024) write(o[i]) reduce(+: s[0])) w_read<<<(n + 127) / 128, 128>>>(n, s, o);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'w_test' also uses its values: a chunk has a copy of its own, with the values of this chunk alone
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) w_test<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'w_plain' stores to it
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) w_plain<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'w_shared' also uses its values
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) w_shared<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'w_twice' also uses its values
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) w_twice<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'w_last' also uses its values
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) update(o[i]) reduce(+: s[0])) w_last<<<(n + 127) / 128, 128>>>(n, a, s, o);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) o_done<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(||: s[0])) o_first<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(||: s[0])) o_flag<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(|: q[0])) o_bool<<<(n + 127) / 128, 128>>>(n, a, q);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(&: s[0])) o_none<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(max: s[0:16])) o_bins<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(min: s[0]) reduce(max: s[1])) o_ends<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced by + here, but what 'o_upto' stores is not its old value combined by + with others
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) o_upto<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced by + here, but what 'o_rest' stores is not its old value combined by + with others
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) o_rest<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced by max here, but what 'o_first' stores is not its old value combined by max with others
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(max: s[0])) o_first<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 't[0]' is reduced as elements of another type than those that 'o_bits' combines
P(kmm parallel(i = 0:n) chunk(1024) read(f[i]) reduce(+: t[0])) o_bits<<<(n + 127) / 128, 128>>>(n, f, t);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced by + here, but what 'o_flag' stores is not its old value combined by + with others
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) o_flag<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced by ^ here, but what 'o_flag' stores is not its old value combined by ^ with others
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(^: s[0])) o_flag<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced by + here, but what 'o_none' stores is not its old value combined by + with others
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) o_none<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'o_flag' combines 's[0]' by | alone; KMM_CHECK=result compares the results when the program runs [-Wkmm-reduce]
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(|: s[0])) o_flag<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'o_flag' combines 's[0]' by min alone; KMM_CHECK=result compares the results when the program runs [-Wkmm-reduce]
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(min: s[0])) o_flag<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'o_stop' combines 's[0]' by + alone; KMM_CHECK=result compares the results when the program runs [-Wkmm-reduce]
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) o_stop<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'o_pair' also uses its values
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(|: s[0]) reduce(+: s[1])) o_pair<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'o_max' also uses its values
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(max: s[0])) o_max<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'o_given' also uses its values
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) update(o[i]) reduce(+: s[0])) o_given<<<(n + 127) / 128, 128>>>(n, a, s, o);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'o_place' also uses its values
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) update(o[i]) reduce(+: s[0])) o_place<<<(n + 127) / 128, 128>>>(n, a, s, o);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced by + here, but what 'w_flag' stores is not its old value combined by + with others
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) w_flag<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: warning: it is not proven that 'w_flag' combines 's[0]' by min alone
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(min: s[0])) w_flag<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(||: s[0])) w_flag<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced by + here, but what 'w_limit' stores is not its old value combined by + with others
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(+: s[0])) w_limit<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced by max here, but what 'w_first' stores is not its old value combined by max with others
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(max: s[0])) w_first<<<(n + 127) / 128, 128>>>(n, a, s);
// CHECK: reduced.cu:[[#@LINE+1]]:{{[0-9]+}}: error: 's[0]' is reduced here, but 'w_distinct' also uses its values
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(|: s[0]) reduce(+: s[1])) w_distinct<<<(n + 127) / 128, 128>>>(n, a, s);
P(kmm parallel(i = 0:n) chunk(1024) read(a[i]) reduce(min: s[0]) reduce(max: s[1])) k_range<<<(n + 127) / 128, 128>>>(n, a, s);
}
