/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the definitions, kernels, callees and variables of a program: functions by clang, macros
 * and variables by their tokens.
 */
#ifndef KMMCC_CPU_PROGRAM_SCAN_H
#define KMMCC_CPU_PROGRAM_SCAN_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "cpu/program/program.h"
#include "cpu/program/tokens.h"

/* True for functions, member functions, and templates of functions. */
bool scan_is_function(enum CXCursorKind k);
/* Fills in the program whose main file is h->u. Returns the tokens of each of its files, in the
 * order of the units. */
tokens_t *program_scan(program_t *h);

#endif
