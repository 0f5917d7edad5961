/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the oracle's programs, and compares what arrays hold with their models. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle_program.h"

/* ---- Running a script ---- */

void oracle_complain(script_t *s, const char *format, ...)
{
    va_list args;
    s->wrong = true;
    va_start(args, format);
    fprintf(stderr, "thread %d: ", s->number);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
}

void oracle_compare(script_t *s, int op, int slot, const void *got, int64_t begin, int64_t count)
{
    const slot_t *t = &s->slot[slot];
    size_t size = type_bytes(t->type);
    const char *want = (const char *)t->model + begin * (int64_t)size;
    if (s->wrong || !memcmp(got, want, (size_t)count * size))
        return;
    for (int64_t k = 0; k < count; k++)
        if (memcmp((const char *)got + k * (int64_t)size, want + k * (int64_t)size, size)) {
            oracle_complain(s, "op %d: slot %d element %lld is %lld, should be %lld", op, slot,
                            (long long)(begin + k), (long long)get(t->type, got, k),
                            (long long)get(t->type, want, k));
            return;
        }
}

static char *host_memory(const script_t *s, slot_t *t, size_t bytes)
{
    void *base = NULL;
    t->pinned = t->pinned && s->pinned && !kmm_resource_allocate(s->pinned, bytes, 0, NULL, &base);
    if (!t->pinned)
        return calloc(bytes, 1);
    memset(base, 0, bytes);
    return base;
}

static int slot_create(script_t *s, slot_t *t)
{
    size_t size = type_bytes(t->type), bytes = (size_t)t->n * size;
    if (t->kind == MANAGED) {
        kmm_shape_t shape = {.dims = 1, .extent = {t->n}, .element_bytes = size};
        return kmm_array_create(s->rt, &shape, &t->base);
    }
    if (!t->base)
        t->base = host_memory(s, t, PAD + bytes) + PAD;
    return t->kind == MAPPED ? kmm_map(s->rt, KMM_MAP_TOFROM, t->base, bytes) : 0;
}

/* What is behind the arrays of a script, for as long as its host memory is mapped. What was mapped
 * `from` or `alloc` is written before it is read. */
static int slot_begin(script_t *s, slot_t *t)
{
    size_t bytes = (size_t)t->n * type_bytes(t->type);
    bool written = t->kind == MANAGED ||
                   (t->kind == MAPPED && (t->map == KMM_MAP_FROM || t->map == KMM_MAP_ALLOC));
    t->depth = 0;
    int error = slot_create(s, t);
    return error || !written ? error : kmm_copy_in(s->rt, t->base, t->model, bytes);
}

int oracle_settle(script_t *s, int op, int slot)
{
    slot_t *t = &s->slot[slot];
    size_t bytes = (size_t)t->n * type_bytes(t->type);
    int error = 0;
    if (t->kind == RAW)
        error = kmm_wait(s->rt);
    if (t->kind == MAPPED && t->map == KMM_MAP_ALLOC) {
        char *got = malloc(bytes);
        error = kmm_copy_out(s->rt, got, t->base, bytes);
        if (!error)
            oracle_compare(s, op, slot, got, 0, t->n);
        free(got);
    }
    for (; t->kind == MAPPED && t->depth >= 0 && !error; t->depth--)
        error = kmm_unmap(s->rt, t->base);
    if (!error && !(t->kind == MAPPED && t->map == KMM_MAP_ALLOC))
        oracle_compare(s, op, slot, t->base, 0, t->n);
    return error;
}

/* An array ends, with work on it perhaps under way, and another one takes its place; a map ends and
 * begins. */
static int renew(script_t *s, const op_t *op)
{
    slot_t *t = &s->slot[op->target];
    size_t bytes = (size_t)t->n * type_bytes(t->type);
    int error = t->kind == MANAGED ? kmm_array_destroy(s->rt, t->base)
                                   : oracle_settle(s, (int)(op - s->op), op->target);
    if (error)
        return error;
    memset(t->model, op->value, bytes);
    if (t->kind != MANAGED)
        memset(t->base, op->value, bytes);
    return slot_begin(s, t);
}

