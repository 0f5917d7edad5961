/* SPDX-License-Identifier: Apache-2.0 */
/*
 * KMM_DOT: a listener that draws the tasks of a run as a graph in the DOT language. It keeps the
 * first KMM__DOT_TASKS tasks of the window that KMM_DOT_LINES names. The file is written when a
 * runtime ends, and when the program does.
 */
#ifndef KMM__OBSERVE_DOT_H
#define KMM__OBSERVE_DOT_H

#include "task/traced.h"

enum { KMM__DOT_TASKS = 1000 };

/* A task of the graph. */
typedef struct kmm__dot_task {
    kmm__event_t submitted;
    uint64_t begin, end; /* of its run; 0: it has not begun, or ended */
    uint64_t joined;     /* number of the task in whose kernel it ran; 0: its own */
    bool has_failed;
    kmm__traced_access_t **accesses; /* owned */
    uint64_t *arrays;                /* number of the array of each access */
    uint32_t count, capacity, arrays_capacity;
} kmm__dot_task_t;

typedef struct kmm__dot_graph {
    kmm__dot_task_t tasks[KMM__DOT_TASKS]; /* in the order of submission */
    uint32_t count;
    uint64_t left_out;    /* tasks of the window that are not drawn */
    const char **devices; /* names of the devices, by their numbers; NULL: not known */
    uint32_t device_count, device_capacity;
} kmm__dot_graph_t;

/* Begins to collect tasks, if KMM_DOT is set. Called once in a process. Returns 0 or an error with
 * its text: KMM_DOT_LINES is no window. */
int kmm__dot_start(void);

/* Writes the graph. Returns 0 or an errno. */
int kmm__dot_write(const kmm__dot_graph_t *g, const char *file);

#endif
