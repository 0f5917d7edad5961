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
toolchain_named(const char *name); /* of --compiler= or -ccbin; an error if there is none */
compiler_t toolchain_c(void);
compiler_t toolchain_cxx(void);
compiler_t toolchain_nvcc(void);
compiler_t toolchain_hipcc(void);
const char *toolchain_cuda(void); /* the folder of the CUDA toolkit; NULL without one */
const char *
toolchain_rocm(void); /* the folder in which HIP's headers are as include/hip; NULL without them */
/* Returns the name of the compiler as which this program was called, through a link named nvcc, cc,
 * g++ ...; NULL if it was called as kmmcc. */
const char *toolchain_called_as(const char *argv0);

#endif
