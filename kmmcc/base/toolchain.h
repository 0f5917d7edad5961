/* SPDX-License-Identifier: Apache-2.0 */
/* The real compilers, and the toolkits they belong to. */
#ifndef KMMCC_BASE_TOOLCHAIN_H
#define KMMCC_BASE_TOOLCHAIN_H

typedef enum family { FAMILY_GNU, FAMILY_CLANG, FAMILY_NVCC, FAMILY_HIPCC } family_t;
typedef struct compiler {
    const char *path;
    family_t family;
} compiler_t; /* path NULL: there is none */

compiler_t
/* compiler of --compiler= or -ccbin; reports an error if there is none */
toolchain_named(const char *name);
compiler_t toolchain_c(void);
compiler_t toolchain_cxx(void);
compiler_t toolchain_nvcc(void);
compiler_t toolchain_hipcc(void);
const char *toolchain_cuda(void); /* folder of the CUDA toolkit; NULL: there is none */
const char *
toolchain_rocm(void); /* folder that has HIP's headers in include/hip; NULL: there is none */
/* Returns the name of the compiler as which this program was called, through a link named nvcc, cc,
 * g++ and so on. NULL: it was called as kmmcc. */
const char *toolchain_called_as(const char *argv0);

#endif
