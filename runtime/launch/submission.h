/* SPDX-License-Identifier: Apache-2.0 */
/* A submission: one launch, or one `task` directive, while it is turned into tasks. */
#ifndef KMM__LAUNCH_SUBMISSION_H
#define KMM__LAUNCH_SUBMISSION_H

#include <string.h>

#include "base/log.h"
#include "launch/builder.h"
#include "launch/partition.h"
#include "launch/placement.h"

typedef struct kmm__memo kmm__memo_t;

typedef struct kmm__submission {
    kmm_runtime_t *rt; /* NULL: there is no runtime */
    kmm_launch_t *l;
    kmm_kind_t kind;
    kmm__work_t *work;
    uint32_t mapped_count; /* entries of l->mapped in use */
    bool annotated,
        is_direct;       /* annotated: a pragma describes it; is_direct: its tasks are direct */
    bool is_entered;     /* tasks of it may be in the DAG */
    bool is_native;      /* it may run in native standing */
    bool is_tight;       /* memory is scarce for its tasks: no region is rounded */
    bool is_loose;       /* a task of it accesses no array */
    bool is_apart;       /* KMM_CHECK=result compares it: each chunk works on copies */
    bool reads_home;     /* it reads memory that later launches may write, without an item */
    uint32_t reductions; /* number of items that are reductions */
    int64_t number;      /* of a launch of a plain function, in the order of submission */
    kmm_geometry_t geometry;
    kmm_function_t *function;
    int flags; /* with a function: the floating-point flags of the launching thread */
    /* launch/memo.c: */
    kmm__memo_t *memo;      /* the memo that it uses; NULL: its launch is checked */
    kmm__memo_t *new_memo;  /* the memo that is made of it; NULL: none */
    bool keeps_memo;        /* a memo should be made of it */
    uint64_t memo_hash;     /* of its launch */
    uint64_t index_changes; /* number of changes of the arrays' index when no memo was found */
    /* Members that kmm__submission_begin leaves as they are: */
    kmm__partition_t part;
    uint32_t begin, end; /* chunks that this node runs */
    bool is_part;        /* other nodes run the other chunks */
    kmm__placement_t placement;
} kmm__submission_t;

/* Begins a submission, of which all is 0 but its launch and runtime. */
static inline void kmm__submission_begin(kmm__submission_t *s, kmm_launch_t *l)
{
    memset(s, 0, offsetof(kmm__submission_t, part));
    s->l = l;
    s->rt = l->runtime;
}

/* Sets this thread's error text, prefixed by the launch's location. Returns code. */
int kmm__submission_refuse(const kmm__submission_t *s, int code, const char *text);

/* For KMM_LOG=debug: says how the launch was partitioned and where its chunks were placed. */
void kmm__submission_describe(const kmm__submission_t *s);
static inline void kmm__submission_log(const kmm__submission_t *s)
{
    if (kmm__log_says(KMM__LOG_DEBUG))
        kmm__submission_describe(s);
}

#endif
