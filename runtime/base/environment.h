/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables of kmm. */
#ifndef KMM__BASE_ENVIRONMENT_H
#define KMM__BASE_ENVIRONMENT_H

/* Warns once in the process of variables that kmm does not have, and of values that have no
 * meaning. A value with which no runtime can be made is an error of kmm_create instead. */
void kmm__environment_check(void);

#endif
