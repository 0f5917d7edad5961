/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory near devices, on fake drivers whose devices lie on the buses of a described machine:
 * which nodes are near, and that memory is bound to them only where it may be. Only node 0 is sure
 * to exist here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "memory/host/numa.h"
#include "memory/host/pagelock.h"
#include "memory/host/stage.h"
#include "memory/host/stage_choice.h"
#include "memory/lifetime.h"

enum {
    POLICY_DEFAULT = 0,
    POLICY_PREFERRED = 1,
    POLICY_BIND = 2,
    POLICY_INTERLEAVE = 3,
    POLICY_PREFERRED_MANY = 5
};
enum { OF_ADDRESS = 2, MAX_NODES = 1024, WORD = 64, BYTES = 8 << 20 };

typedef struct policy {
    int mode;
    unsigned long nodes[MAX_NODES / WORD];
} policy_t;

/* Of that byte's page; false: the kernel has none, or does not say. */
static bool policy_at(const void *at, policy_t *out)
{
    memset(out, 0, sizeof(*out));
    return syscall(SYS_get_mempolicy, &out->mode, out->nodes, (unsigned long)MAX_NODES, at,
                   OF_ADDRESS) == 0;
}

/* Whether memory can be bound here as libkmm binds it. */
static bool can_bind(void)
{
    unsigned long node_0 = 1;
    policy_t p;
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    bool can =
        syscall(SYS_mbind, page, 4096ul, POLICY_PREFERRED, &node_0, (unsigned long)WORD, 0) == 0 &&
        policy_at(page, &p) && p.mode == POLICY_PREFERRED;
    munmap(page, 4096);
    return can;
}

static bool is_near_node_0(const void *at)
{
    policy_t p;
    assert_true(policy_at(at, &p));
    return (p.mode == POLICY_PREFERRED || p.mode == POLICY_PREFERRED_MANY) && p.nodes[0] == 1;
}

static bool is_left_alone(const void *at)
{
    policy_t p;
    assert_true(policy_at(at, &p));
    return p.mode == POLICY_DEFAULT;
}

static int describe(void **state)
{
    (void)state;
    setenv("HWLOC_XMLFILE", KMM_TEST_MACHINE, 1);
    setenv("KMM_FAKE_DEVICES", "5", 1);
    setenv("KMM_FAKE_PCI", "0000:17:00.0,0001:ca:00.0,0000:18:00.0,0000:40:00.0", 1);
    setenv("KMM_STAGE_THREADS", "1", 1);
    setenv("KMM_STAGE_TIMES", "2", 1); /* nothing is measured */
    unsetenv("HWLOC_THISSYSTEM");
    unsetenv("KMM_NUMA");
    return 0;
}

static int describe_as_this_machine(void **state)
{
    describe(state);
    setenv("HWLOC_THISSYSTEM", "1", 1);
    return 0;
}

static kmm_runtime_t *make(const char *devices)
{
    kmm_runtime_t *rt = NULL;
    if (kmm_create(&rt, &(kmm_config_t){.devices = devices}))
        fail_msg("%s", kmm_error_text(NULL));
    return rt;
}

static void end(kmm_runtime_t *rt)
{
    if (kmm_destroy(rt))
        fail_msg("%s", kmm_error_text(NULL));
}

/* ---- Which nodes ---- */

static void test_nodes_of_cuda_devices(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("cuda:5,mem=64M");
    assert_int_equal(kmm_device_node(rt, 0), 0);
    assert_int_equal(kmm_device_node(rt, 1), 2);  /* not 1, which is another device's memory */
    assert_int_equal(kmm_device_node(rt, 2), -1); /* nothing is known to be there */
    assert_int_equal(kmm_device_node(rt, 3), -1); /* behind both processors */
    assert_int_equal(kmm_device_node(rt, 4), -1); /* its driver does not say */
    assert_int_equal(kmm_device_node(rt, 5), KMM_E_NO_DEVICE);
    assert_int_equal(kmm_device_node(rt, -1), KMM_E_NO_DEVICE);
    assert_int_equal(kmm_device_node(NULL, 0), KMM_E_NO_DEVICE);
    assert_int_equal(rt->cpu->index, 5);
    assert_int_equal(kmm__numa_node(rt->cpu), -1);
    end(rt);
}

