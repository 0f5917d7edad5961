/* SPDX-License-Identifier: Apache-2.0 */
/* Queues of ready tasks, and the order of submission. */
#include "execute/queue.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/trace.h"
#include "base/valid.h"
#include "memory/residency/acquire.h"
#include "task/traced.h"

enum {
    EARLY = 16,       /* unissued tasks before a task that make it early */
    ORDER_LEAST = 256 /* tasks in the order before issued ones are removed */
};

/* ---- Queues ---- */

static bool comes_before(const kmm__queue_t *q, const kmm__task_t *a, const kmm__task_t *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if ((a->sequence < q->awaited) != (b->sequence < q->awaited))
        return a->sequence < q->awaited;
    return a->rank != b->rank ? a->rank < b->rank : a->sequence < b->sequence;
}

/* Called locked; the count is also read without the lock. */
static void queue_count(kmm__queue_t *q, uint32_t count)
{
    atomic_store_explicit(&q->count, count, memory_order_relaxed);
}

/* Makes room for one more task at the end. */
static void queue_room(kmm__queue_t *q)
{
    if (q->head >= q->capacity / 2 && q->head > 0 && q->head + q->count == q->capacity) {
        memmove(q->tasks, q->tasks + q->head, q->count * sizeof(*q->tasks));
        q->head = 0;
    }
    q->tasks = kmm__grow(q->tasks, q->head + q->count, &q->capacity, sizeof(*q->tasks));
}

void kmm__queue_push(kmm__queue_t *q, kmm__task_t *t)
{
    queue_room(q);
    kmm__task_t **heap = q->tasks + q->head;
    uint32_t k = q->count;
    queue_count(q, k + 1);
    if (k == 0)
        q->heaped = false;
    q->heaped |= k > 0 && comes_before(q, t, heap[k - 1]);
    for (; q->heaped && k > 0 && comes_before(q, t, heap[(k - 1) / 2]); k = (k - 1) / 2)
        heap[k] = heap[(k - 1) / 2];
    heap[k] = t;
    KMM__ASSERT_SOMETIMES(kmm__queue_is_valid(q, t->state));
}

kmm__task_t *kmm__queue_first(const kmm__queue_t *q)
{
    return q->count ? q->tasks[q->head] : NULL;
}

kmm__task_t *kmm__queue_pop(kmm__queue_t *q)
{
    if (q->count == 0)
        return NULL;
    kmm__task_t **heap = q->tasks + q->head;
    uint32_t k = 0, count = q->count - 1;
    kmm__task_t *first = heap[0], *last = heap[count];
    queue_count(q, count);
    if (!q->heaped || count == 0) {
        q->head = count ? q->head + 1 : 0;
        KMM__ASSERT_SOMETIMES(kmm__queue_is_valid(q, first->state));
        return first;
    }
    for (uint32_t child; (child = 2 * k + 1) < count; k = child) {
        child += child + 1 < count && comes_before(q, heap[child + 1], heap[child]);
        if (!comes_before(q, heap[child], last))
            break;
        heap[k] = heap[child];
    }
    heap[k] = last;
    KMM__ASSERT_SOMETIMES(kmm__queue_is_valid(q, first->state));
    return first;
}

void kmm__queue_await(kmm__queue_t *q, uint64_t end)
{
    uint32_t count = q->count;
    q->awaited = end;
    if (count < 2)
        return;
    memmove(q->tasks, q->tasks + q->head, count * sizeof(*q->tasks));
    q->head = 0;
    queue_count(q, 0);
    for (uint32_t k = 0; k < count; k++)
        kmm__queue_push(q, q->tasks[k]);
}

bool kmm__queue_is_valid(const kmm__queue_t *q, kmm__task_state_t state)
{
    kmm__task_t *const *heap = q->tasks + q->head;
    bool valid = q->head + q->count <= q->capacity && (q->count || q->head == 0);
    for (uint32_t k = 0; k < q->count && valid; k++)
        valid = heap[k]->state == state && heap[k]->refs > 0 && !heap[k]->order.finished &&
                (k == 0 || !comes_before(q, heap[k], heap[q->heaped ? (k - 1) / 2 : k - 1]));
    return valid;
}

/* ---- The order of submission ---- */

static bool is_issued(const kmm__task_t *t)
{
    return t->state == KMM__TASK_ISSUED || t->state == KMM__TASK_DONE;
}

static __attribute__((noinline)) void order_push(kmm__device_t *d, kmm__task_t *t)
{
    kmm__queue_t *q = &d->queue->order;
    uint32_t kept = 0;
    if (d->space == KMM__HOST || d->runtime->device_count < 2 || d->runtime->memory->by_reuse)
        return; /* on one device tasks become ready in that order */
    for (uint32_t k = 0; q->count >= d->queue->order_trim && k < q->count; k++) {
        if (is_issued(q->tasks[k]))
            kmm__task_unref(q->tasks[k]);
        else
            q->tasks[kept++] = q->tasks[k];
    }
    if (q->count >= d->queue->order_trim) {
        q->count = kept;
        d->queue->order_trim = 2 * kept + ORDER_LEAST;
    }
    q->tasks = kmm__grow(q->tasks, q->count, &q->capacity, sizeof(*q->tasks));
    q->tasks[q->count++] = t;
    kmm__task_ref(t);
}

void kmm__order_drop(kmm__device_t *d)
{
    for (uint32_t k = 0; k < d->queue->order.count; k++)
        kmm__task_unref(d->queue->order.tasks[k]);
    free(d->queue->order.tasks);
    d->queue->order = (kmm__queue_t){0};
}

bool kmm__order_is_early(kmm__device_t *d, kmm__task_t *t)
{
    uint64_t bytes;
    uint32_t before = 0;
    if (!d->memory->pressure || t->error)
        return false;
    for (uint32_t k = 0;
         k < d->queue->order.count && d->queue->order.tasks[k]->sequence < t->sequence; k++) {
        if (is_issued(d->queue->order.tasks[k]))
            continue;
        if (d->queue->order.tasks[k]->state == KMM__TASK_READY)
            return false; /* t comes before it by priority */
        before++;
    }
    return before > EARLY && !kmm__frames_resident(t, &bytes);
}

/* ---- Giving a task its device ---- */

void kmm__task_assign(kmm__task_t *t, kmm__device_t *device)
{
    kmm__task_assign_stream(t, device, (uint32_t)(t->sequence % device->compute_stream_count));
}

void kmm__task_assign_stream(kmm__task_t *t, kmm__device_t *device, uint32_t compute_stream)
{
    t->issue.compute_stream = compute_stream;
    kmm__task_enter(t, device,
                    device->space == KMM__HOST ? NULL
                                               : device->compute_streams[compute_stream].stream);
    if (kmm__tracing())
        kmm__trace_submitted(t);
    order_push(device, t);
}
