/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trace points: places in libkmm that tell what happens. A trace point is one KMM__TRACE. While
 * nobody listens it costs a load and a predicted branch. Otherwise it writes an event to the ring
 * of its thread. One thread, the tracer, takes the events of all rings, sorts them by time, and
 * hands them to the listeners.
 *
 * Events that two threads make under one lock reach listeners in the order in which they had it.
 * A thread that finds its ring full waits for the tracer. The tracer takes no lock of the runtime.
 */
#ifndef KMM__BASE_TRACE_H
#define KMM__BASE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum kmm__event_kind {
    KMM__EVENT_THREAD, /* text: what this thread does */
    KMM__EVENT_DEVICE, /* text: the device's name; a: bytes that arrays may take; b: number of its
                          runtime << 32 | its index there */

    /* Tasks. Those of one task come in this order; a task that fails early leaves some out. */
    KMM__EVENT_SUBMITTED, /* text, file: name and file of its work; a: its first chunk << 32 | its
                             last; b: chunks of the launch << 32 | line; c: number of the
                                work; mode 1: it is an operation of libkmm */
    KMM__EVENT_ACCESS,    /* only for listeners that want it; text: a kmm__traced_access_t, which
                             the listener frees */
    KMM__EVENT_EDGE,      /* the task waits for task a */
    KMM__EVENT_READY,
    KMM__EVENT_ISSUED,
    KMM__EVENT_JOINED,       /* will run in one kernel with task a */
    KMM__EVENT_RUN_ENQUEUED, /* on compute stream a of the device; those of one stream run in the
                                order of these events */
    KMM__EVENT_RUN_BEGIN,    /* only if it waits on the stream: what it has waited for is done */
    KMM__EVENT_RUN_END,
    KMM__EVENT_CALL_BEGIN, /* runs on this thread */
    KMM__EVENT_CALL_END,
    KMM__EVENT_DONE, /* a: 0, or the error's number without its sign */

    /* Copies on a copy stream of the device. Task 0: no task waits for it (an eviction). */
    KMM__EVENT_COPY_ENQUEUED, /* mode: a kmm__copy_kind_t; a: number of the array */
    KMM__EVENT_COPY_BEGIN,    /* only if it waits on the stream: what it has waited for is done */
    KMM__EVENT_COPY_END,      /* mode and a: the same; b: bytes; c and d: where in the array they
                                 begin and end, with what lies between them */

    /* Memory. */
    KMM__EVENT_ARRAY,       /* a: number of a new array; text: its label or NULL; b: bytes; c: its
                               address as a structure, which KMM__EVENT_ACCESS has */
    KMM__EVENT_ARRAY_END,   /* a, c: the same */
    KMM__EVENT_EVICTED,     /* a: number of the array; b: bytes; c: where in the array they begin;
                               mode 1: they are copied to the host first */
    KMM__EVENT_MEMORY,      /* a: bytes of the device that are in use */
    KMM__EVENT_HOST_MEMORY, /* a: bytes of arrays in host memory, where that is limited */
    KMM__EVENT_DISK_BEGIN,  /* mode 1: a write; a: number of the transfer; b: bytes */
    KMM__EVENT_DISK_END,    /* the same */

    /* Messages between nodes. device: number of the other node; mode 0: commands, 1: contents. */
    KMM__EVENT_SENT, /* a: when its sending began; b: bytes */
    KMM__EVENT_RECEIVED,

    KMM__EVENT_SPAN, /* text: what this thread did since time a; file: a name, or NULL; b: bytes or
                        0; c: line or 0; mode 1: for a device */
    KMM__EVENT_INSTANT /* text: what happened now; file: why, or NULL */
} kmm__event_kind_t;

typedef enum kmm__copy_kind { KMM__COPY_IN, KMM__COPY_OUT, KMM__COPY_PEER } kmm__copy_kind_t;

/* Texts live as long as the process: they are literals, or from kmm__trace_text. */
typedef struct kmm__event {
    uint64_t time; /* of kmm__now; set by kmm__trace_push */
    uint8_t kind, mode;
    uint16_t device; /* number of the device in the process (kmm__device.number) */
    uint32_t thread; /* the system's number of the thread; set by kmm__trace_push */
    uint64_t task;   /* kmm__task_number; 0: none */
    union {
        const char *text;
        /* Of RUN_BEGIN, RUN_END, COPY_BEGIN and COPY_END: when it was, by the device's own clock,
         * as a time of kmm__now; 0: at `time`. */
        uint64_t at;
    };
    union {
        const char *file;
        uint64_t d; /* of copies */
    };
    uint64_t a, b, c;
} kmm__event_t;

/* When an event that may have a time of the device's clock was. */
static inline uint64_t kmm__event_at(const kmm__event_t *e)
{
    return e->at ? e->at : e->time;
}

/* Changed by atomic stores. Hidden, so that a load of one is one instruction. */
extern bool kmm__trace_on __attribute__((visibility("hidden")));
extern bool kmm__trace_accesses_on __attribute__((visibility("hidden")));

/* True if somebody listens. */
static inline bool kmm__tracing(void)
{
    return __builtin_expect(__atomic_load_n(&kmm__trace_on, __ATOMIC_RELAXED), false);
}

/* True if a listener wants KMM__EVENT_ACCESS. */
static inline bool kmm__tracing_accesses(void)
{
    return __builtin_expect(__atomic_load_n(&kmm__trace_accesses_on, __ATOMIC_RELAXED), false);
}

/* Adds an event to this thread's ring. Any thread, with or without locks. */
void kmm__trace_push(const kmm__event_t *event) __attribute__((cold));

/* A trace point: KMM__TRACE(.kind = KMM__EVENT_READY, .task = ...). */
#define KMM__TRACE(...)                                                                            \
    do {                                                                                           \
        if (kmm__tracing())                                                                        \
            kmm__trace_push(&(kmm__event_t){__VA_ARGS__});                                         \
    } while (0)

/* Returns an equal text that lives as long as the process. NULL gives NULL. */
const char *kmm__trace_text(const char *text);

/* Both functions are called by the tracer alone. */
typedef struct kmm__listener {
    void (*event)(const kmm__event_t *event);
    void (*flush)(void); /* called after each series of events */
    void (*end)(void);   /* called by kmm__trace_flush, after all events */
    bool wants_accesses;
} kmm__listener_t;

/* Adds a listener, which lives as long as the process. Returns 0 or an error of pthread_create. */
int kmm__trace_listen(const kmm__listener_t *listener);
/* Not locked: waits until the listeners have all events that were pushed before, and have called
 * their `end`. Does nothing if nobody listens. */
void kmm__trace_flush(void);
/* Nanoseconds in which threads waited because their rings were full. */
uint64_t kmm__trace_waited(void);

#endif
