/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the oracle's random programs: one for each seed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_program.h"
#include "random.h"

static void random_view(rng_t *r, op_t *op, int64_t n)
{
    op->shift = rng_range(r, 0, 2) ? 0 : rng_range(r, 0, n / 4);
    op->dims = (uint32_t)rng_range(r, 1, DIMS);
    n -= op->shift;
    int64_t inner = 1, most = op->dims == 3 ? 24 : 130;
    for (uint32_t d = op->dims; d-- > 1;) {
        op->extent[d] = rng_range(r, 1, most);
        if (inner * op->extent[d] > n)
            op->extent[d] = 1;
        inner *= op->extent[d];
    }
    op->extent[0] = op->dims > 1 && n / inner > MOST_ROWS ? MOST_ROWS : n / inner;
    op->open_extent = rng_range(r, 0, 2) == 0;
    op->flat = rng_range(r, 0, 1);
}

/* Elements of the target that one point of the launch has to itself. */
static int64_t random_out(rng_t *r, section_t *c, int64_t extent)
{
    *c = (section_t){.scale = 1, .length = 1};
    if (rng_range(r, 0, 3) == 0) {
        c->scale = rng_range(r, 1, 3);
        c->length = rng_range(r, 1, c->scale);
        c->offset = rng_range(r, 0, 2);
    }
    if (c->offset + c->length > extent)
        *c = (section_t){.scale = 1, .length = 1};
    return (extent - c->offset - c->length) / c->scale + 1;
}

static section_t random_section(rng_t *r, int64_t extent, bool inner)
{
    section_t c = {.scale = 1, .length = 1};
    switch (rng_range(r, 0, 7)) {
    case 0:
    case 1: break;
    case 2:
    case 3:
    case 4:
        c.offset = -rng_range(r, 0, 2);
        c.length = rng_range(r, 1, 4);
        break;
    case 5:
        c.scale = rng_range(r, 0, 2);
        c.offset = rng_range(r, -3, extent);
        c.length = rng_range(r, 0, 3);
        break;
    case 6:
        c.scale = -1;
        c.offset = extent - 1;
        break;
    case 7:
        c.whole = rng_range(r, 0, 1);
        c.growth = inner && !c.whole && extent < 200;
        break;
    }
    return c;
}

/* One of the first slots that may be written. */
static int random_target(rng_t *r, const script_t *s, int count)
{
    int k = (int)rng_range(r, 0, count - 1);
    while (s->slot[k].kind == MAPPED && s->slot[k].map == KMM_MAP_TO)
        k = (k + 1) % count; /* the first never is */
    return k;
}

/* How a launch is run, whatever it does. */
static void random_manner(rng_t *r, const script_t *s, op_t *op)
{
    op->is_function = rng_range(r, 0, 2) == 0;
    op->on_gpu = s->gpu_kernel && !op->is_function && rng_range(r, 0, 4);
    op->in_blocks = rng_range(r, 0, 3) == 0;
    op->has_if = rng_range(r, 0, 19) == 0;
    op->nowait = s->may_leave && rng_range(r, 0, 3) == 0;
    op->on_first = rng_range(r, 0, 9) == 0;
    op->schedule = rng_range(r, 0, 2) ? KMM_SCHEDULE_LOCALITY : (kmm_schedule_t)rng_range(r, 0, 2);
    op->priority = rng_range(r, 0, 2) ? 0 : (int)rng_range(r, -1, 1);
    op->stream = rng_range(r, 0, 1) ? 0 : (int)rng_range(r, 0, STREAMS - 1);
}

/* What is read of the target lies behind all that is written. */
static void part_sources(op_t *op)
{
    int64_t written =
        op->out[0].scale * (op->lo[0] + op->length[0] - 1) + op->out[0].offset + op->out[0].length;
    for (int k = 0; k < op->source_count; k++) {
        section_t *c = &op->source[k].section[0];
        if (op->kind == LAUNCH && op->source[k].slot == op->target)
            *c = (section_t){.scale = 1, .offset = written - op->lo[0], .length = 1 + op->salt % 3};
    }
}

/* Whether the section lies in the view for every index of a launch in one dimension. */
static bool is_inside(const op_t *op, const section_t *c)
{
    for (int k = 0; k < 2; k++) {
        int64_t i = op->lo[0] + (k ? op->length[0] - 1 : 0), lo = c->scale * i + c->offset,
                hi = lo + c->length + c->growth * i;
        if (lo < 0 || hi > op->extent[0] || hi <= lo)
            return false;
    }
    return !c->whole;
}

