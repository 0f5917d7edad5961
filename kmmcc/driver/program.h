/* SPDX-License-Identifier: Apache-2.0 */
/* The command that links a program. */
#ifndef KMMCC_DRIVER_PROGRAM_H
#define KMMCC_DRIVER_PROGRAM_H

#include <stdbool.h>

#include "base/list.h"
#include "driver/plan.h"

/* Adds what kmm needs to the command of a link. */
void program_add_flags(const plan_t *p, list_t *command);
/* True if the command does not make a program, and another compiler than nvcc would have to do what
 * nvcc does for -lib or -dlink. */
bool program_links_for_nvcc(const plan_t *p);
/* Links the objects of the plan. Returns the exit status. */
int program_link(const plan_t *p);

#endif
