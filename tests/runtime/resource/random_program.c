/* SPDX-License-Identifier: Apache-2.0 */
/* Random programs: choose a step, carry it out, and check it against the model of memory. */
#include "random_program.h"

enum { MOST_LIVE = 200 };
typedef struct live {
    void *p;
    size_t bytes;
    int stream;
} live_t;

typedef struct run {
    const random_program_t *program;
    uint64_t state;
    live_t live[MOST_LIVE];
    size_t count;
} run_t;

static uint64_t roll(run_t *r, uint64_t n) /* xorshift: the same on every machine */
{
    r->state ^= r->state << 13;
    r->state ^= r->state >> 7;
    r->state ^= r->state << 17;
    return r->state % n;
}

static size_t random_size(run_t *r)
{
    size_t bits = 0, most = r->program->largest;
    while ((size_t)256 << (bits + 1) <= most)
        bits++;
    size_t bytes = roll(r, 4) ? roll(r, most < 8192 ? most : 8192) + 1
                              : roll(r, (size_t)256 << roll(r, bits + 1)) + 1;
    return bytes < most ? bytes : most;
}

static const char *allocate(run_t *r)
{
    int stream = (int)roll(r, FAKE_STREAMS);
    size_t bytes = random_size(r), alignment = (size_t)1 << roll(r, 15);
    if (alignment > r->program->alignment || roll(r, 8))
        alignment = 0;
    void *p;
    int status =
        kmm_resource_allocate(r->program->resource, bytes, alignment, fake_stream(stream), &p);
    if (status)
        return status == KMM_E_MEMORY ? NULL : kmm_resource_error_text();
    if ((uintptr_t)p % (alignment > 256 ? alignment : 256))
        return "wrong alignment";
    r->live[r->count++] = (live_t){p, bytes, stream};
    return fake_memory_begin(r->program->memory, p, bytes, stream);
}

static const char *deallocate(run_t *r, size_t which)
{
    fake_memory_t *m = r->program->memory;
    live_t l = r->live[which];
    r->live[which] = r->live[--r->count];
    int stream = roll(r, 3) ? l.stream : (int)roll(r, FAKE_STREAMS);
    if (stream != l.stream)
        fake_order(&m->streams, stream, l.stream); /* what a program must do */
    fake_memory_use(m, l.p, l.bytes, stream);
    const char *wrong = fake_memory_end(m, l.p, l.bytes);
    if (wrong)
        return wrong;
    size_t bytes = roll(r, 4) ? l.bytes : KMM_SIZE_RECORDED;
    return kmm_resource_deallocate(r->program->resource, l.p, bytes, fake_stream(stream))
               ? kmm_resource_error_text()
               : NULL;
}

static void progress(run_t *r)
{
    fake_streams_t *f = &r->program->memory->streams;
    int s = (int)roll(r, FAKE_STREAMS);
    fake_complete(f, s, f->completed[s] + roll(r, f->clock[s][s] - f->completed[s] + 1));
}

static const char *step(run_t *r)
{
    uint64_t what = roll(r, 1000);
    if (what < 20)
        progress(r);
    else if (what < 22 && kmm_resource_trim(r->program->resource, roll(r, 2) ? 0 : 1 << 20))
        return kmm_resource_error_text();
    else if (what < 24 &&
             kmm_resource_stream_end(r->program->resource, fake_stream((int)roll(r, FAKE_STREAMS))))
        return kmm_resource_error_text();
    else if (r->count < MOST_LIVE && what < 530)
        return allocate(r);
    else if (r->count)
        return deallocate(r, roll(r, r->count));
    return NULL;
}

static const char *check(run_t *r, int i)
{
    kmm_resource_usage_t usage;
    if (r->program->memory->wrong)
        return r->program->memory->wrong;
    if (i % 64 == 0 && r->program->is_valid && !r->program->is_valid(r->program->resource))
        return "an invariant is broken";
    if (kmm_resource_usage(r->program->resource, &usage) == 0 && usage.live_count != r->count)
        return "live allocations are miscounted";
    return NULL;
}

const char *random_program(const random_program_t *program)
{
    run_t r = {.program = program, .state = program->seed, .count = 0};
    const char *wrong = NULL;
    for (int i = 0; i < program->steps && !wrong; i++) {
        wrong = step(&r);
        wrong = wrong ? wrong : check(&r, i);
    }
    while (r.count && !wrong)
        wrong = deallocate(&r, r.count - 1);
    return wrong;
}
