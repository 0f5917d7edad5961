/* SPDX-License-Identifier: Apache-2.0 */
/* What one launch, or `task` directive, of the program is while it is submitted. */
#ifndef KMM__LAUNCH_SUBMISSION_H
#define KMM__LAUNCH_SUBMISSION_H

#include "launch/builder.h"
#include "launch/partition.h"
#include "launch/placement.h"

typedef struct kmm__submission {
    kmm_runtime_t *rt; /* NULL: there is none */
    kmm_launch_t *l;
    kmm__partition_t part;
    kmm_kind_t kind;
    kmm__work_t *work;
    uint32_t mapped_count;     /* of l->mapped */
    bool annotated, is_direct; /* a pragma describes it; its tasks are direct */
    uint32_t reductions;       /* items that are reductions */
    kmm_geometry_t geometry;
    kmm_function_t *function;
    kmm__placement_t placement;
} kmm__submission_t;

/* Sets this thread's error text, with where the launch stands in front. Returns code. */
int kmm__submission_refuse(const kmm__submission_t *s, int code, const char *text);

#endif
