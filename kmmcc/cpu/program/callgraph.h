/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call graph: functions and macros, and the names in them. Functions are told apart by name
 * alone, so what is true of one overload is assumed of all.
 */
#ifndef KMMCC_CPU_PROGRAM_CALLGRAPH_H
#define KMMCC_CPU_PROGRAM_CALLGRAPH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/source.h"
#include "cpu/program/program.h"

/* True if the word is in the list. */
bool list_has(const list_t *l, const char *word);
/* Adds the names, the last of which is followed by NULL. */
void list_add_all(list_t *l, const char *const *names);
/* Adds the names in [begin, end) to those of the definition. */
void definition_read(definition_t *b, const source_t *s, size_t begin, size_t end);
/* Adds a definition of this name, with no names in it, to the program. */
definition_t *definition_add(program_t *h, const char *name);
/* True if one of the names is in the definition. */
bool definition_uses(const definition_t *b, const list_t *names);
/* Returns `names`, and the names of all definitions that use one of them, directly or through
 * others. Kernels are left out unless `kernels_too`. */
list_t callgraph_reaching(const program_t *h, list_t names, bool kernels_too);
/* True if kernels can call a device function of this name by its name. */
bool callgraph_has_callee(const program_t *h, const char *name);
/* Adds the names of the functions and macros that `from` reaches to `reached`. Kernels are left
 * out. */
void callgraph_add_reached(const program_t *h, const definition_t *from, list_t *reached);

#endif
