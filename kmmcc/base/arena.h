/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that lives until kmmcc exits; nothing in it is freed by itself. */
#ifndef KMMCC_BASE_ARENA_H
#define KMMCC_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

/* Zeroed memory, aligned to 16 bytes; never NULL: kmmcc exits when memory is exhausted. */
void *arena_alloc(size_t bytes);
char *arena_vprintf(const char *format, va_list list);
char *arena_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The `length` bytes at `text`, followed by a NUL. */
char *arena_copy(const char *text, size_t length);

/* A growable array with room for one more item: `items` itself while count < *capacity, otherwise a
 * copy of its `count` items of `size` bytes with twice the room. */
void *arena_grow(void *items, int count, int *capacity, size_t size);

#endif
