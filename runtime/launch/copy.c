/* SPDX-License-Identifier: Apache-2.0 */
/* Copies, fills and maps: operations of the runtime, which run on the host in their place in the
 * order of work. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "memory/disk/spill.h"

/* ---- Submitting an operation ---- */

kmm__access_t kmm__access_bytes(kmm__array_t *a, kmm_mode_t mode, int64_t begin, int64_t end)
{
    kmm__access_t access = {.array = a, .mode = mode, .exact = true, .item = KMM__MAX_ITEMS};
    access.layout = &a->flat;
    access.box = (kmm__box_t){1, {begin}, {end}};
    return access;
}

int kmm__operation_submit(kmm_runtime_t *rt, const kmm__operation_t *op, const char *name,
                          const kmm__access_t *accesses, uint32_t count, kmm__task_t **out_task)
{
    kmm__work_t *w = kmm__work_create(rt);
    w->chunk_count = 1;
    w->operation = kmm__work_take(w, sizeof(*op));
    *w->operation = *op;
    w->name = name;
    kmm__task_t *t = kmm__task_create(rt, w, count);
    kmm__work_unref(w); /* the task's now */
    for (uint32_t k = 0; k < count; k++) {
        t->accesses[k] = accesses[k];
        if (accesses[k].layout != &accesses[k].array->flat)
            t->accesses[k].layout = kmm__work_layout(w, accesses[k].layout);
        kmm__array_ref(accesses[k].array);
    }
    t->access_count = count;
    t->exact = true;
    kmm__task_place(t, rt->cpu);
    if (out_task) {
        kmm__task_ref(t);
        *out_task = t;
    }
    kmm__line_enter(t, NULL);
    int error = kmm__dag_enter(t);
    if (error)
        t->error = error;
    kmm__dag_release(t);
    return error;
}

int kmm__task_wait(kmm_runtime_t *rt, kmm__task_t *t)
{
    t->awaited = true;
    while (t->state != KMM__TASK_DONE)
        pthread_cond_wait(&rt->progress, &rt->lock);
    int error = t->error;
    kmm__task_unref(t);
    return error;
}

/* Waits for an operation. When it is poisoned, what is told is the failure that poisoned it, if
 * nobody has been told yet. */
static int await(kmm_runtime_t *rt, kmm__task_t *t)
{
    int ran = kmm__task_wait(rt, t);
    if (!ran)
        return 0;
    return rt->error.code ? kmm__error_set(rt->error.code, "%s", rt->error.text)
                          : kmm__error_set(ran, "%s", kmm_error_string(ran));
}

static int operate(kmm_runtime_t *rt, const kmm__operation_t *op, const char *name,
                   const kmm__access_t *accesses, uint32_t count)
{
    kmm__task_t *t = NULL;
    int error = kmm__operation_submit(rt, op, name, accesses, count, &t), ran = await(rt, t);
    return error ? error : ran;
}

/* ---- Copies ---- */

/* The array that holds [address, address + bytes), and where. */
static int find_range(kmm_runtime_t *rt, const void *address, size_t bytes, kmm__array_t **array,
                      int64_t *begin)
{
    kmm__array_t *a = kmm__array_find(rt, address);
    if (!a && bytes == 0) { /* nothing, at the end of mapped memory */
        a = kmm__array_find(rt, (const char *)address - 1);
        a = a && a->is_mapped ? a : NULL;
    }
    if (!a)
        return kmm__error_set(KMM_E_ADDRESS, "%p is in no array", address);
    *begin = (const char *)address - a->base;
    if (bytes > a->bytes - (size_t)*begin)
        return kmm__error_set(KMM_E_RANGE, "%zu bytes at byte %lld of an array of %zu", bytes,
                              (long long)*begin, a->bytes);
    *array = a;
    return 0;
}

static int run_copy_in(kmm__operation_t *op)
{
    memcpy(op->array->host + op->begin, op->memory, op->bytes);
    return 0;
}

static int run_copy_out(kmm__operation_t *op)
{
    memcpy(op->memory, op->array->host + op->begin, op->bytes);
    return 0;
}

static int run_copy(kmm__operation_t *op)
{
    memmove(op->array->host + op->begin, op->other->host + op->other_begin, op->bytes);
    return 0;
}