/* Where the pointers lie. Those before an array by more than an element might lie in another. */
static void random_before(rng_t *r, const script_t *s, op_t *op)
{
    if (op->kind == REDUCE && rng_range(r, 0, 1)) /* s + 3 with [0:n] */
        op->before[0] = -op->begin;
    if (op->dims > 1 || !op->flat || op->length[0] == 0)
        return;
    for (int k = 0; k <= op->source_count; k++) {
        int slot = k ? op->source[k - 1].slot : op->target;
        const section_t *c = k ? op->source[k - 1].section : op->out;
        int64_t far = slot < s->slot_count && s->slot[slot].kind != MANAGED ? FAR : 1;
        if ((k || op->kind == LAUNCH) && rng_range(r, 0, 2) == 0 && is_inside(op, c))
            op->before[k] = rng_range(r, 1, far) + op->shift * (far > 1);
    }
}

/* Each chunk reads all of the sources. */
static void make_gather(op_t *op)
{
    for (int k = 0; k < op->source_count; k++)
        for (uint32_t d = 0; d < op->dims; d++)
            op->source[k].section[d] = (section_t){.length = 1, .whole = true};
}

/* Grids that are too small for the launch. Where the kernel loops, regions that move with the axis
 * allow no chunks of it; sums over whole arrays do. */
static void random_grid(rng_t *r, op_t *op)
{
    if (op->is_function || rng_range(r, 0, 2))
        return;
    op->reach = rng_range(r, 0, 2) ? STRIDED : BOUNDED;
    if (op->kind == REDUCE && op->reach == STRIDED && rng_range(r, 0, 1))
        make_gather(op);
    for (uint32_t d = 0; d < op->dims; d++) {
        int64_t needed = (op->lo[d] + op->length[d] + op->block[d] - 1) / op->block[d];
        if (needed < 2 || rng_range(r, 0, 2) == 0)
            continue;
        op->grid[d] = (uint32_t)rng_range(r, 1, needed - 1);
        if (op->reach == STRIDED && op->kind == LAUNCH && rng_range(r, 0, 3))
            op->chunk[d] = 0;
    }
}

static void random_launch(rng_t *r, const script_t *s, op_t *op)
{
    int64_t n = s->slot[0].n;
    int big = s->slot_count - SUMS;
    random_view(r, op, n);
    random_manner(r, s, op);
    op->source_count = (int)rng_range(r, 0, 2);
    op->extra = rng_range(r, 0, 5) ? -1 : (int)rng_range(r, big, s->slot_count - 1);
    if (op->kind == REDUCE) {
        static const kmm_op_t ops[] = {KMM_OP_ADD, KMM_OP_MIN,  KMM_OP_MAX, KMM_OP_LAND, KMM_OP_LOR,
                                       KMM_OP_MUL, KMM_OP_BXOR, KMM_OP_BOR, KMM_OP_BAND};
        bool together = s->has_shared && rng_range(r, 0, 2) == 0;
        op->target = together ? s->slot_count + 1 : (int)rng_range(r, big, s->slot_count - 1);
        op->op = together ? KMM_OP_ADD
                          : ops[rng_range(r, 0, s->slot[op->target].type >= KMM_FLOAT ? 4 : 8)];
        op->begin = rng_range(r, 0, SUM_LENGTH - 1);
        op->count = rng_range(r, 1, SUM_LENGTH - op->begin);
        op->extra = op->extra == op->target ? -1 : op->extra;
    } else {
        op->target = random_target(r, s, big);
        op->mode = rng_range(r, 0, 1) ? KMM_WRITE : KMM_UPDATE;
        op->skips = op->mode == KMM_UPDATE && rng_range(r, 0, 1);
    }
    for (int k = 0; k < op->source_count; k++) {
        op->source[k].slot = (int)rng_range(r, 0, big - 1);
        if (op->source[k].slot == op->target && rng_range(r, 0, 1))
            op->source[k].slot = (op->target + 1) % big;
        if (s->has_shared && rng_range(r, 0, 4) == 0)
            op->source[k].slot = s->slot_count;
        for (uint32_t d = 0; d < op->dims; d++)
            op->source[k].section[d] = random_section(r, op->extent[d], d + 1 == op->dims);
    }
    bool none = rng_range(r, 0, 40) == 0, part = rng_range(r, 0, 2) == 0,
         splits = rng_range(r, 0, 5);
    int64_t work = 1;
    for (uint32_t d = 0; d < op->dims; d++) {
        int64_t points = random_out(r, &op->out[d], op->extent[d]);
        op->lo[d] = part ? rng_range(r, 0, points - 1) : 0;
        op->length[d] = part ? rng_range(r, 1, points - op->lo[d]) : points;
        op->length[d] = none && d == 0 ? 0 : op->length[d];
        work *= op->length[d];
        while (op->kind == REDUCE && work > MOST_REDUCED) {
            work = work / op->length[d] * (op->length[d] / 2);
            op->length[d] /= 2;
        }
        op->block[d] = (uint32_t)(d + 1 == op->dims ? rng_range(r, 1, 64) : rng_range(r, 1, 4));
        int64_t unit = op->in_blocks && !op->is_function ? op->block[d] : 1;
        if (splits && rng_range(r, 0, 3))
            op->chunk[d] =
                1 + (op->lo[d] + op->length[d]) / rng_range(r, 1, op->dims == 1 ? 40 : 6) / unit;
    }
    if (rng_range(r, 0, 7) == 0)
        make_gather(op);
    random_grid(r, op);
    part_sources(op);
    random_before(r, s, op);
}

