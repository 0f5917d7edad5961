/* SPDX-License-Identifier: Apache-2.0 */
/* Response files. */
#ifndef KMMCC_DRIVER_RESPONSE_H
#define KMMCC_DRIVER_RESPONSE_H

#include <stdbool.h>

#include "base/list.h"

/* Adds the words of the file to the list. False if the file cannot be read. `depth` counts files
 * named by files. */
bool response_read(const char *path, list_t *out, int depth);
/* Adds the argument, or the words of the file that `@file` names; an `@file` that cannot be read is
 * an argument like any other, as for gcc. */
void response_expand(const char *argument, list_t *out, int depth);
/* Returns the file that nvcc's option for response files names; NULL if argv[index] is another
 * option. */
const char *response_option(char **argv, int index, int argc, bool *takes_next);

#endif
