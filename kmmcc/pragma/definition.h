/* SPDX-License-Identifier: Apache-2.0 */
/* Macros that the command line defines. */
#ifndef KMMCC_PRAGMA_DEFINITION_H
#define KMMCC_PRAGMA_DEFINITION_H

#include "base/options.h"
#include "base/source.h"

/* Returns what flag number `flag` defines as a #define line: -Dname=value, -D name=value, -Dname.
 * NULL: it defines nothing. */
const source_t *definition_of_flag(const options_t *o, int flag);

#endif
