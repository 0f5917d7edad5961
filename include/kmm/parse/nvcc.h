/* SPDX-License-Identifier: Apache-2.0 */
/* nvcc's declarations beyond CUDA's headers, for kmmcc's parser. Only declarations: nothing here is
 * compiled. */
#ifndef KMM_PARSE_NVCC_H
#define KMM_PARSE_NVCC_H

#include <new>
#include <time.h>
#ifndef __CLANG_CUDA_WRAPPERS_NEW /* clang's own additions are not found by every libclang */
#define __CLANG_CUDA_WRAPPERS_NEW /* a clang that finds them would define all this again */
__device__ inline void *operator new(__SIZE_TYPE__ size) { return ::malloc(size ? size : 1); }
__device__ inline void *operator new[](__SIZE_TYPE__ size) { return ::operator new(size); }
__device__ inline void operator delete(void *object) noexcept { ::free(object); }
__device__ inline void operator delete[](void *object) noexcept { ::free(object); }
__device__ inline void *operator new(__SIZE_TYPE__, void *place) noexcept { return place; }
__device__ inline void *operator new[](__SIZE_TYPE__, void *place) noexcept { return place; }
__device__ inline void operator delete(void *, void *) noexcept {}
__device__ inline void operator delete[](void *, void *) noexcept {}
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
template <typename kmm_T> __device__ kmm_T __ldcs(const kmm_T *from);
template <typename kmm_T> __device__ kmm_T __ldcg(const kmm_T *from);
template <typename kmm_T> __device__ kmm_T __ldca(const kmm_T *from);
template <typename kmm_T> __device__ kmm_T __ldcv(const kmm_T *from);
template <typename kmm_T> __device__ kmm_T __ldlu(const kmm_T *from);
template <typename kmm_T> __device__ void __stcs(kmm_T *to, kmm_T value);
template <typename kmm_T> __device__ void __stcg(kmm_T *to, kmm_T value);
template <typename kmm_T> __device__ void __stwb(kmm_T *to, kmm_T value);
template <typename kmm_T> __device__ void __stwt(kmm_T *to, kmm_T value);

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
template <typename kmm_T>
__device__ kmm_T __nv_atomic_load_n(const kmm_T *from, int order,
                                    int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename kmm_T>
__device__ void __nv_atomic_load(const kmm_T *from, kmm_T *to, int order,
                                 int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename kmm_T, typename kmm_V>
__device__ void __nv_atomic_store_n(kmm_T *to, kmm_V value, int order,
                                    int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename kmm_T>
__device__ void __nv_atomic_store(kmm_T *to, kmm_T *value, int order,
                                  int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename kmm_T, typename kmm_V>
__device__ kmm_T __nv_atomic_exchange_n(kmm_T *to, kmm_V value, int order,
                                        int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename kmm_T>
__device__ void __nv_atomic_exchange(kmm_T *to, kmm_T *value, kmm_T *old, int order,
                                     int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename kmm_T, typename kmm_V>
__device__ bool __nv_atomic_compare_exchange_n(kmm_T *to, kmm_T *expected, kmm_V value, bool weak,
                                               int success, int failure,
                                               int scope = __NV_THREAD_SCOPE_SYSTEM);
template <typename kmm_T>
__device__ bool __nv_atomic_compare_exchange(kmm_T *to, kmm_T *expected, kmm_T *value, bool weak,
                                             int success, int failure,
                                             int scope = __NV_THREAD_SCOPE_SYSTEM);
#define KMM_PARSE_FETCH(name)                                                                      \
    template <typename kmm_T, typename kmm_V>                                                      \
    __device__ kmm_T __nv_atomic_fetch_##name(kmm_T *to, kmm_V value, int order,                   \
                                              int scope = __NV_THREAD_SCOPE_SYSTEM);               \
    template <typename kmm_T, typename kmm_V>                                                      \
    __device__ void __nv_atomic_##name(kmm_T *to, kmm_V value, int order,                          \
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
