/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns at host memory. At most `most` devices have a turn at once. A device keeps its turn while
 * copies of its own are under way; if other devices wait, it keeps it for at most turn_bytes bytes.
 * So links stay full and no device starves. Turns are given in the order in which they were asked
 * for.
 *
 * A thread that waits for a turn holds none. Devices that have one have copies on streams, which
 * wait only for what is done. So these copies end, and no circle of waiting can arise.
 */
#include "memory/host/links.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "memory/host/costs.h"
#include "memory/host/rates.h"
#include "memory/state.h"

enum { MANY_DEVICES = 4, SEEN_TIMES = 128 };

/* While turns change, links carry little in one direction or both. So one turn has many copies. */
static const uint64_t TURN_BYTES = (uint64_t)2 << 30;

typedef struct link {
    bool has_turn;
    uint32_t copies;  /* copies being enqueued or under way; the turn ends with the last */
    uint64_t bytes;   /* bytes copied in this turn */
    uint32_t waiting; /* threads that wait for a turn of this device */
    uint64_t number;  /* their number in the queue of devices */
} link_t;

struct kmm__links {
    pthread_mutex_t lock; /* no other lock is taken while it is held */
    pthread_cond_t changed;
    kmm__device_t *devices[KMM__MAX_DEVICES]; /* devices with memory of their own */
    uint32_t count;                           /* number of these devices */
    _Atomic uint32_t most;                    /* turns at once; `count`: no device waits */
    uint32_t turns;                           /* turns that are given now */
    _Atomic(enum links_state{LINKS_KNOWN, LINKS_UNKNOWN, LINKS_MEASURING}) state;
    uint64_t seen; /* bytes copied while LINKS_UNKNOWN */
    uint64_t turn_bytes;
    uint64_t next_number;
    link_t link[KMM__MAX_DEVICES]; /* index: the device's */
};

/* ---- Turns; locked ---- */

/* True if another device waits for a turn. */
static bool is_wanted(const struct kmm__links *p, const link_t *l)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const link_t *other = &p->link[p->devices[k]->index];
        if (other != l && other->waiting && !other->has_turn)
            return true;
    }
    return false;
}

static bool is_first(const struct kmm__links *p, const link_t *l)
{
    for (uint32_t k = 0; k < p->count; k++) {
        const link_t *other = &p->link[p->devices[k]->index];
        if (other != l && other->waiting && !other->has_turn && other->number < l->number)
            return false;
    }
    return true;
}

static bool may_copy(const struct kmm__links *p, const link_t *l)
{
    if (p->state == LINKS_MEASURING)
        return false;
    if (l->has_turn)
        return l->bytes < p->turn_bytes || !is_wanted(p, l);
    return p->turns < p->most && is_first(p, l);
}

static void await_turn(struct kmm__links *p, link_t *l)
{
    if (l->waiting++ == 0)
        l->number = p->next_number++;
    while (!may_copy(p, l))
        kmm__cond_wait(&p->changed, &p->lock);
    l->waiting--;
    if (l->has_turn)
        return;
    l->has_turn = true;
    l->bytes = 0;
    l->number = p->next_number++; /* for threads that still wait for the same device */
    p->turns++;
    pthread_cond_broadcast(&p->changed); /* the next device is the first in the queue now */
}

/* Measures how many turns are best, once so much has been copied that it matters. Nothing else
 * copies meanwhile. */
static void measure(struct kmm__links *p)
{
    bool measured = false;
    p->state = LINKS_MEASURING;
    while (p->turns)
        kmm__cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    uint32_t most = kmm__rates_measure(p->devices, p->count, &measured);
    if (measured)
        kmm__links_save(p->devices[0], p->count, most);
    pthread_mutex_lock(&p->lock);
    p->most = most;
    p->state = LINKS_KNOWN;
    pthread_cond_broadcast(&p->changed);
}

bool kmm__links_count(const kmm_runtime_t *rt)
{
    const struct kmm__links *p = rt->memory->links;
    return p && (p->state != LINKS_KNOWN || p->most < p->count);
}