static void random_range(rng_t *r, const script_t *s, op_t *op)
{
    int64_t n = s->slot[op->target].n;
    bool whole = rng_range(r, 0, 2) == 0;
    op->begin = whole ? 0 : rng_range(r, 0, n - 1);
    op->count = whole ? n : rng_range(r, 0, n - op->begin);
}

static void random_op(rng_t *r, const script_t *s, op_t *op)
{
    static const op_kind_t kinds[] = {LAUNCH, LAUNCH, LAUNCH, LAUNCH, LAUNCH,  LAUNCH,
                                      LAUNCH, REDUCE, REDUCE, REDUCE, COPY_IN, COPY_OUT,
                                      COPY,   FILL,   RENEW,  WAIT,   NEST,    MARK};
    static const int values[] = {0, 0, 1, 0x41};
    *op = (op_t){.kind = kinds[rng_range(r, 0, 17)], .salt = rng_range(r, 0, 1000), .extra = -1};
    if (op->kind == LAUNCH || op->kind == REDUCE) {
        random_launch(r, s, op);
        return;
    }
    op->target = (int)rng_range(r, 0, s->slot_count - 1);
    op->value = op->target < s->slot_count - SUMS ? values[rng_range(r, 0, 3)] : 0;
    if (op->kind == MARK || op->kind == NEST) {
        op->value = (int)rng_range(r, 0, 2);
        op->stream = (int)rng_range(r, 0, STREAMS - 1);
        random_range(r, s, op);
    }
    if (op->kind == RENEW || op->kind == WAIT || op->kind == MARK || op->kind == NEST)
        return;
    if (op->kind != COPY_OUT)
        op->target = random_target(r, s, s->slot_count);
    if (s->slot[op->target].kind == RAW)
        op->target = s->slot_count - 1;
    random_range(r, s, op);
    op->other = op->target;
    for (int k = 0; k < s->slot_count - SUMS;
         k++) /* another of the type and length, if there is one */
        if (s->slot[k].type == s->slot[op->target].type && s->slot[k].n == s->slot[op->target].n &&
            s->slot[k].kind != RAW && rng_range(r, 0, 1))
            op->other = k;
    op->other_begin = rng_range(r, 0, s->slot[op->other].n - op->count);
    op->value = op->target < s->slot_count - SUMS ? op->value : 0;
}

/* The same launch back, from the target to the first source. */
static op_t turned(const script_t *s, const op_t *op)
{
    op_t back = *op;
    int big = s->slot_count - SUMS, from = op->source[0].slot;
    if (op->kind != LAUNCH || !op->source_count || from >= big || op->target >= big ||
        (s->slot[from].kind == MAPPED && s->slot[from].map == KMM_MAP_TO))
        return back;
    back.target = from;
    for (int k = 0; k < op->source_count; k++)
        back.source[k].slot = k ? op->source[k].slot : op->target;
    for (int k = 0; k < op->source_count; k++)
        if (back.source[k].slot == back.target)
            return *op;
    memset(back.before, 0, sizeof(back.before));
    return back;
}

