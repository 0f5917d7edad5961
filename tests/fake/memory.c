/* SPDX-License-Identifier: Apache-2.0 */
/* The machine's memory: address space and frames mapped in it, and memory that is simply allocated.
 * All of it is the host's. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake.h"

struct fake_frame {
    int fd, device, mapped;
    size_t bytes, counted;
};
typedef struct window {
    char *base;
    size_t bytes;
    int mapped;
    struct window *next;
} window_t;
typedef struct mapping {
    char *at;
    size_t bytes;
    fake_frame_t *frame;
    unsigned access;
    bool absent;
    struct mapping *next;
} mapping_t;
typedef struct registration {
    char *base;
    size_t bytes;
    struct registration *next;
} registration_t;
typedef struct block {
    char *at;
    size_t bytes;
    int device;
    fake_pool_t *pool;
    struct block *next;
} block_t;
struct fake_pool {
    int device;
    unsigned access;
    size_t most, used;
    uint64_t threshold;
};

static window_t *windows;
static mapping_t *mappings;
static registration_t *registrations;
static block_t *blocks;
static size_t plain_used[FAKE_MAX_DEVICES];

static bool overlap(const char *a, size_t an, const char *b, size_t bn)
{
    return a < b + bn && b < a + an;
}

static bool is_whole(size_t bytes)
{
    return bytes > 0 && bytes % fake_granule() == 0;
}

/* What the system maps and unmaps. */
static size_t whole_pages(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* ---- Address space ---- */

int fake_reserve(size_t bytes, char **out)
{
    size_t granule = fake_granule();
    if (!is_whole(bytes))
        return FAKE_INVALID_VALUE;
    fake_enter();
    bool fails = fake_strikes(FAKE_RESERVE);
    pthread_mutex_unlock(&fake_lock);
    char *p = fails ? MAP_FAILED
                    : mmap(NULL, bytes + granule, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return FAKE_NO_MEMORY;
    size_t before = (granule - (uintptr_t)p % granule) % granule;
    if (before)
        munmap(p, before);
    munmap(p + before + bytes, granule - before);
    window_t *w = malloc(sizeof(*w));
    fake_enter();
    *w = (window_t){p + before, bytes, 0, windows};
    windows = w;
    fake_live.windows++;
    pthread_mutex_unlock(&fake_lock);
    *out = w->base;
    return FAKE_OK;
}

int fake_unreserve(char *at, size_t bytes)
{
    fake_enter();
    window_t **p = &windows, *w;
    while (*p && (*p)->base != at)
        p = &(*p)->next;
    w = *p;
    if (!w || w->bytes != bytes)
        fake_broken("address space is freed that was not reserved so");
    if (w->mapped)
        fake_broken("address space is freed that has memory mapped in it");
    *p = w->next;
    munmap(w->base, w->bytes);
    free(w);
    fake_live.windows--;
    pthread_mutex_unlock(&fake_lock);
    return FAKE_OK;
}

static window_t *window_of(const char *at, size_t bytes)
{
    for (window_t *w = windows; w; w = w->next)
        if (at >= w->base && at + bytes <= w->base + w->bytes)
            return w;
    return NULL;
}

/* ---- Frames ---- */

/* `counted`: how many of the bytes are of the device's memory. */
static int frame_create(int device, size_t bytes, size_t counted, fake_frame_t **out)
{
    if (!is_whole(bytes) || !fake_is_device(device))
        return FAKE_INVALID_VALUE;
    fake_device_t *d = &fake_devices[device];
    fake_take_mapping();
    int r = fake_enter_unsafe();
    r = r ? r : fake_devices[device].lost;
    if (!r && (fake_strikes(FAKE_ALLOC) || counted > fake_memory() - d->used))
        r = FAKE_NO_MEMORY;
    d->used += r ? 0 : counted;
    if (d->used > fake_live.most_bytes)
        fake_live.most_bytes = d->used;
    fake_live.frames += !r;
    pthread_mutex_unlock(&fake_lock);
    if (r)
        return r;
    fake_frame_t *f = malloc(sizeof(*f));
    *f = (fake_frame_t){memfd_create("frame", MFD_CLOEXEC), device, 0, bytes, counted};
    if (f->fd < 0 || ftruncate(f->fd, (off_t)bytes))
        fake_broken("no memory for a frame");
    *out = f;
    return FAKE_OK;
}

int fake_frame_create(int device, size_t bytes, fake_frame_t **out)
{
    return frame_create(device, bytes, bytes, out);
}

int fake_frame_create_host_backed(size_t bytes, fake_frame_t **out)
{
    return frame_create(0, bytes, 0, out);
}

/* What ends something is done on a lost device too, but says that the device is lost. */
int fake_frame_release(fake_frame_t *f)
{
    int r = fake_enter_unsafe();
    if (f->mapped)
        fake_broken("memory is released that is mapped");
    fake_devices[f->device].used -= f->counted;
    fake_live.frames--;
    r = r ? r : fake_devices[f->device].lost;
    pthread_mutex_unlock(&fake_lock);
    close(f->fd);
    free(f);
    return r;
}

/* As ROCm 6.1, where the address of a mapping is the window's base whatever was said. */
static bool maps_bases_only(void)
{
    const char *text = fake_setting("MAP");
    return text && !strcmp(text, "base") && !strcmp(fake_driver, "hip");
}

int fake_map(char *at, size_t bytes, fake_frame_t *f)
{
    int forbidden = fake_enter_unsafe();
    window_t *w = window_of(at, bytes);
    int r = !w || (uintptr_t)at % fake_granule() || bytes != f->bytes ? FAKE_INVALID_VALUE
            : forbidden ? forbidden
                        : fake_devices[f->device].lost;
    for (mapping_t *m = mappings; m && !r; m = m->next)
        if (overlap(m->at, m->bytes, at, bytes))
            r = FAKE_ALREADY_MAPPED;
    if (!r && fake_strikes(FAKE_MAP))
        r = FAKE_NO_MEMORY;
    if (!r) {
        mapping_t *m = malloc(sizeof(*m));
        *m = (mapping_t){at, bytes, f, 0, at != w->base && maps_bases_only(), mappings};
        mappings = m;
        f->mapped++;
        w->mapped++;
        fake_live.mappings++;
        if (!m->absent &&
            mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, f->fd, 0) == MAP_FAILED)
            fake_broken("mmap failed");
    }
    pthread_mutex_unlock(&fake_lock);
    return r;
}

static void allow(mapping_t *m, const int *devices, size_t count)
{
    for (size_t k = 0; k < count; k++)
        m->access |= m->absent ? 0 : 1u << devices[k];
    mprotect(m->at, m->bytes, m->access ? PROT_READ | PROT_WRITE : PROT_NONE);
}

bool fake_is_continuous(const char *at, size_t bytes)
{
    size_t covered = 0;
    for (const mapping_t *m = mappings; m; m = m->next) {
        const char *begin = m->at > at ? m->at : at,
                   *end = m->at + m->bytes < at + bytes ? m->at + m->bytes : at + bytes;
        covered += end > begin ? (size_t)(end - begin) : 0;
    }
    for (const block_t *b = blocks; b; b = b->next)
        covered += b->at <= at && at + bytes <= b->at + b->bytes ? bytes : 0;
    return covered == bytes;
}

/* Of one mapping or several in a row. */
int fake_allow(char *at, size_t bytes, const int *devices, size_t count)
{
    fake_take_mapping();
    int forbidden = fake_enter_unsafe();
    size_t covered = 0;
    int lost = FAKE_OK;
    bool whole = true;
    for (const mapping_t *m = mappings; m; m = m->next)
        if (overlap(m->at, m->bytes, at, bytes)) {
            whole &= m->at >= at && m->at + m->bytes <= at + bytes;
            lost = lost ? lost : fake_devices[m->frame->device].lost;
            covered += m->bytes;
        }
    int r = forbidden ? forbidden : !whole || covered != bytes ? FAKE_INVALID_VALUE : lost;
    for (size_t k = 0; k < count && !r; k++)
        if (!fake_is_device(devices[k]))
            r = FAKE_INVALID_VALUE;
    if (!r && fake_strikes(FAKE_MAP))
        r = FAKE_NO_MEMORY;
    for (mapping_t *m = mappings; m && !r; m = m->next)
        if (overlap(m->at, m->bytes, at, bytes))
            allow(m, devices, count);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

int fake_unmap(char *from, size_t bytes)
{
    int r = fake_enter_unsafe();
    mapping_t **p = &mappings, *m;
    while (*p && (*p)->at != from)
        p = &(*p)->next;
    m = *p;
    if (!m || m->bytes != bytes)
        fake_broken("memory is unmapped that is not mapped so");
    if (!r && !fake_devices[m->frame->device].lost && fake_strikes(FAKE_UNMAP)) {
        pthread_mutex_unlock(&fake_lock);
        return FAKE_UNKNOWN;
    }
    window_t *w = window_of(m->at, bytes);
    fake_check_unused(from, bytes, "memory is unmapped that enqueued work uses");
    *p = m->next;
    m->frame->mapped--;
    w->mapped--;
    fake_live.mappings--;
    mmap(m->at, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    r = r ? r : fake_devices[m->frame->device].lost;
    free(m);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

/* Allocated memory is accessible to copies of every device; a pool's, and a frame, where it has
 * been allowed. */
static block_t *block_of(const char *at, size_t bytes)
{
    block_t *b = blocks;
    while (b && !(at >= b->at && at + bytes <= b->at + b->bytes))
        b = b->next;
    return b;
}

bool fake_is_accessible(const char *at, size_t bytes, int device)
{
    const char *end = at + bytes;
    const block_t *b = block_of(at, bytes);
    if (b)
        return !b->pool || (b->pool->access & 1u << device);
    while (at < end) {
        const mapping_t *m = mappings;
        while (m && !(at >= m->at && at < m->at + m->bytes))
            m = m->next;
        if (!m || !(m->access & 1u << device))
            return false;
        at = m->at + m->bytes;
    }
    return true;
}

bool fake_is_absent(const void *at, size_t bytes)
{
    bool is = false;
    fake_enter();
    for (const mapping_t *m = mappings; m && !is; m = m->next)
        is = m->absent && overlap(m->at, m->bytes, at, bytes);
    pthread_mutex_unlock(&fake_lock);
    return is;
}

bool fake_is_one(const void *at, size_t bytes)
{
    const char *begin = at;
    fake_enter();
    bool is = block_of(begin, bytes) != NULL;
    for (const mapping_t *m = mappings; m && !is; m = m->next)
        is = begin >= m->at && begin + bytes <= m->at + m->bytes;
    pthread_mutex_unlock(&fake_lock);
    return is;
}

bool fake_is_devices(const void *at)
{
    fake_enter();
    bool is = block_of(at, 1) || window_of(at, 1);
    pthread_mutex_unlock(&fake_lock);
    return is;
}

/* ---- The host's memory ---- */

/* Pages are locked whole, and none is twice. */
static bool share_a_page(const registration_t *g, const char *base, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    return (uintptr_t)g->base / page <= ((uintptr_t)base + bytes - 1) / page &&
           (uintptr_t)base / page <= ((uintptr_t)g->base + g->bytes - 1) / page;
}

int fake_register(void *base, size_t bytes)
{
    int r = fake_enter_unsafe();
    r = bytes ? r : FAKE_INVALID_VALUE;
    for (registration_t *g = registrations; g; g = g->next)
        if (!r && share_a_page(g, base, bytes))
            r = FAKE_ALREADY_REGISTERED;
    if (!r && fake_strikes(FAKE_REGISTER))
        r = FAKE_NO_MEMORY;
    if (!r) {
        registration_t *g = malloc(sizeof(*g));
        *g = (registration_t){base, bytes, registrations};
        registrations = g;
        fake_live.registrations++;
    }
    pthread_mutex_unlock(&fake_lock);
    return r;
}

int fake_unregister(void *base)
{
    int r = FAKE_INVALID_VALUE, forbidden = fake_enter_unsafe();
    for (registration_t **p = &registrations, *g; (g = *p); p = &g->next)
        if (g->base == base) {
            fake_check_unused(g->base, g->bytes,
                              "host memory is unregistered that enqueued work uses");
            *p = g->next;
            free(g);
            fake_live.registrations--;
            r = forbidden;
            break;
        }
    pthread_mutex_unlock(&fake_lock);
    return r;
}

/* ---- Allocated memory ---- */

static size_t plain_limit(void)
{
    const char *text = fake_setting("PLAIN");
    return text                          ? strtoull(text, NULL, 10)
           : !strcmp(fake_driver, "hip") ? fake_memory()
                                         : (size_t)4 << 30;
}

size_t fake_allocated(int device)
{
    return plain_used[device];
}

bool fake_is_allocated(const void *at, size_t bytes)
{
    fake_enter();
    bool is = block_of(at, bytes) != NULL;
    pthread_mutex_unlock(&fake_lock);
    return is;
}

int fake_allocate(int device, size_t bytes, fake_pool_t *pool, void **out)
{
    if (bytes == 0)
        return FAKE_INVALID_VALUE;
    int r = fake_enter_unsafe();
    r = r ? r : fake_devices[device].lost;
    bool fits = !r && !fake_strikes(FAKE_ALLOC) && bytes <= plain_limit() - plain_used[device] &&
                !(pool && pool->most && bytes > pool->most - pool->used);
    block_t *b = fits ? malloc(sizeof(*b)) : NULL;
    void *at = b ? mmap(NULL, whole_pages(bytes), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                 : MAP_FAILED;
    if (at == MAP_FAILED) {
        pthread_mutex_unlock(&fake_lock);
        free(b);
        return r ? r : FAKE_NO_MEMORY;
    }
    *b = (block_t){at, bytes, device, pool, blocks};
    blocks = b;
    plain_used[device] += bytes;
    fake_live.allocations++;
    if (pool)
        pool->used += bytes;
    pthread_mutex_unlock(&fake_lock);
    *out = at;
    return FAKE_OK;
}

int fake_free(void *p)
{
    int r = fake_enter_unsafe();
    block_t **at = &blocks, *b;
    while (*at && (*at)->at != p)
        at = &(*at)->next;
    b = *at;
    if (!b)
        fake_broken("memory is freed that was not allocated");
    fake_check_unused(b->at, b->bytes, "memory is freed that enqueued work uses");
    *at = b->next;
    plain_used[b->device] -= b->bytes;
    fake_live.allocations--;
    if (b->pool)
        b->pool->used -= b->bytes;
    r = r ? r : fake_devices[b->device].lost;
    pthread_mutex_unlock(&fake_lock);
    munmap(b->at, whole_pages(b->bytes));
    free(b);
    return r;
}

/* ---- Pools ---- */

int fake_pool_create(int device, size_t most, fake_pool_t **out)
{
    fake_pool_t *p = calloc(1, sizeof(*p));
    p->device = device;
    p->most = most;
    p->access = 1u << device;
    *out = p;
    return FAKE_OK;
}

int fake_pool_destroy(fake_pool_t *pool)
{
    if (pool->used)
        fake_broken("a pool is destroyed whose memory is in use");
    free(pool);
    return FAKE_OK;
}

int fake_pool_allow(fake_pool_t *pool, int device)
{
    fake_enter();
    int r = fake_is_device(device) ? FAKE_OK : FAKE_INVALID_DEVICE;
    pool->access |= r ? 0 : 1u << device;
    pthread_mutex_unlock(&fake_lock);
    return r;
}

uint64_t *fake_pool_threshold(fake_pool_t *pool)
{
    return &pool->threshold;
}

uint64_t fake_pool_used(fake_pool_t *pool)
{
    fake_enter();
    uint64_t used = pool->used;
    pthread_mutex_unlock(&fake_lock);
    return used;
}
