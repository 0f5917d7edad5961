/* SPDX-License-Identifier: Apache-2.0 */
/* A bar in one line of a terminal: how much is done, how fast, and how long the rest takes. */
#ifndef KMM__BASE_BAR_H
#define KMM__BASE_BAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KMM__BAR_LEAST = 20, KMM__BAR_MOST = 160, KMM__BAR_TEXT = KMM__BAR_MOST + 16 };

typedef struct kmm__bar {
    const char *what; /* whose bar it is: "kmm" */
    uint64_t done, all;
    double rate;      /* in a second, of `unit` */
    const char *unit; /* NULL: the rate is in bytes */
    double left;      /* seconds; less than 0: not known */
} kmm__bar_t;

/* True if the descriptor is a terminal that can draw a bar. */
bool kmm__bar_possible(int descriptor);

/* Returns the number of columns of a terminal, KMM__BAR_MOST at most. 0: no bar is to be drawn now:
 * this process is not in its foreground, or it has less than KMM__BAR_LEAST columns. */
unsigned kmm__bar_columns(int descriptor);

/* Writes the bar, less than `columns` wide. The cursor is left at the begin of the line, so that
 * what others print takes the bar's place. Returns the length. */
size_t kmm__bar_text(const kmm__bar_t *b, unsigned columns, char out[KMM__BAR_TEXT]);

#endif
