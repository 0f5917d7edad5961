/* SPDX-License-Identifier: Apache-2.0 */
/* Checks directives and reports errors in them. */
#ifndef KMMCC_ANALYZE_CHECK_H
#define KMMCC_ANALYZE_CHECK_H

#include "clang/unit.h"

void check_directives(unit_t *u); /* of all files of the translation unit */
/* Of one that is bound and not broken. */
void check_directive(unit_t *u, directive_t *d);

#endif
