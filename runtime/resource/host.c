/* SPDX-License-Identifier: Apache-2.0 */
/* A source of host memory, on any NUMA node or on one. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "resource/source.h"

typedef struct host_source {
    kmm__source_t source;
    int node; /* NUMA node; -1: any */
} host_source_t;

static int host_get(kmm__source_t *s, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)stream;
    if (posix_memalign(out, KMM_RESOURCE_ALIGNMENT, bytes))
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no %zu bytes", s->head.name, bytes);
    return 0;
}

static int host_put(kmm__source_t *s, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)s, (void)bytes, (void)stream;
    free(p);
    return 0;
}

static int host_info(kmm__source_t *s, size_t *available, size_t *total)
{
    long page = sysconf(_SC_PAGESIZE), pages = sysconf(_SC_PHYS_PAGES),
         unused = sysconf(_SC_AVPHYS_PAGES);
    if (page < 0 || pages < 0 || unused < 0)
        return kmm__resource_fail(KMM_E_UNSUPPORTED, "%s: sysconf does not tell", s->head.name);
    *available = (size_t)unused * (size_t)page;
    *total = (size_t)pages * (size_t)page;
    return 0;
}

KMM__API int kmm_host_resource_create(kmm_resource_t **out)
{
    if (!out)
        return kmm__resource_fail(KMM_E_INVALID, "host: nowhere to put the resource");
    host_source_t *h = aligned_alloc(64, kmm__round_up(sizeof(*h), 64));
    if (!h)
        return kmm__resource_fail(KMM_E_MEMORY, "host: no memory for the resource");
    kmm__source_init(&h->source, "host");
    h->source.get = host_get;
    h->source.put = host_put;
    h->source.info = host_info;
    h->node = -1;
    *out = &h->source.head;
    return 0;
}

/* ---- One NUMA node ---- */

enum { BIND = 2, MASK_BITS = 1024 }; /* BIND is MPOL_BIND of <linux/mempolicy.h> */

static size_t whole_pages(size_t bytes)
{
    return kmm__round_up(bytes, (size_t)sysconf(_SC_PAGESIZE));
}

static int numa_get(kmm__source_t *s, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)stream;
    int node = ((host_source_t *)s)->node;
    unsigned long mask[MASK_BITS / (8 * sizeof(unsigned long))] = {0};
    mask[node / (8 * sizeof(*mask))] = 1ul << node % (8 * sizeof(*mask));
    void *p =
        mmap(NULL, whole_pages(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no %zu bytes", s->head.name, bytes);
    /* A kernel without NUMA has one node, which has all memory. */
    if (syscall(SYS_mbind, p, whole_pages(bytes), BIND, mask, (unsigned long)MASK_BITS, 0u) &&
        errno != ENOSYS) {
        munmap(p, whole_pages(bytes));
        return kmm__resource_fail(KMM_E_DEVICE, "%s: memory cannot be bound to the node",
                                  s->head.name);
    }
    *out = p;
    return 0;
}

static int numa_put(kmm__source_t *s, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)s, (void)stream;
    munmap(p, whole_pages(bytes));
    return 0;
}

static bool node_exists(int node)
{
    char path[64];
    snprintf(path, sizeof(path), "/sys/devices/system/node/node%d", node);
    if (access(path, F_OK) == 0)
        return true;
    return node == 0 &&
           access("/sys/devices/system/node/node0", F_OK) != 0; /* the kernel has no NUMA */
}

KMM__API int kmm_numa_resource_create(int node, kmm_resource_t **out)
{
    if (node < 0 || node >= MASK_BITS || !node_exists(node))
        return kmm__resource_fail(KMM_E_NO_DEVICE, "numa: there is no node %d", node);
    int status = kmm_host_resource_create(out);
    if (status)
        return status;
    host_source_t *h = (host_source_t *)*out;
    h->source.get = numa_get;
    h->source.put = numa_put;
    h->node = node;
    snprintf(h->source.head.name, sizeof(h->source.head.name), "host node %d", node);
    return 0;
}
