/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command line; translates single options of nvcc. */
#ifndef KMMCC_DRIVER_OPTIONS_H
#define KMMCC_DRIVER_OPTIONS_H

#include "base/list.h"
#include "base/options.h"

/* NULL after errors have been printed. */
options_t *options_read(int argc, char **argv);
/* Appends argument `index` to the list in the spelling of gcc and clang, or nothing where they have
 * no use for it. */
void options_translate(const options_t *o, int index, list_t *list);

#endif
