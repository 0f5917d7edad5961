/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memos. A memo is what the checks of one launch found: its chunks, the arrays of its items, and
 * the arrays that its arguments point into. A later launch with the same description, arguments
 * and devices, among the same arrays, takes them from the memo, and is not checked again.
 *
 * A launch has no memo if its checks may end otherwise the next time although all of these are the
 * same: if it reduces in managed standing, if host memory is mapped for it, or under
 * KMM_CHECK=access.
 *
 * The caller holds the runtime's lock.
 */
#ifndef KMM__LAUNCH_MEMO_H
#define KMM__LAUNCH_MEMO_H

#include "launch/native_chunks.h"
#include "launch/submission.h"

/* A word of the argument `number`, `at` bytes behind its begin. */
typedef struct kmm__place {
    uint32_t number, at;
} kmm__place_t;

/* The words of a kernel's arguments that may point into arrays. */
typedef struct kmm__words {
    uint32_t count;
    kmm__place_t *places;
    char **values;
    uintptr_t low, high; /* words outside of [low, high) mean no item and no array */
} kmm__words_t;
/* True if the words mean the same there. args[k - first] points to the argument k. */
bool kmm__words_are_same(const kmm__words_t *w, void **args, uint32_t first);

/* Looks for a memo of the launch, whose arguments are packed. True: the submission has its
 * partition, its items have their arrays, the arguments' pointers are recorded, and it is direct if
 * it can be. False: the launch must be checked; s->keeps_memo is set if a memo should be made of
 * what that finds. */
bool kmm__memo_find(kmm__submission_t *s);

/* Makes a memo of a launch that has been checked, if s->keeps_memo is set. Nobody finds it yet. Its
 * arguments are still those of the program. */
void kmm__memo_make(kmm__submission_t *s);
/* Adds the accesses of the launch's only task. */
void kmm__memo_add_plan(kmm__submission_t *s, const kmm__task_t *t);
/* Gives the only task of a launch its accesses. False: they must be planned. */
bool kmm__memo_plan(kmm__submission_t *s, kmm__task_t *t);
/* Native standing: the launch, which has been checked or whose memo was found, is made as it
 * stands, or as `chunks` says. The memo gets a reference to these. */
void kmm__memo_note_native(kmm__submission_t *s, kmm__native_chunks_t *chunks);
/* Looks for such a memo of a launch on the only GPU, which needs nothing else of what its checks
 * found. NULL: there is none. *chunks: as above, without a reference. */
const kmm__words_t *kmm__memo_find_native(const kmm_launch_t *l, const kmm_kernel_t *kernel,
                                          const kmm_geometry_t *geometry, void **args,
                                          kmm__native_chunks_t **chunks);
/* The submission ends. `error` 0: later launches may find the memo that was made of it. */
void kmm__memo_end(kmm__submission_t *s, int error);

/* The runtime ends. */
void kmm__memos_free(kmm_runtime_t *rt);

#endif
