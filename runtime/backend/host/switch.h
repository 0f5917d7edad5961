/* SPDX-License-Identifier: Apache-2.0 */
/* Switches between stacks. */
#ifndef KMM__BACKEND_HOST_SWITCH_H
#define KMM__BACKEND_HOST_SWITCH_H

#include <stddef.h>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
typedef ucontext_t kmm__context_t;
#else
typedef void *kmm__context_t; /* the stack pointer; saved registers lie on the stack */
#endif

/* Makes a context that calls entry() on the stack [base, base + bytes). entry never returns. */
void kmm__context_init(kmm__context_t *c, void *base, size_t bytes, void (*entry)(void));
/* Saves the running context in *from and goes on with *to. */
void kmm__context_switch(kmm__context_t *from, kmm__context_t *to);

#endif
