/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_TRACE: a listener that writes a trace of Chrome's format. */
#ifndef KMM__OBSERVE_CHROME_H
#define KMM__OBSERVE_CHROME_H

/* Begins to write the trace that KMM_TRACE asks for, if it does. Called once in a process. Returns
 * 0 or an error: KMM_TRACE_MAX is no size. A file that cannot be written is a warning. */
int kmm__chrome_start(void);

#endif
