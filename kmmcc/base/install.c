/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the files that are installed with kmmcc. */
#include "base/install.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/path.h"

const char *install_path(const char *what)
{
    char program[PATH_MAX];
    if (!realpath("/proc/self/exe", program))
        return what;
    const char *root = path_folder(path_folder(program));
    if (strcmp(what, "lib") != 0 || access(arena_printf("%s/lib/libkmm.so", root), R_OK) == 0)
        return arena_printf("%s/%s", root, what);
    return arena_printf("%s/%s", root, KMM_INSTALL_LIBDIR);
}

const char *install_version(void)
{
    return KMM_VERSION;
}