/* Maps inside a map change nothing; one that lies across its end is refused. */
static int nest(script_t *s, const op_t *op)
{
    slot_t *t = &s->slot[op->target];
    int64_t size = (int64_t)type_bytes(t->type);
    if (op->value == 0 && t->depth > 0) {
        t->depth--;
        return kmm_unmap(s->rt, t->base);
    }
    if (op->value == 1 &&
        kmm_map(s->rt, KMM_MAP_TOFROM, (char *)t->base + t->n * size - 1, 2) != KMM_E_INVALID)
        oracle_complain(s, "op %d: a map across the end of another was not refused",
                        (int)(op - s->op));
    if (op->value != 2 || t->depth == DEPTH || op->count == 0)
        return 0;
    t->depth++;
    return kmm_map(s->rt, (kmm_map_t)(op->salt % 4), (char *)t->base + op->begin * size,
                   (size_t)(op->count * size));
}

static int mark(script_t *s, const op_t *op)
{
    void *stream = oracle_stream(op->stream);
    int error = 0;
    if (op->value == MARK_MAKE || !s->mark) {
        kmm__marker_release(s->mark);
        s->mark = NULL;
        return kmm__marker_create(
            s->rt, op->salt % 4 ? stream : (void *)(uintptr_t)&kmm__all_streams, &s->mark);
    }
    if (op->value == MARK_PRECEDE)
        return kmm__marker_precede(s->mark, stream);
    error = kmm__marker_wait(s->mark);
    if (error)
        return kmm_wait(s->rt); /* which has the error's text */
    if (kmm__marker_query(s->mark) != 1)
        oracle_complain(s, "op %d: a mark that was waited for is not reached", (int)(op - s->op));
    return error;
}

/* Whether it asks for chunks of an axis along which the kernel loops with the grid's stride, while
 * its regions move with the axis. */
static bool may_be_refused(const op_t *op)
{
    bool may = false;
    for (uint32_t d = 0; d < op->dims; d++)
        may |= op->reach == STRIDED && op->grid[d] && op->chunk[d];
    return may;
}

static int step(script_t *s, op_t *op)
{
    slot_t *t = &s->slot[op->target], *from = &s->slot[op->other];
    int64_t size = (int64_t)type_bytes(t->type);
    size_t bytes = (size_t)(op->count * size);
    char *at = (char *)t->base + op->begin * size, *model = (char *)t->model + op->begin * size,
         *buffer;
    int error = 0;
    switch (op->kind) {
    case LAUNCH:
    case REDUCE:
        error = oracle_launch(s, op);
        if (error == KMM_E_RANGE && may_be_refused(op)) {
            op->strays = false;
            return 0;
        }
        oracle_launch_model(s, op);
        return error;
    case COPY_IN:
        for (int64_t k = 0; k < op->count; k++)
            put(t->type, t->model, op->begin + k, (k * 13 + op->salt) % MODULUS);
        buffer = malloc(bytes + 1);
        memcpy(buffer, model, bytes);
        error = kmm_copy_in(s->rt, at, buffer, bytes);
        memset(buffer, 0xee, bytes);
        free(buffer);
        return error;
    case COPY_OUT:
        buffer = malloc(bytes + 1);
        error = kmm_copy_out(s->rt, buffer, at, bytes);
        if (!error)
            oracle_compare(s, (int)(op - s->op), op->target, buffer, op->begin, op->count);
        free(buffer);
        return error;
    case COPY:
        memmove(model, (char *)from->model + op->other_begin * size, bytes);
        return kmm_copy(s->rt, at, (char *)from->base + op->other_begin * size, bytes);
    case FILL: memset(model, op->value, bytes); return kmm_fill(s->rt, at, op->value, bytes);
    case RENEW: return renew(s, op);
    case WAIT: return kmm_wait(s->rt);
    case NEST: return t->kind == MAPPED ? nest(s, op) : 0;
    case MARK: return mark(s, op);
    }
    return 0;
}

static void check_all(script_t *s)
{
    if (s->fault) {
        oracle_fault_check(s);
        return;
    }
    for (int k = 0; k < s->slot_count && !s->error; k++) {
        slot_t *t = &s->slot[k];
        size_t bytes = (size_t)t->n * type_bytes(t->type);
        if (t->kind != MANAGED) {
            s->error = oracle_settle(s, OPS, k);
            continue;
        }
        char *got = malloc(bytes);
        s->error = kmm_copy_out(s->rt, got, t->base, bytes);
        if (!s->error)
            oracle_compare(s, OPS, k, got, 0, t->n);
        free(got);
    }
}