static int run_fill(kmm__operation_t *op)
{
    memset(op->array->host + op->begin, op->value, op->bytes);
    return 0;
}

static int run_nothing(kmm__operation_t *op)
{
    (void)op;
    return 0;
}

/* What one operation does at once. With a limit of host memory there has to be room for some of
 * them. */
static size_t piece_most(const kmm_runtime_t *rt)
{
    enum { PIECE = 16 << 20, PIECES_OF_ROOM = 8 };
    size_t sheet = kmm__spill_sheet_bytes(rt), most = PIECE;
    while (sheet && most > sheet && most > kmm__spill_room(rt) / PIECES_OF_ROOM)
        most /= 2;
    return most;
}

/* Runs an operation on one range of one array in pieces, so that all threads of the CPU take part,
 * and what comes from a device is used while the rest is on its way. */
static int operate_in_pieces(kmm_runtime_t *rt, const kmm__operation_t *op, const char *name,
                             kmm_mode_t mode)
{
    size_t most = piece_most(rt), count = (op->bytes + most - 1) / most;
    kmm__task_t **tasks = kmm__alloc(count * sizeof(*tasks));
    int error = 0;
    for (size_t k = 0; k < count; k++) {
        kmm__operation_t piece = *op;
        size_t from = k * most;
        piece.begin += (int64_t)from;
        piece.bytes = op->bytes - from < most ? op->bytes - from : most;
        piece.memory = op->memory ? (char *)op->memory + from : NULL;
        kmm__access_t a =
            kmm__access_bytes(op->array, mode, piece.begin, piece.begin + (int64_t)piece.bytes);
        int e = kmm__operation_submit(rt, &piece, name, &a, 1, &tasks[k]);
        error = error ? error : e;
    }
    for (size_t k = 0; k < count; k++) {
        int e = await(rt, tasks[k]);
        error = error ? error : e;
    }
    free(tasks);
    return error;
}

/* Runs an operation on the range of bytes that begins at an address. */
static int on_range(kmm_runtime_t *rt, kmm__operation_t *op, const char *name, kmm_mode_t mode,
                    const void *address)
{
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    if (kmm__inline_refuse(name))
        return KMM_E_STATE;
    pthread_mutex_lock(&rt->lock);
    int error = find_range(rt, address, op->bytes, &op->array, &op->begin);
    if (!error && op->bytes)
        error = operate_in_pieces(rt, op, name, mode);
    pthread_mutex_unlock(&rt->lock);
    return error;
}

KMM__API int kmm_copy_in(kmm_runtime_t *rt, void *array, const void *src, size_t bytes)
{
    kmm__operation_t op = {.run = run_copy_in, .memory = (void *)(uintptr_t)src, .bytes = bytes};
    return on_range(rt, &op, "copy in", KMM_WRITE, array);
}

KMM__API int kmm_copy_out(kmm_runtime_t *rt, void *dst, const void *array, size_t bytes)
{
    kmm__operation_t op = {.run = run_copy_out, .memory = dst, .bytes = bytes};
    return on_range(rt, &op, "copy out", KMM_READ, array);
}

KMM__API int kmm_fill(kmm_runtime_t *rt, void *array, int value, size_t bytes)
{
    kmm__operation_t op = {.run = run_fill, .value = value, .bytes = bytes};
    return on_range(rt, &op, "fill", KMM_WRITE, array);
}

static int copy_piece(kmm_runtime_t *rt, const kmm__operation_t *op)
{
    int64_t n = (int64_t)op->bytes;
    kmm__access_t accesses[2] = {
        kmm__access_bytes(op->other, KMM_READ, op->other_begin, op->other_begin + n),
        kmm__access_bytes(op->array, KMM_WRITE, op->begin, op->begin + n),
    };
    if (op->array == op->other && llabs(op->begin - op->other_begin) < n)
        accesses[1].mode = KMM_UPDATE;
    return operate(rt, op, "copy", accesses, 2);
}

