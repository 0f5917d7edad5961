/* SPDX-License-Identifier: Apache-2.0 */
/* Completes the pragmas of launches by declarations, written or inferred. */
#ifndef KMMCC_ANALYZE_DECLARE_H
#define KMMCC_ANALYZE_DECLARE_H

#include <stdbool.h>

#include "clang/unit.h"

/* Adds to the pragmas of launches what `declare kernel` says; true if the units have to be parsed
 * and bound again: then the messages from `first` on are taken back. */
bool declare_complete(unit_t *u, int first);

#endif
