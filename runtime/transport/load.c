/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the launcher by its variables, and opens the plug-in that speaks with it. MPIs have no
 * common ABI, so each has a plug-in of its own, beside libkmm. */
#include "transport/load.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Variables with the number of processes that were started together. SLURM_STEP_NUM_TASKS is of
 * srun. SLURM_NTASKS is not asked for, because a batch script has it, which is one process. */
static const struct {
    const char *size, *rank, *plugin;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "openmpi"},
    {"SLURM_STEP_NUM_TASKS", "PMIX_RANK", "openmpi"},
    {"PMI_SIZE", "PMI_RANK", "mpich"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "mpich"},
};

void kmm__launcher_find(kmm__launcher_t *out)
{
    *out = (kmm__launcher_t){.size = 1};
    for (size_t k = 0; k < sizeof(launchers) / sizeof(*launchers); k++) {
        const char *text = getenv(launchers[k].size), *rank = getenv(launchers[k].rank);
        const long size = text ? strtol(text, NULL, 10) : 0;
        if (size < 1 || size > INT_MAX || !rank)
            continue;
        *out = (kmm__launcher_t){launchers[k].size, (uint32_t)size,
                                 (uint32_t)strtol(rank, NULL, 10), launchers[k].plugin};
        return;
    }
}

bool kmm__launcher_is_wanted(kmm__launcher_t *out)
{
    const char *text = getenv("KMM_NODES");
    if (!text || strcmp(text, "1") != 0)
        return false;
    kmm__launcher_find(out);
    return out->size > 1;
}

/* Writes the path of a plug-in, which lies in the folder kmm beside the library or program that
 * this code is in. */
static void plugin_path(const char *name, char *out, size_t room)
{
    Dl_info self;
    const char *slash = NULL;
    if (dladdr((void *)&kmm__launcher_find, &self) && self.dli_fname)
        slash = strrchr(self.dli_fname, '/');
    snprintf(out, room, "%.*skmm/libkmm-mpi-%s.so", slash ? (int)(slash - self.dli_fname) + 1 : 0,
             slash ? self.dli_fname : "", name);
}

kmm__transport_open_t *kmm__transport_load(const kmm__launcher_t *launcher)
{
    const char *given = getenv("KMM_TRANSPORT"), *name = given && *given    ? given
                                                         : launcher->plugin ? launcher->plugin
                                                                            : "openmpi";
    char path[PATH_MAX];
    if (strchr(name, '/'))
        snprintf(path, sizeof(path), "%s", name);
    else
        plugin_path(name, path, sizeof(path));
    /* Its symbols are global, because MPIs load modules of their own that use them. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!library) {
        kmm__error_set(KMM_E_UNSUPPORTED, "the plug-in for messages cannot be opened: %s",
                       dlerror());
        return NULL;
    }
    void *symbol = dlsym(library, "kmm__transport_open");
    kmm__transport_open_t *open;
    memcpy(&open, &symbol, sizeof(open));
    if (!open)
        kmm__error_set(KMM_E_UNSUPPORTED, "%s is no plug-in for messages: %s", path, dlerror());
    return open;
}
