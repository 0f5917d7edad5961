/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms one file from text to text. */
#ifndef KMMCC_DRIVER_TRANSFORM_H
#define KMMCC_DRIVER_TRANSFORM_H

#include <stdbool.h>

#include "base/options.h"
#include "emit/mark.h"
#include "pragma/includes.h"

/* A header that the new text includes in place of one of the program. */
typedef struct header {
    const char *path, *name, *text;
    const struct header *next;
} header_t;
/* Transforms one file that has a pragma, itself or in its headers, or any CUDA file when the target
 * is the host. Returns the new text, or NULL after errors have been printed. It includes *headers
 * by their names. */
__attribute__((visibility("default"))) char *transform(const options_t *o, lang_t lang,
                                                       target_t target, const includes_t *includes,
                                                       const header_t **headers);

/* Chooses pragmas for the marks, which are of the first of the includes; these are used up. False:
 * the program has errors, which --suggest reports. */
__attribute__((visibility("default"))) bool transform_choose(const options_t *o, lang_t lang,
                                                             target_t target,
                                                             const includes_t *includes,
                                                             marks_t *m);

#endif