static void test_nodes_of_hip_devices(void **state)
{
    (void)state;
    setenv("KMM_FAKE_PCI", "0001:ca:00.0,0000:18:00.1,0000:18:00.0", 1);
    kmm_runtime_t *rt = make("hip:4,mem=64M");
    assert_int_equal(kmm_device_node(rt, 0), 2);
    assert_int_equal(kmm_device_node(rt, 1), 0);
    assert_int_equal(kmm_device_node(rt, 2), -1); /* another function */
    assert_int_equal(kmm_device_node(rt, 3), -1);
    end(rt);
}

static void test_no_description(void **state)
{
    (void)state;
    setenv("KMM_FAKE_PCI", "ffff:ff:1f.0,ffff:ff:1f.0", 1);
    unsetenv("HWLOC_XMLFILE");
    kmm_runtime_t *rt = make("cuda:2,mem=64M");
    assert_int_equal(kmm_device_node(rt, 0), -1);
    assert_int_equal(kmm_device_node(rt, 1), -1);
    end(rt);
    setenv("HWLOC_XMLFILE", "/nowhere/at/all.xml", 1); /* hwloc looks at this machine instead */
    rt = make("host:2,mem=64M");
    assert_int_equal(kmm_device_node(rt, 0), -1);
    assert_int_equal(kmm_device_node(rt, 1), -1);
    end(rt);
}

/* ---- Which memory ---- */

static kmm__array_t *array(kmm_runtime_t *rt, size_t bytes)
{
    void *base;
    kmm_shape_t shape = {.dims = 1, .extent = {(int64_t)bytes}, .element_bytes = 1};
    assert_int_equal(kmm_array_create(rt, &shape, &base), 0);
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, base);
    assert_non_null(kmm__array_host(a));
    pthread_mutex_unlock(&rt->lock);
    return a;
}

static void test_blocks_are_bound(void **state)
{
    (void)state;
    if (!can_bind())
        skip();
    kmm_runtime_t *rt = make("cuda:3,mem=64M");
    kmm__array_t *a = array(rt, BYTES), *b = array(rt, BYTES), *c = array(rt, BYTES),
                 *d = array(rt, 64 << 10);
    assert_true(is_left_alone(a->host));
    assert_true(kmm__pagelock(a, rt->device[0], 0, 1));
    assert_true(is_near_node_0(a->host));
    assert_true(is_near_node_0(a->host + BYTES - 1));
    assert_true(kmm__pagelock(b, rt->device[1], 0, 1)); /* whether there is a node 2 or not, */
    assert_non_null(b->blocks[0].locked_by);            /* it is locked, */
    assert_false(is_near_node_0(b->host));              /* and not bound elsewhere */
    assert_true(kmm__pagelock(c, rt->device[2], 0, 1));
    assert_true(is_left_alone(c->host));
    assert_true(kmm__pagelock(d, rt->device[0], 0, 1));
    assert_true(is_left_alone(d->host)); /* too little to bother */
    end(rt);
}

/* Memory of the program stays as it is, although it is locked. */
static void test_memory_of_the_program(void **state)
{
    (void)state;
    if (!can_bind())
        skip();
    setenv("KMM_STAGE_THREADS", "0", 1);
    kmm_runtime_t *rt = make("cuda:1,mem=64M");
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_int_equal(kmm_map(rt, KMM_MAP_TO, memory, BYTES), 0);
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, memory);
    pthread_mutex_unlock(&rt->lock);
    assert_true(kmm__pagelock(a, rt->device[0], 0, BYTES));
    assert_non_null(a->blocks[0].locked_by);
    assert_true(is_left_alone(memory));
    assert_int_equal(kmm_unmap(rt, memory), 0);
    munmap(memory, BYTES);
    end(rt);
}

static void check_nothing_is_bound(int node)
{
    kmm_runtime_t *rt = make("cuda:1,mem=64M");
    kmm__array_t *a = array(rt, BYTES);
    assert_int_equal(kmm_device_node(rt, 0), node);
    assert_true(kmm__pagelock(a, rt->device[0], 0, 1));
    assert_non_null(a->blocks[0].locked_by);
    policy_t p;
    if (policy_at(a->host, &p))
        assert_false(p.mode == POLICY_PREFERRED || p.mode == POLICY_PREFERRED_MANY);
    end(rt);
}

static void test_switched_off(void **state)
{
    (void)state;
    setenv("KMM_NUMA", "0", 1);
    check_nothing_is_bound(-1);
}

static void test_another_machine(void **state)
{
    (void)state;
    unsetenv("HWLOC_THISSYSTEM");
    check_nothing_is_bound(0);
}

