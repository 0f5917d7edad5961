/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call graph: functions and macros, and the names in them. Names are enough: what overloads
 * share is assumed of all of them.
 */
#ifndef KMMCC_CPU_PROGRAM_CALLGRAPH_H
#define KMMCC_CPU_PROGRAM_CALLGRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/source.h"
#include "cpu/program/program.h"

bool list_has(const list_t *l, const char *word);
void list_add_all(list_t *l, const char *const *names);
/* Adds the names in [begin, end) to those of the definition. */
void definition_read(definition_t *b, const source_t *s, size_t begin, size_t end);
definition_t *definition_add(program_t *h, const char *name);
/* Whether it has one of the names. */
bool definition_uses(const definition_t *b, const list_t *names);
/* `names`, and those of all definitions that use one of them, themselves or through others. */
list_t callgraph_reaching(const program_t *h, list_t names, bool kernels_too);
bool callgraph_has_callee(const program_t *h, const char *name);
/* The names of functions of the device that one reaches, and of macros between. */
void callgraph_add_reached(const program_t *h, const definition_t *from, list_t *reached);

#endif
