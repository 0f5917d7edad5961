/* SPDX-License-Identifier: Apache-2.0 */
/* The names of kmmcc's warnings. */
#ifndef KMMCC_BASE_WARNING_H
#define KMMCC_BASE_WARNING_H

#include <stdbool.h>
#include <stddef.h>

typedef struct warning {
    const char *name, *what;
    bool is_off; /* unless the command line turns it on */
} warning_t;

/* All of them; *count: how many. */
const warning_t *warning_all(size_t *count);
/* The warning of this name; NULL: there is none. */
const warning_t *warning_find(const char *name, size_t length);
/* Returns the name in "[-Wkmm-name]" or "[-Werror,-Wkmm-name]" at the end of a message's text. NULL
 * without one. `*plain` is set to how long the text before that is. */
const char *warning_in(const char *text, size_t *length, size_t *plain);
void warning_list(void); /* on stdout */

#endif