static void *run_script(void *arg)
{
    script_t *s = arg;
    kmm_use(s->rt);
    oracle_taint(s);
    for (int k = 0; k < s->slot_count; k++) {
        slot_t *t = &s->slot[k];
        t->base = NULL;
        t->model = calloc((size_t)t->n, type_bytes(t->type));
        s->error = s->error ? s->error : slot_begin(s, t);
    }
    for (int k = 0; k < s->op_count && !s->error && !s->wrong; k++)
        if (!s->op[k].dropped && (s->error = step(s, &s->op[k])))
            s->slot[s->op[k].target].is_uncertain = true;
    if (oracle_fault_explains(s, s->error))
        s->error = 0;
    if (!s->wrong)
        check_all(s);
    if (s->error)
        fprintf(stderr, "thread %d: error %d: %s\n", s->number, s->error, kmm_error_text(s->rt));
    kmm__marker_release(s->mark);
    kmm_use(NULL);
    return NULL;
}

static void forget(program_t *p)
{
    for (int k = 0; k < p->script_count; k++)
        for (int t = 0; t < p->script[k].slot_count; t++) {
            slot_t *slot = &p->script[k].slot[t];
            free(slot->model);
            char *host = slot->kind != MANAGED && slot->base ? (char *)slot->base - PAD : NULL;
            if (host && slot->pinned)
                kmm_resource_deallocate(p->pinned, host, KMM_SIZE_RECORDED, NULL);
            else
                free(host);
        }
    for (int k = 0; k < SHARED; k++)
        free(p->shared[k].model);
    kmm_resource_destroy(p->pinned);
    p->pinned = NULL;
}

static void set_number(const char *name, int64_t value)
{
    char text[32];
    snprintf(text, sizeof(text), "%lld", (long long)value);
    setenv(name, text, 1);
}

static int create(const program_t *p, kmm_runtime_t **out)
{
    char devices[64], join[32], fault[32];
    snprintf(devices, sizeof(devices), p->devices, (long long)p->memory);
    setenv("KMM_SPILL_IO", p->disk, 1);
    set_number("KMM_FAKE_DEVICES", 8);
    set_number("KMM_FAKE_MEM", (int64_t)1 << 32);
    set_number("KMM_FAKE_GRANULE", p->granule);
    set_number("KMM_FAKE_JITTER_US", p->jitter);
    set_number("KMM_STAGE_THREADS", p->stagers);
    set_number("KMM_STAGE_BYTES", 4096);
    set_number("KMM_STAGE_TIMES", 2);
    setenv("KMM_PINNED_MEM", p->locks ? "" : "0", 1);
    snprintf(join, sizeof(join), "%lld,1,2", (long long)p->join);
    setenv("KMM_JOIN", p->join ? join : "", 1);
    setenv("KMM_CHECK",
           p->checks     ? p->compares ? "access,result" : "access"
           : p->compares ? "result"
                         : "",
           1);
    snprintf(fault, sizeof(fault), "%s:%d", p->fault == LOST ? "running" : "launch", p->fault_at);
    setenv("KMM_FAKE_FAIL", p->fault >= REFUSED ? fault : "", 1);
    int error = kmm_create(out, &(kmm_config_t){.devices = devices,
                                                .threads = p->threads,
                                                .host_mem = (uint64_t)p->host_memory});
    if (error)
        fprintf(stderr, "%s: %s\n", devices, kmm_error_text(NULL));
    return error;
}

/* What all threads read, and the sum that all of them add to. */
static int shared_begin(program_t *p, kmm_runtime_t *rt)
{
    for (int k = 0; k < SHARED; k++) {
        slot_t *t = &p->shared[k];
        size_t size = type_bytes(t->type), bytes = (size_t)t->n * size;
        kmm_shape_t shape = {.dims = 1, .extent = {t->n}, .element_bytes = size};
        t->model = malloc(bytes);
        for (int64_t i = 0; i < t->n; i++)
            put(t->type, t->model, i, i * 7 % MODULUS);
        int error = kmm_array_create(rt, &shape, &t->base);
        error = error ? error : kmm_copy_in(rt, t->base, t->model, bytes);
        if (error)
            return error;
        for (int j = 0; j < p->script_count; j++)
            p->script[j].slot[p->script[j].slot_count + k] = *t;
    }
    return 0;
}

static int shared_check(program_t *p, kmm_runtime_t *rt)
{
    script_t *s = &p->script[0];
    for (int k = 0; k < SHARED; k++) {
        slot_t *t = &p->shared[k];
        size_t bytes = (size_t)t->n * type_bytes(t->type);
        char *got = malloc(bytes);
        int error = kmm_copy_out(rt, got, t->base, bytes);
        if (!error)
            oracle_compare(s, OPS, s->slot_count + k, got, 0, t->n);
        free(got);
        if (error)
            return error;
    }
    return 0;
}

