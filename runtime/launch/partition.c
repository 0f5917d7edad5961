/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts a launch's iteration space into chunks. */
#include "launch/partition.h"

#include "base/error.h"
#include "launch/plan.h"
#include "launch/reduce.h"
#include "launch/state.h"
#include "memory/disk/page.h"
#include "memory/residency/frame.h"

/* Returns the dimension that a source runs along. */
static int64_t ceil_div(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

static void set_chunks(kmm__partition_t *p, uint32_t d, int64_t chunk)
{
    p->chunk[d] = chunk < 1 ? 1 : chunk > p->size[d] ? p->size[d] : chunk;
    p->chunks[d] = p->size[d] ? ceil_div(p->size[d], p->chunk[d]) : 0;
}

static void set_asked(kmm__partition_t *p)
{
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++) {
        p->asked[d] = p->chunks[d];
        p->joined[d] = 1;
    }
}

static int check_axis(const kmm__axis_t *a, bool is_function)
{
    bool is_range = a->source >= KMM_RANGE_0;
    if (is_range != is_function)
        return kmm__error_set(KMM_E_INVALID, "axis %s: %s", a->name,
                              is_function ? "a plain function has no blocks"
                                          : "a kernel has no range of its own");
    if (is_function && a->length == KMM_WHOLE)
        return kmm__error_set(KMM_E_INVALID, "axis %s: an axis of a plain function needs its range",
                              a->name);
    if (a->length != KMM_WHOLE && a->length < 0)
        return kmm__error_set(KMM_E_RANGE, "axis %s: its length is %lld", a->name,
                              (long long)a->length);
    return 0;
}

/* True if the region of an item depends on the axis. */
static bool is_used(const kmm_launch_t *l, uint32_t axis)
{
    for (uint32_t k = 0; k < l->item_count; k++)
        for (uint32_t s = 0; s < l->items[k].section_count; s++)
            if (l->items[k].section[s].coef[axis].lower || l->items[k].section[s].coef[axis].length)
                return true;
    return false;
}

/* Returns an axis of dimension d whose range ends after the grid's indices and on which an item
 * depends. NULL: none. A kernel reaches such indices by a loop with the grid's stride, from any
 * block; so the region of a part of the grid is not known. */
static const kmm__axis_t *beyond_grid(const kmm_launch_t *l, const kmm__partition_t *p, uint32_t d)
{
    for (uint32_t k = 0; k < l->axis_count && !p->is_function; k++) {
        const kmm__axis_t *a = &l->axis[k];
        int64_t end = p->size[d] * (a->source <= KMM_GLOBAL_Z ? p->unit[d] : 1);
        if (kmm__partition_dimension(a->source) == d && a->length > 0 &&
            a->length > end - a->lower && is_used(l, k))
            return a;
    }
    return NULL;
}

static int refuse_beyond(const kmm__axis_t *a, const kmm__partition_t *p)
{
    uint32_t d = kmm__partition_dimension(a->source);
    int64_t end = p->size[d] * (a->source <= KMM_GLOBAL_Z ? p->unit[d] : 1);
    return kmm__error_set(
        KMM_E_RANGE,
        "axis %s: its range ends at %lld, but the grid's indices at %lld; where a kernel loops "
        "with a stride each chunk "
        "reaches the whole range: leave out the chunk, launch enough blocks, say [:], or say "
        "bounded "
        "if the kernel has no such loop",
        a->name, (long long)(a->lower + a->length), (long long)end);
}

static int64_t chunk_size(const kmm_launch_t *l, const kmm__partition_t *p, uint32_t d)
{
    const bool is_one = l->is_whole || (l->one_chunk && !kmm__reduce_is_ordered(l));
    if (is_one || !l->has_chunk[d])
        return p->size[d];
    int64_t size = l->chunk[d] < 1 ? 1 : l->chunk[d];
    return l->chunk_in_blocks[d] ? size : ceil_div(size, p->unit[d]);
}

