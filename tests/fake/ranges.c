/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profiler that writes the ranges of a program to the file KMM_FAKE_RANGES: one line for each,
 * when it ends, with the thread's number and the range's text. It is a libroctx64.so.4, and a tool
 * that NVTX_INJECTION64_PATH can name. An end without a begin, and many begins without an end, end
 * the process.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
enum { DEPTH = 8, TEXT = 256 };
static _Thread_local char texts[DEPTH][TEXT];
static _Thread_local int depth;

static void fail(const char *why)
{
    fprintf(stderr, "ranges: %s\n", why);
    abort();
}

static int begin(const char *text)
{
    if (depth == DEPTH)
        fail("too many begins without an end");
    snprintf(texts[depth++], TEXT, "%s", text);
    return depth - 1;
}

static int end(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static FILE *file;
    if (!depth)
        fail("an end without a begin");
    pthread_mutex_lock(&lock);
    if (!file && !(file = fopen(getenv("KMM_FAKE_RANGES"), "w")))
        fail("KMM_FAKE_RANGES is no file that can be written");
    fprintf(file, "%ld %s\n", (long)syscall(SYS_gettid), texts[--depth]);
    fflush(file);
    pthread_mutex_unlock(&lock);
    return depth;
}

EXPORT int roctxRangePushA(const char *text)
{
    return begin(text);
}

EXPORT int roctxRangePop(void)
{
    return end();
}

#if FAKE_HAVE_NVTX
#include <nvtx3/nvToolsExt.h>

static int domain_of_kmm; /* its address is the domain's handle */

static nvtxDomainHandle_t domain_create(const char *name)
{
    if (strcmp(name, "kmm") != 0)
        fail("another domain than kmm");
    return (nvtxDomainHandle_t)(void *)&domain_of_kmm;
}

static int domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event)
{
    if ((void *)domain != &domain_of_kmm || event->messageType != NVTX_MESSAGE_TYPE_ASCII ||
        event->size != sizeof(*event))
        fail("a range of another domain, or without a text");
    return begin(event->message.ascii);
}

static int domain_pop(nvtxDomainHandle_t domain)
{
    if ((void *)domain != &domain_of_kmm)
        fail("an end in another domain");
    return end();
}

EXPORT int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t table_of)
{
    const NvtxExportTableCallbacks *callbacks = table_of(NVTX_ETID_CALLBACKS);
    NvtxFunctionTable table;
    unsigned int size;
    if (!callbacks || !callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size))
        return 0;
    *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)domain_create;
    *table[NVTX_CBID_CORE2_DomainRangePushEx] = (NvtxFunctionPointer)domain_push;
    *table[NVTX_CBID_CORE2_DomainRangePop] = (NvtxFunctionPointer)domain_pop;
    return 1;
}
#endif
