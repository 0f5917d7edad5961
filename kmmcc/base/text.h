/* SPDX-License-Identifier: Apache-2.0 */
/* Growing text in the arena, and questions about strings. */
#ifndef KMMCC_BASE_TEXT_H
#define KMMCC_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct text {
    char *data; /* NUL-terminated; NULL until something is added, which may be "" */
    size_t length, capacity;
} text_t;
void text_add(text_t *t, const char *s, size_t length);
void text_printf(text_t *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the text as a C string literal. */
char *text_quoted(const char *text);
/* Returns how many bytes the character of UTF-8 at `s` has, and stores its number. 0: what is there
 * is no UTF-8. */
size_t text_utf8(const char *s, const char *end, uint32_t *code);
/* True if the name is in the list, which ends with NULL. */
bool text_is_one_of(const char *name, const char *const *list);

#endif
