/* SPDX-License-Identifier: Apache-2.0 */
/* Splits paths into folder and name. */
#include "base/path.h"

#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return !slash ? "." : slash == path ? "/" : arena_copy(path, (size_t)(slash - path));
}

bool path_is_same(const char *a, const char *b)
{
    struct stat x, y;
    return !strcmp(a, b) ||
           (stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino);
}
