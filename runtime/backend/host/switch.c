/* SPDX-License-Identifier: Apache-2.0 */
/* Switches between stacks. Registers that a call must preserve are saved on the stack that is left.
 */
#include "backend/host/switch.h"

#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

__asm__(".text\n"
        ".globl kmm__switch_stack\n"
        ".hidden kmm__switch_stack\n"
        ".type kmm__switch_stack,@function\n"
        "kmm__switch_stack:\n"
        "    pushq %rbp\n    pushq %rbx\n    pushq %r12\n    pushq %r13\n    pushq %r14\n    pushq "
        "%r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n    popq %r14\n    popq %r13\n    popq %r12\n    popq %rbx\n    popq %rbp\n"
        "    ret\n"
        ".size kmm__switch_stack,.-kmm__switch_stack\n");

enum {
    SAVED_WORDS = 8,
    ENTRY_WORD = 6
}; /* six registers, the return address, and a null return address above it */

#elif defined(__aarch64__)

__asm__(".text\n"
        ".globl kmm__switch_stack\n"
        ".hidden kmm__switch_stack\n"
        ".type kmm__switch_stack,%function\n"
        "kmm__switch_stack:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp]\n    stp x21, x22, [sp, #16]\n    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n    stp x27, x28, [sp, #64]\n    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n    str x9, [x0]\n    mov sp, x1\n"
        "    ldp x19, x20, [sp]\n    ldp x21, x22, [sp, #16]\n    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n    ldp x27, x28, [sp, #64]\n    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n    ret\n"
        ".size kmm__switch_stack,.-kmm__switch_stack\n");

enum { SAVED_WORDS = 20, ENTRY_WORD = 11 };

#endif

#if defined(__x86_64__) || defined(__aarch64__)

void kmm__switch_stack(void **from, void *to);

void kmm__context_init(kmm__context_t *c, void *base, size_t bytes, void (*entry)(void))
{
    uintptr_t top = ((uintptr_t)base + bytes) & ~(uintptr_t)15;
    uintptr_t *words = (uintptr_t *)top - SAVED_WORDS;
    memset(words, 0, SAVED_WORDS * sizeof(*words));
    words[ENTRY_WORD] = (uintptr_t)entry;
    *c = words;
}

void kmm__context_switch(kmm__context_t *from, kmm__context_t *to)
{
    kmm__switch_stack(from, *to);
}

#else

void kmm__context_init(kmm__context_t *c, void *base, size_t bytes, void (*entry)(void))
{
    getcontext(c);
    c->uc_stack.ss_sp = base;
    c->uc_stack.ss_size = bytes;
    c->uc_link = NULL;
    makecontext(c, entry, 0);
}

void kmm__context_switch(kmm__context_t *from, kmm__context_t *to)
{
    swapcontext(from, to);
}

#endif