/* A time loop: a few launches again and again, mostly with nothing between them that waits. */
static void random_loop(rng_t *r, script_t *s)
{
    enum { BODY = 4 };
    int body = (int)rng_range(r, 1, BODY),
        first = (int)rng_range(r, 0, s->op_count < 2 ? s->op_count : 2);
    for (int k = first; k < first + body; k++)
        do
            random_op(r, s, &s->op[k]);
        while (s->op[k].kind != LAUNCH && s->op[k].kind != REDUCE && rng_range(r, 0, 9));
    if (body > 1 && rng_range(r, 0, 1))
        s->op[first + 1] = turned(s, &s->op[first]);
    s->op_count = (int)rng_range(r, first + body, OPS);
    for (int k = first + body; k < s->op_count; k++)
        s->op[k] = s->op[k - body];
}

static int64_t random_script(rng_t *r, script_t *s)
{
    static const kmm_type_t types[] = {KMM_INT32,  KMM_FLOAT, KMM_DOUBLE, KMM_UINT8,  KMM_INT16,
                                       KMM_UINT16, KMM_INT64, KMM_INT8,   KMM_UINT32, KMM_UINT64};
    static const int64_t sizes[] = {300, 4000, ON_DEVICE ? LARGEST / 4 : 4000, LARGEST};
    int64_t n = rng_range(r, 1, sizes[rng_range(r, 0, 3)]), total = 0;
    s->slot_count = (int)rng_range(r, 2, SLOTS) + SUMS;
    for (int k = 0; k < s->slot_count; k++) {
        slot_t *t = &s->slot[k];
        bool sum = k >= s->slot_count - SUMS;
        t->kind = sum || rng_range(r, 0, 4) ? MANAGED : rng_range(r, 0, 2) ? MAPPED : RAW;
        if (k == s->slot_count - SUMS && rng_range(r, 0, 1))
            t->kind = RAW; /* a reduction's region begins behind its pointer */
        t->pinned = rng_range(r, 0, 1);
        t->type = types[rng_range(
            r, 0, sum ? 8 : 9)]; /* values are compared as signed: no large ones without sign */
        t->map = k ? (kmm_map_t)rng_range(r, 0, 3) : KMM_MAP_TOFROM;
        t->n = sum ? SUM_LENGTH : n;
        total += t->n * (int64_t)type_bytes(t->type) + 3 * PIECE;
    }
    s->op_count = (int)rng_range(r, 1, LOOSE_OPS);
    for (int k = 0; k < s->op_count; k++)
        random_op(r, s, &s->op[k]);
    if (rng_range(r, 0, 2) == 0)
        random_loop(r, s);
    return total;
}

/* One launch that stores to what it only reads, at some of its points. */
static void random_stray(rng_t *r, program_t *p)
{
    script_t *s = &p->script[0];
    int k = (int)rng_range(r, 0, s->op_count - 1);
    for (int tried = 0; tried < s->op_count; tried++, k = (k + 1) % s->op_count) {
        op_t *op = &s->op[k];
        if ((op->kind != LAUNCH && op->kind != REDUCE) || !op->source_count ||
            op->source[0].slot == op->target)
            continue;
        for (uint32_t d = 0; d < op->dims; d++)
            op->stray[d] = op->lo[d] + rng_range(r, 0, op->length[d] ? op->length[d] - 1 : 0);
        op->strays = true;
        p->fault = STRAYS;
        return;
    }
}

static void random_fault(rng_t *r, program_t *p)
{
    bool may = p->script_count == 1;
    /* The copies of a check heed no limit of links. */
    const char *asked = getenv("KMM_CHECK");
    p->checks = (asked && strstr(asked, "access")) ||
                (!getenv("KMM_FAKE_MOST_LINKS") && rng_range(r, 0, 9) == 0);
    p->fault_at = (int)rng_range(r, 1, rng_range(r, 0, 1) ? 8 : 60);
    if (may && p->checks && rng_range(r, 0, 1))
        random_stray(r, p);
    else if (may && !ON_DEVICE && p->gpu_kernel && rng_range(r, 0, 7) == 0)
        p->fault = rng_range(r, 0, 2) ? REFUSED : LOST;
    /* A comparison of a launch sees what other threads add to the same sum meanwhile. */
    p->compares = p->fault != STRAYS && !p->script[0].has_shared &&
                  (asked ? strstr(asked, "result") != NULL : p->checks);
}