void kmm__partition_bound(kmm_launch_t *l, const uint32_t grid[3], const uint32_t block[3])
{
    for (uint32_t k = 0; k < l->axis_count; k++) {
        kmm__axis_t *a = &l->axis[k];
        uint32_t d = kmm__partition_dimension(a->source);
        int64_t rest = (int64_t)grid[d] * (a->source <= KMM_GLOBAL_Z ? block[d] : 1) - a->lower;
        if (a->length == KMM_WHOLE || a->source > KMM_BLOCK_Z)
            continue;
        a->length = a->length < rest ? a->length : rest;
        a->length = a->length > 0 ? a->length : 0;
    }
}

/* True if a dimension of the range has no elements. */
static bool is_empty(const kmm__partition_t *p)
{
    bool empty = false;
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++)
        empty |= p->size[d] == 0;
    return empty;
}

/* A function whose range is empty is called once, as the program without pragmas calls it. */
int kmm__partition(const kmm_launch_t *l, const uint32_t grid[3], const uint32_t block[3],
                   bool is_function, kmm__partition_t *p)
{
    *p = (kmm__partition_t){.is_function = is_function, .dims = KMM_MAX_SPLIT};
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++) {
        p->size[d] = is_function ? 1 : grid[d];
        p->unit[d] = is_function ? 1 : block[d];
    }
    for (uint32_t k = 0; k < l->axis_count; k++) {
        const kmm__axis_t *a = &l->axis[k];
        int error = check_axis(a, is_function);
        if (error)
            return error;
        if (is_function) {
            p->size[kmm__partition_dimension(a->source)] = a->length;
            p->lower[kmm__partition_dimension(a->source)] = a->lower;
        }
    }
    p->count = 1;
    const bool calls_once = is_function && is_empty(p);
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++) {
        set_chunks(p, d, calls_once ? p->size[d] : chunk_size(l, p, d));
        p->chunks[d] = calls_once ? 1 : p->chunks[d];
        const kmm__axis_t *beyond = p->chunks[d] > 1 ? beyond_grid(l, p, d) : NULL;
        if (beyond)
            return refuse_beyond(beyond, p);
        if ((int64_t)p->count * p->chunks[d] > UINT32_MAX / 2)
            return kmm__error_set(KMM_E_RANGE, "more than 2^31 chunks");
        p->count = (uint32_t)(p->count * p->chunks[d]);
    }
    set_asked(p);
    return 0;
}

/* ---- Choosing ---- */

static bool depends_on(const kmm__item_t *item, const kmm_launch_t *l, uint32_t d)
{
    for (uint32_t s = 0; s < item->section_count; s++)
        for (uint32_t k = 0; k < l->axis_count; k++)
            if (kmm__partition_dimension(l->axis[k].source) == d && item->section[s].coef[k].lower)
                return true;
    return false;
}

/* True if dimension d can be split: every item that is written depends on it, so that its chunks
 * write different elements. */
static bool can_split(const kmm__partition_t *p, const kmm_launch_t *l, uint32_t d)
{
    bool any = false;
    if (p->size[d] < 2 || beyond_grid(l, p, d))
        return false;
    for (uint32_t k = 0; k < l->item_count; k++) {
        const kmm__item_t *item = &l->items[k];
        any |= depends_on(item, l, d);
        if ((item->mode == KMM_WRITE || item->mode == KMM_UPDATE) && !depends_on(item, l, d))
            return false;
    }
    return any;
}

/* Bytes that a launch uses: `parts` of the items that depend on dimension d, `shared` of the
 * others. */
typedef struct footprint {
    uint64_t shared, parts;
} footprint_t;

static footprint_t footprint(const kmm_launch_t *l, uint32_t d, const kmm__chunk_box_t *box)
{
    footprint_t f = {0};
    for (uint32_t k = 0; k < l->item_count; k++) {
        const kmm__item_t *item = &l->items[k];
        kmm__access_t a;
        kmm__layout_t shaped;
        if (item->array && kmm__plan(item, l->axis_count, box, &a, &shaped) ==
                               1) /* without an array the region is empty */
            *(depends_on(item, l, d) ? &f.parts : &f.shared) += (uint64_t)kmm__box_volume(&a.box);
    }
    return f;
}