KMM__API int kmm_copy(kmm_runtime_t *rt, void *dst, const void *src, size_t bytes)
{
    kmm__operation_t op = {.run = run_copy, .bytes = bytes};
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    if (kmm__inline_refuse("copy"))
        return KMM_E_STATE;
    pthread_mutex_lock(&rt->lock);
    int error = find_range(rt, dst, bytes, &op.array, &op.begin);
    if (!error)
        error = find_range(rt, src, bytes, &op.other, &op.other_begin);
    /* From the end that no later piece has to read again, like memmove. */
    bool backwards = op.array == op.other && op.begin > op.other_begin;
    size_t most = kmm__spill_room(rt) ? piece_most(rt) : bytes;
    for (size_t done = 0, n; done < bytes && !error; done += n) {
        kmm__operation_t piece = op;
        n = bytes - done < most ? bytes - done : most;
        int64_t from = (int64_t)(backwards ? bytes - done - n : done);
        piece.begin += from;
        piece.other_begin += from;
        piece.bytes = n;
        error = copy_piece(rt, &piece);
    }
    pthread_mutex_unlock(&rt->lock);
    return error;
}

/* ---- What the host reads and writes by itself ---- */

/* An operation on elements of mapped memory that leaves them as they are: it runs on the host when
 * its turn has come, and says that they are read, or written, there. */
static int touch(kmm_runtime_t *rt, kmm_mode_t mode, const char *name, const void *base,
                 size_t bytes)
{
    kmm__operation_t op = {.run = run_nothing, .bytes = bytes};
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    if (kmm__inline_refuse(name))
        return KMM_E_STATE;
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, base);
    int error = 0;
    if (!a || !a->is_mapped)
        error = kmm__error_set(KMM_E_ADDRESS, "%p is not mapped", base);
    else if (bytes == KMM_ALL_BYTES)
        op.array = a, op.bytes = a->bytes;
    else
        error = find_range(rt, base, bytes, &op.array, &op.begin);
    if (!error && op.bytes)
        error = operate_in_pieces(rt, &op, name, mode);
    pthread_mutex_unlock(&rt->lock);
    return error;
}

KMM__API int kmm_update_from(kmm_runtime_t *rt, const void *base, size_t bytes)
{
    return touch(rt, KMM_READ, "update from", base, bytes);
}

KMM__API int kmm_update_to(kmm_runtime_t *rt, const void *base, size_t bytes)
{
    return touch(rt, KMM_WRITE, "update to", base, bytes);
}

/* ---- Waiting for one array ---- */

typedef struct pending {
    kmm__task_t **task;
    uint32_t count, capacity;
} pending_t;

static void pending_add(pending_t *p, kmm__task_t *t)
{
    if (!t || (t->state == KMM__TASK_DONE && !t->error) || (p->count && p->task[p->count - 1] == t))
        return;
    p->task = kmm__grow(p->task, p->count, &p->capacity, sizeof(*p->task));
    p->task[p->count++] = t;
    kmm__task_ref(t);
}

static int pending_part(void *arg, const kmm__box_t *part, const void *value)
{
    const kmm__users_t *u = value;
    (void)part;
    pending_add(arg, u->writer);
    for (uint32_t k = 0; k < u->reader_count; k++)
        pending_add(arg, kmm__users_readers(u)[k]);
    return 0;
}

static int wait_users(kmm_runtime_t *rt, kmm__array_t *a)
{
    pending_t p = {0};
    kmm__box_t boxes[2 * KMM__DIMS];
    kmm__access_t whole = kmm__access_bytes(a, KMM_READ, 0, (int64_t)a->bytes);
    int error = 0, n = kmm__shape_map_boxes(&a->users, &kmm__users_ops, NULL, &whole, boxes);
    for (int b = 0; b < n; b++)
        kmm__map_visit(a->users.map, &boxes[b], pending_part, &p);
    for (uint32_t k = 0; k < a->reads.count; k++)
        pending_add(&p, a->reads.list[k].task);
    for (uint32_t k = 0; k < p.count; k++) {
        int e = await(rt, p.task[k]);
        error = error ? error : e;
    }
    free(p.task);
    return n < 0 ? n : error;
}

