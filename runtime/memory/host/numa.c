/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NUMA nodes near each device, and memory of libkmm from these. If the host has several nodes,
 * copies to and from distant ones pass between its processors, and share that path with all other
 * traffic.
 *
 * hwloc knows where on the PCI bus the device is. It reads files of the system for each CPU and PCI
 * device, which takes tens of milliseconds on large machines. So it runs in a thread while the
 * driver opens its devices. Only threads that lock memory, or end the runtime, wait for it. On a
 * machine with one node it is not asked.
 *
 * The user's decisions come first. KMM_NUMA=0 turns all of this off. Memory of threads that was
 * bound or interleaved from outside (numactl) stays so. Nodes that the process must not use are not
 * used. If near nodes are full, memory comes from others. It is no error if memory cannot be bound.
 */
#include "memory/host/numa.h"

#include <stdlib.h>
#include <string.h>

#if KMM__HAVE_HWLOC

#include <fcntl.h>
#include <hwloc.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/thread.h"

/* least bytes that are bound, because each piece may cost a mapping of its own */
enum { LEAST_BYTES = 1 << 20 };

#if HWLOC_API_VERSION >= 0x00020800
enum { FLAGS = HWLOC_TOPOLOGY_FLAG_NO_DISTANCES | HWLOC_TOPOLOGY_FLAG_NO_CPUKINDS };
#else
enum { FLAGS = 0 };
#endif

struct kmm__numa {
    pthread_mutex_t lock;
    pthread_t thread;
    bool has_thread, loaded;
    _Atomic bool known;        /* the members below do not change any more */
    hwloc_topology_t topology; /* NULL: all nodes are alike */
    bool binds; /* memory is bound: nothing outside has said where this process's memory is to be */
    hwloc_bitmap_t nodes[KMM__MAX_DEVICES]; /* by the device's index; NULL: no node is nearer */
};

/* ---- Asking hwloc ---- */

static bool is_off(void)
{
    const char *text = getenv("KMM_NUMA");
    return text && strcmp(text, "0") == 0;
}

/* True if the system's list of nodes is one number. A description that hwloc is told to use instead
 * of the machine may have more nodes. */
