/* SPDX-License-Identifier: Apache-2.0 */
/* Writes texts to files. */
#include "driver/write.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "driver/transform.h"

int write_fail(const char *path)
{
    diag_plain(SEVERITY_ERROR, "cannot write '%s': %s", path, strerror(errno));
    return 1;
}

int write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return write_fail(path);
    bool failed = fputs(text, file) == EOF;
    failed |= fclose(file) != 0;
    return failed ? write_fail(path) : 0;
}

int write_headers(const job_t *job, const char *folder)
{
    int status = 0;
    for (const header_t *h = job->headers; h && !status; h = h->next)
        status = write_text(arena_printf("%s/%s", folder, h->name), h->text);
    return status;
}