/* True if the regions of single blocks along d, taken together, are less than 1/16 of the hull of
 * all, as along a diagonal. Copying such hulls costs more than it costs kernels to reach the few
 * elements in host memory. Smaller chunks do not help, because their hulls are as sparse. */
static bool is_sparse(const kmm__partition_t *p, const kmm_launch_t *l, uint32_t d,
                      const footprint_t *whole)
{
    enum { LITTLE = 16 };
    kmm__chunk_box_t one;
    kmm__partition_t single = *p;
    if (p->is_function)
        return false;
    single.chunk[d] = 1;
    single.chunks[d] = p->size[d];
    single.count = (uint32_t)p->size[d];
    kmm__partition_chunk(&single, l, (uint32_t)(p->size[d] / 2),
                         &one); /* no dimension is split yet */
    uint64_t parts = footprint(l, d, &one).parts;
    return parts && parts < whole->parts / LITTLE / (uint64_t)p->size[d];
}

/* Returns the bytes of a memory that are left for parts beside what all chunks share: at least 1/64
 * of it. With less room, more chunks would not help. */
static uint64_t room_of(uint64_t memory, uint64_t shared)
{
    uint64_t least = memory / 64 + 1;
    return memory > shared + least ? memory - shared : least;
}

/* Makes at least `want` chunks if there can be as many: along d first, then along the dimensions
 * before it. */
static void cut(kmm__partition_t *p, const kmm_launch_t *l, uint32_t d, int64_t want)
{
    for (uint32_t k = d + 1; want > 1 && k-- > 0;) {
        if (!can_split(p, l, k))
            continue;
        set_chunks(p, k, ceil_div(p->size[k], want));
        p->count = (uint32_t)(p->count * p->chunks[k]);
        want = want > p->size[k] ? ceil_div(want, p->size[k]) : 1;
    }
}

/* The devices that may run a launch. */
typedef struct targets {
    kmm_kind_t kind; /* those of this kind; for a plain function also the CPU */
    bool has_cpu;
    uint64_t count;
} targets_t;

static bool is_target(const targets_t *t, const kmm__device_t *dev)
{
    return !dev->hidden &&
           (dev->backend->kind == t->kind || (t->has_cpu && dev->backend->kind == KMM_KIND_HOST));
}

static targets_t find_targets(const kmm__partition_t *p, const kmm_runtime_t *rt, kmm_kind_t kind)
{
    targets_t t = {kind, p->is_function, 0};
    for (uint32_t k = 0; k < rt->device_count; k++)
        t.count += is_target(&t, rt->device[k]);
    return t;
}

/* Returns how many chunks of `parts` bytes in all a memory of `room` bytes asks for: 8 of them fit
 * at once. Where not all arrays have room on the device, chunks of several steps have to fit
 * (residency/reuse.c): of the device's share of the bytes 64, if a chunk has LEAST bytes then,
 * which take much longer to copy than a chunk takes to be issued. */
static int64_t chunks_of_memory(const kmm__device_t *dev, uint64_t parts, uint64_t share,
                                uint64_t room)
{
    enum { CHUNKS = 8, CHUNKS_OF_STEPS = 64, LEAST = 32 << 20 };
    int64_t chunks = (int64_t)(parts * CHUNKS / room) + 1,
            of_steps = (int64_t)(share * CHUNKS_OF_STEPS / room) + 1,
            most = (int64_t)(share / LEAST);
    if (dev->space == KMM__HOST || !dev->runtime->memory->by_reuse || kmm__arrays_fit(dev))
        return chunks;
    of_steps = of_steps < most ? of_steps : most;
    return of_steps > chunks ? of_steps : chunks;
}

/* Returns how many chunks a device should get: 4 for each compute stream of the CPU if the launch
 * is of a plain function, and as many as its memory asks for. sparse: the memory does not count if
 * the device can use host memory. */
