/* SPDX-License-Identifier: Apache-2.0 */
/* The bound of page-locked memory, and kept buffers. Host buffers of freed arrays are kept as they
 * are, locked, for later arrays of the same size. Touching and locking a GB takes as long as
 * copying it ten times, and programs that make temporary arrays make the same ones again. The
 * oldest are freed first when there is no room for others. */
#include "memory/host/locked.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/units.h"

enum { PART_KEPT = 8 }; /* 1/PART_KEPT of the bound may be kept for later arrays */

/* A kept buffer. */
typedef struct kept {
    char *host;
    size_t bytes; /* bytes of the array */
    uint64_t locked;
    kmm__host_block_t *blocks;
    uint32_t block_count;
    uint64_t block_bytes;
    struct kept *next;
} kept_t;

struct kmm__locked {
    pthread_mutex_t lock; /* no other lock is taken while it is held */
    bool is_given;        /* the program has given the bound */
    uint64_t bound, locked, kept_bytes;
    kept_t *kept; /* list, the newest first */
};

/* Three quarters of the machine's memory, which grows on some virtual machines while they run. */
static uint64_t usual_bound(void)
{
    struct sysinfo s;
    return sysinfo(&s) ? UINT64_MAX : (uint64_t)s.totalram * s.mem_unit / 4 * 3;
}

void kmm__locked_start(kmm_runtime_t *rt, bool is_given, uint64_t bound)
{
    struct kmm__locked *p = rt->memory->locked = kmm__alloc(sizeof(*p));
    pthread_mutex_init(&p->lock, NULL);
    p->is_given = is_given;
    p->bound = is_given ? bound : usual_bound();
    kmm__log_info("page-locks at most %s of host memory", KMM__BYTES(p->bound));
}

/* ---- Kept buffers ---- */

static void kept_free(kept_t *e)
{
    for (uint32_t k = 0; k < e->block_count; k++)
        if (e->blocks[k].locked_by)
            e->blocks[k].locked_by->host_unregister(e->blocks[k].locked_by,
                                                    e->host + k * e->block_bytes);
    munmap(e->host, kmm__whole_pages(e->bytes));
    free(e->blocks);
    free(e);
}

/* Locked: removes a buffer from the list. */
static kept_t *kept_take(struct kmm__locked *p, kept_t **at)
{
    kept_t *e = *at;
    *at = e->next;
    p->kept_bytes -= e->bytes;
    return e;
}

/* Locked: removes the oldest buffer. NULL: none is kept. */
static kept_t *oldest_take(struct kmm__locked *p)
{
    kept_t **at = &p->kept;
    while (*at && (*at)->next)
        at = &(*at)->next;
    return *at ? kept_take(p, at) : NULL;
}

/* Not locked: frees kept buffers, the oldest first, until at most `most` bytes are kept. */
static void kept_trim(struct kmm__locked *p, uint64_t most)
{
    pthread_mutex_lock(&p->lock);
    while (p->kept_bytes > most) {
        kept_t *e = oldest_take(p);
        pthread_mutex_unlock(&p->lock);
        uint64_t locked = e->locked;
        kept_free(e);
        pthread_mutex_lock(&p->lock);
        p->locked -= locked;
    }
    pthread_mutex_unlock(&p->lock);
}

void kmm__locked_stop(kmm_runtime_t *rt)
{
    struct kmm__locked *p = rt->memory->locked;
    if (!p)
        return;
    kept_trim(p, 0);
    pthread_mutex_destroy(&p->lock);
    free(p);
    rt->memory->locked = NULL;
}

bool kmm__buffers_keep(kmm__array_t *a, uint64_t locked)
{
    struct kmm__locked *p = a->runtime->memory->locked;
    if (!p || !a->host || a->is_mapped || a->pages || a->host == a->base)
        return false;
    kept_t *e = kmm__alloc(sizeof(*e));
    *e = (kept_t){a->host, a->bytes, locked, a->blocks, a->block_count, a->block_bytes, NULL};
    pthread_mutex_lock(&p->lock);
    uint64_t most = p->bound / PART_KEPT;
    bool keeps = locked > 0 && a->bytes <= most;
    if (keeps) {
        e->next = p->kept;
        p->kept = e;
        p->kept_bytes += e->bytes;
    }
    pthread_mutex_unlock(&p->lock);
    if (!keeps) {
        free(e);
        return false;
    }
    a->host = NULL;
    a->blocks = NULL;
    a->block_count = 0;
    kept_trim(p, most);
    return true;
}

bool kmm__buffers_reuse(kmm__array_t *a)
{
    struct kmm__locked *p = a->runtime->memory->locked;
    kept_t *e = NULL;
    pthread_mutex_lock(&p->lock);
    kept_t **at = &p->kept;
    while (*at && (*at)->bytes != a->bytes)
        at = &(*at)->next;
    if (*at)
        e = kept_take(p, at);
    pthread_mutex_unlock(&p->lock);
    if (!e)
        return false;
    a->host = e->host;
    a->blocks = e->blocks;
    a->block_count = e->block_count;
    a->block_bytes = e->block_bytes;
    free(e);
    return true;
}

/* ---- The bound ---- */

bool kmm__pagelock_reserve(kmm_runtime_t *rt, uint64_t bytes)
{
    struct kmm__locked *p = rt->memory->locked;
    pthread_mutex_lock(&p->lock);
    if (!p->is_given && p->locked + bytes > p->bound)
        p->bound = usual_bound();
    bool fits = p->bound > 0 && p->locked + bytes <= p->bound;
    uint64_t kept = p->kept_bytes;
    p->locked += fits ? bytes : 0;
    pthread_mutex_unlock(&p->lock);
    if (fits || kept == 0)
        return fits;
    kept_trim(p, kept > bytes ? kept - bytes : 0);
    return kmm__pagelock_reserve(rt, bytes);
}

void kmm__pagelock_unreserve(kmm_runtime_t *rt, uint64_t bytes)
{
    pthread_mutex_lock(&rt->memory->locked->lock);
    rt->memory->locked->locked -= bytes;
    pthread_mutex_unlock(&rt->memory->locked->lock);
}
