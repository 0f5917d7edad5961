/* SPDX-License-Identifier: Apache-2.0 */
/* Replaces __LINE__ in pragmas. */
#ifndef KMMCC_PRAGMA_LINE_H
#define KMMCC_PRAGMA_LINE_H

#include "pragma/includes.h"

/* Replaces each __LINE__ in the files' pragmas of kmm by the number of the line on which it is
 * written, since what the clauses become stands on other lines. */
void line_replace(const includes_t *includes);

#endif