KMM__API int kmm_wait_array(kmm_runtime_t *rt, const void *address)
{
    if (!rt)
        return kmm__error_set(KMM_E_INVALID, "no runtime");
    if (kmm__inline_refuse("wait"))
        return KMM_E_STATE;
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, address);
    void *deferred = a && a->is_deferred ? a->base : NULL;
    int error = a ? wait_users(rt, a) : 0;
    if (deferred) {
        a->is_deferred = false;
        rt->deferred--;
    }
    pthread_mutex_unlock(&rt->lock);
    int unmapped = deferred ? kmm_unmap(rt, deferred) : 0;
    return error ? error : unmapped;
}

/* ---- Maps ---- */

KMM__API int kmm_map(kmm_runtime_t *rt, kmm_map_t map, void *base, size_t bytes)
{
    if (!rt || !base || (unsigned)map > KMM_MAP_ALLOC)
        return kmm__error_set(KMM_E_INVALID, "no runtime, no memory, or no such kind of map");
    pthread_mutex_lock(&rt->lock);
    int error = 0;
    kmm__array_t *first = kmm__array_find(rt, base), *a = first;
    kmm__array_t *last = bytes ? kmm__array_find(rt, (char *)base + bytes - 1) : first;
    if (first && first->is_mapped && first == last && bytes)
        first->map_depth++;
    else if (first || last || kmm__array_between(rt, base, bytes))
        error =
            kmm__error_set(KMM_E_INVALID, "%zu bytes at %p overlap an array in part", bytes, base);
    else
        error = kmm__array_new(rt, bytes, base, map, NULL, &a);
    pthread_mutex_unlock(&rt->lock);
    return error;
}

/* Of an array whose map ends: what waits for all work on it; then the host's memory has the newest
 * values. */
static int settle_begin(kmm_runtime_t *rt, kmm__array_t *a, kmm__task_t **out)
{
    kmm__operation_t op = {.run = run_nothing, .array = a};
    bool comes_back = a->map == KMM_MAP_FROM || a->map == KMM_MAP_TOFROM;
    kmm__access_t access =
        kmm__access_bytes(a, comes_back ? KMM_UPDATE : KMM_WRITE, 0, (int64_t)a->bytes);
    a->map = KMM_MAP_TOFROM; /* elements that were never written are the host's own */
    return a->bytes ? kmm__operation_submit(rt, &op, "write back", &access, 1, out) : 0;
}

typedef struct ending {
    kmm__array_t *array;
    kmm__task_t *settled;
    bool gone;
    int error;
} ending_t;

/* What comes back of one is copied while the frames of another are given back. */
static int end_together(kmm_runtime_t *rt, ending_t *e, uint32_t count)
{
    int error = 0;
    for (uint32_t k = 0; k < count; k++)
        e[k].error = settle_begin(rt, e[k].array, &e[k].settled);
    for (uint32_t k = 0; k < count; k++) {
        int ran = e[k].settled ? await(rt, e[k].settled) : 0;
        error = error ? error : e[k].error ? e[k].error : ran;
        kmm__array_forget(e[k].array);
        e[k].array->gone = &e[k].gone;
        kmm__array_unref(e[k].array);
    }
    for (uint32_t k = 0; k < count; k++)
        while (!e[k].gone)
            pthread_cond_wait(&rt->progress, &rt->lock);
    return error;
}

int kmm__maps_end(kmm_runtime_t *rt, void *const *bases, uint32_t count)
{
    int error = 0;
    if (kmm__inline_refuse("end of a map"))
        return KMM_E_STATE;
    ending_t *e = kmm__alloc(count * sizeof(*e) + 1);
    uint32_t ending = 0;
    pthread_mutex_lock(&rt->lock);
    for (uint32_t k = 0; k < count; k++) {
        kmm__array_t *a = kmm__array_find(rt, bases[k]);
        if (!a || !a->is_mapped)
            error = kmm__error_set(KMM_E_ADDRESS, "%p is not mapped", bases[k]);
        else if (--a->map_depth == 0)
            e[ending++].array = a;
    }
    int ended = end_together(rt, e, ending);
    pthread_mutex_unlock(&rt->lock);
    free(e);
    return error ? error : ended;
}

KMM__API int kmm_unmap(kmm_runtime_t *rt, void *base)
{
    return rt ? kmm__maps_end(rt, &base, 1) : kmm__error_set(KMM_E_INVALID, "no runtime");
}
