/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that work keeps in memory. All functions are called with the lock; they return 0 or an
 * error with its text.
 */
#ifndef KMM__MEMORY_DISK_PIN_H
#define KMM__MEMORY_DISK_PIN_H

#include "memory/disk/page.h"

/* Pages that a task or an eviction keeps in memory. */
typedef struct kmm__page_pin {
    kmm__page_t *page;
    bool reads; /* some of its elements are needed as they are */
    bool writes;
    bool covers; /* all of its elements are written */
} kmm__page_pin_t;

struct kmm__page_pins {
    kmm__page_pin_t *pin;
    uint32_t count, capacity;
    uint32_t pending; /* reads that the task which has it waits for */
};
typedef struct kmm__page_pins kmm__page_pins_t;

/* Pins what a task on the host touches; or, for a task on a device, what is copied to it through
 * the host from a device of another driver. Pages of a task on the host may still be being read
 * when this returns. May unlock. */
int kmm__spill_pin_task(kmm__task_t *t);
/* Waits until the task's pages have been read: before copies to them. May unlock. */
int kmm__spill_await_task(kmm__task_t *t);
/* Defers t until its pages have been read: t's done_left counts one more, until the hook `arrived`
 * is called. Does not unlock. */
int kmm__spill_expect_task(kmm__task_t *t);
bool kmm__spill_may_wait(
    const kmm_runtime_t *rt); /* whether pinning pages may wait for tasks on devices too */
void kmm__spill_unpin_task(kmm__task_t *t);
/* Pins the pages that a copy of bytes [begin, end) from the device that alone holds them will
 * write. May unlock. */
int kmm__spill_pin_bytes(kmm__array_t *a, int64_t begin, int64_t end, kmm__device_t *from,
                         kmm__page_pins_t *pins);
void kmm__spill_unpin(kmm_runtime_t *rt, kmm__page_pins_t *pins);
/* Tells the tasks that wait for a read of the page that it is over. */
void kmm__spill_tell_waiters(kmm__spill_t *p, kmm__page_t *s, int error);

#endif
