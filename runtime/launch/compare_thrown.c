/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps type and value of the exceptions that a compared launch throws, as text. */
#include "launch/compare_thrown.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kmm/launch.h>

#include "base/alloc.h"
#include "base/api.h"
#include "execute/exact.h"
#include "launch/nodes.h"
#include "launch/thrown_text.h"

/* An exception. */
typedef struct thrown {
    bool is;
    kmm_chunk_t chunk;
    char *type, *value; /* owned; value NULL: it is not known how to read it */
} thrown_t;

/* The launch that is compared, guarded by `lock`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int64_t of_thread, after_launch; /* of_thread 0: none is compared */
static kmm__thrown_by_t now;
static thrown_t thrown[2]; /* by kmm__thrown_by_t */

static char *copy_of(const char *text)
{
    const size_t bytes = text ? strlen(text) + 1 : 0;
    return text ? memcpy(kmm__alloc(bytes), text, bytes) : NULL;
}

static void forget(thrown_t *t)
{
    free(t->type);
    free(t->value);
    *t = (thrown_t){.is = false};
}

static bool is_before(const kmm_chunk_t *a, const kmm_chunk_t *b)
{
    if (a->launch != b->launch)
        return a->launch < b->launch;
    for (int k = KMM_MAX_SPLIT - 1; k >= 0; k--)
        if (a->begin[k] != b->begin[k])
            return a->begin[k] < b->begin[k];
    return false;
}

/* Locked. */
static bool is_compared(const kmm_chunk_t *chunk)
{
    return of_thread && chunk->thread == of_thread && chunk->launch > after_launch;
}

KMM__API int kmm_launch_threw(const kmm_chunk_t *chunk)
{
    kmm__exact_threw();
    if (kmm__nodes_hooks)
        kmm__nodes_hooks->threw();
    pthread_mutex_lock(&lock);
    const bool is = is_compared(chunk);
    pthread_mutex_unlock(&lock);
    return is;
}

KMM__API int kmm_launch_thrown(const kmm_chunk_t *chunk, const char *type, const char *value,
                               const void *object)
{
    pthread_mutex_lock(&lock);
    const bool is = is_compared(chunk);
    thrown_t *t = &thrown[now];
    if (is && (!t->is || is_before(chunk, &t->chunk))) {
        forget(t);
        *t = (thrown_t){true, *chunk, copy_of(type ? type : "?"), copy_of(value)};
        if (!value && type && object)
            t->value = kmm__thrown_text(type, object);
    }
    const bool is_dropped = is && now == KMM__THROWN_WHOLE;
    pthread_mutex_unlock(&lock);
    return is_dropped;
}

void kmm__thrown_begin(int64_t after)
{
    pthread_mutex_lock(&lock);
    of_thread = kmm_thread_number();
    after_launch = after;
    now = KMM__THROWN_WHOLE;
    pthread_mutex_unlock(&lock);
}

void kmm__thrown_next(kmm__thrown_by_t by)
{
    pthread_mutex_lock(&lock);
    now = by;
    pthread_mutex_unlock(&lock);
}

void kmm__thrown_end(void)
{
    pthread_mutex_lock(&lock);
    of_thread = 0;
    forget(&thrown[KMM__THROWN_WHOLE]);
    forget(&thrown[KMM__THROWN_CHUNKS]);
    pthread_mutex_unlock(&lock);
}

static kmm__thrown_t compare(const thrown_t *whole, const thrown_t *chunks, char *text, size_t size)
{
    if (!whole->is && !chunks->is)
        return KMM__THROWN_NOTHING;
    if (!whole->is || !chunks->is)
        snprintf(text, size,
                 chunks->is ? "its chunks throw an exception, and the launch as a whole does not"
                            : "the launch as a whole throws an exception, and its chunks do not");
    else if (strcmp(whole->type, chunks->type) != 0)
        snprintf(text, size,
                 "its chunks throw an exception of type '%s', and the launch as a whole one of "
                 "type '%s'",
                 chunks->type, whole->type);
    else if (!whole->value || !chunks->value) {
        snprintf(text, size, "%s", whole->type);
        return KMM__THROWN_UNKNOWN;
    } else if (strcmp(whole->value, chunks->value) != 0)
        snprintf(text, size,
                 "its chunks throw another exception than the launch as a whole: '%.200s' for "
                 "'%.200s', "
                 "of type '%s'",
                 chunks->value, whole->value, whole->type);
    else
        return KMM__THROWN_ALIKE;
    return KMM__THROWN_OTHERS;
}

kmm__thrown_t kmm__thrown_compare(char *text, size_t size)
{
    pthread_mutex_lock(&lock);
    const kmm__thrown_t found =
        compare(&thrown[KMM__THROWN_WHOLE], &thrown[KMM__THROWN_CHUNKS], text, size);
    pthread_mutex_unlock(&lock);
    return found;
}
