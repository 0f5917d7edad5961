/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exit status of a program that ignores errors. A kernel launch returns nothing, and work that
 * fails later may fail when no call waits for it. Such an error is unasked until a call has
 * returned it to the program. A process that would exit with 0 while an error is unasked exits with
 * EXIT_FAILURE.
 */
#ifndef KMM__BASE_EXIT_STATUS_H
#define KMM__BASE_EXIT_STATUS_H

/* Any thread: there is an error that no call has returned to the program. */
void kmm__exit_unasked(void);

/* Any thread: a call has returned the error to the program. */
void kmm__exit_asked(void);

/* Any thread: a chunk has broken its clauses under KMM_CHECK. The exit status is then EXIT_FAILURE,
 * even if the program asks for the error. */
void kmm__exit_violation(void);

/* Any thread: forgets all errors. For processes that were forked, and for tests. */
void kmm__exit_forget(void);

#endif
