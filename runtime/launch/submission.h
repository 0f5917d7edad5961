/* SPDX-License-Identifier: Apache-2.0 */
/* What launches and tasks of the program share while they are submitted: submit.c's parts, for
 * task.c. */
#ifndef KMM__SUBMISSION_H
#define KMM__SUBMISSION_H

#include "internal.h"

struct kmm__submission {
    kmm_runtime_t *rt;
    kmm_launch_t *l;
    kmm__partition_t part;
    kmm_kind_t kind;
    kmm__work_t *work;
    uint32_t mapped_count;    /* of l->mapped */
    bool annotated, is_plain; /* its tasks are */
    uint32_t reductions;      /* items that are */
    kmm_geometry_t geometry;
    kmm_function_t *function;
    kmm__placement_t place;
};

void kmm__launch_free(kmm_launch_t *l);
/* Sets this thread's error text, with where the launch stands in front, and returns code. */
int kmm__submission_refuse(const kmm__submission_t *s, int code, const char *text);
/* Locked: the work of the submission; a reference. */
kmm__work_t *kmm__submission_work(kmm__submission_t *s);
/* Locked, may unlock: finds the arrays of all items, and maps host memory that is none. */
int kmm__submission_resolve(kmm__submission_t *s);
/* Locked: gives t the accesses of one chunk, one for each item that is not empty there. */
int kmm__submission_plan(kmm__submission_t *s, kmm__task_t *t, const kmm__chunk_box_t *box);
/* Not locked: returns the memory that was mapped for the launch, when its results are there. */
int kmm__submission_unmap(kmm__submission_t *s);

#endif
