/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the real compilers. A link to kmmcc may have the name of a compiler. Such a link is never
 * taken for that compiler. */
#include "base/toolchain.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/path.h"
#include "base/process.h"
#include "base/text.h"

static bool is_ourselves(const char *path)
{
    char ours[PATH_MAX], theirs[PATH_MAX];
    return realpath("/proc/self/exe", ours) && realpath(path, theirs) && strcmp(ours, theirs) == 0;
}

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0 && !is_ourselves(path);
}

static const char *find_in_path(const char *name)
{
    if (strchr(name, '/'))
        return is_program(name) ? name : NULL;
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        const char *candidate = length ? arena_printf("%.*s/%s", (int)length, path, name) : name;
        if (is_program(candidate))
            return candidate;
        path += length + (path[length] == ':');
    }
    return NULL;
}

static const char *find_first(const char *const *names)
{
    for (; *names; names++) {
        const char *path = find_in_path(*names);
        if (path)
            return path;
    }
    return NULL;
}

static family_t family_of(const char *path)
{
    const char *name = path_base(path);
    if (strstr(name, "nvcc"))
        return FAMILY_NVCC;
    if (strstr(name, "hipcc"))
        return FAMILY_HIPCC;
    return strstr(name, "clang") ? FAMILY_CLANG : FAMILY_GNU;
}

compiler_t toolchain_named(const char *name)
{
    const char *path = find_in_path(name);
    if (!path) {
        diag_plain(SEVERITY_ERROR, "the compiler '%s' was not found", name);
        diag_plain(SEVERITY_NOTE, "give --compiler= a program in PATH or a path to one");
        return (compiler_t){0};
    }
    return (compiler_t){path, family_of(path)};
}

compiler_t toolchain_c(void)
{
    static const char *const names[] = {"cc",       "gcc",      "clang",    "clang-22",
                                        "clang-21", "clang-20", "clang-19", NULL};
    const char *path = find_first(names);
    return (compiler_t){path, path ? family_of(path) : FAMILY_GNU};
}

compiler_t toolchain_cxx(void)
{
    static const char *const names[] = {"c++",        "g++",        "clang++",    "clang++-22",
                                        "clang++-21", "clang++-20", "clang++-19", NULL};
    const char *path = find_first(names);
    return (compiler_t){path, path ? family_of(path) : FAMILY_GNU};
}

/* KMM_CUDA_PATH is the folder of the toolkit to use and wins over everything else; "none" hides
 * all. */
static const char *find_nvcc(void)
{
    const char *chosen = getenv("KMM_CUDA_PATH");
    if (chosen && *chosen) {
        if (strcmp(chosen, "none") == 0)
            return NULL;
        const char *path = arena_printf("%s/bin/nvcc", chosen);
        if (is_program(path))
            return path;
        diag_plain(SEVERITY_ERROR, "KMM_CUDA_PATH is '%s', but there is no compiler '%s'", chosen,
                   path);
        diag_plain(SEVERITY_NOTE,
                   "give the folder of a CUDA toolkit, or 'none' to compile for the CPU");
        return NULL;
    }
    const char *path = find_in_path("nvcc");
    static const char *const names[] = {"CUDA_HOME", "CUDA_PATH"};
    for (int k = 0; !path && k < 2; k++) {
        const char *folder = getenv(names[k]);
        path = folder && *folder ? find_in_path(arena_printf("%s/bin/nvcc", folder)) : NULL;
    }
    return path ? path : find_in_path("/usr/local/cuda/bin/nvcc");
}

compiler_t toolchain_nvcc(void)
{
    static bool looked;
    static const char *path;
    if (!looked)
        path = find_nvcc();
    looked = true;
    return (compiler_t){path, FAMILY_NVCC};
}

static bool is_toolkit(const char *folder)
{
    return access(arena_printf("%s/include/cuda_runtime.h", folder), R_OK) == 0;
}

static const char *without_bin(const char *path)
{
    size_t length = strlen(path), bin = strlen("/bin");
    return length > bin && strcmp(path + length - bin, "/bin") == 0 ? arena_copy(path, length - bin)
                                                                    : NULL;
}

/* The folder of the program itself, or else what nvcc says of itself: it may be a script that
 * starts the real one. */
static const char *find_cuda(const char *nvcc)
{
    char real[PATH_MAX];
    if (!realpath(nvcc, real))
        return NULL;
    const char *folder = without_bin(arena_copy(real, (size_t)(path_base(real) - real) - 1));
    if (folder && is_toolkit(folder))
        return folder;
    list_t command = {0};
    list_add(&command, "/bin/sh");
    list_add(&command, "-c");
    list_add(&command, "exec \"$0\" --dryrun -E -x cu /dev/null 2>&1");
    list_add(&command, nvcc);
    text_t said = {0};
    const char *here = process_capture(&command, &said) && said.length > 0
                           ? strstr(said.data, "#$ _HERE_=")
                           : NULL;
    here = here ? here + strlen("#$ _HERE_=") : NULL;
    folder = here ? without_bin(arena_copy(here, strcspn(here, "\n"))) : NULL;
    return folder && is_toolkit(folder) ? folder : NULL;
}

const char *toolchain_cuda(void)
{
    static bool looked;
    static const char *folder;
    const char *nvcc = toolchain_nvcc().path;
    if (!looked && nvcc)
        folder = find_cuda(nvcc);
    looked = true;
    return folder;
}

compiler_t toolchain_hipcc(void)
{
    const char *path = find_in_path("hipcc");
    static const char *const names[] = {"ROCM_PATH", "HIP_PATH"};
    for (int k = 0; !path && k < 2; k++) {
        const char *folder = getenv(names[k]);
        path = folder && *folder ? find_in_path(arena_printf("%s/bin/hipcc", folder)) : NULL;
    }
    if (!path)
        path = find_in_path("/opt/rocm/bin/hipcc");
    return (compiler_t){path, FAMILY_HIPCC};
}

static bool has_hip_headers(const char *folder)
{
    return access(arena_printf("%s/include/hip/hip_runtime.h", folder), R_OK) == 0;
}

/* Returns the folder that ROCM_PATH or HIP_PATH names, or else the parent of the bin folder with
 * hipcc, with links followed or not. */
static const char *find_rocm(const char *hipcc)
{
    char real[PATH_MAX];
    static const char *const names[] = {"ROCM_PATH", "HIP_PATH"};
    for (int k = 0; k < 2; k++) {
        const char *folder = getenv(names[k]);
        if (folder && *folder && has_hip_headers(folder))
            return folder;
    }
    const char *places[] = {hipcc, realpath(hipcc, real) ? real : NULL};
    for (int k = 0; k < 2 && places[k]; k++) {
        const char *folder =
            strchr(places[k], '/')
                ? without_bin(arena_copy(places[k], (size_t)(path_base(places[k]) - places[k]) - 1))
                : NULL;
        if (folder && has_hip_headers(folder))
            return folder;
    }
    return NULL;
}

const char *toolchain_rocm(void)
{
    static bool looked;
    static const char *folder;
    const char *hipcc = toolchain_hipcc().path;
    if (!looked && hipcc)
        folder = find_rocm(hipcc);
    looked = true;
    return folder;
}

const char *toolchain_called_as(const char *argv0)
{
    const char *name = path_base(argv0);
    return strstr(name, "kmmcc") ? NULL : name;
}
