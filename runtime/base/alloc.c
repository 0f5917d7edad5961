/* SPDX-License-Identifier: Apache-2.0 */
/* Bookkeeping memory. The process ends if there is none. */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"

static void *or_die(void *p, size_t bytes)
{
    if (p || bytes == 0)
        return p;
    kmm__log(KMM__LOG_ERROR, "no host memory for %zu bytes of bookkeeping", bytes);
    abort();
}

void *kmm__alloc(size_t bytes)
{
    return or_die(calloc(1, bytes ? bytes : 1), bytes);
}

void *kmm__alloc_line(size_t bytes)
{
    enum { LINE = 64 };
    return or_die(aligned_alloc(LINE, (bytes + LINE - 1) & ~(size_t)(LINE - 1)), bytes);
}

void *kmm__grow_more(void *data, uint32_t *capacity, size_t size)
{
    *capacity = *capacity ? 2 * *capacity : 4;
    return or_die(realloc(data, *capacity * size), *capacity * size);
}

char *kmm__copy_text(const char *text)
{
    return text ? or_die(strdup(text), strlen(text) + 1) : NULL;
}
