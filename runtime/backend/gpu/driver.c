/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a driver's library at run time, and translates the driver's results. */
#include "backend/gpu/driver.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char error_text[256] = "no error";

/* Guards the drivers' tables while they are written. */
static pthread_mutex_t load_lock = PTHREAD_MUTEX_INITIALIZER;

int kmm__gpu_fail(int code, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error_text, sizeof(error_text), format, list);
    va_end(list);
    return code;
}

const char *kmm__gpu_error_text(void)
{
    return error_text;
}

/* True if the result is a kernel's fault, from which the device does not recover. */
static bool is_fault(int r)
{
    return r == 700 || r == 702 || r == 710 || (r >= 714 && r <= 719);
}

int kmm__gpu_result(const kmm__gpu_driver_t *driver, int r, const char *call)
{
    const char *name = NULL, *text = NULL,
               /* a suffix of the symbol that is not part of the name */
                                 *version = strstr(call, "_v");
    if (r == KMM__GPU_SUCCESS)
        return 0;
    if (driver->forget)
        driver->forget();
    driver->describe(r, &name, &text);
    snprintf(error_text, sizeof(error_text), "%.*s: %s (%s)",
             version ? (int)(version - call) : (int)strlen(call), call,
             name ? name : "unknown error", text ? text : "");
    return r == KMM__GPU_OUT_OF_MEMORY ? KMM_E_MEMORY : is_fault(r) ? KMM_E_KERNEL : KMM_E_DEVICE;
}

/* Opens the library `name` in the driver's folders. NULL: it is in none. */
static void *open_in_folders(const kmm__gpu_driver_t *d, const char *name)
{
    char path[PATH_MAX];
    void *library = NULL;
    for (const kmm__gpu_folder_t *f = d->folders; f && f->folder && !library; f++) {
        const char *root = f->variable ? getenv(f->variable) : "";
        int n = root ? snprintf(path, sizeof(path), "%s%s/%s", root, f->folder, name) : -1;
        if (n > 0 && (size_t)n < sizeof(path) && path[0] == '/')
            library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

/* Opens the driver's library. One that the program has loaded already is preferred, because a
 * process must have only one. */
static void *open_library(const kmm__gpu_driver_t *d)
{
    void *library = NULL;
    for (const char *const *name = d->libraries; *name && !library; name++)
        library = dlopen(*name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    for (const char *const *name = d->libraries; *name && !library; name++) {
        library = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        library = library ? library : open_in_folders(d, *name);
    }
    return library;
}

/* Looks up the driver's calls. Returns the name of one that is needed and missing, or NULL. */
static const char *load_symbols(kmm__gpu_driver_t *d, void *library)
{
    const char *missing = NULL, *unmapped = NULL;
#define KMM_X(member, parameters)                                                                  \
    *(void **)(&d->calls.member) = dlsym(library, d->names->member);                               \
    if (!d->calls.member)                                                                          \
        missing = d->names->member;
    KMM__GPU_CALLS(KMM_X)
#undef KMM_X
#define KMM_X(member, parameters)                                                                  \
    *(void **)(&d->calls.member) = dlsym(library, d->names->member);                               \
    if (!d->calls.member)                                                                          \
        unmapped = d->names->member;
    KMM__GPU_MAP_CALLS(KMM_X)
#undef KMM_X
    if (unmapped)
        d->calls.MemMap = NULL; /* MemMap NULL: the driver has none of the calls that map memory */
    if (unmapped && d->must_map)
        missing = unmapped;
    return missing ? missing : d->load(library);
}

static int load_driver(kmm__gpu_driver_t *d, int *count, const char **reason)
{
    void *library = open_library(d);
    *reason = error_text;
    if (!library) {
        *reason = d->absent;
        return KMM_E_NO_DEVICE;
    }
    const char *missing = load_symbols(d, library);
    if (missing)
        return kmm__gpu_fail(KMM_E_NO_DEVICE,
                             "the driver is too old: it has no %s; %s or newer is needed", missing,
                             d->needed);
    int r = d->calls.Init(0);
    if (r == KMM__GPU_SUCCESS)
        r = d->calls.DeviceGetCount(count);
    if (r == KMM__GPU_SUCCESS && *count > 0)
        return 0;
    kmm__gpu_result(d, r ? r : KMM__GPU_NO_DEVICE, d->names->Init);
    return KMM_E_NO_DEVICE;
}

int kmm__gpu_driver_load(kmm__gpu_driver_t *d, int *count, const char **reason)
{
    pthread_mutex_lock(&load_lock);
    int error = load_driver(d, count, reason);
    pthread_mutex_unlock(&load_lock);
    return error;
}
