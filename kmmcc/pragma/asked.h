/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the macros of the compiler for which a program asks. */
#ifndef KMMCC_PRAGMA_ASKED_H
#define KMMCC_PRAGMA_ASKED_H

#include <stdbool.h>

#include "base/list.h"
#include "base/options.h"
#include "base/source.h"
#include "base/token.h"
#include "pragma/includes.h"

/* Returns the names in #if lines, macros and code of the program's files that compilers may define
 * differently. Most programs have none. */
list_t asked_names(const includes_t *includes, const options_t *o);
/* True if #pragma GCC target or #pragma GCC optimize is in the program's files; stores where. They
 * define macros for what stands behind them. */
bool asked_behind_target(const includes_t *includes, const source_t **s, token_t *at);

#endif
