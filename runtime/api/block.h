/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of `data` directives that are open: their maps have begun and not ended.
 *
 * A block ends at its end, or when its process or thread ends inside of it. The program may also
 * leave it by longjmp, which its end does not see. Where kmmcc has compiled the setjmp, the map
 * ends as the jump arrives. Elsewhere the next call of libkmm finds that its stack pointer is above
 * the frame of the block. That is an error, since the program may have read its memory meanwhile.
 */
#ifndef KMM__API_BLOCK_H
#define KMM__API_BLOCK_H

#include <stdatomic.h>
#include <stdbool.h>

#include <kmm.h>

/* Number of open blocks of all threads. */
extern atomic_uint kmm__blocks_open;

/* This thread enters a block, which has mapped `base` on rt, in the function whose callee has the
 * frame address `frame`. `file` lives as long as the process. */
void kmm__block_enter(kmm_runtime_t *rt, void *base, const void *frame, const char *file, int line);
/* This thread leaves the block of that map at its end. False: its map has ended already. */
bool kmm__block_leave(const void *base);

/* Ends the maps of this thread's blocks that were left by a jump, and reports them as errors of
 * directives are reported. `frame` is the frame address of the public function. */
void kmm__blocks_find_left(const void *frame);
static inline void kmm__blocks_check(const void *frame)
{
    if (atomic_load_explicit(&kmm__blocks_open, memory_order_relaxed))
        kmm__blocks_find_left(frame);
}

/* The process exits: ends the maps of all blocks of rt. can_end: the caller may wait. */
void kmm__blocks_exit(const kmm_runtime_t *rt, bool can_end);
/* Forgets the blocks of a runtime that is destroyed; NULL: of all, in a forked process. */
void kmm__blocks_forget(const kmm_runtime_t *rt);

#endif
