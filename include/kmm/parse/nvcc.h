/* SPDX-License-Identifier: Apache-2.0 */
/* nvcc's declarations beyond CUDA's headers, for kmmcc's parser. Only declarations: nothing here is
 * compiled. */
#ifndef KMM_PARSE_NVCC_H
#define KMM_PARSE_NVCC_H

#include <new>
#include <time.h>
#ifndef __CLANG_CUDA_WRAPPERS_NEW /* clang's own additions are not found by every libclang */
__device__ inline void *operator new(__SIZE_TYPE__, void *place) noexcept { return place; }
__device__ inline void *operator new[](__SIZE_TYPE__, void *place) noexcept { return place; }
#endif

#if KMM_PARSE_DEVICE && defined(__cplusplus) /* what a launch calls */
extern "C" int cudaConfigureCall(struct dim3 grid, struct dim3 block, __SIZE_TYPE__ shared = 0,
                                 struct CUstream_st *stream = 0);
#endif

#define KMM_PARSE_MIN_MAX(type)                                                                    \
    __host__ type min(type a, type b);                                                             \
    __host__ type max(type a, type b);
KMM_PARSE_MIN_MAX(int)
KMM_PARSE_MIN_MAX(unsigned)
KMM_PARSE_MIN_MAX(long)
KMM_PARSE_MIN_MAX(unsigned long)
KMM_PARSE_MIN_MAX(long long)
KMM_PARSE_MIN_MAX(unsigned long long)
KMM_PARSE_MIN_MAX(float)
KMM_PARSE_MIN_MAX(double)
#undef KMM_PARSE_MIN_MAX

/* Loads and stores with cache hints; clang's own of these names are no templates and so are
 * preferred. */
template <typename T> __device__ T __ldcs(const T *from);
template <typename T> __device__ T __ldcg(const T *from);
template <typename T> __device__ T __ldca(const T *from);
template <typename T> __device__ T __ldcv(const T *from);
template <typename T> __device__ T __ldlu(const T *from);
template <typename T> __device__ void __stcs(T *to, T value);
template <typename T> __device__ void __stcg(T *to, T value);
template <typename T> __device__ void __stwb(T *to, T value);
template <typename T> __device__ void __stwt(T *to, T value);

/* Atomic operations with an order and a scope. */
enum {
    __NV_ATOMIC_RELAXED,
    __NV_ATOMIC_CONSUME,
    __NV_ATOMIC_ACQUIRE,
    __NV_ATOMIC_RELEASE,
    __NV_ATOMIC_ACQ_REL,
    __NV_ATOMIC_SEQ_CST
};
enum {
    __NV_THREAD_SCOPE_THREAD,
    __NV_THREAD_SCOPE_BLOCK,
    __NV_THREAD_SCOPE_CLUSTER,
    __NV_THREAD_SCOPE_DEVICE,
    __NV_THREAD_SCOPE_SYSTEM
};
template <typename T>
__device__ T __nv_atomic_load_n(const T *from, int order, int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename T>
__device__ void __nv_atomic_load(const T *from, T *to, int order,
                                 int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename T, typename V>
__device__ void __nv_atomic_store_n(T *to, V value, int order,
                                    int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename T>
__device__ void __nv_atomic_store(T *to, T *value, int order, int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename T, typename V>
__device__ T __nv_atomic_exchange_n(T *to, V value, int order,
                                    int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename T>
__device__ void __nv_atomic_exchange(T *to, T *value, T *old, int order,
                                     int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename T, typename V>
__device__ bool __nv_atomic_compare_exchange_n(T *to, T *expected, V value, bool weak, int success,
                                               int failure, int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename T>
__device__ bool __nv_atomic_compare_exchange(T *to, T *expected, T *value, bool weak, int success,
                                             int failure, int scope = __NV_THREAD_SCOPE_SYSTEM);
#define KMM_PARSE_FETCH(name)                                                                      \
    template <typename T, typename V>                                                              \
    __device__ T __nv_atomic_fetch_##name(T *to, V value, int order,                               \
                                          int scope = __NV_THREAD_SCOPE_SYSTEM);                   \
    template <typename T, typename V>                                                              \
    __device__ void __nv_atomic_##name(T *to, V value, int order,                                  \
                                       int scope = __NV_THREAD_SCOPE_SYSTEM);
KMM_PARSE_FETCH(add)
KMM_PARSE_FETCH(sub)
KMM_PARSE_FETCH(and)
KMM_PARSE_FETCH(or)
KMM_PARSE_FETCH(xor)
KMM_PARSE_FETCH(min)
KMM_PARSE_FETCH(max)
#undef KMM_PARSE_FETCH
__device__ void __nv_atomic_thread_fence(int order, int scope = __NV_THREAD_SCOPE_SYSTEM);

#endif