/* As under numactl --membind=0 and --interleave=0. */
static void test_bound_by_the_user(void **state)
{
    (void)state;
    unsigned long node_0 = 1;
    if (!can_bind())
        skip();
    assert_int_equal(syscall(SYS_set_mempolicy, POLICY_BIND, &node_0, (unsigned long)WORD), 0);
    check_nothing_is_bound(0);
    assert_int_equal(syscall(SYS_set_mempolicy, POLICY_INTERLEAVE, &node_0, (unsigned long)WORD),
                     0);
    check_nothing_is_bound(0);
    assert_int_equal(syscall(SYS_set_mempolicy, POLICY_DEFAULT, NULL, 0ul), 0);
}

/* ---- Buffers ---- */

/* How many pages are there of the memory that prefers node 0, and how much that memory is; of all
 * this process has. */
static bool pages_of_node_0(unsigned long *there, unsigned long *bytes)
{
    char line[1024], maps[1024], *begin;
    FILE *numa = fopen("/proc/self/numa_maps", "r"), *all = fopen("/proc/self/maps", "r");
    *there = *bytes = 0;
    while (numa && fgets(line, sizeof(line), numa)) {
        unsigned long at = strtoul(line, &begin, 16), first = 0, last = 0, anon = 0;
        char policy[64] = "";
        sscanf(begin, " prefer%63[^0]", policy);
        if (strcmp(policy, ":") && strcmp(policy, " (many):"))
            continue;
        begin = strstr(begin, " anon=");
        if (begin && sscanf(begin, " anon=%lu", &anon) == 1)
            *there += anon;
        rewind(all);
        while (first != at && fgets(maps, sizeof(maps), all))
            if (sscanf(maps, "%lx-%lx", &first, &last) != 2)
                break;
        *bytes += first == at ? last - first : 0;
    }
    bool known = numa && all;
    if (numa)
        fclose(numa);
    if (all)
        fclose(all);
    return known;
}

/* A copy of a page in, through a buffer. */
static void copy_in(kmm__device_t *d, const char *from)
{
    kmm__addr_t window;
    kmm__frame_handle_t frame;
    kmm__stage_t in = {.device = d, .stream = d->in};
    uint64_t bytes = d->info.granularity;
    assert_int_equal(d->backend->window_reserve(d->gpu, bytes, &window), 0);
    assert_int_equal(d->backend->frame_create(d->gpu, bytes, &frame), 0);
    assert_int_equal(d->backend->frame_map(d->gpu, window, frame, bytes), 0);
    pthread_mutex_lock(&d->in_lock);
    assert_int_equal(kmm__stage_copy(&in, window, (char *)(uintptr_t)from, 4096, 4096, 1), 0);
    assert_int_equal(kmm__stage_finish(&in), 0);
    pthread_mutex_unlock(&d->in_lock);
    assert_int_equal(kmm__stream_drain(d->backend, d->in), 0);
    assert_int_equal(d->backend->frame_unmap(d->gpu, window, bytes), 0);
    d->backend->frame_destroy(d->gpu, frame, bytes);
    d->backend->window_release(d->gpu, window, bytes);
}

static void test_buffers(void **state)
{
    (void)state;
    enum { BUFFER = 1 << 20 };
    unsigned long there, bytes;
    static const char page[4096];
    setenv("KMM_STAGE_BYTES", "1048576", 1);
    if (!can_bind() || !pages_of_node_0(&there, &bytes) || bytes)
        skip();
    kmm_runtime_t *rt = make("cuda:2,mem=64M");
    assert_true(kmm__stage_works(rt->device[0]));
    pages_of_node_0(&there, &bytes);
    assert_int_equal(bytes, 32 * BUFFER); /* half of those of each direction */
    assert_int_equal(there, 0);
    copy_in(rt->device[1], page);
    pages_of_node_0(&there, &bytes);
    assert_int_equal(there, 0); /* it took one of its own */
    copy_in(rt->device[0], page);
    pages_of_node_0(&there, &bytes);
    assert_true(there > 0);
    end(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_nodes_of_cuda_devices, describe),
        cmocka_unit_test_setup(test_nodes_of_hip_devices, describe),
        cmocka_unit_test_setup(test_no_description, describe),
        cmocka_unit_test_setup(test_blocks_are_bound, describe_as_this_machine),
        cmocka_unit_test_setup(test_memory_of_the_program, describe_as_this_machine),
        cmocka_unit_test_setup(test_switched_off, describe_as_this_machine),
        cmocka_unit_test_setup(test_another_machine, describe_as_this_machine),
        cmocka_unit_test_setup(test_bound_by_the_user, describe_as_this_machine),
        cmocka_unit_test_setup(test_buffers, describe_as_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