bool kmm__links_enter(kmm__device_t *d, uint64_t bytes)
{
    struct kmm__links *p = d->runtime->memory->links;
    pthread_mutex_lock(&p->lock);
    if (p->state == LINKS_UNKNOWN) {
        p->seen += bytes;
        if (p->seen >= SEEN_TIMES * p->count * kmm__rates_bytes(d))
            measure(p);
    }
    bool counts = kmm__links_count(d->runtime);
    if (counts) {
        link_t *l = &p->link[d->index];
        await_turn(p, l);
        l->copies++;
        l->bytes += bytes;
    }
    pthread_mutex_unlock(&p->lock);
    return counts;
}

static void copied(void *arg, int status)
{
    kmm__device_t *d = arg;
    struct kmm__links *p = d->runtime->memory->links;
    link_t *l = &p->link[d->index];
    (void)status;
    pthread_mutex_lock(&p->lock);
    if (--l->copies == 0) {
        l->has_turn = false;
        p->turns--;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
}

void kmm__links_leave(kmm__device_t *d, kmm__stream_t *s)
{
    int error = d->backend->notify(s, copied, d);
    if (error)
        copied(d, error);
}

bool kmm__links_state(kmm_runtime_t *rt, uint32_t *most, uint32_t *count)
{
    if (!rt->memory->links)
        return false;
    *most = rt->memory->links->most;
    *count = rt->memory->links->count;
    return *most < *count;
}

/* ---- Making and end ---- */

static uint32_t devices_with_memory(const kmm_runtime_t *rt, kmm__device_t **out, bool *only_gpus)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < rt->device_count; k++) {
        if (rt->device[k]->space == KMM__HOST)
            continue;
        out[count++] = rt->device[k];
        *only_gpus &= rt->device[k]->backend->kind != KMM_KIND_HOST;
    }
    return count;
}

/* Reads "auto", "4" or, for tests, "4,65536", with the bytes of a turn. False: text is none of
 * these. */
static bool parse(const char *text, struct kmm__links *p, bool *measures)
{
    char *end;
    *measures = !text || !*text || !strcmp(text, "auto");
    if (*measures)
        return true;
    if (!isdigit((unsigned char)*text))
        return false;
    unsigned long most = strtoul(text, &end, 10);
    if (*end && *end != ',')
        return false;
    p->most = most && most < p->count ? (uint32_t)most : p->count;
    if (!*end)
        return true;
    text = end + 1;
    p->turn_bytes = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end;
}

int kmm__links_start(kmm_runtime_t *rt)
{
    const char *text = getenv("KMM_LINKS");
    bool measures, only_gpus = true;
    struct kmm__links *p = kmm__alloc(sizeof(*p));
    *p = (struct kmm__links){.turn_bytes = TURN_BYTES};
    p->count = devices_with_memory(rt, p->devices, &only_gpus);
    p->most = p->count;
    bool ok = parse(text, p, &measures);
    uint32_t known = 0;
    measures = ok && measures && only_gpus && p->count > MANY_DEVICES;
    if (measures && kmm__links_load(p->devices[0], p->count, &known))
        p->most = known;
    else if (measures)
        p->state = LINKS_UNKNOWN;
    if (!ok || (p->state == LINKS_KNOWN && p->most >= p->count)) {
        free(p);
        return ok ? 0
                  : kmm__error_set(
                        KMM_E_INVALID,
                        "KMM_LINKS=%s: neither auto nor how many devices copy at once, such as 4",
                        text);
    }
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->changed, NULL);
    rt->memory->links = p;
    return 0;
}

void kmm__links_stop(kmm_runtime_t *rt)
{
    struct kmm__links *p = rt->memory->links;
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    /* a thread may learn that its copies are done, and come here, before these are uncounted */
    while (p->turns)
        kmm__cond_wait(&p->changed, &p->lock);
    pthread_mutex_unlock(&p->lock);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
    rt->memory->links = NULL;
}
