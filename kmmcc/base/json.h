/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON (RFC 8259), indented. */
#ifndef KMMCC_BASE_JSON_H
#define KMMCC_BASE_JSON_H

#include <stdbool.h>

#include "base/text.h"

enum { JSON_DEPTH = 32 };

/* Zeroed: an empty document. */
typedef struct json {
    text_t out;
    int depth;
    bool filled[JSON_DEPTH]; /* what is open has a member */
    char close[JSON_DEPTH];
} json_t;

/* Each function adds a member with the name to the object that is open, or, where the name is NULL,
 * an element to the array that is open. */

/* Opens an object or an array, which json_end closes. */
void json_object(json_t *j, const char *name);
void json_array(json_t *j, const char *name);
void json_end(json_t *j);
/* A string, or null. Bytes that are no UTF-8 become U+FFFD. */
void json_string(json_t *j, const char *name, const char *text);
void json_number(json_t *j, const char *name, long long value);
void json_bool(json_t *j, const char *name, bool value);

#endif
