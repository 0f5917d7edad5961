/* SPDX-License-Identifier: Apache-2.0 */
/* One launch of the oracle's programs: its description, and what it does to the models. */
#include <string.h>

#include "oracle_program.h"

static manner_t manner_of(const script_t *s, const op_t *op)
{
    manner_t m = {.op = *op};
    for (int k = 0; k < SLOTS + SUMS + SHARED; k++)
        m.types[k] = s->slot[k].type;
    return m;
}

void oracle_launch_model(script_t *s, const op_t *op)
{
    manner_t m = manner_of(s, op);
    int64_t hi[DIMS], i[DIMS];
    places_t p = {0};
    m.op.is_function = false; /* other threads add to the model of a shared sum */
    m.op.strays = false;
    for (int k = 0; k < op->source_count; k++) {
        const slot_t *from = &s->slot[op->source[k].slot];
        p.source[k] = behind(from->model, op->shift - op->before[1 + k], from->type);
    }
    const slot_t *to = &s->slot[op->target];
    p.target = behind(to->model, (op->kind == LAUNCH ? op->shift : 0) - op->before[0], to->type);
    p.extra = op->extra >= 0 ? s->slot[op->extra].model : NULL;
    for (uint32_t d = 0; d < op->dims; d++) {
        if (op->length[d] == 0)
            return;
        hi[d] = end_of(op, d);
        if (hi[d] <= op->lo[d])
            return;
    }
    memcpy(i, op->lo, sizeof(i));
    do
        element(m.types, &m.op, i, &p);
    while (advance(op, i, op->lo, hi));
}

/* ---- Describing a launch ---- */

static void describe_sections(kmm_launch_t *l, const op_t *op, const slot_t *slot,
                              const section_t c[DIMS], int64_t before)
{
    bool flat = op->flat && op->dims == 1 && (slot->kind != RAW || before);
    for (uint32_t d = 0; d < op->dims && !flat; d++)
        kmm_launch_extent(l, d == 0 && op->open_extent && slot->kind != RAW ? KMM_WHOLE
                                                                            : op->extent[d]);
    for (uint32_t d = 0; d < op->dims; d++) {
        kmm_launch_index(l, c[d].whole ? 0 : c[d].offset + before,
                         c[d].whole ? KMM_WHOLE : c[d].length);
        if (!c[d].whole)
            kmm_launch_coef(l, d, c[d].scale, c[d].growth);
    }
}

/* An update that stores all its elements may be said in two items. */
static bool is_halved(const op_t *op)
{
    return op->mode == KMM_UPDATE && !op->skips && op->salt % 2;
}

static void describe(kmm_launch_t *l, const script_t *s, const op_t *op, const places_t *p)
{
    static const char *const names[] = {"a", "b", "c"};
    for (uint32_t d = 0; d < op->dims; d++) {
        kmm_source_t source =
            (kmm_source_t)((op->is_function ? KMM_RANGE_0 : KMM_GLOBAL_X) + op->dims - 1 - d);
        kmm_source_t blocks =
            (kmm_source_t)(op->in_blocks ? (unsigned)KMM_BLOCK_X + op->dims - 1 - d
                                         : (unsigned)source);
        kmm_launch_axis(l, names[d], source, op->lo[d], op->length[d]);
        if (op->chunk[d])
            kmm_launch_chunk(l, op->is_function ? source : blocks, op->chunk[d]);
    }
    kmm_launch_if(l, !op->has_if);
    if (op->reach == BOUNDED)
        kmm_launch_bounded(l);
    kmm_launch_schedule(l, op->schedule);
    kmm_launch_priority(l, op->priority);
    if (op->on_first)
        kmm_launch_device(l, KMM_ON_DEVICE, 0);
    if (op->nowait)
        kmm_launch_nowait(l);
    for (int k = 0; k < op->source_count; k++) {
        const slot_t *from = &s->slot[op->source[k].slot];
        kmm_launch_access(l, KMM_READ, k ? "source1" : "source0", p->source[k],
                          type_bytes(from->type));
        describe_sections(l, op, from, op->source[k].section, op->before[1 + k]);
    }
    if (op->extra >= 0) {
        kmm_launch_access(l, KMM_READ, "extra", p->extra, type_bytes(s->slot[op->extra].type));
        kmm_launch_index(l, 0, SUM_LENGTH);
    }
    const slot_t *to = &s->slot[op->target];
    if (op->kind == REDUCE) {
        kmm_launch_reduce(l, op->op, to->type, "sum", p->target);
        kmm_launch_index(l, op->begin + op->before[0], op->count);
        return;
    }
    for (int k = 0; k < (is_halved(op) ? 2 : 1); k++) {
        kmm_mode_t half = (op->salt / 2 + k) % 2 ? KMM_READ : KMM_WRITE;
        kmm_launch_access(l, is_halved(op) ? half : op->mode, "target", p->target,
                          type_bytes(to->type));
        describe_sections(l, op, to, op->out, op->before[0]);
    }
}

void *oracle_stream(int k)
{
    static char names[STREAMS];
    return k ? &names[k] : NULL;
}

/* Blocks with a thread for each index along dimension d, the last of which may have nothing to do.
 */
static uint32_t blocks_of(const op_t *op, uint32_t d)
{
    return (uint32_t)((op->lo[d] + op->length[d] + op->block[d]) / op->block[d]);
}

int oracle_launch(script_t *s, const op_t *op)
{
    arguments_t a = {manner_of(s, op), {0}};
    for (int k = 0; k < op->source_count; k++) {
        const slot_t *from = &s->slot[op->source[k].slot];
        a.places.source[k] = behind(from->base, op->shift - op->before[1 + k], from->type);
    }
    const slot_t *to = &s->slot[op->target];
    a.places.target =
        behind(to->base, (op->kind == LAUNCH ? op->shift : 0) - op->before[0], to->type);
    a.places.extra = op->extra >= 0 ? s->slot[op->extra].base : NULL;
    kmm_launch_t *l = kmm_launch_begin("oracle", "program", (int)(op - s->op));
    describe(l, s, op, &a.places);
    if (op->is_function)
        return kmm_launch_call(l, oracle_chunk, &a, sizeof(a));
    kmm_geometry_t g = {{1, 1, 1}, {1, 1, 1}, 0, oracle_stream(op->stream)};
    for (uint32_t d = 0; d < op->dims; d++) {
        uint32_t c = op->dims - 1 - d;
        g.block[c] = op->block[d];
        g.grid[c] = op->grid[d]
                        ? op->grid[d]
                        : blocks_of(op, d) + (uint32_t)(c ? op->salt / 4 % 2 : op->salt % 4);
    }
    kmm_blocks_t blocks = {0};
    void *args[] = {
        &blocks,        &a.manner, &a.places.target, &a.places.source[0], &a.places.source[1],
        &a.places.extra};
    bool on_gpu = op->on_gpu && s->gpu_kernel;
    kmm_launch_arm(l);
    return kmm_launch_kernel(on_gpu ? s->gpu_kernel : &oracle_host_kernel, &g,
                             on_gpu ? args : args + 1);
}
