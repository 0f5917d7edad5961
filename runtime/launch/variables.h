/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that a plain function reads, and not through an argument: variables of static storage that
 * it names, and what pointers in these or in the memory of items lead to. The function finds there
 * what is in the host's memory. */
#ifndef KMM__LAUNCH_VARIABLES_H
#define KMM__LAUNCH_VARIABLES_H

#include "launch/submission.h"

/* Not locked, before the launch is submitted: waits for what computes such memory, and brings it to
 * the host. Sets s->reads_home if other launches may write it. Returns 0 or an error with its text.
 */
int kmm__variables_arrive(kmm__submission_t *s);
/* Locked, when the items have their regions: refuses a launch that writes or reduces into such a
 * variable, and warns of pointers to beside what it writes. */
int kmm__variables_check(const kmm__submission_t *s);

#endif
