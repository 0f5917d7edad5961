/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges for profilers: NVTX for those of NVIDIA, roctx for those of AMD. */
#include "observe/ranges.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/range.h"

#if KMM__HAVE_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* ---- NVTX ---- */

#if KMM__HAVE_NVTX
static nvtxDomainHandle_t domain;

static void nvtx_begin(const char *text)
{
    nvtxEventAttributes_t event = {.version = NVTX_VERSION,
                                   .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
                                   .messageType = NVTX_MESSAGE_TYPE_ASCII,
                                   .message.ascii = text};
    nvtxDomainRangePushEx(domain, &event);
}

static void nvtx_end(void)
{
    nvtxDomainRangePop(domain);
}

static const kmm__ranges_t *nvtx_open(void)
{
    static const kmm__ranges_t nvtx = {nvtx_begin, nvtx_end};
    domain = nvtxDomainCreateA("kmm");
    return &nvtx;
}
#else
static const kmm__ranges_t *nvtx_open(void)
{
    kmm__log(KMM__LOG_WARNING, "no ranges for NVTX: libkmm was built without the CUDA toolkit");
    return NULL;
}
#endif

/* ---- roctx ---- */

static int (*roctx_push)(const char *text);
static int (*roctx_pop)(void);

static void roctx_begin(const char *text)
{
    roctx_push(text);
}

static void roctx_end(void)
{
    roctx_pop();
}

/* mode: RTLD_NOLOAD for a library that the process has loaded. */
static const kmm__ranges_t *roctx_open(int mode)
{
    static const kmm__ranges_t roctx = {roctx_begin, roctx_end};
    static const char *const names[] = {"librocprofiler-sdk-roctx.so.1", "libroctx64.so.4",
                                        "librocprofiler-sdk-roctx.so", "libroctx64.so"};
    void *library = NULL;
    for (size_t k = 0; k < sizeof(names) / sizeof(*names) && !library; k++)
        library = dlopen(names[k], RTLD_NOW | RTLD_LOCAL | mode);
    if (!library)
        return NULL;
    *(void **)&roctx_push = dlsym(library, "roctxRangePushA");
    *(void **)&roctx_pop = dlsym(library, "roctxRangePop");
    return roctx_push && roctx_pop ? &roctx : NULL;
}

/* ---- The start ---- */

/* KMM_RANGES is not set. Tools of NVIDIA set a variable for the programs that they run. */
static const kmm__ranges_t *find(void)
{
    if (is_set("NVTX_INJECTION64_PATH"))
        return nvtx_open();
    return roctx_open(RTLD_NOLOAD);
}

void kmm__ranges_start(void)
{
    const char *which = getenv("KMM_RANGES");
    const kmm__ranges_t *found = NULL;
    if (!which || !*which)
        found = find();
    else if (!strcmp(which, "nvtx"))
        found = nvtx_open();
    else if (!strcmp(which, "roctx") && !(found = roctx_open(0)))
        kmm__log(KMM__LOG_WARNING, "KMM_RANGES=roctx: no library of roctx can be loaded: %s",
                 dlerror());
    __atomic_store_n(&kmm__ranges, found, __ATOMIC_RELEASE);
}
