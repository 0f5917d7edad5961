/* SPDX-License-Identifier: Apache-2.0 */
/* Text that grows, and JSON objects in it. */
#ifndef KMM__OBSERVE_JSON_H
#define KMM__OBSERVE_JSON_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Zeroed: an empty text. */
typedef struct kmm__json {
    char *text; /* not terminated; freed by free() */
    size_t length, capacity;
} kmm__json_t;

/* Bytes of the character at `text` in UTF-8; 0: it is none, or `text` ends there. */
size_t kmm__utf8_bytes(const char *text);

/* Makes room for `bytes` more bytes. */
void kmm__json_room(kmm__json_t *j, size_t bytes);

static inline void kmm__json_bytes(kmm__json_t *j, const char *text, size_t bytes)
{
    if (j->length + bytes > j->capacity)
        kmm__json_room(j, bytes);
    memcpy(j->text + j->length, text, bytes);
    j->length += bytes;
}

static inline void kmm__json_text(kmm__json_t *j, const char *text) /* as it is */
{
    kmm__json_bytes(j, text, strlen(text));
}

/* In quotes, escaped; NULL: "?". Each byte that belongs to no character becomes `?`. */
void kmm__json_string(kmm__json_t *j, const char *text);
void kmm__json_number(kmm__json_t *j, uint64_t n);
/* Nanoseconds as microseconds with three decimals. */
void kmm__json_micros(kmm__json_t *j, uint64_t ns);

/* `before` is what stands between the value and what precedes it, such as `,"ts":`. */
static inline void kmm__json_put_number(kmm__json_t *j, const char *before, uint64_t n)
{
    kmm__json_text(j, before);
    kmm__json_number(j, n);
}
static inline void kmm__json_put_micros(kmm__json_t *j, const char *before, uint64_t ns)
{
    kmm__json_text(j, before);
    kmm__json_micros(j, ns);
}
static inline void kmm__json_put_string(kmm__json_t *j, const char *before, const char *text)
{
    kmm__json_text(j, before);
    kmm__json_string(j, text);
}

#endif
