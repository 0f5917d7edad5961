/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The conformance suite on a real device: `bench_resource_device [device]`. Small sizes; managed
 * memory is never asked for more than a gibibyte. Exit code 77: there is no device.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance.h"
#include "resource/driver.h"

static const size_t MIB = (size_t)1 << 20;
static int device;

static int order_streams(kmm_stream_t later, kmm_stream_t earlier)
{
    const kmm_stream_order_t *o = kmm__driver_order(device);
    void *event;
    int status = o->event_create(o->context, &event);
    if (status)
        return status;
    status = o->event_record(o->context, event, earlier);
    if (status == 0)
        status = o->stream_wait(o->context, later, event);
    o->event_destroy(o->context, event);
    return status;
}

static int run(const char *name, conformance_subject_t s, kmm_resource_t *resource)
{
    int wrong = 0;
    s.resource = resource;
    for (int i = 0; i < conformance_case_count; i++) {
        const char *what = conformance_cases[i].run(&s);
        if (what)
            printf("FAILED %s: %s: %s (%s)\n", name, conformance_cases[i].name, what,
                   kmm_resource_error_text());
        wrong += what != NULL;
    }
    int status = kmm_resource_destroy(resource);
    if (status)
        printf("FAILED %s: %s\n", name, kmm_resource_error_text());
    wrong += status != 0;
    printf("%-24s %s\n", name, wrong ? "FAILED" : "conforms");
    fflush(stdout);
    return wrong;
}

/* Every source twice: alone, and with a pool on it; then what is built on device memory. */
static int run_sources(conformance_subject_t s)
{
    static const struct {
        const char *name, *on_top;
        int (*create)(int, kmm_resource_t **);
        bool host_access;
    } sources[] = {
        {"device", "pool on device", kmm_device_resource_create, false},
        {"mapped", "pool on mapped", kmm_mapped_resource_create, false},
        {"managed", "pool on managed", kmm_managed_resource_create, false},
        {"pinned", "pool on pinned", kmm_pinned_resource_create, true},
    };
    int wrong = 0;
    for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
        kmm_resource_t *source, *pool;
        s.host_access = sources[i].host_access;
        if (sources[i].create(device, &source) ||
            kmm_pool_resource_create(
                source, &(kmm_pool_options_t){.maximum_bytes = 1024 * MIB + MIB}, &pool))
            return printf("FAILED %s: %s\n", sources[i].name, kmm_resource_error_text()), 1;
        wrong += run(sources[i].on_top, s, pool);
        wrong += run(sources[i].name, s, source);
    }
    return wrong;
}

static int run_built(conformance_subject_t s)
{
    kmm_resource_t *source, *async, *r;
    int wrong = 0;
    if (kmm_async_resource_create(device, &(kmm_async_options_t){.initial_bytes = 64 * MIB},
                                  &async) ||
        kmm_pool_resource_create(async, NULL, &r))
        return printf("FAILED async: %s\n", kmm_resource_error_text()), 1;
    wrong += run("pool on async", s, r);
    wrong += run("async", s, async);
    const int managed_pools = kmm_async_resource_create(
        device, &(kmm_async_options_t){.kind = KMM_MEMORY_MANAGED}, &async);
    if (managed_pools == 0)
        wrong += run("async managed", s, async);
    else
        wrong += managed_pools != KMM_E_UNSUPPORTED;
    if (kmm_device_resource_create(device, &source))
        return wrong + 1;
    if (kmm_arena_resource_create(source, NULL, &r) == 0)
        wrong += run("arena on device", s, r);
    if (kmm_tracking_resource_create(source, KMM_TRACK_STACKS, &r) == 0)
        wrong += run("tracking on device", s, r);
    conformance_subject_t fixed = s;
    fixed.largest = 1 << 16;
    fixed.alignment = 256;
    if (kmm_fixed_size_resource_create(source, &(kmm_fixed_size_options_t){.block_bytes = 1 << 16},
                                       &r) == 0)
        wrong += run("fixed size on device", fixed, r);
    wrong += kmm_resource_destroy(source) != 0;
    kmm_resource_t *managed;
    if (kmm_managed_resource_create(device, &managed) == 0 &&
        kmm_prefetch_resource_create(managed, &r) == 0) {
        conformance_subject_t small = s;
        small.largest = 64 * MIB;
        wrong += run("prefetch on managed", small, r);
        wrong += kmm_resource_destroy(managed) != 0;
    }
    return wrong;
}

/* What goes into a buffer on one stream comes out. */
static int run_buffers(kmm_stream_t stream)
{
    kmm_resource_t *source;
    kmm_buffer_t b;
    unsigned char *bytes = malloc(3 * MIB), *back = malloc(3 * MIB);
    for (size_t i = 0; i < 3 * MIB; i++)
        bytes[i] = (unsigned char)(i * 31 >> 5);
    int status = kmm_device_resource_create(device, &source);
    if (status == 0)
        status = kmm_buffer_init_copy(&b, bytes, 3 * MIB, stream, source);
    if (status == 0)
        status = kmm_buffer_resize(&b, 5 * MIB, stream);
    if (status == 0)
        status = kmm_buffer_read(&b, 0, back, 3 * MIB);
    int wrong = status || memcmp(bytes, back, 3 * MIB);
    printf("%-24s %s\n", "buffers", wrong ? "FAILED" : "right");
    kmm_buffer_deinit(&b);
    kmm_resource_destroy(source);
    free(bytes);
    free(back);
    return wrong;
}

int main(int argc, char **argv)
{
    kmm_stream_pool_t *streams;
    device = argc > 1 ? atoi(argv[1]) : 0;
    if (kmm_stream_pool_create(device, CONFORMANCE_STREAMS, &streams)) {
        printf("%s\n", kmm_resource_error_text());
        return 77;
    }
    conformance_subject_t s = {
        .largest = 1024 * MIB, .budget = 64 * MIB, .alignment = 65536, .order = order_streams};
    for (size_t i = 0; i < CONFORMANCE_STREAMS; i++)
        kmm_stream_pool_get(streams, i, &s.streams[i]);
    int wrong = run_sources(s) + run_built(s) + run_buffers(s.streams[0]);
    kmm_stream_pool_destroy(streams);
    printf(wrong ? "FAILED: %d\n" : "all conform\n", wrong);
    return wrong != 0;
}
