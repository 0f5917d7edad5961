/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of a submission, prefixed by the launch's location. */
#include "launch/submission.h"

#include <stdio.h>

#include "base/error.h"

int kmm__submission_refuse(const kmm__submission_t *s, int code, const char *text)
{
    const kmm_launch_t *l = s->l;
    char copy[400];
    snprintf(copy, sizeof(copy), "%s", text);
    if (l->file)
        return kmm__error_set(code, "%s:%d: %s: %s", l->file, l->line, l->kernel ? l->kernel : "?",
                              copy);
    return kmm__error_set(code, "%s: %s", l->kernel ? l->kernel : "?", copy);
}
