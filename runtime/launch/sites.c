/* SPDX-License-Identifier: Apache-2.0 */
/* Learns for each site how many devices its launches pay for. */
#include "launch/sites.h"

#include <link.h>
#include <string.h>

#include "base/spin.h"
#include "launch/plan.h"
#include "launch/state.h"
#include "memory/array.h"
#include "memory/residency/native.h"

/* Costs in nanoseconds, as far as possible measured on an H200 (docs/decisions/more-devices.md).
 * Where machines differ they are rather too high, since a program that stays native loses nothing.
 */
enum {
    LAUNCH_NS = 20000,    /* a launch in managed standing, above a native one */
    DIVIDED_NS = 40000,   /* the same, of a launch that is divided between two devices */
    DEVICE_NS = 20000,    /* and of each device beyond the second */
    CALL_NS = 85000,      /* a copy or a set, above a native one */
    TAKEOVER_NS = 5000000 /* a takeover without arrays */
};
enum {
    BYTES_NS = 25,     /* bytes that move between devices in a nanosecond, over PCIe */
    MAPPED_NS = 128,   /* bytes that the takeover moves in a nanosecond */
    SAFETY = 2,        /* how many times its cost a takeover must have been worth */
    FULL_BLOCKS = 132, /* blocks that a device runs at once at least: its multiprocessors */
    MOST_PAIRS = 16,   /* pairs of neighbouring chunks whose regions are compared */
    SPARSE = 1024      /* launches between samples at most */
};

/* The site of the thread's latest launch. */
static _Thread_local int latest;

/* ---- Pure functions ---- */

uint64_t kmm__figures_time(const kmm__figures_t *f, uint32_t devices)
{
    if (devices <= 1)
        return f->kernel_ns + LAUNCH_NS;
    uint64_t part = f->kernel_ns / devices;
    /* Blocks that run at once in any case do not end earlier when there are fewer. */
    uint64_t least = f->blocks <= FULL_BLOCKS
                         ? f->kernel_ns
                         : (uint64_t)((double)f->kernel_ns * FULL_BLOCKS / (double)f->blocks);
    return (part > least ? part : least) + DIVIDED_NS + (devices - 2) * (uint64_t)DEVICE_NS +
           (devices - 1) * (f->each / BYTES_NS);
}

uint32_t kmm__figures_devices(const kmm__figures_t *f, uint32_t most)
{
    uint32_t best = 1;
    for (uint32_t d = 2; d <= most && d <= f->parts; d++)
        if (kmm__figures_time(f, d) < kmm__figures_time(f, best))
            best = d;
    return best;
}

int64_t kmm__figures_gain(const kmm__figures_t *f, uint32_t most)
{
    return (int64_t)f->kernel_ns - (int64_t)kmm__figures_time(f, kmm__figures_devices(f, most));
}

/* ---- Sites ---- */

/* Returns the slot of a launch's place in the source. It may be another one's. */
static struct kmm__site *slot_of(const kmm_launch_t *l, const kmm_runtime_t *rt)
{
    uint64_t hash = ((uint64_t)l->line ^ (uintptr_t)l->file) * UINT64_C(0x9e3779b97f4a7c15);
    hash = (hash ^ (uintptr_t)l->kernel) * UINT64_C(0x9e3779b97f4a7c15);
    return &rt->launches->sites[hash >> 32 & (KMM__SITES - 1)];
}

static bool is_of(const struct kmm__site *site, const kmm_launch_t *l)
{
    return site->launches && site->file == l->file && site->kernel == l->kernel &&
           site->line == l->line;
}

/* Bytes of the region that an item has in both of two chunks. */
static uint64_t common(const kmm__item_t *item, uint32_t axes, const kmm__chunk_box_t chunks[2])
{
    int64_t begin[2] = {0}, end[2] = {0};
    for (int k = 0; k < 2; k++) {
        kmm__access_t a;
        kmm__layout_t shaped;
        if (kmm__plan(item, axes, &chunks[k], &a, &shaped) <= 0)
            return 0;
        kmm__layout_hull(a.layout, &a.box, &begin[k], &end[k]);
    }
    int64_t first = begin[0] > begin[1] ? begin[0] : begin[1],
            last = end[0] < end[1] ? end[0] : end[1];
    return last > first ? (uint64_t)(last - first) : 0;
}

/* Bytes that neighbouring chunks both use, on average. As many move at each border between two
 * devices' parts. */
static uint64_t halo_of(const kmm__submission_t *s)
{
    const kmm_launch_t *l = s->l;
    const uint32_t borders = s->part.count - 1, pairs = borders < MOST_PAIRS ? borders : MOST_PAIRS;
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < pairs; k++) {
        kmm__chunk_box_t chunks[2];
        const uint32_t at = (uint32_t)((uint64_t)k * borders / pairs);
        kmm__partition_chunk(&s->part, l, at, &chunks[0]);
        kmm__partition_chunk(&s->part, l, at + 1, &chunks[1]);
        for (uint32_t i = 0; i < l->item_count; i++)
            if (l->items[i].array)
                bytes += common(&l->items[i], l->axis_count, chunks);
    }
    return pairs ? bytes / pairs : 0;
}

/* Bytes of all items' arrays, each counted once. */
static uint64_t bytes_of(const kmm_launch_t *l)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < l->item_count; k++) {
        bool again = false;
        for (uint32_t i = 0; i < k; i++)
            again |= l->items[i].array == l->items[k].array;
        bytes += l->items[k].array && !again ? l->items[k].array->bytes : 0;
    }
    return bytes;
}

static uint64_t blocks_of(const kmm__submission_t *s)
{
    return (uint64_t)s->geometry.grid[0] * s->geometry.grid[1] * s->geometry.grid[2];
}

