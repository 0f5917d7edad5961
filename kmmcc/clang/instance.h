/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in templates: the instances of the templates around them, as clang makes them. */
#ifndef KMMCC_CLANG_INSTANCE_H
#define KMMCC_CLANG_INSTANCE_H

#include <clang-c/Index.h>
#include <stdbool.h>

#include "clang/unit.h"
#include "pragma/directive.h"

/* Where functions are looked into that may lead to instances. */
typedef enum reach { REACH_PROGRAM, REACH_LIBRARIES } reach_t;

/* True if the launch is in a template, so that each of its instances is a launch of its own. */
bool instance_is_open(const directive_t *d);
/* Finds the instances of all such launches: in what the functions of the program call or name, and
 * in what that calls or names. Some may not be found, such as those that only an explicit
 * instantiation makes. */
void instance_find(unit_t *main, reach_t reach);
/* Binds the directive to one of its instances: then the launch, its arguments and the expressions
 * of the pragma have the types that they have there. False: it cannot be bound. */
bool instance_enter(unit_t *u, directive_t *d, int number);
/* Binds the directive to the template again. */
void instance_leave(unit_t *u, directive_t *d);
/* Calls `visit` with each integer parameter of the templates around the launch that the launch can
 * name, and with its value in the instance. */
typedef void instance_visit_fn(void *context, const char *name, long long value);
void instance_values(const instance_t *i, instance_visit_fn *visit, void *context);
/* Returns the value of an integer that is a template argument of the function or class. */
long long instance_value(CXCursor instance, unsigned number);
/* Returns the definition that a function has its code from: its own, or that of the template of
 * which it is an instance. Null: it is not seen. */
CXCursor instance_code(CXCursor function);

#endif
