/* SPDX-License-Identifier: Apache-2.0 */
/* Texts that are written piece by piece into memory of a fixed size. */
#ifndef KMM__BASE_TEXT_H
#define KMM__BASE_TEXT_H

#include <stddef.h>

typedef struct kmm__text {
    char *out;
    size_t size, length; /* size: of out, at least 1; length: without the 0 at the end */
} kmm__text_t;

/* Appends a formatted piece; what does not fit is cut off. glibc's vsnprintf neither allocates nor
 * locks for integers, strings and characters, so signal handlers may call this with those. */
void kmm__text_say(kmm__text_t *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
