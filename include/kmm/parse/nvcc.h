/* SPDX-License-Identifier: Apache-2.0 */
/* What nvcc declares beyond CUDA's headers, for kmmcc's parser. Only declarations: nothing here is compiled. */
#ifndef KMM_PARSE_NVCC_H
#define KMM_PARSE_NVCC_H

#define KMM_PARSE_MIN_MAX(type) \
    __host__ type min(type a, type b); \
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

/* Loads and stores with cache hints; clang's own of these names are no templates and so are preferred. */
template <typename T> __device__ T __ldcs(const T *from);
template <typename T> __device__ T __ldcg(const T *from);
template <typename T> __device__ T __ldca(const T *from);
template <typename T> __device__ T __ldcv(const T *from);
template <typename T> __device__ T __ldlu(const T *from);
template <typename T> __device__ void __stcs(T *to, T value);
template <typename T> __device__ void __stcg(T *to, T value);
template <typename T> __device__ void __stwb(T *to, T value);
template <typename T> __device__ void __stwt(T *to, T value);

#endif
