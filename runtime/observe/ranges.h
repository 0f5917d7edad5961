/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_RANGES: tells a profiler which chunk a thread launches, by NVTX or roctx. */
#ifndef KMM__OBSERVE_RANGES_H
#define KMM__OBSERVE_RANGES_H

/* Begins to tell a profiler if there is one, or if KMM_RANGES asks for it. Called once in a
 * process. A library that is asked for and cannot be loaded is a warning. */
void kmm__ranges_start(void);

#endif
