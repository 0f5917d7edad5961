/* SPDX-License-Identifier: Apache-2.0 */
/* The source line of an instruction, and the variable at an address. */
#ifndef KMM__EXECUTE_EXACT_LINE_H
#define KMM__EXECUTE_EXACT_LINE_H

#include <stddef.h>
#include <stdint.h>

/* Writes "file:line" of the instruction before `pc` to out, by addr2line. Writes "program+0x1234"
 * if there is no addr2line or no debug information. */
void kmm__exact_line(const void *pc, char *out, size_t size);

/* A variable of static storage. */
typedef struct kmm__variable {
    char name[128]; /* "'total'", or "at program+0x1234" if the name is not known */
    uintptr_t begin, end;
} kmm__variable_t;

/* Finds the variable at an address of the program or a library, by nm. Without a name it is the
 * aligned word there. */
void kmm__exact_variable(uintptr_t address, kmm__variable_t *out);

#endif
