/* SPDX-License-Identifier: Apache-2.0 */
/* The size of types, as LLVM writes them. */
#ifndef KMMCC_AMD_TYPE_H
#define KMMCC_AMD_TYPE_H

#include <stddef.h>

/* Returns the bytes that a load or store of the type at the beginning of the text accesses; 0: that
 * is not known. *length: the bytes of the type's text. The module `ir` says what a struct's name
 * stands for. */
unsigned type_bytes(const char *ir, const char *text, size_t *length);

#endif
