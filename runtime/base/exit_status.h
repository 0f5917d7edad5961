/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exit status of a program with errors that it has never asked about. A call that returns its
 * error asks the program to look. Launches of a kernel return nothing, and what fails later is
 * noted where no call waits; such an error is unasked until a call tells it and the program looks.
 * A process that would exit with 0 while one is unasked exits with EXIT_FAILURE.
 */
#ifndef KMM__BASE_EXIT_STATUS_H
#define KMM__BASE_EXIT_STATUS_H

/* Any thread: there is an error that the program has not asked about. */
void kmm__exit_unasked(void);

/* Any thread: the program has been given an error that it asked for. */
void kmm__exit_asked(void);

/* Any thread: a chunk has broken its clauses under KMM_CHECK. No question makes that good. */
void kmm__exit_violation(void);

/* Any thread: forgets all of them. For processes that were forked, and for tests. */
void kmm__exit_forget(void);

#endif