static int64_t chunks_of(const kmm__device_t *dev, const kmm__partition_t *p, const footprint_t *f,
                         const targets_t *targets, bool sparse)
{
    enum { CHUNKS_OF_STREAM = 4 };
    uint64_t memory = dev->space == KMM__HOST ? kmm__spill_room(dev->runtime) : dev->memory->limit;
    int64_t of_memory =
        memory && !(sparse && dev->info.host_backed)
            ? chunks_of_memory(dev, f->parts, f->parts / targets->count, room_of(memory, f->shared))
            : 1;
    int64_t own = dev->space == KMM__HOST && p->is_function
                      ? dev->compute_stream_count * CHUNKS_OF_STREAM
                      : 1;
    return of_memory > own ? of_memory : own;
}

void kmm__partition_choose(kmm__partition_t *p, const kmm_launch_t *l, kmm_runtime_t *rt,
                           kmm_kind_t kind)
{
    enum { CHUNKS_ORDERED = 16, CHUNK_ORDERED = 64 << 20 };
    int64_t want = 0, d = KMM_MAX_SPLIT - 1;
    if (is_empty(p))
        return; /* whatever its other dimensions are */
    while (d >= 0 && !can_split(p, l, (uint32_t)d))
        d--;
    bool ordered = kmm__reduce_is_ordered(l);
    if (d < 0 || l->is_whole || (l->one_chunk && !ordered))
        return;
    kmm__chunk_box_t whole;
    kmm__partition_whole(p, l, &whole);
    footprint_t f = footprint(l, (uint32_t)d, &whole);
    bool sparse = !rt->memory->spill && is_sparse(p, l, (uint32_t)d, &f);
    int64_t bytes = (int64_t)(f.parts + f.shared);
    const targets_t targets = find_targets(p, rt, kind);
    for (uint32_t k = 0; k < rt->device_count; k++)
        if (is_target(&targets, rt->device[k]))
            want += chunks_of(rt->device[k], p, &f, &targets, sparse);
    want *= 1 + rt->launches->other_nodes;
    if (ordered) /* the number depends on the launch alone, so that the result has the same bits
                    everywhere */
        want = bytes / CHUNK_ORDERED > CHUNKS_ORDERED ? bytes / CHUNK_ORDERED : CHUNKS_ORDERED;
    cut(p, l, (uint32_t)d, want);
    set_asked(p);
}

/* ---- Chunks ---- */

/* Computes the range [*lo, *hi) of axis a in blocks (or elements) [first, first + count) of its
 * dimension. */
static void axis_range(const kmm__partition_t *p, const kmm__axis_t *a, int64_t first,
                       int64_t count, int64_t *lo, int64_t *hi)
{
    uint32_t d = kmm__partition_dimension(a->source);
    bool is_global = a->source <= KMM_GLOBAL_Z;
    int64_t unit = is_global ? p->unit[d] : 1;
    *lo = first * unit + (p->is_function ? p->lower[d] : 0);
    *hi = *lo + count * unit;
    if (a->length == KMM_WHOLE || p->is_function)
        return;
    if (first == 0 && count == p->size[d]) { /* the whole grid has the whole range: a loop with a
                                                stride may reach beyond the grid */
        *lo = a->lower;
        *hi = a->lower + a->length;
        return;
    }
    *lo = *lo < a->lower ? a->lower : *lo;
    *hi = *hi > a->lower + a->length ? a->lower + a->length : *hi;
}

static void fill_axes(const kmm__partition_t *p, const kmm_launch_t *l, kmm__chunk_box_t *out)
{
    for (uint32_t k = 0; k < l->axis_count; k++) {
        uint32_t d = kmm__partition_dimension(l->axis[k].source);
        axis_range(p, &l->axis[k], out->first[d], out->count[d], &out->axis_lo[k],
                   &out->axis_hi[k]);
    }
}

void kmm__partition_chunk(const kmm__partition_t *p, const kmm_launch_t *l, uint32_t k,
                          kmm__chunk_box_t *out)
{
    if (p->count == 1) {
        kmm__partition_whole(p, l, out);
        return;
    }
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++) {
        int64_t c = k % p->chunks[d];
        k = (uint32_t)(k / p->chunks[d]);
        out->first[d] = c * p->chunk[d];
        out->count[d] =
            p->size[d] - out->first[d] < p->chunk[d] ? p->size[d] - out->first[d] : p->chunk[d];
    }
    fill_axes(p, l, out);
}

