/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel does with a reduction's target. */
#ifndef KMMCC_ANALYZE_REDUCED_KERNEL_H
#define KMMCC_ANALYZE_REDUCED_KERNEL_H

#include <stdbool.h>

#include "analyze/compare_report.h"

/* Reports what a kernel does with reduced elements other than to combine values with them. Warns of
 * what is not proven to be that. False: an error was reported. */
bool reduced_kernel_check(comparison_t *c);

#endif
