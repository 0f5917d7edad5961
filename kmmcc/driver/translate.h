/* SPDX-License-Identifier: Apache-2.0 */
/* Translates options into the spelling of gcc and clang. */
#ifndef KMMCC_DRIVER_TRANSLATE_H
#define KMMCC_DRIVER_TRANSLATE_H

#include "base/list.h"
#include "base/options.h"

/* Appends argument `index` to the list in the spelling of gcc and clang. Appends nothing if they
 * have no use for it. */
void options_translate(const options_t *o, int index, list_t *list);

#endif