void kmm__partition_whole(const kmm__partition_t *p, const kmm_launch_t *l, kmm__chunk_box_t *out)
{
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++) {
        out->first[d] = 0;
        out->count[d] = p->size[d];
    }
    fill_axes(p, l, out);
}

/* ---- Joining small chunks ---- */

uint32_t kmm__partition_asked(const kmm__partition_t *p)
{
    return p->count ? (uint32_t)(p->asked[0] * p->asked[1] * p->asked[2]) : 0;
}

/* Chunks are joined along dimension 0 first, and along the next dimension only if all of the one
 * before is joined. So the numbers of joined chunks are consecutive. */
void kmm__partition_numbers(const kmm__partition_t *p, uint32_t k, uint32_t *first, uint32_t *last)
{
    int64_t lo[KMM_MAX_SPLIT], hi[KMM_MAX_SPLIT];
    const uint32_t asked = kmm__partition_asked(p);
    if (p->count == asked || p->count == 1) { /* none is joined, or all are */
        *first = p->count == 1 ? 0 : k;
        *last = p->count == 1 ? asked - 1 : k;
        return;
    }
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++) {
        lo[d] = k % p->chunks[d] * p->joined[d];
        hi[d] = lo[d] + p->joined[d] < p->asked[d] ? lo[d] + p->joined[d] : p->asked[d];
        k = (uint32_t)(k / p->chunks[d]);
    }
    *first = (uint32_t)(lo[0] + p->asked[0] * (lo[1] + p->asked[1] * lo[2]));
    *last = (uint32_t)(hi[0] - 1 + p->asked[0] * (hi[1] - 1 + p->asked[1] * (hi[2] - 1)));
}

/* Returns the bytes of the hulls of all regions of a chunk. 0: none, or not known. */
static uint64_t hull_of(const kmm_launch_t *l, const kmm__chunk_box_t *box)
{
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < l->item_count; k++) {
        kmm__access_t a;
        kmm__layout_t shaped;
        int64_t begin, end;
        if (!l->items[k].array || kmm__plan(&l->items[k], l->axis_count, box, &a, &shaped) <= 0)
            continue;
        kmm__layout_hull(a.layout, &a.box, &begin, &end);
        bytes += (uint64_t)(end - begin);
    }
    return bytes;
}

/* Returns p with `want` chunks joined into one, dimension by dimension. */
static kmm__partition_t joined_by(const kmm__partition_t *p, int64_t want)
{
    kmm__partition_t q = *p;
    q.count = 1;
    for (uint32_t d = 0; d < KMM_MAX_SPLIT; d++) {
        q.joined[d] = want < p->chunks[d] ? want : p->chunks[d];
        want /= q.joined[d];
        want = want < 1 || q.joined[d] < p->chunks[d] ? 1 : want;
        set_chunks(&q, d, p->chunk[d] * q.joined[d]);
        q.count = (uint32_t)(q.count * q.chunks[d]);
    }
    return q;
}

/* True if an item's region in a joined chunk (the middle one is looked at) is as good as the
 * regions of its chunks: as exact, a box of the same layout, and, if it is written, as large as
 * theirs together. If chunks write the same elements they are not joined, so that the error is
 * reported. */
static bool joins_well(const kmm__item_t *item, const kmm_launch_t *l, const kmm__partition_t *p,
                       const kmm__partition_t *q)
{
    kmm__chunk_box_t box;
    kmm__access_t whole, part;
    kmm__layout_t whole_shaped, part_shaped;
    uint32_t first, last, middle = 0;
    int64_t volume = 0;
    for (uint32_t d = KMM_MAX_SPLIT; d-- > 0;)
        middle = (uint32_t)(middle * q->chunks[d] + (q->chunks[d] - 1) / 2);
    kmm__partition_numbers(q, middle, &first, &last);
    kmm__partition_chunk(q, l, middle, &box);
    int planned = kmm__plan(item, l->axis_count, &box, &whole, &whole_shaped);
    if (planned < 0 || (item->mode != KMM_READ && !whole.exact))
        return false;
    for (uint32_t k = first; k <= last; k++) {
        kmm__partition_chunk(p, l, k, &box);
        int one = kmm__plan(item, l->axis_count, &box, &part, &part_shaped);
        if (one < 0 || (one > 0 && (planned == 0 || part.exact != whole.exact ||
                                    !kmm__layout_equal(part.layout, whole.layout))))
            return false;
        volume += one ? kmm__box_volume(&part.box) : 0;
    }
    return planned == 0 || (item->mode == KMM_READ ? volume >= kmm__box_volume(&whole.box)
                                                   : volume == kmm__box_volume(&whole.box));
}

