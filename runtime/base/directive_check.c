/* SPDX-License-Identifier: Apache-2.0 */
/* Errors of directives. A directive cannot return an error, so the error is printed and ends the
 * program. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kmm/launch.h>

#include "base/error.h"
#include "base/exit_status.h"
#include "base/log.h"

/* Flushes stdout before abort(), which would lose what the program has printed into a pipe or a
 * file. */
static void end_program(void)
{
    if (ftrylockfile(stdout) == 0)
        fflush_unlocked(stdout);
    abort();
}

KMM__API void kmm_directive_check(int result, const char *file, int line)
{
    const char *on_error = getenv("KMM_ON_ERROR");
    const char *text = kmm__error_get();
    if (result == 0)
        return;
    if (strncmp(text, file, strlen(file)) == 0)
        kmm__log(KMM__LOG_ERROR, "%s (%s)", text, kmm_error_string(result));
    else
        kmm__log(KMM__LOG_ERROR, "%s:%d: %s (%s)", file, line, text, kmm_error_string(result));
    kmm__exit_unasked(); /* no call can ask for this error */
    if (!on_error || strcmp(on_error, "continue") != 0)
        end_program();
}