/* Returns what is known of a launch. A smaller grid than that which was timed takes as much less;
 * a larger one may take longer, and is not counted on for that. */
static kmm__figures_t figures_of(const kmm__submission_t *s, const struct kmm__site *site)
{
    const uint64_t blocks = blocks_of(s);
    kmm__figures_t f = {
        .kernel_ns = site->kernel_ns, .blocks = blocks, .each = site->each, .parts = site->parts};
    if (blocks < site->timed_blocks)
        f.kernel_ns = (uint64_t)((double)f.kernel_ns * (double)blocks / (double)site->timed_blocks);
    return f;
}

/* ---- Native standing ---- */

/* Counts a launch of the site. What the launch says of bytes is looked at as rarely as its time is
 * taken. */
static void count(struct kmm__site *site, const kmm__submission_t *s, const kmm_kernel_t *kernel)
{
    const kmm_launch_t *l = s->l;
    if (!is_of(site, l))
        *site =
            (struct kmm__site){.file = l->file, .kernel = l->kernel, .line = l->line, .next = 2};
    if (++site->launches != site->next)
        return;
    site->next += site->next < SPARSE ? site->next : SPARSE;
    site->wants_time = !site->is_timing;
    site->timed_blocks = blocks_of(s);
    site->parts = kernel->is_clone && l->ordinal_count != 1 ? s->part.count : 1;
    site->once = bytes_of(l);
    site->each = site->parts > 1 ? halo_of(s) : 0;
}

static uint64_t since(uint64_t now, uint64_t *before)
{
    uint64_t n = now - *before;
    *before = now;
    return n;
}

static int is_library(struct dl_phdr_info *info, size_t size, void *found)
{
    static const char *const names[] = {"libcublas", "libcufft",    "libcusparse", "libcusolver",
                                        "libcudnn",  "libcutensor", "libcurand",   "libnccl",
                                        "libnvrtc",  "libnpp",      "librocblas",  "libhipblas"};
    (void)size;
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
        *(bool *)found |= info->dlpi_name && strstr(info->dlpi_name, names[k]);
    return 0;
}

/* True if the program has loaded a library that launches kernels of its own. In managed standing
 * they would find nothing at the arrays' names. */
static bool has_libraries(void)
{
    bool found = false;
    dl_iterate_phdr(is_library, &found);
    return found;
}

/* What ending the standing costs, with the first copies to other devices. */
static uint64_t takeover_ns(const kmm_runtime_t *rt)
{
    uint64_t moved = 0;
    for (uint32_t k = 0; k < KMM__SITES; k++)
        moved += rt->launches->sites[k].kernel_ns ? rt->launches->sites[k].once : 0;
    moved = moved < rt->memory->array_bytes ? moved : rt->memory->array_bytes;
    return TAKEOVER_NS + rt->memory->array_bytes / MAPPED_NS + moved / BYTES_NS;
}

bool kmm__site_pays(const kmm__submission_t *s, const kmm_kernel_t *kernel)
{
    kmm_runtime_t *rt = s->rt;
    struct kmm__launches *l = rt->launches;
    struct kmm__site *site = slot_of(s->l, rt);
    uint64_t calls, launches;
    latest = 0;
    if (rt->visible_count < 2 || l->stays_native || !kmm__native_may_end())
        return false;
    count(site, s, kernel);
    latest = (int)(site - l->sites) + 1;
    kmm__native_count(&calls, &launches);
    calls = since(calls, &l->native_calls);
    launches = since(launches, &l->native_launches);
    /* A launch without a pragma gathers its arrays on one device, and the next one spreads them. */
    int64_t gain = -(int64_t)(calls * CALL_NS + launches * (LAUNCH_NS + 2 * site->once / BYTES_NS));
    if (site->kernel_ns) {
        const kmm__figures_t f = figures_of(s, site);
        gain += kmm__figures_gain(&f, rt->visible_count);
    }
    l->gained = l->gained + gain > 0 ? l->gained + gain : 0;
    if (l->gained == 0 || (uint64_t)l->gained < SAFETY * takeover_ns(rt))
        return false;
    l->gained = 0;
    l->stays_native = has_libraries();
    return !l->stays_native;
}

/* ---- Managed standing ---- */

void kmm__site_place(kmm__submission_t *s)
{
    const struct kmm__site *site = slot_of(s->l, s->rt);
    if (!s->annotated || s->l->is_divided || !is_of(site, s->l) || !site->kernel_ns)
        return;
    const kmm__figures_t f = figures_of(s, site);
    const uint32_t devices = kmm__figures_devices(&f, s->placement.count);
    if (devices < s->placement.count)
        kmm__place_narrow(&s->placement, s->l, devices);
}

/* ---- Times ---- */

int kmm__site_sample(kmm_runtime_t *rt)
{
    int sample = 0;
    if (!latest)
        return 0;
    kmm__spin_lock(&rt->lock);
    struct kmm__site *site = &rt->launches->sites[latest - 1];
    if (site->wants_time) {
        site->wants_time = false;
        site->is_timing = true;
        sample = latest;
    }
    pthread_mutex_unlock(&rt->lock);
    return sample;
}

void kmm__site_measured(kmm_runtime_t *rt, int sample, uint64_t ns)
{
    kmm__spin_lock(&rt->lock);
    struct kmm__site *site = &rt->launches->sites[sample - 1];
    if (ns && site->latest_ns)
        site->kernel_ns = ns < site->latest_ns ? ns : site->latest_ns;
    site->latest_ns = ns ? ns : site->latest_ns;
    site->is_timing = false;
    pthread_mutex_unlock(&rt->lock);
}
