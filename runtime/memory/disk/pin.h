/* SPDX-License-Identifier: Apache-2.0 */
/* Pins of pages: work keeps the pages that it needs in memory. All functions are called with the
 * lock. Those with a result of type int return 0 or an error with its text. */
#ifndef KMM__MEMORY_DISK_PIN_H
#define KMM__MEMORY_DISK_PIN_H

#include "memory/disk/page.h"

/* A pin of one page by a task or an eviction. */
typedef struct kmm__page_pin {
    kmm__page_t *page;
    bool reads; /* the page's old contents are needed */
    bool writes;
    bool covers; /* all of its elements are written */
} kmm__page_pin_t;

struct kmm__page_pins {
    kmm__page_pin_t *pin;
    uint32_t count, capacity;
    uint32_t pending; /* reads that the task with these pins waits for */
};
typedef struct kmm__page_pins kmm__page_pins_t;

/* Pins the pages that a task on the host touches. For a task on a device, pins those through which
 * data comes from a device of another backend. Pages of a task on the host may still be READING on
 * return. May unlock. */
int kmm__spill_pin_task(kmm__task_t *t);
/* Waits until the task's pages have been read; called before copies to them. May unlock. */
int kmm__spill_await_task(kmm__task_t *t);
/* Makes t wait until its pages have been read: raises its done_left by one, until the hook
 * `arrived` is called for the last. Does not unlock. */
int kmm__spill_expect_task(kmm__task_t *t);
bool kmm__spill_may_wait(
    const kmm_runtime_t *rt); /* True if a thread that pins pages may wait for tasks on devices. */
void kmm__spill_unpin_task(kmm__task_t *t);
/* Pins the pages to which bytes [begin, end) are copied from a device that alone holds them. May
 * unlock. */
int kmm__spill_pin_bytes(kmm__array_t *a, int64_t begin, int64_t end, kmm__device_t *from,
                         kmm__page_pins_t *pins);
void kmm__spill_unpin(kmm_runtime_t *rt, kmm__page_pins_t *pins);
/* Tells the tasks that wait for a read of the page that it has ended, with its error. */
void kmm__spill_tell_waiters(kmm__spill_t *p, kmm__page_t *s, int error);

#endif