/* Limits of a joined chunk in bytes. more: what it may use beyond one chunk of p. all: what it may
 * use in all, so that it fits wherever chunks of p do. */
typedef struct join_bound {
    uint64_t more, all;
} join_bound_t;

static join_bound_t join_bound(const kmm_launch_t *l, const kmm_runtime_t *rt,
                               const kmm__placement_t *place)
{
    enum { ALL_PART = 4 };
    uint64_t frames = 0, room = kmm__spill_room(rt), least = room ? room : UINT64_MAX;
    for (uint32_t k = 0; k < l->item_count; k++)
        frames += l->items[k].array ? 2 * l->items[k].array->frame_bytes
                                    : 0; /* a region may begin and end inside a frame */
    for (uint32_t k = 0; k < place->count; k++) {
        uint64_t limit = place->device[k]->memory->limit;
        if (frames > limit / 2)
            return (join_bound_t){0, 0};
        least = limit < least ? limit : least;
    }
    return (join_bound_t){least / rt->launches->join.part < rt->launches->join.bytes
                              ? least / rt->launches->join.part
                              : rt->launches->join.bytes,
                          least / ALL_PART};
}

static uint64_t hull_of_middle(const kmm_launch_t *l, const kmm__partition_t *p)
{
    kmm__chunk_box_t box;
    kmm__partition_chunk(p, l, p->count / 2, &box);
    return hull_of(l, &box);
}

/* Joins at most `most` chunks of p into one, as far as the bound allows, and sets *q. Bytes that
 * all chunks use, such as a vector by which each multiplies its rows, count once: what one more
 * chunk adds is compared. False: not even two chunks can be joined, or the bytes that they use are
 * not known. */
static bool join_to_bound(const kmm_launch_t *l, const kmm__partition_t *p, uint64_t most,
                          join_bound_t bound, kmm__partition_t *q)
{
    kmm__partition_t pair = joined_by(p, 2);
    uint64_t one = hull_of_middle(l, p), two = hull_of_middle(l, &pair),
             grows = two > one ? two - one : 0;
    uint64_t want = grows && bound.more / grows < most ? bound.more / grows : most;
    for (; one && want >= 2;
         want /=
         2) { /* in the next dimension a chunk may add more bytes, so that fewer are joined */
        *q = joined_by(p, (int64_t)want);
        uint64_t bytes = hull_of_middle(l, q);
        if (bytes <= bound.all && bytes <= one + 2 * bound.more)
            return true;
    }
    return false;
}

void kmm__partition_join(kmm__partition_t *p, const kmm_launch_t *l, const kmm_runtime_t *rt,
                         const kmm__placement_t *place)
{
    kmm__partition_t q;
    uint64_t least = rt->launches->join.tasks * place->count * (1 + rt->launches->other_nodes);
    bool apart = l->schedule == KMM_SCHEDULE_CYCLIC &&
                 place->count > 1; /* neighbouring chunks run on different devices */
    bool none =
        p->is_function || place->device[0]->space == KMM__HOST || rt->checks_access || apart;
    if (none || p->count < 2 * least || kmm__reduce_is_ordered(l) ||
        !join_to_bound(l, p, p->count / least, join_bound(l, rt, place), &q))
        return;
    for (uint32_t k = 0; k < l->item_count; k++)
        if (l->items[k].array && l->items[k].mode != KMM_REDUCE &&
            !joins_well(&l->items[k], l, p, &q))
            return;
    *p = q;
}
