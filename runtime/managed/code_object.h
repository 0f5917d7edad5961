/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KMM__CODE_OBJECT_H
#define KMM__CODE_OBJECT_H

#include <stdint.h>

/* What a bundle of code for AMD GPUs, as the compiler registers it, says of a kernel. */
typedef enum kmm__code_result {
    KMM__CODE_FOUND,
    KMM__CODE_NO_KERNEL, /* no code in the bundle has one of that name */
    KMM__CODE_NO_CODE, /* the bundle has no code whose kernels can be read, as where it is compiled
                          when the program runs */
    KMM__CODE_COMPRESSED,
    KMM__CODE_NO_BUNDLE /* it is something else */
} kmm__code_result_t;

/* The sizes of the kernel's parameters, of which there is room for `capacity`; *count is how many
 * there are. */
kmm__code_result_t kmm__code_object_parameters(const void *bundle, const char *kernel,
                                               uint32_t *bytes, uint32_t capacity, uint32_t *count);

#endif
