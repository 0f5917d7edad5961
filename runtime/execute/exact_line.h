/* SPDX-License-Identifier: Apache-2.0 */
/* The source line of an instruction. */
#ifndef KMM__EXECUTE_EXACT_LINE_H
#define KMM__EXECUTE_EXACT_LINE_H

#include <stddef.h>

/* Writes "file:line" of the instruction before `pc` to out, by addr2line. Writes "program+0x1234"
 * if there is no addr2line or no debug information. */
void kmm__exact_line(const void *pc, char *out, size_t size);

#endif