static bool is_one_node(void)
{
    char text[64];
    if (getenv("HWLOC_XMLFILE"))
        return false;
    int file = open("/sys/devices/system/node/online", O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? 0 : read(file, text, sizeof(text));
    if (file >= 0)
        close(file);
    return n > 0 && !memchr(text, '-', (size_t)n) && !memchr(text, ',', (size_t)n);
}

/* Loads packages, nodes and PCI devices. Leaves out components of hwloc that would bind this thread
 * to each CPU in turn, or start drivers. */
static hwloc_topology_t topology_load(void)
{
    static const char *const components[] = {"x86",  "pci",    "cuda",      "nvml",
                                             "rsmi", "opencl", "levelzero", "gl"};
    hwloc_topology_t t;
    if (hwloc_topology_init(&t))
        return NULL;
    for (size_t k = 0; k < sizeof(components) / sizeof(*components); k++)
        hwloc_topology_set_components(t, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, components[k]);
    hwloc_topology_set_cache_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_icache_types_filter(t, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(t, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_type_filter(t, HWLOC_OBJ_BRIDGE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    hwloc_topology_set_type_filter(t, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_set_flags(t, FLAGS) == 0 && hwloc_topology_load(t) == 0)
        return t;
    hwloc_topology_destroy(t);
    return NULL;
}

/* True if the node is main memory: not a device's, nor memory of another speed beside it. */
static bool is_main(hwloc_obj_t node)
{
    return node->attr->numanode.local_memory > 0 &&
           (!node->subtype || strcmp(node->subtype, "DRAM") == 0);
}

/* The nodes of main memory in `set`; NULL: all nodes of main memory are. */
static hwloc_bitmap_t main_nodes(hwloc_topology_t t, hwloc_const_bitmap_t set)
{
    hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
    for (hwloc_obj_t o = NULL; nodes && (o = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, o));)
        if (is_main(o) && (!set || hwloc_bitmap_isset(set, o->os_index)))
            hwloc_bitmap_set(nodes, o->os_index);
    return nodes;
}

static hwloc_bitmap_t nodes_near(hwloc_topology_t t, hwloc_const_bitmap_t all, const kmm__pci_t *p)
{
    hwloc_obj_t at =
        p->known ? hwloc_get_pcidev_by_busid(t, p->domain, p->bus, p->device, p->function) : NULL;
    at = at ? hwloc_get_non_io_ancestor_obj(t, at) : NULL;
    hwloc_bitmap_t nodes = at && at->nodeset ? main_nodes(t, at->nodeset) : NULL;
    if (!nodes || (!hwloc_bitmap_iszero(nodes) && !hwloc_bitmap_isequal(nodes, all)))
        return nodes;
    hwloc_bitmap_free(nodes);
    return NULL;
}

/* True if nothing outside has said where this thread's memory is to be. */
static bool is_free_to_bind(hwloc_topology_t t)
{
    hwloc_membind_policy_t policy = HWLOC_MEMBIND_MIXED;
    hwloc_bitmap_t nodes = hwloc_bitmap_alloc();
    bool asked =
        nodes && hwloc_topology_is_thissystem(t) &&
        hwloc_get_membind(t, nodes, &policy, HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET) == 0;
    hwloc_bitmap_free(nodes);
    return asked && (policy == HWLOC_MEMBIND_FIRSTTOUCH || policy == HWLOC_MEMBIND_DEFAULT);
}

/* Locked. */
static void load_once(struct kmm__numa *n)
{
    if (n->loaded)
        return;
    n->loaded = true;
    n->topology = is_off() || is_one_node() ? NULL : topology_load();
    n->binds = n->topology && is_free_to_bind(n->topology);
}

static void *load_main(void *arg)
{
    struct kmm__numa *n = arg;
    pthread_mutex_lock(&n->lock);
    load_once(n);
    pthread_mutex_unlock(&n->lock);
    return NULL;
}

static bool has_place(const kmm_runtime_t *rt)
{
    bool any = false;
    for (uint32_t k = 0; k < rt->device_count; k++)
        any |= rt->device[k]->info.pci.known;
    return any;
}

/* Locked. */
static void find(kmm_runtime_t *rt, struct kmm__numa *n)
{
    if (has_place(rt))
        load_once(n);
    hwloc_bitmap_t all = n->topology ? main_nodes(n->topology, NULL) : NULL;
    for (uint32_t k = 0; k < rt->device_count && all; k++)
        n->nodes[k] = nodes_near(n->topology, all, &rt->device[k]->info.pci);
    hwloc_bitmap_free(all);
}

static struct kmm__numa *find_once(kmm_runtime_t *rt)
{
    struct kmm__numa *n = rt->memory->numa;
    if (n->known)
        return n;
    pthread_mutex_lock(&n->lock);
    if (!n->known)
        find(rt, n);
    n->known = true;
    pthread_mutex_unlock(&n->lock);
    return n;
}

/* ---- The interface ---- */

void kmm__numa_start(kmm_runtime_t *rt)
{
    rt->memory->numa = kmm__alloc(sizeof(*rt->memory->numa));
    pthread_mutex_init(&rt->memory->numa->lock, NULL);
}

void kmm__numa_prepare(kmm_runtime_t *rt)
{
    struct kmm__numa *n = rt->memory->numa;
    if (!n->has_thread && !is_off() && !is_one_node())
        n->has_thread = kmm__thread_create(&n->thread, load_main, n) == 0;
}

void kmm__numa_stop(kmm_runtime_t *rt)
{
    struct kmm__numa *n = rt->memory->numa;
    if (n->has_thread)
        pthread_join(n->thread, NULL);
    for (uint32_t k = 0; k < KMM__MAX_DEVICES; k++)
        hwloc_bitmap_free(n->nodes[k]);
    if (n->topology)
        hwloc_topology_destroy(n->topology);
    pthread_mutex_destroy(&n->lock);
    free(n);
    rt->memory->numa = NULL;
}

int kmm__numa_node(kmm__device_t *d)
{
    const struct kmm__numa *n = find_once(d->runtime);
    return n->nodes[d->index] ? hwloc_bitmap_first(n->nodes[d->index]) : -1;
}

void kmm__numa_bind(kmm__device_t *d, void *at, size_t bytes)
{
    if (bytes < LEAST_BYTES)
        return;
    const struct kmm__numa *n = find_once(d->runtime);
    if (n->binds && n->nodes[d->index])
        hwloc_set_area_membind(n->topology, at, bytes, n->nodes[d->index], HWLOC_MEMBIND_BIND,
                               HWLOC_MEMBIND_BYNODESET);
}

#else

void kmm__numa_start(kmm_runtime_t *rt)
{
    rt->memory->numa = NULL;
}

void kmm__numa_prepare(kmm_runtime_t *rt)
{
    (void)rt;
}

void kmm__numa_stop(kmm_runtime_t *rt)
{
    (void)rt;
}

int kmm__numa_node(kmm__device_t *d)
{
    (void)d;
    return -1;
}

void kmm__numa_bind(kmm__device_t *d, void *at, size_t bytes)
{
    (void)d;
    (void)at;
    (void)bytes;
}

#endif
