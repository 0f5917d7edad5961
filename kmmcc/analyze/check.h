/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with directives. */
#ifndef KMMCC_ANALYZE_CHECK_H
#define KMMCC_ANALYZE_CHECK_H

#include "clang/unit.h"

void check_directives(unit_t *u); /* of all files of the translation unit */

#endif
