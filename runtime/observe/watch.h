/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watcher: a thread that draws the bar of KMM_PROGRESS, and that prints the statistics of
 * KMM_STATS where a signal ends the program. A signal handler cannot print them. It wakes the
 * watcher and waits for it. There is no watcher if neither can happen.
 */
#ifndef KMM__OBSERVE_WATCH_H
#define KMM__OBSERVE_WATCH_H

#include "base/runtime.h"

/* The watcher looks at the runtime from now on; or not any more. Any thread, not locked. */
void kmm__watch_begin(kmm_runtime_t *rt);
void kmm__watch_end(kmm_runtime_t *rt);

/* Erases the bar, of which no more is drawn: the program ends. Any thread. */
void kmm__watch_rest(void);

/* Called in a signal handler before the signal ends the program: has the statistics of all runtimes
 * printed. Waits for that, but not for long. */
void kmm__watch_signal(int number);

#endif
