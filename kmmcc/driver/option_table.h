/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the real compilers. */
#ifndef KMMCC_DRIVER_OPTION_TABLE_H
#define KMMCC_DRIVER_OPTION_TABLE_H

#include <stdbool.h>

#include "base/options.h"

/* How an option takes its value. */
typedef enum value {
    VALUE_NONE,
    VALUE_NEXT,  /* -name value, -name=value */
    VALUE_JOINED /* -name value, -namevalue */
} option_value_t;
/* Stays as it is for hipcc and clang, and has no use for gcc and nvcc. */
#define OF_HIP "(hip)"

typedef struct option {
    const char *name;
    option_value_t value_form;
    role_t role;
    bool nvcc_only;
    const char *host;  /* its name for gcc and clang; NULL: the same; "": none */
    const char *parse; /* its name for parsing with clang; NULL: not needed */
} option_t;

/* What follows the prefix; NULL: the text begins otherwise. */
const char *option_rest(const char *text, const char *prefix);
/* The option with the longest name that fits the word; *value is NULL where it is the next word. */
const option_t *option_find(const char *word, const char **value);

#endif
