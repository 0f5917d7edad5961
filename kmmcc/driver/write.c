/* SPDX-License-Identifier: Apache-2.0 */
/* Writes texts to files. */
#include "driver/write.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/path.h"
#include "base/sarif.h"
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

int write_messages(bool successful)
{
    const char *path = sarif_path();
    diag_summary();
    if (!path)
        return 0;
    const char *text = sarif_text(successful);
    int status = strcmp(path, "-") != 0 ? write_text(path, text)
                 : fputs(text, stdout) == EOF || fflush(stdout) != 0
                     ? write_fail("the standard output")
                     : 0;
    diag_flush();
    return status;
}

/* Writes the text to a new file beside `path`. Returns its name; NULL: errno says why. */
static char *write_beside(const char *path, const char *text, mode_t mode)
{
    char *name = arena_printf("%s.XXXXXX", path);
    int descriptor = mkstemp(name);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "wb");
    if (!file)
        return NULL;
    bool good = fputs(text, file) != EOF && fflush(file) == 0;
    good = good && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0;
    good = (fclose(file) == 0) && good;
    if (good)
        return name;
    unlink(name);
    return NULL;
}

/* Puts a file with the text there at once. */
static int put(const char *path, const char *text, mode_t mode)
{
    char *name = write_beside(path, text, mode);
    if (name && rename(name, path) == 0)
        return 0;
    write_fail(path);
    if (name)
        unlink(name);
    return 1;
}

static bool make_folder(const char *path)
{
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    return errno == ENOENT && make_folder(path_folder(path)) &&
           (mkdir(path, 0777) == 0 || errno == EEXIST);
}

int write_new(const char *path, const char *text)
{
    struct stat is;
    mode_t mask = umask(0);
    umask(mask);
    if (!make_folder(path_folder(path)))
        return write_fail(path);
    return put(path, text, stat(path, &is) == 0 ? is.st_mode & 07777 : 0666 & ~mask);
}

int write_replace(const char *path, const source_t *before, const char *text)
{
    char *real = realpath(path, NULL);
    if (!real || access(real, W_OK) != 0)
        return write_fail(path);
    if (strlen(before->text) != before->length) {
        diag_plain(SEVERITY_ERROR, "'%s' has a byte 0; it stays as it is", path);
        return 1;
    }
    const source_t *now = source_read(real);
    if (!now || strcmp(now->text, before->text) != 0) {
        diag_plain(SEVERITY_ERROR, "'%s' has changed meanwhile; it stays as it is", path);
        return 1;
    }
    struct stat is;
    int status = stat(real, &is) == 0 ? put(real, text, is.st_mode & 07777) : write_fail(path);
    free(real);
    return status;
}

int write_headers(const job_t *job, const char *folder)
{
    int status = 0;
    for (const header_t *h = job->headers; h && !status; h = h->next)
        status = write_text(arena_printf("%s/%s", folder, h->name), h->text);
    return status;
}
