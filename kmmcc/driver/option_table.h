/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the real compilers. */
#ifndef KMMCC_DRIVER_OPTION_TABLE_H
#define KMMCC_DRIVER_OPTION_TABLE_H

#include <stdbool.h>

#include "base/options.h"

/* The forms in which an option takes its value. */
typedef enum value {
    VALUE_NONE,
    VALUE_NEXT,  /* -name value, -name=value */
    VALUE_JOINED /* -name value, -namevalue */
} option_value_t;
/* Its name for gcc and nvcc, which do not have it. hipcc and clang get it as it is. */
#define OF_HIP "(hip)"

typedef struct option {
    const char *name;
    option_value_t value_form;
    role_t role;
    bool nvcc_only;
    const char *host;  /* its name for gcc and clang; NULL: the same; "": none */
    const char *parse; /* its name for parsing with clang; NULL: not needed */
} option_t;

/* Returns what follows the prefix in the text; NULL if the text begins otherwise. */
const char *option_rest(const char *text, const char *prefix);
/* Returns the option with the longest name that fits the word. *value is NULL if the value is the
 * next word. */
const option_t *option_find(const char *word, const char **value);
/* True if an option that is not in the table changes types, the language, or which instructions the
 * program may ask for, and clang knows it by the same name. */
bool option_is_for_parsing(const char *word);
/* True if the option changes types or literals, and clang has nothing like it. */
bool option_is_beyond_clang(const char *word);

#endif
