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

/* What a task on the host touches, or what one on a device has brought to the host from another
 * driver's. What a task on the host holds may still be on its way from disk. May unlock. */
int kmm__spill_pin_task(kmm__task_t *t);
/* Until it has come; for who has copies to make there. May unlock. */
int kmm__spill_await_task(kmm__task_t *t);
/* t does not run before it has come: one of t's done_left falls then, by kmm__host_arrived. Does
 * not unlock. */
int kmm__spill_expect_task(kmm__task_t *t);
bool kmm__spill_may_wait(const kmm_runtime_t *rt); /* that may wait for a device's task, too */
void kmm__spill_unpin_task(kmm__task_t *t);
/* What copying bytes [begin, end) of an array out of the one device that holds them writes. May
 * unlock. */
int kmm__spill_pin_bytes(kmm__array_t *a, int64_t begin, int64_t end, kmm__device_t *from,
                         kmm__page_pins_t *held);
void kmm__spill_unpin(kmm_runtime_t *rt, kmm__page_pins_t *held);
/* Tells the tasks that wait for a read of the page that it is over. */
void kmm__spill_tell_waiters(kmm__spill_t *p, kmm__page_t *s, int error);

#endif
