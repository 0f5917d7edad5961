/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points for programs with a default stream for each thread. Their calls have other names
 * (calls.h) and the same arguments, so each entry point is a jump to the ordinary wrapper. */
#include "managed/calls.h"

#if defined(__x86_64__)
#define JUMP "jmp"
#elif defined(__aarch64__)
#define JUMP "b"
#endif

#define FORWARD(name, call)                                                                        \
    __asm__(".text\n"                                                                              \
            ".globl __wrap_" #name "\n"                                                            \
            ".type __wrap_" #name ",%function\n"                                                   \
            "__wrap_" #name ":\n"                                                                  \
            "    " JUMP " __wrap_" #call "\n"                                                      \
            ".size __wrap_" #name ",.-__wrap_" #name "\n");

KMM_CUDA_PER_THREAD_CALLS(FORWARD)
