/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of a program that has a default stream for each thread are those of one that has not,
 * by other names (calls.h): jumps, since what they are given is the same. */
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
