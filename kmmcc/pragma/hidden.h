/* SPDX-License-Identifier: Apache-2.0 */
/* Finds pragmas of kmm that only the compiler sees. */
#ifndef KMMCC_PRAGMA_HIDDEN_H
#define KMMCC_PRAGMA_HIDDEN_H

#include <stdbool.h>

#include "base/source.h"

/* Reports an error, and returns true, if a pragma of kmm is written in a way that kmmcc does not
 * read: by trigraphs, or with a line splice that it cannot move. */
bool hidden_pragma(const source_t *source);

#endif
