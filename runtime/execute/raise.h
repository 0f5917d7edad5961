/* SPDX-License-Identifier: Apache-2.0 */
/* Signals that chunks of plain functions raise. */
#ifndef KMM__EXECUTE_RAISE_H
#define KMM__EXECUTE_RAISE_H

/* Returns the calling thread's number, for kmm__work_t. */
int kmm__raise_launcher(void);

/* Called by a thread that has waited for chunks. When this returns, the thread has handled the
 * signals that these chunks raised for it, unless it blocks them. */
void kmm__raise_settle(void);

#endif
