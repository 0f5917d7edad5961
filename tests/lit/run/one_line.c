// Several pragmas on one line, functions that begin in mid-line, and the same line number in a header.
#include "Inputs/one_line.h"
#include <stdio.h>
static float x[1000]; static void add(int n, float *y) { for (int i = 0; i < n; i++) y[i] += 1; } static void once(int n) { _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(x[i])") add(n, x); }
#define TWICE(n, x) _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(x[i])") add(n, x); \
    _Pragma("kmm parallel(i = 0:n) chunk(100) rebase(n: i) update(x[i])") { add(n, x); } _Pragma("kmm wait") x[0] += 3;
// RUN: %cc -O1 -Wno-unknown-pragmas %s -o %t.erased && %t.erased > %t.expected
// RUN: %kmmcc -O1 %san -Wall -Wextra -Werror %s -o %t
// RUN: env KMM_DEVICES=host %t | diff %t.expected -
// RUN: env KMM_DEVICES=host:3,mem=1M KMM_FRAME=64K KMM_JOIN=0 %t | diff %t.expected -
static int unused; int main(void) { int n = 1000;
    header_run(n); once(n); TWICE(n, x) TWICE(n, x) if (n) { TWICE(n, x) } /* behind */ printf("%g %g %g %d\n", x[0], x[999], in_header[999], unused); return 0; }
