/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of host buffers, with a limit of host memory: which are in memory, and who needs
 * them there.
 */
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
    KMM__PAGE_ABSENT,   /* not in memory: in the spill file, or the host holds nothing of it */
    KMM__PAGE_READING,  /* being read from the spill file */
    KMM__PAGE_RESIDENT, /* in memory; on the idle list if pins is 0 */
    KMM__PAGE_EVICTING  /* being written, or its memory given back; stays if it is pinned by then */
} kmm__page_state_t;

/* Invariant: on the idle list exactly when RESIDENT and pins == 0. */
struct kmm__page {
    kmm__array_t *array;
    uint32_t index;
    uint32_t pins;          /* work that needs it in memory */
    uint32_t planned_reads; /* planned copies that will read it, which the coherence map may have
                          forgotten by then */
    uint32_t slot_readers;  /* reads of its slot into buffers: the slot must not be written */
    kmm__page_state_t state;
    bool clean;            /* its slot has the newest of what the host holds of it */
    bool dirty_after_read; /* it will not be, once it has been read: who waits for that writes it */
    kmm__task_t **waiters; /* tasks on the host that run once it has been read */
    uint32_t waiter_count, waiter_capacity;
    int error;         /* of the last read */
    int64_t slot;      /* in the file, -1: none */
    uint64_t checksum; /* of what the slot has */
    uint64_t used;     /* the clock when it was used last */
    uint64_t stamp;    /* the collection that listed it last, as number `listed` */
    uint32_t listed;
    kmm__page_t *previous, *next; /* idle list, longest unused first */
};

/* A buffer through which a page is read for one source. */
struct kmm__spill_buffer {
    char *memory;
    kmm__backend_t *locked_by; /* page-locked for; NULL: not */
    bool tried;                /* page-locking was */
    bool busy, reading;
    int error;
};

typedef struct kmm__spill_stats {
    uint64_t limit, resident,
        most; /* bytes of host buffers: allowed, in memory now, at most so far */
    uint64_t written, read,
        dropped;         /* bytes so far: to disk, from disk, evicted without being written */
    uint64_t file_bytes; /* bytes of the file in use */
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
    uint64_t turn, next_turn; /* whose turn it is to collect; the next ticket */
    uint64_t failures;        /* writes that failed */
    int write_error;          /* of the last one */
    pthread_cond_t changed;   /* a page, a buffer or the turn */
    int64_t *free_slots;
    uint32_t free_count, free_capacity;
    int64_t slot_count;
    bool crosses; /* devices of several drivers exchange data through the host */
    kmm__spill_buffer_t buffers[KMM__SPILL_BUFFERS];
    kmm_resource_t *host; /* where the buffers' memory is from */
    void *buffer_memory;
    /* The disk's thread. */
    pthread_t thread;
    bool thread_runs, stopping, awaits;
    kmm__job_t *urgent, **urgent_end; /* reads: somebody waits for each */
    kmm__job_t *queue, **queue_end;
    uint32_t in_flight;
    kmm__spill_stats_t stats;
};

/* The bytes that pages may have together, 0 without a limit; and the size of one. Constant. */
uint64_t kmm__spill_room(const kmm_runtime_t *rt);
uint64_t kmm__spill_page_bytes(const kmm_runtime_t *rt);

/* ---- Pages (locked) ---- */
uint64_t kmm__page_bytes(const kmm__page_t *s);
char *kmm__page_memory(const kmm__page_t *s);
void kmm__page_pin(kmm__spill_t *p, kmm__page_t *s);
void kmm__page_unpin(kmm__spill_t *p, kmm__page_t *s);
void kmm__page_dirty(kmm__page_t *s); /* pinned: its contents will change */
int64_t kmm__slot_take(kmm__spill_t *p);
/* Until the page is in memory; errors are those of the read. May unlock meanwhile. */
int kmm__page_await(kmm__spill_t *p, kmm__page_t *s);
/* Sets the text of an error of a read. Returns its code. */
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

/* Whether a page's fields agree with each other and with the head of the idle list. */
bool kmm__page_is_valid(const kmm__spill_t *p, const kmm__page_t *s);
/* Whether the idle list, the states of its pages and the counters agree. Walks the list. */
bool kmm__spill_is_valid(const kmm__spill_t *p);

/* ---- Arrays (locked) ---- */
void kmm__spill_array(kmm__array_t *a);      /* its host buffer has been made */
void kmm__spill_array_dead(kmm__array_t *a); /* nothing refers to it: its pages go first */
void kmm__spill_forget(kmm__array_t *a);     /* before its host buffer goes away; may unlock */

#endif
