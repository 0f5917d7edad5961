/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of host buffers, with a limit of host memory: their states, pins, and the idle list. */
#ifndef KMM__MEMORY_DISK_PAGE_H
#define KMM__MEMORY_DISK_PAGE_H

#include <kmm/resource.h>

#include "memory/array.h"
#include "memory/disk/disk.h"

enum { KMM__SPILL_BUFFERS = 4, KMM__SPILL_EARLY_PART = 8 };

typedef struct kmm__spill kmm__spill_t;
typedef struct kmm__page kmm__page_t;
typedef struct kmm__spill_buffer kmm__spill_buffer_t;
typedef struct kmm__job kmm__job_t;

/*
 * States of a page. Each arrow is one function of page.c.
 *
 *              begin_read             arrive
 *   ABSENT --------------> READING ------------> RESIDENT --+
 *   ^ ^ |                     |                   ^  ^  |   | begin_evict
 *   | | |   make_empty        |                   |  |  |   |
 *   | | +---------------------|-------------------+  |  |   |
 *   | +-----------------------+                      |  |   |
 *   |          fail                             stay |  |   |
 *   |                                                |  |   |
 *   +----------------------- EVICTING <--------------|--|---+
 *   |         leave              |                   |  |
 *   |                            +-------------------+  |
 *   +---------------------------------------------------+
 *                       drop (its array ends)
 */
typedef enum kmm__page_state {
    KMM__PAGE_ABSENT,   /* in the spill file, or the host holds nothing of it */
    KMM__PAGE_READING,  /* being read from the spill file */
    KMM__PAGE_RESIDENT, /* in memory; on the idle list if pins is 0 */
    /* being written, or its memory being released; stays if it is pinned by then */
    KMM__PAGE_EVICTING
} kmm__page_state_t;

/* Guarded by the runtime's lock. Invariant: a page is on the idle list exactly if it is RESIDENT
 * and pins is 0. */
struct kmm__page {
    kmm__array_t *array;
    uint32_t index;
    uint32_t pins; /* unfinished work that needs it in memory */
    /* planned copies that will read it; by then the coherence map may no longer name the host as a
     * holder */
    uint32_t planned_reads;
    /* reads of its slot into buffers: the slot must not be written meanwhile */
    uint32_t slot_readers;
    kmm__page_state_t state;
    bool clean;            /* its slot has the page's contents */
    bool dirty_after_read; /* the task that waits for its read will write it */
    kmm__task_t **waiters; /* tasks on the host that wait until it has been read */
    uint32_t waiter_count, waiter_capacity;
    int error;         /* error of the last read */
    int64_t slot;      /* its place in the spill file; -1: none */
    uint64_t checksum; /* checksum of the slot's contents */
    uint64_t used;     /* value of `clock` when it was used last */
    /* number of the collection that listed the page last; the page is its pin number `listed` */
    uint64_t stamp;
    uint32_t listed;
    /* neighbours in the idle list, which begins with the longest unused */
    kmm__page_t *previous, *next;
};

/* A buffer into which a page is read for one source. */
struct kmm__spill_buffer {
    char *memory;
    kmm__backend_t *locked_by; /* the backend that has page-locked it; NULL: none */
    bool tried;                /* page-locking was tried */
    bool busy, reading;
    int error;
};

typedef struct kmm__spill_stats {
    uint64_t limit, resident,
        most; /* bytes of host buffers: allowed, in memory now, in memory at most so far */
    uint64_t written, read,
        dropped; /* bytes so far: written to disk, read from disk, evicted without being written */
    uint64_t file_bytes; /* bytes of the file that are in use */
    uint64_t page_bytes;
    bool async, direct;
} kmm__spill_stats_t;

struct kmm__spill {
    kmm_runtime_t *runtime;
    kmm__disk_t *disk;
    uint64_t limit, page_bytes;
    uint64_t resident,
        evicting; /* bytes of pages that are not ABSENT; of those that are EVICTING */
    kmm__page_t *idle_head, *idle_tail;
    uint64_t clock, stamp;
    /* number of the thread that may pin pages now; number for the next thread */
    uint64_t turn, next_turn;
    uint64_t failures;      /* number of failed writes */
    int write_error;        /* error of the last of them */
    pthread_cond_t changed; /* signalled when a page, a buffer or the turn changes */
    int64_t *free_slots;
    uint32_t free_count, free_capacity;
    int64_t slot_count;
    bool crosses; /* devices of several backends exchange data through the host */
    kmm__spill_buffer_t buffers[KMM__SPILL_BUFFERS];
    kmm_resource_t *host; /* resource of the buffers' memory */
    void *buffer_memory;
    /* Of the disk's thread. */
    pthread_t thread;
    bool thread_runs, stopping, awaits;
    kmm__job_t *urgent, **urgent_end; /* reads, for each of which a thread or task waits */
    kmm__job_t *queue, **queue_end;
    uint32_t in_flight;
    kmm__spill_stats_t stats;
};

/* Bytes that pages may have together, 0: no limit; bytes of one page. Both are constant. */
uint64_t kmm__spill_room(const kmm_runtime_t *rt);
uint64_t kmm__spill_page_bytes(const kmm_runtime_t *rt);

/* ---- Pages (locked) ---- */
uint64_t kmm__page_bytes(const kmm__page_t *s);
char *kmm__page_memory(const kmm__page_t *s);
void kmm__page_pin(kmm__spill_t *p, kmm__page_t *s);
void kmm__page_unpin(kmm__spill_t *p, kmm__page_t *s);
void kmm__page_dirty(kmm__page_t *s); /* records that its contents will change; it is pinned */
/* Returns a free slot of the spill file. */
int64_t kmm__slot_take(kmm__spill_t *p);
/* Waits while the page is being read. Returns 0 or the error of the read. May unlock meanwhile. */
int kmm__page_await(kmm__spill_t *p, kmm__page_t *s);
/* Sets the text for the error of a read. Returns its code. */
int kmm__page_error(kmm__spill_t *p, const kmm__page_t *s, int error);

/* ---- States (locked) ----
 * Each asserts the old state and keeps the idle list, counters and states in step. */
void kmm__page_begin_read(kmm__spill_t *p, kmm__page_t *s);  /* ABSENT -> READING; there is room */
void kmm__page_make_empty(kmm__spill_t *p, kmm__page_t *s);  /* ABSENT -> RESIDENT; there is room */
void kmm__page_arrive(kmm__spill_t *p, kmm__page_t *s);      /* READING -> RESIDENT */
void kmm__page_fail(kmm__spill_t *p, kmm__page_t *s);        /* READING -> ABSENT */
void kmm__page_begin_evict(kmm__spill_t *p, kmm__page_t *s); /* RESIDENT, idle -> EVICTING */
void kmm__page_stay(kmm__spill_t *p, kmm__page_t *s);        /* EVICTING -> RESIDENT */
void kmm__page_leave(kmm__spill_t *p, kmm__page_t *s);       /* EVICTING -> ABSENT */

/* True if a page's members agree with each other and with the head of the idle list. */
bool kmm__page_is_valid(const kmm__spill_t *p, const kmm__page_t *s);
/* True if the idle list, the states of its pages and the counters agree. Walks the list. */
bool kmm__spill_is_valid(const kmm__spill_t *p);

/* ---- Arrays (locked) ---- */
void kmm__spill_array(kmm__array_t *a);      /* makes the pages of a new host buffer */
void kmm__spill_array_dead(kmm__array_t *a); /* the array is dead: its pages are the next victims */
/* Drops its pages, before its host buffer is freed; may unlock. */
void kmm__spill_forget(kmm__array_t *a);

#endif