static void random_shared(rng_t *r, program_t *p)
{
    bool has = p->script_count > 1 && !p->apart && rng_range(r, 0, 1);
    p->shared[0] =
        (slot_t){.kind = MANAGED, .type = rng_range(r, 0, 1) ? KMM_INT32 : KMM_UINT8, .n = LARGEST};
    p->shared[1] = (slot_t){.kind = MANAGED, .type = KMM_INT64, .n = SUM_LENGTH};
    for (int k = 0; k < p->script_count; k++) {
        p->script[k].number = k;
        p->script[k].gpu_kernel = p->gpu_kernel;
        p->script[k].may_leave = p->script_count == 1 || p->apart;
        p->script[k].has_shared = has;
    }
}

static void random_devices(rng_t *r, program_t *p, int gpu_count)
{
    static const char *const plain[] = {"host",
                                        "host:1,mem=%lld",
                                        "host:2,mem=%lld",
                                        "host:3,mem=%lld",
                                        "host:4,mem=%lld",
                                        "host:2,mem=%lld,host"};
    p->granule = 4096 << (rng_range(r, 0, 3) ? 0 : 2);
    p->jitter = rng_range(r, 0, 2) ? 0 : (int)rng_range(r, 1, 200);
    const char *only = getenv("KMM_ORACLE_DEVICES");
    if (!ON_DEVICE && !only && rng_range(r, 0, 2)) {
        p->devices = plain[rng_range(r, 0, 5)];
        return;
    }
    int k = (int)rng_range(r, 0, oracle_gpus_count - 1);
    if (!ON_DEVICE && only && !strcmp(only, "one")) {
        p->devices = k % 2 ? plain[1] : oracle_gpus[0].devices;
        p->gpu_kernel = k % 2 ? NULL : oracle_gpus[0].kernel;
        p->stagers = k % 3;
        return;
    }
    while (!ON_DEVICE && only && strncmp(oracle_gpus[k].devices, only, strlen(only)))
        k = (int)rng_range(r, 0, oracle_gpus_count - 1);
    while (oracle_gpus[k].count > gpu_count)
        k--; /* the first needs one */
    p->gpu_kernel = oracle_gpus[k].kernel;
    p->devices = oracle_gpus[k].devices;
    p->stagers = (int)rng_range(r, 0, 2);
}

/* "0.3 1.7": of thread 0 operation 3, of thread 1 operation 7, and no others. */
static void keep_only(program_t *p, const char *list)
{
    int thread, op, used;
    for (int t = 0; t < p->script_count; t++)
        for (int k = 0; k < p->script[t].op_count; k++)
            p->script[t].op[k].dropped = true;
    for (; sscanf(list, "%d.%d%n", &thread, &op, &used) == 2; list += used)
        if (thread >= 0 && thread < THREADS && op >= 0 && op < OPS)
            p->script[thread].op[op].dropped = false;
}

void oracle_make(program_t *p, uint64_t seed, int gpu_count)
{
    static const char *const disks[] = {"", "", "pread", "cached"};
    rng_t r = {seed};
    int64_t bytes = 0;
    memset(p, 0, sizeof(*p));
    p->seed = seed;
    random_devices(&r, p, gpu_count);
    p->threads = (uint32_t)rng_range(&r, 1, 4);
    p->script_count = rng_range(&r, 0, 2) ? 1 : (int)rng_range(&r, 2, THREADS);
    p->apart = rng_range(&r, 0, 2) == 0 &&
               !getenv("KMM_FAKE_MOST_LINKS"); /* each runtime counts its own */
    random_shared(&r, p);
    for (int k = 0; k < p->script_count; k++)
        bytes += random_script(&r, &p->script[k]);
    p->memory =
        rng_range(&r, 0, 3) ? PIECE * rng_range(&r, 4, ON_DEVICE ? 12 : 40) : (int64_t)4096 * PIECE;
    p->most = 64 * bytes +
              (ON_DEVICE ? (int64_t)8 << 30 : 64 << 20); /* partial copies of reductions too */
    p->disk = disks[rng_range(&r, 0, 3)];
    p->host_memory = rng_range(&r, 0, 1) ? HOST_PIECE * rng_range(&r, 40, 80) : 0;
    p->join = rng_range(&r, 0, 1) ? rng_range(&r, 64, 64 << 10) : 0;
    p->locks = rng_range(&r, 0, 3) > 0;
    random_fault(&r, p);
    if (getenv("KMM_ORACLE_KEEP"))
        keep_only(p, getenv("KMM_ORACLE_KEEP"));
}