typedef enum outcome { RIGHT, WRONG, TOO_SMALL } outcome_t;

/* Takes note of an error that need not be wrong. */
static bool is_wrong(int error, bool *small)
{
    *small |= error == KMM_E_MEMORY || error == KMM_E_POISONED;
    return error && error != KMM_E_MEMORY && error != KMM_E_POISONED;
}

static outcome_t run_threads(program_t *p)
{
    pthread_t thread[THREADS];
    bool wrong = false, small = false;
    for (int k = 0; k < p->script_count; k++)
        pthread_create(&thread[k], NULL, run_script, &p->script[k]);
    for (int k = 0; k < p->script_count; k++) {
        pthread_join(thread[k], NULL);
        wrong |= p->script[k].wrong || is_wrong(p->script[k].error, &small);
    }
    if (p->script[0].has_shared && !wrong && !small)
        wrong = is_wrong(shared_check(p, p->script[0].rt), &small) || p->script[0].wrong;
    return wrong ? WRONG : small ? TOO_SMALL : RIGHT;
}

/* What is lost has been told of, and so has each store where there must be none. */
static bool was_told(script_t *s)
{
    bool strays = false;
    for (int k = 0; k < s->op_count; k++)
        strays |= !s->op[k].dropped && oracle_strays(&s->op[k]);
    if (s->has_lost && !s->told)
        oracle_complain(s, "elements are lost, and no error says why");
    if (s->fault == STRAYS && strays && s->told != KMM_E_ACCESS)
        oracle_complain(s, "a chunk stores to what it only reads, and no error says so");
    return !s->wrong;
}

static outcome_t run_once(program_t *p)
{
    kmm_runtime_t *rt[THREADS] = {NULL};
    int runtimes = p->apart ? p->script_count : 1;
    bool small = false;
    outcome_t result = RIGHT;
    for (int k = 0; k < runtimes; k++)
        if (create(p, &rt[k]))
            return WRONG;
    /* Pinned memory keeps a lost device from coming back for another run. */
    if (p->gpu_kernel && p->fault != LOST && kmm_pinned_resource_create(0, &p->pinned))
        fprintf(stderr, "no pinned memory: %s\n", kmm_resource_error_text());
    for (int k = 0; k < p->script_count; k++) {
        p->script[k].pinned = p->pinned;
        p->script[k].fault = p->fault;
        p->script[k].told = 0;
        p->script[k].has_lost = false;
        p->script[k].rt = rt[p->apart ? k : 0];
        p->script[k].error = 0;
        p->script[k].mark = NULL;
    }
    if (p->script[0].has_shared)
        result = is_wrong(shared_begin(p, rt[0]), &small) ? WRONG : small ? TOO_SMALL : RIGHT;
    if (result == RIGHT)
        result = run_threads(p);
    for (int k = 0; k < runtimes; k++) {
        int error = kmm_destroy(rt[k]);
        if (p->fault && oracle_fault_explains(&p->script[0], error))
            continue;
        if (!is_wrong(error, &small) || result == TOO_SMALL)
            continue;
        fprintf(stderr, "end: %s\n", kmm_error_text(NULL));
        result = WRONG;
    }
    if (p->fault && result == RIGHT && !small && !was_told(&p->script[0]))
        result = WRONG;
    forget(p);
    return result == RIGHT && small ? TOO_SMALL : result;
}

/* Whether all devices can use the host's memory for what they have no room for. */
static bool may_be_host_backed(const program_t *p)
{
    return !ON_DEVICE && !p->host_memory && !strstr(p->devices, "hip");
}

/* A chunk may need more than the device has, and nothing else be allowed; then the program must
 * fail in an orderly way, and run with more. */
bool oracle_run(program_t *p)
{
    if (may_be_host_backed(p)) {
        outcome_t o = run_once(p);
        if (o == TOO_SMALL)
            fprintf(stderr, "is refused for want of memory, where the host's can be used\n");
        return o == RIGHT;
    }
    for (; p->memory <= p->most; p->memory *= 2, p->host_memory *= 2) {
        outcome_t o = run_once(p);
        if (o != TOO_SMALL)
            return o == RIGHT;
    }
    fprintf(stderr, "out of memory with all that it could need\n");
    return false;
}
