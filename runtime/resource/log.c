/* SPDX-License-Identifier: Apache-2.0 */
/* Writes a line of CSV for each call: Thread,Time,Action,Pointer,Size,Stream. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "resource/ledger.h"

typedef struct logging {
    kmm__ledger_t ledger;
    pthread_mutex_t lock; /* guards the file, and so the order of its lines */
    FILE *file;
} logging_t;

/* Writes one line. The caller holds the lock. */
static void line(logging_t *l, const char *action, const void *p, size_t bytes, kmm_stream_t stream)
{
    struct timespec now;
    struct tm local;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &local);
    fprintf(l->file, "%ld,%02d:%02d:%02d.%06ld,%s,0x%zx,%zu,0x%zx\n", syscall(SYS_gettid),
            local.tm_hour, local.tm_min, local.tm_sec, now.tv_nsec / 1000, action, (size_t)p, bytes,
            (size_t)stream);
}

static int logging_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                            void **out)
{
    logging_t *l = (logging_t *)r;
    int status = kmm__ledger_allocate(r, bytes, alignment, stream, out);
    pthread_mutex_lock(&l->lock);
    line(l, status ? "allocate failure" : "allocate", *out, bytes, stream);
    pthread_mutex_unlock(&l->lock);
    return status;
}

/* Writes the line before it frees the memory. So a pointer's next allocation is logged after its
 * free. */
static int logging_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream)
{
    logging_t *l = (logging_t *)r;
    size_t size;
    int status = kmm__ledger_take(r, p, bytes, &size);
    if (status)
        return status;
    pthread_mutex_lock(&l->lock);
    line(l, "free", p, size, stream);
    pthread_mutex_unlock(&l->lock);
    status = kmm__resource_give_back(r->upstream, p, size, stream);
    if (status)
        kmm__ledger_return(r, p, size);
    return status;
}

static int logging_destroy(kmm_resource_t *r)
{
    logging_t *l = (logging_t *)r;
    const int flushed = kmm_logging_flush(r);
    fclose(l->file);
    pthread_mutex_destroy(&l->lock);
    const int left = kmm__ledger_destroy(r);
    return flushed ? flushed : left;
}

static const kmm__resource_ops_t logging_ops = {
    .allocate = logging_allocate,
    .deallocate = logging_deallocate,
    .size = kmm__ledger_size,
    .usage = kmm__pass_usage,
    .destroy = logging_destroy,
};

KMM__API int kmm_logging_flush(kmm_resource_t *r)
{
    if (!r || r->ops != &logging_ops)
        return kmm__resource_fail(KMM_E_INVALID, "logging_flush: no logging resource");
    logging_t *l = (logging_t *)r;
    pthread_mutex_lock(&l->lock);
    bool fails = fflush(l->file) != 0 || ferror(l->file);
    pthread_mutex_unlock(&l->lock);
    return fails ? kmm__resource_fail(KMM_E_IO, "%s: the log could not be written", r->name) : 0;
}

KMM__API int kmm_logging_resource_create(kmm_resource_t *upstream, const char *path,
                                         kmm_resource_t **out)
{
    if (!upstream || !path || !out)
        return kmm__resource_fail(KMM_E_INVALID,
                                  "logging: no upstream, no path, or nowhere to put the resource");
    kmm_resource_t *r;
    int status = kmm__adaptor_create(&logging_ops, "logging", sizeof(logging_t), upstream, &r);
    if (status)
        return status;
    logging_t *l = (logging_t *)r;
    l->file = fopen(path, "we");
    if (!l->file) {
        free(l);
        return kmm__resource_fail(KMM_E_IO, "logging: %s cannot be written", path);
    }
    pthread_mutex_init(&l->lock, NULL);
    fputs("Thread,Time,Action,Pointer,Size,Stream\n", l->file);
    *out = r;
    return 0;
}
