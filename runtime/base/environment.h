/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables of kmm. */
#ifndef KMM__BASE_ENVIRONMENT_H
#define KMM__BASE_ENVIRONMENT_H

/* Once for the process: warns of variables that kmm does not have and of values that say nothing.
 * Values that a runtime cannot be made with are errors of kmm_create instead. */
void kmm__environment_check(void);

#endif
