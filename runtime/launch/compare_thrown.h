/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C++ exceptions of a launch that KMM_CHECK=result compares: that of its undivided run, and
 * that of its chunks. Of several chunks the first one's counts, which the program gets.
 */
#ifndef KMM__LAUNCH_COMPARE_THROWN_H
#define KMM__LAUNCH_COMPARE_THROWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum kmm__thrown_by { KMM__THROWN_WHOLE, KMM__THROWN_CHUNKS } kmm__thrown_by_t;

/* What two runs of a launch have thrown. */
typedef enum kmm__thrown {
    KMM__THROWN_NOTHING,
    KMM__THROWN_ALIKE,
    KMM__THROWN_UNKNOWN, /* exceptions of one type, whose values cannot be compared */
    KMM__THROWN_OTHERS   /* a mistake */
} kmm__thrown_t;

/* Compares the calling thread's next launches, whose numbers are greater than `after`. One thread
 * at a time does so. */
void kmm__thrown_begin(int64_t after);
/* What the thread launches next is the undivided run, or the chunks. */
void kmm__thrown_next(kmm__thrown_by_t by);
/* Compares both exceptions, and writes to `text` what differs, or the type whose values are not
 * compared. */
kmm__thrown_t kmm__thrown_compare(char *text, size_t size);
void kmm__thrown_end(void);

#endif
