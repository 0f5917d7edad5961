/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that copy between memory and files or sockets. A link with -fkmm-check leads calls
 * of them here (instrument/transfer.h). */
#include "instrument/transfer.h"

#include <stddef.h>
#include <stdint.h>

#include "execute/exact.h"

/* All arguments of these functions are pointers and integers, which are passed on as they are. */
typedef uintptr_t word_t;

#define PC __builtin_return_address(0)

#define IN(name, buffer, bytes)                                                                    \
    __attribute__((weak)) intptr_t __real_##name(word_t a, word_t b, word_t c, word_t d, word_t e, \
                                                 word_t f);                                        \
    intptr_t __wrap_##name(word_t a, word_t b, word_t c, word_t d, word_t e, word_t f);            \
    intptr_t __wrap_##name(word_t a, word_t b, word_t c, word_t d, word_t e, word_t f)             \
    {                                                                                              \
        intptr_t result = __real_##name(a, b, c, d, e, f);                                         \
        if (result > 0)                                                                            \
            kmm__exact_access((const void *)(buffer), (size_t)(bytes), KMM__EXACT_STORE, PC);      \
        return result;                                                                             \
    }

#define OUT(name, buffer, bytes)                                                                   \
    __attribute__((weak)) intptr_t __real_##name(word_t a, word_t b, word_t c, word_t d, word_t e, \
                                                 word_t f);                                        \
    intptr_t __wrap_##name(word_t a, word_t b, word_t c, word_t d, word_t e, word_t f);            \
    intptr_t __wrap_##name(word_t a, word_t b, word_t c, word_t d, word_t e, word_t f)             \
    {                                                                                              \
        kmm__exact_access((const void *)(buffer), (size_t)(bytes), KMM__EXACT_LOAD, PC);           \
        return __real_##name(a, b, c, d, e, f);                                                    \
    }

KMM_TRANSFER_CALLS(IN, OUT)
