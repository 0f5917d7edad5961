/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of the parameters of kernels for AMD GPUs, read from the code that the compiler embeds in
 * the program. */
#ifndef KMM__CODE_OBJECT_H
#define KMM__CODE_OBJECT_H

#include <stdint.h>

/* Result of looking a kernel up in a bundle of code for AMD GPUs, in the form that the compiler
 * registers. */
typedef enum kmm__code_result {
    KMM__CODE_FOUND,
    KMM__CODE_NO_KERNEL, /* the bundle has code, but no kernel of that name */
    /* The bundle has no code whose kernels can be read, for example if it is compiled at run
     * time. */
    KMM__CODE_NO_CODE,
    KMM__CODE_COMPRESSED,
    KMM__CODE_NO_BUNDLE /* the data is not a bundle */
} kmm__code_result_t;

/* Stores the sizes of the kernel's parameters in `bytes`, at most `capacity` of them. *count
 * receives the number of parameters. */
kmm__code_result_t kmm__code_object_parameters(const void *bundle, const char *kernel,
                                               uint32_t *bytes, uint32_t capacity, uint32_t *count);

#endif
