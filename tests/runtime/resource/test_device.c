/* SPDX-License-Identifier: Apache-2.0 */
/* Device, async, managed and pinned memory on the fake driver, and what is built on them. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "conformance.h"
#include "fake_gpu.h"
#include "resource/driver.h"

static const size_t MIB = (size_t)1 << 20;

/* Events and waits straight from the driver: what a program would do. */
static int order_streams(kmm_stream_t later, kmm_stream_t earlier)
{
    const kmm_stream_order_t *o = kmm__driver_order(0);
    void *event;
    int status = o->event_create(o->context, &event);
    if (status == 0)
        status = o->event_record(o->context, event, earlier);
    if (status == 0)
        status = o->stream_wait(o->context, later, event);
    o->event_destroy(o->context, event);
    return status;
}

typedef struct subject {
    const char *name;
    int kind;
    int on_top;
    size_t largest, alignment;
} subject_t;
enum { DEVICE, ASYNC, MANAGED, PINNED, MAPPED };
enum { ALONE, POOL, ARENA, ARENA_OF_THREADS, FIXED, PREFETCH, PINNED_POOL, BINNING, ADAPTORS };

static const subject_t subjects[] = {
    {"device", DEVICE, ALONE, 0, 0},
    {"async", ASYNC, ALONE, 0, 0},
    {"managed", MANAGED, ALONE, 0, 0},
    {"pinned", PINNED, ALONE, 0, 0},
    {"mapped", MAPPED, ALONE, 0, 0},
    {"pool on device", DEVICE, POOL, 0, 0},
    {"pool on async", ASYNC, POOL, 0, 0},
    {"pool on mapped", MAPPED, POOL, 0, 0},
    {"arena on device", DEVICE, ARENA, 0, 0},
    {"arena of threads on device", DEVICE, ARENA_OF_THREADS, 0, 0},
    {"arena on mapped", MAPPED, ARENA, 0, 0},
    {"adaptors on pool on async", ASYNC, ADAPTORS, 0, 0},
    {"adaptors on pool on mapped", MAPPED, ADAPTORS, 0, 0},
    {"fixed size on device", DEVICE, FIXED, 64 << 10, 256},
    {"binning on async", ASYNC, BINNING, 0, 0},
    {"prefetch on managed", MANAGED, PREFETCH, 0, 0},
    {"pinned pool", PINNED, PINNED_POOL, 0, 0},
};

static kmm_resource_t *make_source(int kind)
{
    kmm_resource_t *r = NULL;
    int status =
        kind == DEVICE ? kmm_device_resource_create(0, &r)
        : kind == ASYNC
            ? kmm_async_resource_create(0, &(kmm_async_options_t){.initial_bytes = 1 << 20}, &r)
        : kind == MAPPED  ? kmm_mapped_resource_create(0, &r)
        : kind == MANAGED ? kmm_managed_resource_create(0, &r)
                          : kmm_pinned_resource_create(0, &r);
    assert_int_equal(status, 0);
    return r;
}

/* All that pass calls on, over a pool; destroying it destroys them. */
static int make_adaptors(kmm_resource_t *source, kmm_resource_t **out)
{
    kmm_resource_t *r[6], *below[6];
    int n = 0, status = kmm_pool_resource_create(
                   source, &(kmm_pool_options_t){.maximum_bytes = 2048 * MIB}, &r[n++]);
    status = status ? status : kmm_limiting_resource_create(r[n - 1], 1536 * MIB, &r[n]), n++;
    status = status ? status : kmm_aligned_resource_create(r[n - 1], 4096, 100000, &r[n]), n++;
    status = status ? status : kmm_statistics_resource_create(r[n - 1], &r[n]), n++;
    status = status ? status : kmm_logging_resource_create(r[n - 1], "/dev/null", &r[n]), n++;
    status = status ? status : kmm_tracking_resource_create(r[n - 1], KMM_TRACK_POINTERS, &r[n]),
    n++;
    for (int i = 0; i + 1 < n; i++)
        below[i] = r[n - 2 - i];
    return status ? status : kmm_owning_resource_create(r[n - 1], below, (size_t)n - 1, out);
}

static kmm_resource_t *make_top(kmm_resource_t *source, int on_top)
{
    kmm_resource_t *r = NULL;
    int status = 0;
    switch (on_top) {
    case ALONE: return source;
    case POOL:
        status = kmm_pool_resource_create(source,
                                          &(kmm_pool_options_t){.maximum_bytes = 2048 * MIB}, &r);
        break;
    case ARENA: status = kmm_arena_resource_create(source, NULL, &r); break;
    case ARENA_OF_THREADS:
        status = kmm_arena_resource_create(source,
                                           &(kmm_arena_options_t){.key = KMM_ARENA_PER_THREAD}, &r);
        break;
    case ADAPTORS: status = make_adaptors(source, &r); break;
    case FIXED:
        status = kmm_fixed_size_resource_create(
            source, &(kmm_fixed_size_options_t){.block_bytes = 64 << 10}, &r);
        break;
    case PREFETCH: status = kmm_prefetch_resource_create(source, &r); break;
    case PINNED_POOL: status = kmm_pinned_pool_resource_create(0, NULL, &r); break;
    case BINNING:
        status = kmm_binning_resource_create(source, &r);
        assert_int_equal(kmm_binning_add(r, 32768, NULL), 0);
        break;
    }
    assert_int_equal(status, 0);
    return r;
}

static void conforms(void **state)
{
    const subject_t *subject = *state;
    kmm_stream_pool_t *streams;
    assert_int_equal(kmm_stream_pool_create(0, CONFORMANCE_STREAMS, &streams), 0);
    kmm_resource_t *source = make_source(subject->kind), *top = make_top(source, subject->on_top);
    conformance_subject_t s = {
        .resource = top,
        .largest = subject->largest ? subject->largest : 1024 * MIB,
        .budget = 64 * MIB,
        .alignment = subject->alignment ? subject->alignment : 65536,
        .host_access = true,
        .order = order_streams,
    };
    for (size_t i = 0; i < CONFORMANCE_STREAMS; i++)
        assert_int_equal(kmm_stream_pool_get(streams, i, &s.streams[i]), 0);
    for (int i = 0; i < conformance_case_count; i++) {
        const char *wrong = conformance_cases[i].run(&s);
        if (wrong)
            fail_msg("%s: %s: %s (%s)", subject->name, conformance_cases[i].name, wrong,
                     kmm_resource_error_text());
    }
    if (top != source)
        assert_int_equal(kmm_resource_destroy(top), 0);
    assert_int_equal(kmm_resource_destroy(source), 0);
    kmm_stream_pool_destroy(streams);
}

static void there_is_no_such_device(void **state)
{
    (void)state;
    kmm_resource_t *r;
    kmm_stream_pool_t *streams;
    assert_int_equal(kmm_device_resource_create(2, &r), KMM_E_NO_DEVICE);
    assert_int_equal(kmm_device_resource_create(-1, &r), KMM_E_NO_DEVICE);
    assert_int_equal(kmm_device_resource_create(0, NULL), KMM_E_INVALID);
    assert_non_null(strstr(kmm_resource_error_text(), "nowhere"));
    assert_int_equal(kmm_async_resource_create(99, NULL, &r), KMM_E_NO_DEVICE);
    assert_int_equal(kmm_stream_pool_create(2, 1, &streams), KMM_E_NO_DEVICE);
    assert_null(kmm_resource_of_device(2));
    assert_null(kmm_resource_of_device(1000));
    assert_non_null(strstr(kmm_resource_error_text(), "1000"));
}

static void the_driver_runs_out(void **state)
{
    (void)state;
    kmm_resource_t *r = make_source(DEVICE), *pool;
    void *a, *b;
    assert_int_equal(kmm_resource_allocate(r, 100 * MIB, 0, NULL, &a),
                     0); /* of 4 GiB, which the fake driver has */
    assert_int_equal(kmm_resource_allocate(r, (size_t)5 << 30, 0, NULL, &b), KMM_E_MEMORY);
    assert_non_null(strstr(kmm_resource_error_text(),
                           kmm__driver()->is_hip
                               ? "hipMalloc on device 0: hipErrorOutOfMemory"
                               : "cuMemAlloc on device 0: CUDA_ERROR_OUT_OF_MEMORY"));
    assert_int_equal(kmm_resource_deallocate(r, a, 100 * MIB, NULL), 0);
    assert_int_equal(
        kmm_pool_resource_create(r, &(kmm_pool_options_t){.initial_bytes = (size_t)5 << 30}, &pool),
        KMM_E_MEMORY);
    assert_int_equal(kmm_resource_destroy(r), 0);
}

static void a_view_of_an_existing_pool(void **state)
{
    (void)state;
    CUmemoryPool theirs;
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                  .maxSize = 4 << 20};
    assert_int_equal(kmm__driver()->MemPoolCreate(&theirs, &props), 0);
    kmm_resource_t *r;
    assert_int_equal(kmm_async_resource_create(
                         0, &(kmm_async_options_t){.pool = theirs, .release_threshold = 77}, &r),
                     0);
    void *p;
    assert_int_equal(kmm_resource_allocate(r, 4 * MIB, 0, NULL, &p), 0);
    assert_int_equal(kmm_resource_deallocate(r, p, 4 * MIB, NULL), 0);
    assert_int_equal(kmm_resource_allocate(r, 5 * MIB, 0, NULL, &p), KMM_E_MEMORY);
    uint64_t threshold;
    assert_int_equal(
        kmm__driver()->MemPoolGetAttribute(theirs, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
        0);
    assert_int_equal(threshold, 77);
    assert_int_equal(kmm_resource_destroy(r), 0);
    assert_int_equal(kmm__driver()->MemPoolDestroy(theirs), 0); /* still there: it is theirs */
}

/* ---- Prefetch ---- */

static struct {
    CUdeviceptr p;
    size_t bytes;
    int device, calls;
    CUresult result;
} prefetched;
static CUresult note_prefetch(CUdeviceptr p, size_t bytes, CUmemLocation to, unsigned flags,
                              CUstream stream)
{
    (void)flags, (void)stream;
    prefetched.p = p;
    prefetched.bytes = bytes;
    prefetched.device = to.id;
    prefetched.calls++;
    return prefetched.result;
}

/* What the driver answers one after the other, while other threads allocate and free, need not go
 * together. */
static CUresult much_is_held(CUmemoryPool pool, int attribute, void *value)
{
    (void)pool;
    *(uint64_t *)value = attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT ? 4 * MIB : 0;
    return CUDA_SUCCESS;
}

static void no_more_is_available_than_there_is(void **state)
{
    (void)state;
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    kmm__driver_t before = *driver;
    kmm_resource_t *r = make_source(ASYNC);
    size_t available, total;
    driver->MemPoolGetAttribute = much_is_held;
    assert_int_equal(kmm_resource_memory_info(r, &available, &total), 0);
    assert_true(available <= total);
    *driver = before;
    assert_int_equal(kmm_resource_destroy(r), 0);
}

static void a_pool_of_managed_memory(void **state)
{
    (void)state;
    kmm_resource_t *r = NULL;
    void *p;
    assert_int_equal(
        kmm_async_resource_create(0, &(kmm_async_options_t){.kind = KMM_MEMORY_PINNED}, &r),
        KMM_E_INVALID);
    const int status = kmm_async_resource_create(
        0, &(kmm_async_options_t){.kind = KMM_MEMORY_MANAGED, .initial_bytes = MIB}, &r);
    assert_int_equal(status, kmm__driver()->is_hip ? KMM_E_UNSUPPORTED : 0);
    if (status) {
        assert_null(r);
        return;
    }
    assert_int_equal(kmm_resource_kind(r), KMM_MEMORY_MANAGED);
    assert_int_equal(kmm_resource_allow(r, 1), 0); /* every device reaches it */
    assert_int_equal(kmm_resource_allocate(r, MIB, 0, NULL, &p), 0);
    memset(p, 1, MIB);
    assert_int_equal(kmm_resource_deallocate(r, p, MIB, NULL), 0);
    assert_int_equal(kmm_resource_destroy(r), 0);
}

static void managed_memory_is_prefetched_and_other_memory_not(void **state)
{
    (void)state;
    kmm__driver_t *driver =
        (kmm__driver_t *)kmm__driver(); /* the library's own, which is writable */
    __typeof__(driver->MemPrefetchAsync) real = driver->MemPrefetchAsync;
    driver->MemPrefetchAsync = note_prefetch;
    kmm_resource_t *managed = make_source(MANAGED), *device = make_source(DEVICE), *r;
    void *p;
    assert_int_equal(kmm_prefetch_resource_create(managed, &r), 0);
    assert_int_equal(kmm_resource_allocate(r, 12345, 0, NULL, &p), 0);
    assert_int_equal(prefetched.calls, 1);
    assert_true(prefetched.p == (uintptr_t)p && prefetched.bytes == 12345 &&
                prefetched.device == 0);
    assert_int_equal(kmm_resource_deallocate(r, p, 12345, NULL), 0);
    prefetched.result = CUDA_ERROR_NOT_SUPPORTED; /* such a device has nothing to prefetch */
    assert_int_equal(kmm_resource_allocate(r, 1, 0, NULL, &p), 0);
    assert_int_equal(kmm_resource_deallocate(r, p, 1, NULL), 0);
    prefetched.result = CUDA_ERROR_ILLEGAL_ADDRESS; /* the allocation is undone */
    assert_int_equal(kmm_resource_allocate(r, 1, 0, NULL, &p), KMM_E_DEVICE);
    assert_null(p);
    assert_int_equal(kmm_resource_destroy(r), 0);
    assert_int_equal(kmm_prefetch_resource_create(device, &r), 0);
    assert_int_equal(kmm_resource_allocate(r, 1, 0, NULL, &p), 0);
    assert_int_equal(kmm_resource_deallocate(r, p, 1, NULL), 0);
    assert_int_equal(prefetched.calls, 3);
    assert_int_equal(kmm_resource_destroy(r), 0);
    assert_int_equal(kmm_resource_destroy(device), 0);
    assert_int_equal(kmm_resource_destroy(managed), 0);
    driver->MemPrefetchAsync = real;
}

/* ---- Mapped memory ---- */

/* The driver's calls for mapping, of which one fails after a while. */
enum { RESERVE, CREATE, MAP, ALLOW, MAP_CALLS };
static kmm__driver_t honest;
static int failing_call, calls_left;

static bool fails(int call)
{
    return call == failing_call && calls_left-- <= 0;
}

static CUresult reserve_or_fail(CUdeviceptr *out, size_t bytes, size_t alignment, CUdeviceptr hint,
                                unsigned long long flags)
{
    return fails(RESERVE) ? CUDA_ERROR_OUT_OF_MEMORY
                          : honest.MemAddressReserve(out, bytes, alignment, hint, flags);
}

static CUresult create_or_fail(CUmemGenericAllocationHandle *out, size_t bytes,
                               const CUmemAllocationProp *p, unsigned long long flags)
{
    return fails(CREATE) ? CUDA_ERROR_OUT_OF_MEMORY : honest.MemCreate(out, bytes, p, flags);
}

static CUresult map_or_fail(CUdeviceptr at, size_t bytes, size_t offset,
                            CUmemGenericAllocationHandle h, unsigned long long flags)
{
    return fails(MAP) ? CUDA_ERROR_OUT_OF_MEMORY : honest.MemMap(at, bytes, offset, h, flags);
}

static CUresult allow_or_fail(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *access,
                              size_t count)
{
    return fails(ALLOW) ? CUDA_ERROR_OUT_OF_MEMORY : honest.MemSetAccess(at, bytes, access, count);
}

static void fail_from(int call, int after)
{
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    failing_call = call;
    calls_left = after;
    driver->MemAddressReserve = reserve_or_fail;
    driver->MemCreate = create_or_fail;
    driver->MemMap = map_or_fail;
    driver->MemSetAccess = allow_or_fail;
}

/* Everything that has been mapped is gone: addresses, frames and mappings. */
static fake_counts_t counts(void)
{
    static fake_counts_function_t *function;
    fake_counts_t c;
    if (!function) {
        void *library =
            dlopen(honest.is_hip ? "libamdhip64.so.6" : "libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
        assert_non_null(library);
        *(void **)&function = dlsym(library, "fake_counts");
        assert_non_null(function);
    }
    function(&c);
    return c;
}

enum { PIECES = 8 };

static void fill(void *p, size_t bytes, int mark)
{
    memset(p, mark, bytes);
}

static bool holds(const unsigned char *p, size_t bytes, int mark)
{
    return p[0] == mark && memcmp(p, p + 1, bytes - 1) == 0;
}

/* Takes 16 frames in eight pieces, gives every second back, and asks for as much in one. Returns
 * how that went. */
static int gather(kmm_resource_t *pool, size_t frame)
{
    void *p[PIECES], *large = NULL;
    for (int i = 0; i < PIECES; i++) {
        int status = kmm_resource_allocate(pool, 2 * frame, 0, NULL, &p[i]);
        if (status) {
            while (i-- > 0)
                assert_int_equal(kmm_resource_deallocate(pool, p[i], 2 * frame, NULL), 0);
            return status;
        }
        fill(p[i], 2 * frame, i + 1);
    }
    for (int i = 1; i < PIECES; i += 2)
        assert_int_equal(kmm_resource_deallocate(pool, p[i], 2 * frame, NULL), 0);
    int status = kmm_resource_allocate(pool, PIECES * frame, 0, NULL, &large);
    if (large)
        fill(large, PIECES * frame, 99);
    for (int i = 0; i < PIECES; i += 2) {
        assert_true(holds(p[i], 2 * frame, i + 1));
        assert_int_equal(kmm_resource_deallocate(pool, p[i], 2 * frame, NULL), 0);
    }
    if (large) {
        assert_true(holds(large, PIECES * frame, 99));
        assert_int_equal(kmm_resource_deallocate(pool, large, PIECES * frame, NULL), 0);
    }
    return status;
}

static int gather_in_new_pool(size_t *held)
{
    kmm_resource_t *mapped, *pool;
    kmm_resource_usage_t usage;
    int status = kmm_mapped_resource_create(0, &mapped);
    if (status)
        return status;
    const size_t frame = mapped->mapper->frame_bytes;
    assert_int_equal(
        kmm_pool_resource_create(mapped, &(kmm_pool_options_t){.maximum_bytes = 16 * frame}, &pool),
        0);
    status = gather(pool, frame);
    assert_int_equal(kmm_resource_usage(pool, &usage), 0);
    *held = usage.held_bytes / frame;
    assert_int_equal(kmm_resource_destroy(pool), 0);
    assert_int_equal(kmm_resource_destroy(mapped), 0);
    return status;
}

static void frames_are_gathered_and_others_keep_what_they_hold(void **state)
{
    (void)state;
    size_t held = 0;
    honest = *kmm__driver();
    const fake_counts_t before = counts();
    assert_int_equal(gather_in_new_pool(&held), 0);
    assert_int_equal(held, 16);
    const fake_counts_t after = counts();
    assert_int_equal(after.frames, before.frames);
    assert_int_equal(after.windows, before.windows);
}

static void every_call_for_mapping_fails_in_turn(void **state)
{
    (void)state;
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    honest = *driver;
    const fake_counts_t before = counts();
    for (int call = 0; call < MAP_CALLS; call++) {
        int status = KMM_E_MEMORY;
        for (int after = 0; status && after < 100; after++) {
            size_t held;
            fail_from(call, after);
            status = gather_in_new_pool(&held);
            *driver = honest;
            if (status && status != KMM_E_MEMORY && status != KMM_E_UNSUPPORTED)
                fail_msg("call %d fails after %d: %s", call, after, kmm_resource_error_text());
            const fake_counts_t now = counts();
            assert_int_equal(now.frames, before.frames);
            assert_int_equal(now.mappings, before.mappings);
            assert_int_equal(now.windows, before.windows);
        }
        assert_int_equal(status, 0);
    }
}

/* ---- Access of other devices ---- */

static CUresult copy_on(int device, void *dst, const void *src, size_t bytes)
{
    CUstream stream;
    assert_int_equal(kmm__driver_enter(device), 0);
    assert_int_equal(kmm__driver()->StreamCreate(&stream, CU_STREAM_NON_BLOCKING), 0);
    CUresult r = kmm__driver()->MemcpyAsync((CUdeviceptr)(uintptr_t)dst,
                                            (CUdeviceptr)(uintptr_t)src, bytes, stream);
    r = r ? r : kmm__driver()->StreamSynchronize(stream);
    kmm__driver()->StreamDestroy(stream);
    kmm__driver_leave();
    return r;
}

static void check_reached(int device, unsigned char *p, size_t bytes)
{
    unsigned char sent[64], back[64] = {0};
    memset(sent, 42, sizeof(sent));
    assert_int_equal(copy_on(device, p + bytes - sizeof(sent), sent, sizeof(sent)), 0);
    assert_int_equal(copy_on(device, back, p + bytes - sizeof(sent), sizeof(back)), 0);
    assert_memory_equal(back, sent, sizeof(sent));
}

static CUresult counted_access(CUdeviceptr at, size_t bytes, const CUmemAccessDesc *access,
                               size_t count)
{
    calls_left += access->location.id == 1;
    return honest.MemSetAccess(at, bytes, access, count);
}

/* What there is, what is allocated later and what is gathered is all reached by the other device.
 */
static void another_device_reaches_mapped_memory(void **state)
{
    (void)state;
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    kmm_resource_t *mapped = make_source(MAPPED), *pool;
    const size_t frame = mapped->mapper->frame_bytes;
    void *p[PIECES], *large, *later;
    assert_int_equal(
        kmm_pool_resource_create(mapped, &(kmm_pool_options_t){.maximum_bytes = 20 * frame}, &pool),
        0);
    for (int i = 0; i < PIECES; i++)
        assert_int_equal(kmm_resource_allocate(pool, 2 * frame, 0, NULL, &p[i]), 0);
    for (int i = 1; i < PIECES; i += 2)
        assert_int_equal(kmm_resource_deallocate(pool, p[i], 2 * frame, NULL), 0);
    honest = *driver;
    calls_left = 0;
    driver->MemSetAccess = counted_access;
    assert_int_equal(kmm_resource_allow(pool, 1), 0);
    assert_true(calls_left > 0);
    check_reached(1, p[0], 2 * frame);
    check_reached(1, p[6], 2 * frame);
    const int calls = calls_left;
    assert_int_equal(kmm_resource_allow(pool, 1), 0); /* again is nothing more */
    assert_int_equal(kmm_resource_allow(pool, 0), 0); /* its own is nothing either */
    assert_int_equal(calls_left, calls);
    assert_int_equal(kmm_resource_allocate(pool, PIECES * frame, 0, NULL, &large),
                     0); /* gathered: see above */
    check_reached(1, large, PIECES * frame);
    assert_int_equal(kmm_resource_allocate(pool, 4 * frame, 0, NULL, &later), 0);
    check_reached(1, later, 4 * frame);
    assert_true(calls_left > calls);
    *driver = honest;
    assert_int_equal(kmm_resource_deallocate(pool, later, 4 * frame, NULL), 0);
    assert_int_equal(kmm_resource_deallocate(pool, large, PIECES * frame, NULL), 0);
    for (int i = 0; i < PIECES; i += 2)
        assert_int_equal(kmm_resource_deallocate(pool, p[i], 2 * frame, NULL), 0);
    assert_int_equal(kmm_resource_destroy(pool), 0);
    assert_int_equal(kmm_resource_destroy(mapped), 0);
}

/* With frames given back in the middle of an area, where nothing is mapped any more. */
static void access_is_given_where_something_is_mapped(void **state)
{
    (void)state;
    kmm_resource_t *mapped = make_source(MAPPED), *pool;
    const size_t frame = mapped->mapper->frame_bytes;
    void *p[3];
    assert_int_equal(
        kmm_pool_resource_create(mapped, &(kmm_pool_options_t){.initial_bytes = 12 * frame}, &pool),
        0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(kmm_resource_allocate(pool, 4 * frame, 0, NULL, &p[i]), 0);
    assert_int_equal(kmm_resource_deallocate(pool, p[1], 4 * frame, NULL), 0);
    assert_int_equal(kmm_resource_trim(pool, 0), 0);
    assert_int_equal(kmm_resource_allow(pool, 1), 0);
    check_reached(1, p[0], 4 * frame);
    check_reached(1, p[2], 4 * frame);
    assert_int_equal(kmm_resource_deallocate(pool, p[0], 4 * frame, NULL), 0);
    assert_int_equal(kmm_resource_deallocate(pool, p[2], 4 * frame, NULL), 0);
    assert_int_equal(kmm_resource_destroy(pool), 0);
    assert_int_equal(kmm_resource_destroy(mapped), 0);
}

static void access_that_fails_can_be_given_again(void **state)
{
    (void)state;
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    kmm_resource_t *mapped = make_source(MAPPED);
    void *p, *q;
    assert_int_equal(kmm_resource_allocate(mapped, 1, 0, NULL, &p), 0);
    honest = *driver;
    fail_from(ALLOW, 0);
    assert_int_equal(kmm_resource_allow(mapped, 1), KMM_E_MEMORY);
    *driver = honest;
    assert_int_equal(kmm_resource_allow(mapped, 1), 0);
    check_reached(1, p, 1 << 20);
    fail_from(ALLOW, 1); /* its own succeeds, the other device's does not: nothing is left over */
    const fake_counts_t before = counts();
    assert_int_equal(kmm_resource_allocate(mapped, 1, 0, NULL, &q), KMM_E_MEMORY);
    const fake_counts_t after = counts();
    assert_int_equal(after.frames + after.mappings + after.windows,
                     before.frames + before.mappings + before.windows);
    *driver = honest;
    assert_int_equal(kmm_resource_deallocate(mapped, p, 1, NULL), 0);
    assert_int_equal(kmm_resource_destroy(mapped), 0);
}

/* Frames are not made in vain, one by one, for a request that there is no memory for. */
static void too_much_is_refused_before_any_frame_is_made(void **state)
{
    (void)state;
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    kmm_resource_t *mapped = make_source(MAPPED), *pool;
    const size_t frame = mapped->mapper->frame_bytes;
    size_t available, total;
    void *p[8], *large;
    assert_int_equal(kmm_pool_resource_create(mapped, NULL, &pool), 0);
    for (int i = 0; i < 8; i++)
        assert_int_equal(kmm_resource_allocate(pool, 2 * frame, 0, NULL, &p[i]), 0);
    for (int i = 1; i < 8; i += 2)
        assert_int_equal(kmm_resource_deallocate(pool, p[i], 2 * frame, NULL), 0);
    assert_int_equal(kmm_resource_memory_info(mapped, &available, &total), 0);
    honest = *driver;
    fail_from(CREATE, 100); /* far fewer than asked for */
    const size_t absurd[] = {available + 16 * frame, total, 2 * total, (size_t)1 << 45};
    for (int i = 0; i < 4; i++)
        assert_int_equal(kmm_resource_allocate(pool, absurd[i], 0, NULL, &large), KMM_E_MEMORY);
    assert_int_equal(calls_left, 100);
    *driver = honest;
    for (int i = 0; i < 8; i += 2)
        assert_int_equal(kmm_resource_deallocate(pool, p[i], 2 * frame, NULL), 0);
    assert_int_equal(kmm_resource_destroy(pool), 0);
    assert_int_equal(kmm_resource_destroy(mapped), 0);
}

static CUresult cannot_reach(int *out, CUdevice a, CUdevice b)
{
    (void)a, (void)b;
    *out = 0;
    return CUDA_SUCCESS;
}

static int no_memory(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)context, (void)bytes, (void)stream, (void)out;
    return KMM_E_MEMORY;
}

static int no_such_memory(void *context, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)context, (void)p, (void)bytes, (void)stream;
    return KMM_E_ADDRESS;
}

static void every_kind_says_who_reaches_it(void **state)
{
    (void)state;
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    kmm_resource_t *r, *host, *binning, *safe, *program;
    void *p;
    honest = *driver;
    for (int kind = DEVICE; kind <= MAPPED; kind++) {
        r = make_source(kind);
        assert_int_equal(kmm_resource_allow(r, 99), KMM_E_NO_DEVICE);
        assert_int_equal(kmm_resource_allow(r, -1), KMM_E_NO_DEVICE);
        assert_int_equal(kmm_resource_allow(r, 0), 0);
        driver->DeviceCanAccessPeer = cannot_reach;
        assert_int_equal(kmm_resource_allow(r, 1),
                         kind == MANAGED || kind == PINNED ? 0 : KMM_E_UNSUPPORTED);
        *driver = honest;
        assert_int_equal(kmm_resource_allow(r, 1), 0);
        assert_int_equal(kmm_resource_allow(r, 1), 0); /* again is no error */
        assert_int_equal(kmm_resource_allocate(r, MIB, 0, NULL, &p), 0);
        check_reached(1, p, MIB);
        assert_int_equal(kmm_resource_deallocate(r, p, MIB, NULL), 0);
        assert_int_equal(kmm_resource_destroy(r), 0);
    }
    assert_int_equal(kmm_host_resource_create(&host), 0);
    assert_int_equal(kmm_resource_allow(host, 0), KMM_E_UNSUPPORTED);
    assert_int_equal(kmm_resource_allow(NULL, 0), KMM_E_INVALID);
    r = make_source(ASYNC);
    assert_int_equal(kmm_binning_resource_create(r, &binning), 0);
    assert_int_equal(kmm_binning_add(binning, 1024, host), KMM_E_INVALID);
    const kmm_callback_options_t options = {.allocate = no_memory,
                                            .deallocate = no_such_memory,
                                            .kind = KMM_MEMORY_DEVICE,
                                            .order = kmm__driver_order(0)};
    assert_int_equal(kmm_callback_resource_create(&options, &program), 0);
    assert_int_equal(kmm_binning_add(binning, 1024, program), 0);
    assert_int_equal(kmm_resource_allow(binning, 1),
                     KMM_E_UNSUPPORTED); /* a bin's memory cannot be reached */
    assert_int_equal(kmm_thread_safe_resource_create(r, &safe), 0);
    assert_int_equal(kmm_resource_allow(safe, 1), 0);
    assert_int_equal(kmm_resource_destroy(safe), 0);
    assert_int_equal(kmm_resource_destroy(binning), 0);
    assert_int_equal(kmm_resource_destroy(program), 0);
    assert_int_equal(kmm_resource_destroy(r), 0);
    assert_int_equal(kmm_resource_destroy(host), 0);
}

static void *allow_all(void *argument)
{
    kmm_resource_t *pool = argument;
    for (int i = 0; i < 50; i++)
        if (kmm_resource_allow(pool, i % 2))
            return pool;
    return NULL;
}

/* While memory is mapped and unmapped by others. */
static void access_is_given_at_any_time(void **state)
{
    (void)state;
    kmm_resource_t *mapped, *pool;
    pthread_t thread;
    void *p, *wrong;
    for (int round = 0; round < 20; round++) {
        mapped = make_source(MAPPED);
        const size_t frame = mapped->mapper->frame_bytes;
        assert_int_equal(kmm_pool_resource_create(mapped, NULL, &pool), 0);
        pthread_create(&thread, NULL, allow_all, pool);
        for (int i = 0; i < 10; i++) {
            assert_int_equal(kmm_resource_allocate(pool, (size_t)(i + 1) * frame, 0, NULL, &p), 0);
            assert_int_equal(kmm_resource_deallocate(pool, p, (size_t)(i + 1) * frame, NULL), 0);
            assert_int_equal(kmm_resource_trim(pool, 0), 0);
        }
        pthread_join(thread, &wrong);
        assert_null(wrong);
        assert_int_equal(kmm_resource_allocate(pool, 3 * frame, 0, NULL, &p), 0);
        check_reached(1, p, 3 * frame);
        assert_int_equal(kmm_resource_deallocate(pool, p, 3 * frame, NULL), 0);
        assert_int_equal(kmm_resource_destroy(pool), 0);
        assert_int_equal(kmm_resource_destroy(mapped), 0);
    }
}

static CUresult no_granularity(size_t *out, const CUmemAllocationProp *p, int option)
{
    (void)out, (void)p, (void)option;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult copy_nothing(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    (void)dst, (void)src, (void)bytes, (void)stream;
    return CUDA_SUCCESS;
}

static CUresult copy_refused(CUdeviceptr dst, CUdeviceptr src, size_t bytes, CUstream stream)
{
    (void)dst, (void)src, (void)bytes, (void)stream;
    return CUDA_ERROR_NOT_SUPPORTED;
}

static void memory_that_cannot_be_mapped(void **state)
{
    (void)state;
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    honest = *driver;
    const fake_counts_t before = counts();
    kmm_resource_t *r;
    driver->MemcpyAsync = copy_nothing; /* as where mapping answers with success and does nothing */
    assert_int_equal(kmm_mapped_resource_create(0, &r), KMM_E_UNSUPPORTED);
    driver->MemcpyAsync = copy_refused;
    assert_int_equal(kmm_mapped_resource_create(0, &r), KMM_E_UNSUPPORTED);
    *driver = honest;
    const fake_counts_t after = counts();
    assert_int_equal(after.frames + after.mappings + after.windows,
                     before.frames + before.mappings + before.windows);
    driver->MemGetAllocationGranularity = no_granularity;
    assert_int_equal(kmm_mapped_resource_create(0, &r), KMM_E_UNSUPPORTED);
    *driver = honest;
    driver->maps = false; /* too old */
    assert_int_equal(kmm_mapped_resource_create(0, &r), KMM_E_UNSUPPORTED);
    *driver = honest;
    assert_int_equal(kmm_mapped_resource_create(99, &r), KMM_E_NO_DEVICE);
    assert_int_equal(kmm_mapped_resource_create(0, NULL), KMM_E_INVALID);
}

static void current_resources(void **state)
{
    (void)state;
    kmm_resource_t *first = kmm_resource_of_device(0), *pool, *old;
    assert_int_equal(kmm_resource_device(first), 0);
    assert_int_equal(kmm_resource_device(kmm_resource_of_device(1)), 1);
    assert_ptr_equal(
        kmm_resource_current(),
        first); /* no context is current: as with CUDA's runtime, it is the first device */
    assert_int_equal(kmm_pool_resource_create(first, NULL, &pool), 0);
    assert_int_equal(kmm_resource_set_of_device(1, pool, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_resource_set_of_device(0, pool, &old), 0);
    assert_ptr_equal(old, first);
    assert_int_equal(kmm__driver_enter(0), 0);
    assert_ptr_equal(kmm_resource_current(), pool);
    assert_int_equal(kmm_resource_set_current(NULL, &old), 0);
    kmm__driver_leave();
    assert_int_equal(kmm__driver_enter(1), 0);
    assert_int_equal(kmm_resource_device(kmm_resource_current()), 1);
    assert_int_equal(kmm_resource_set_current(pool, NULL),
                     KMM_E_INVALID); /* it is the first device's */
    kmm__driver_leave();
    assert_ptr_equal(old, pool);
    assert_ptr_equal(kmm_resource_of_device(0), first);
    assert_int_equal(kmm_resource_destroy(pool), 0);
}

static _Atomic bool chosen_enough;

static void *look_around(void *argument)
{
    const int device = *(const int *)argument;
    long wrong = 0;
    kmm__driver_enter(device);
    while (!chosen_enough) {
        const kmm_resource_t *r = kmm_resource_current();
        wrong += !r || kmm_resource_device(r) != device;
    }
    kmm__driver_leave();
    return (void *)(intptr_t)wrong;
}

/* Each thread has its own device; what another one chooses is seen whole. */
static void current_resources_of_threads(void **state)
{
    (void)state;
    kmm_resource_t *pool;
    pthread_t threads[4];
    int devices[4] = {0, 1, 0, 1};
    chosen_enough = false;
    assert_int_equal(kmm_pool_resource_create(kmm_resource_of_device(1), NULL, &pool), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_around, &devices[i]), 0);
    for (int i = 0; i < 2000; i++)
        assert_int_equal(kmm_resource_set_of_device(1, i % 2 ? NULL : pool, NULL), 0);
    chosen_enough = true;
    for (int i = 0; i < 4; i++) {
        void *wrong;
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(kmm_resource_destroy(pool), 0);
}

static void buffers_on_a_stream(void **state)
{
    (void)state;
    kmm_stream_pool_t *streams;
    kmm_resource_t *r = make_source(ASYNC);
    assert_int_equal(kmm_stream_pool_create(0, 3, &streams), 0);
    kmm_stream_t s = kmm_stream_pool_next(streams);
    assert_ptr_not_equal(s, kmm_stream_pool_next(streams));
    kmm_buffer_t b;
    const char text[] = "elements of a buffer";
    char back[sizeof(text)];
    assert_int_equal(kmm_buffer_init_copy(&b, text, sizeof(text), s, r), 0);
    assert_int_equal(kmm_buffer_resize(&b, MIB, s), 0);
    assert_int_equal(kmm_buffer_fill(&b, sizeof(text), 7, MIB - sizeof(text)), 0);
    assert_int_equal(kmm_buffer_read(&b, 0, back, sizeof(text)), 0);
    assert_string_equal(back, text);
    assert_int_equal(kmm_buffer_deinit(&b), 0);
    kmm_scalar_t x;
    double value = 2.5, got = 0;
    assert_int_equal(kmm_scalar_init(&x, &value, sizeof(value), s, r), 0);
    assert_int_equal(kmm_scalar_get(&x, &got), 0);
    assert_true(got == 2.5);
    assert_int_equal(kmm_scalar_deinit(&x), 0);
    assert_int_equal(kmm_stream_pool_get(streams, 3, &s), KMM_E_RANGE);
    kmm_stream_pool_destroy(streams);
    assert_int_equal(kmm_resource_destroy(r), 0);
}

/* Everything goes where the resource says, and leaves the current device alone. */
static void another_device_than_the_current_one(void **state)
{
    (void)state;
    kmm_stream_pool_t *streams;
    kmm_resource_t *source, *pool;
    kmm_buffer_t b, copy;
    kmm_vector_t v;
    const int sent = 77, mapped = 2;
    int back = 0;
    for (int kind = 0; kind <= mapped; kind++) {
        assert_int_equal(kmm__driver_enter(0), 0);
        assert_int_equal(kind == mapped ? kmm_mapped_resource_create(1, &source)
                         : kind         ? kmm_async_resource_create(1, NULL, &source)
                                        : kmm_device_resource_create(1, &source),
                         0);
        assert_int_equal(kmm_pool_resource_create(source, NULL, &pool), 0);
        assert_int_equal(kmm_resource_device(pool), 1);
        assert_int_equal(kmm_stream_pool_create(1, 2, &streams), 0);
        kmm_stream_t s = kmm_stream_pool_next(streams), other = kmm_stream_pool_next(streams);
        assert_int_equal(kmm_buffer_init_copy(&b, &sent, sizeof(sent), s, pool), 0);
        assert_int_equal(kmm_buffer_resize(&b, MIB, s), 0);
        assert_int_equal(kmm_buffer_init_copy(&copy, b.data, MIB, s, pool), 0);
        assert_int_equal(kmm_buffer_read(&copy, 0, &back, sizeof(back)), 0);
        assert_int_equal(back, sent);
        assert_int_equal(kmm_vector_init(&v, sizeof(sent), 100, other, pool), 0);
        assert_int_equal(kmm_vector_set(&v, 99, &sent), 0);
        back = 0;
        assert_int_equal(kmm_vector_get(&v, 99, &back), 0);
        assert_int_equal(back, sent);
        assert_int_equal(kmm_vector_deinit(&v), 0);
        assert_int_equal(kmm_buffer_deinit(&copy), 0);
        assert_int_equal(kmm_buffer_deinit(&b), 0);
        assert_int_equal(kmm_resource_stream_end(pool, s), 0);
        assert_int_equal(kmm_resource_stream_end(pool, other), 0);
        assert_int_equal(kmm_resource_trim(pool, 0), 0);
        assert_int_equal(kmm_resource_destroy(pool), 0);
        assert_int_equal(kmm_resource_destroy(source), 0);
        kmm_stream_pool_destroy(streams);
        assert_int_equal(kmm__driver_current_device(), 0);
        kmm__driver_leave();
    }
}

/* ---- Frameworks ---- */

static int failures;
static void count_failure(int status, int device, size_t bytes, const char *text)
{
    assert_int_equal(status, KMM_E_MEMORY);
    assert_int_equal(device, 0);
    assert_true(bytes > (size_t)1 << 30 && text[0]);
    failures++;
}

static const char *framework_pool_name(void)
{
    static char name[64];
    kmm_resource_t *plain = kmm_resource_of_device(0), *pool;
    assert_int_equal(kmm__framework_pool_create(plain, &pool), 0);
    snprintf(name, sizeof(name), "%s", kmm_resource_name(pool));
    void *p;
    assert_int_equal(kmm_resource_allocate(pool, MIB, 0, NULL, &p), 0);
    assert_int_equal(kmm_resource_deallocate(pool, p, MIB, NULL), 0);
    kmm_resource_t *source = pool->upstream;
    assert_int_equal(kmm_resource_destroy(pool), 0);
    if (source != plain)
        assert_int_equal(kmm_resource_destroy(source), 0);
    return name;
}

static void frameworks_have_mapped_memory_where_it_will_do(void **state)
{
    (void)state;
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    honest = *driver;
    driver->DeviceCanAccessPeer =
        cannot_reach; /* copies go through the host, as mapped memory's do not */
    assert_string_equal(framework_pool_name(), "pool(device 0)");
    *driver = honest;
    assert_string_equal(framework_pool_name(),
                        driver->is_hip ? "pool(device 0)" : "pool(mapped 0)");
    driver->DeviceCanAccessPeer = cannot_reach;
    driver->devices = 1;
    assert_string_equal(framework_pool_name(),
                        driver->is_hip ? "pool(device 0)" : "pool(mapped 0)");
    driver->MemGetAllocationGranularity = no_granularity;
    assert_string_equal(framework_pool_name(), "pool(device 0)");
    *driver = honest;
    driver->devices = 1;
    driver->maps = false;
    assert_string_equal(framework_pool_name(), "pool(device 0)");
    *driver = honest;
}

/* The second device that allocates is let reach the first one's memory, and the other way round;
 * until then neither is. */
static void devices_in_use_reach_each_other(void **state)
{
    (void)state;
    void *a = kmm_torch_alloc(3 << 20, 0, NULL), *b = kmm_torch_alloc(3 << 20, 1, NULL);
    assert_non_null(a);
    assert_non_null(b);
    check_reached(1, a, 3 << 20);
    check_reached(0, b, 3 << 20);
    void *c = kmm_torch_alloc(64 << 20, 0, NULL); /* grown after that */
    check_reached(1, c, 64 << 20);
    kmm_torch_free(c, 64 << 20, 0, NULL);
    kmm_torch_free(b, 3 << 20, 1, NULL);
    kmm_torch_free(a, 3 << 20, 0, NULL);
}

static kmm_resource_usage_t framework_usage(int device)
{
    kmm_resource_usage_t usage;
    assert_int_equal(kmm_resource_usage(kmm_resource_of_device(device), &usage), 0);
    return usage;
}

static size_t framework_live_count(int device)
{
    return framework_usage(device).live_count;
}

/* Its event cannot be recorded there, so the memory would never be free again. */
static void memory_used_by_a_stream_of_another_device(void **state)
{
    (void)state;
    kmm_stream_pool_t *streams;
    assert_int_equal(kmm_stream_pool_create(1, 1, &streams), 0);
    void *p = kmm_torch_alloc(1000, 0, NULL);
    assert_non_null(p);
    kmm_torch_record_stream(p, kmm_stream_pool_next(streams));
    kmm_torch_free(p, 1000, 0, NULL);
    assert_int_equal(framework_live_count(0), 0);
    kmm_stream_pool_destroy(streams);
}

static void *allocate_first(void *argument)
{
    const int before = kmm__driver_current_device();
    void *p = kmm_torch_alloc(1000, 1, NULL);
    *(int *)argument = before < 0 || kmm__driver()->is_hip ? kmm__driver_current_device() : -2;
    kmm_torch_free(p, 1000, 1, NULL);
    return NULL;
}

/* PyTorch complains of threads whose first allocation leaves them without one, as its own does not.
 */
static void a_thread_that_allocates_has_a_context(void **state)
{
    (void)state;
    int current = -1;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, allocate_first, &current), 0);
    pthread_join(thread, NULL);
    assert_int_equal(current, kmm__driver()->is_hip ? 0 : 1);
}

static CUstream gone;
static int gone_records, settled;

static CUresult note_record(CUevent e, CUstream stream)
{
    gone_records += stream == gone;
    return stream == gone ? CUDA_ERROR_INVALID_DEVICE : honest.EventRecord(e, stream);
}

static CUresult note_synchronize(void)
{
    settled++;
    return honest.CtxSynchronize();
}

/* As with CuPy, where a stream is destroyed with its object. */
static void memory_outlives_its_stream(void **state)
{
    (void)state;
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    void *p, *q;
    honest = *driver;
    gone_records = settled = 0;
    assert_int_equal(kmm__driver_enter(0), 0);
    assert_int_equal(driver->StreamCreate(&gone, CU_STREAM_NON_BLOCKING), 0);
    kmm_cupy_stream(gone);
    p = kmm_cupy_alloc(NULL, 1 << 20, 0);
    q = kmm_cupy_alloc(NULL, 1 << 20, 0);
    assert_true(p && q);
    kmm_cupy_free(NULL, p, 0);
    kmm_cupy_stream_end(gone, 0);
    assert_int_equal(driver->StreamDestroy(gone), 0);
    driver->EventRecord = note_record;
    driver->CtxSynchronize = note_synchronize;
    kmm_cupy_free(NULL, q, 0);
    assert_int_equal(settled, 1);
    assert_int_equal(framework_live_count(0), 0);
    kmm_torch_empty_cache(); /* waits for every stream that memory has been freed on */
    kmm_resource_usage_t usage;
    assert_int_equal(kmm_resource_usage(kmm_resource_of_device(0), &usage), 0);
    assert_int_equal(usage.held_bytes, 0);
    assert_int_equal(gone_records, 0);
    *driver = honest;
    kmm__driver_leave();
}

/* Drivers give handles again: the new stream's memory is freed as ever. */
static void a_handle_that_is_used_again(void **state)
{
    (void)state;
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    kmm_stream_pool_t *streams;
    assert_int_equal(kmm_stream_pool_create(0, 1, &streams), 0);
    kmm_stream_t s = kmm_stream_pool_next(streams);
    honest = *driver;
    settled = 0;
    driver->CtxSynchronize = note_synchronize;
    kmm_cupy_stream(s);
    void *before = kmm_cupy_alloc(NULL, 100, 0);
    kmm_cupy_stream_end(s, 0);
    kmm_cupy_stream_end(s, 7); /* of a device that has not been used */
    kmm_cupy_stream_end(s, -1);
    kmm_cupy_stream_end(NULL, 0);
    kmm_cupy_stream(s);
    void *after = kmm_cupy_alloc(NULL, 100, 0);
    kmm_cupy_free(NULL, after, 0);
    assert_int_equal(settled, 0);
    kmm_cupy_free(NULL, before, 0);
    assert_int_equal(settled, 1);
    assert_int_equal(framework_live_count(0), 0);
    kmm_cupy_stream_end(s, 0);
    *driver = honest;
    kmm_stream_pool_destroy(streams);
}

/* ---- Streams whose work goes into a graph ---- */

static CUstream captured;
static int
    spoiling; /* calls that would make others part of the graph, or it part of others' work */

static CUresult record_uncaptured(CUevent e, CUstream stream)
{
    spoiling += stream == captured;
    return honest.EventRecord(e, stream);
}

static CUresult wait_uncaptured(CUstream stream, CUevent e, unsigned flags)
{
    spoiling += stream == captured;
    return honest.StreamWaitEvent(stream, e, flags);
}

static CUresult (*capture_call(const char *cuda, const char *hip))()
{
    void *library =
             dlopen(honest.is_hip ? "libamdhip64.so.6" : "libcuda.so.1", RTLD_NOW | RTLD_NOLOAD),
         *call = dlsym(library, honest.is_hip ? hip : cuda);
    assert_non_null(call);
    dlclose(library);
    CUresult (*function)();
    *(void **)&function = call;
    return function;
}

static CUresult not_ready(CUevent e)
{
    (void)e;
    return CUDA_ERROR_NOT_READY;
}

static void capture_begin(CUstream stream)
{
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    honest = *driver;
    driver->EventRecord = record_uncaptured;
    driver->StreamWaitEvent = wait_uncaptured;
    driver->EventQuery = not_ready; /* so that who wants memory has to wait */
    spoiling = 0;
    captured = stream;
    assert_int_equal(capture_call("cuStreamBeginCapture_v2", "hipStreamBeginCapture")(stream, 0),
                     CUDA_SUCCESS);
}

static void end_whole(CUstream stream)
{
    void *graph = NULL;
    assert_int_equal(capture_call("cuStreamEndCapture", "hipStreamEndCapture")(stream, &graph),
                     CUDA_SUCCESS);
    assert_non_null(graph);
    assert_int_equal(capture_call("cuGraphDestroy", "hipGraphDestroy")(graph), CUDA_SUCCESS);
}

/* The graph is whole, and nobody has made anything else part of it. */
static void capture_end(void)
{
    end_whole(captured);
    assert_int_equal(spoiling, 0);
    *(kmm__driver_t *)kmm__driver() = honest;
}

static void a_captured_stream_is_let_alone(void **state)
{
    (void)state;
    kmm_resource_t *source, *pool;
    kmm_stream_pool_t *streams;
    void *p, *q;
    assert_int_equal(kmm_stream_pool_create(0, 2, &streams), 0);
    kmm_stream_t a = kmm_stream_pool_next(streams), b = kmm_stream_pool_next(streams);
    assert_int_equal(kmm_device_resource_create(0, &source), 0);
    assert_int_equal(kmm_pool_resource_create(
                         source,
                         &(kmm_pool_options_t){.initial_bytes = 8 * MIB, .maximum_bytes = 8 * MIB},
                         &pool),
                     0);
    for (int turn = 0; turn < 2;
         turn++) { /* the captured stream has the memory, then it wants it */
        assert_int_equal(kmm_resource_allocate(pool, 8 * MIB, 0, turn ? b : a, &p), 0);
        assert_int_equal(kmm_resource_deallocate(pool, p, 8 * MIB, turn ? b : a), 0);
        capture_begin(a);
        assert_int_equal(kmm_resource_allocate(pool, 8 * MIB, 0, turn ? a : b, &p),
                         turn ? 0 : KMM_E_MEMORY);
        if (turn)
            assert_int_equal(kmm_resource_deallocate(pool, p, 8 * MIB, a), 0);
        else
            assert_int_equal(kmm_resource_stream_end(pool, a), KMM_E_STATE);
        assert_int_equal(kmm_resource_allocate(source, 4 * MIB, 0, b, &q),
                         0); /* no other call spoils it either */
        assert_int_equal(kmm_resource_deallocate(source, q, 4 * MIB, b), 0);
        capture_end();
        assert_int_equal(kmm_resource_allocate(pool, 8 * MIB, 0, b, &p), 0);
        assert_int_equal(kmm_resource_deallocate(pool, p, 8 * MIB, b), 0);
    }
    assert_int_equal(kmm_resource_destroy(pool), 0);
    assert_int_equal(kmm_resource_destroy(source), 0);
    kmm_stream_pool_destroy(streams);
}

static int states;
static void count_state(int status, int device, size_t bytes, const char *text)
{
    (void)device, (void)bytes;
    states += status == KMM_E_STATE && strstr(text, "captured");
}

static void frameworks_give_a_graph_nothing(void **state)
{
    (void)state;
    kmm_stream_pool_t *streams;
    assert_int_equal(kmm_stream_pool_create(0, 2, &streams), 0);
    kmm_stream_t a = kmm_stream_pool_next(streams), b = kmm_stream_pool_next(streams);
    void *before = kmm_torch_alloc(1000, 0, a), *p;
    assert_non_null(before);
    kmm_torch_on_failure(count_state);
    capture_begin(a);
    assert_null(kmm_torch_alloc(1000, 0, a));
    assert_int_equal(states, 1);
    kmm_cupy_stream(a);
    assert_null(kmm_cupy_alloc(NULL, 1000, 0));
    assert_int_equal(kmm_cupy_failure(), KMM_E_STATE);
    assert_null(kmm_cupy_alloc(NULL, 0, 0));
    assert_int_equal(kmm_cupy_failure(), 0);
    kmm_cupy_stream(NULL);
    p = kmm_torch_alloc(64 << 20, 0, b); /* grows */
    assert_non_null(p);
    kmm_torch_free(p, 64 << 20, 0, b);
    capture_end();
    kmm_torch_on_failure(NULL);
    p = kmm_torch_alloc(1000, 0, a);
    assert_non_null(p);
    kmm_torch_free(p, 1000, 0, a);
    kmm_torch_free(before, 1000, 0, a);
    assert_int_equal(framework_live_count(0), 0);
    kmm_resource_stream_end(kmm_resource_of_device(0), a);
    kmm_resource_stream_end(kmm_resource_of_device(0), b);
    kmm_stream_pool_destroy(streams);
}

static bool is_captured(void *filter, kmm_stream_t stream)
{
    (*(int *)filter)++;
    return stream == captured;
}

static bool overlap(const char *p, const char *q, size_t bytes)
{
    return p < q + bytes && q < p + bytes;
}

/* Allocates and frees memory on other streams. It is none of the graph's memory. */
static void others_get_none_of(const char *graphs, size_t bytes, kmm_stream_t a, kmm_stream_t b)
{
    void *p[8];
    kmm_torch_empty_cache();
    for (int i = 0; i < 8; i++) {
        p[i] = kmm_torch_alloc((ptrdiff_t)bytes, 0, i % 2 ? a : b);
        assert_non_null(p[i]);
        assert_false(overlap(p[i], graphs, bytes));
    }
    for (int i = 0; i < 8; i++)
        kmm_torch_free(p[i], (ptrdiff_t)bytes, 0, i % 2 ? a : b);
}

static void a_graph_has_memory_of_its_own(void **state)
{
    (void)state;
    enum { BYTES = 4 << 20, LARGE = 256 << 20 };
    static const uint64_t id[2] = {0, 7}, other[2] = {7, 0};
    kmm_stream_pool_t *streams;
    int asked[2] = {0, 0};
    assert_int_equal(kmm_stream_pool_create(0, 3, &streams), 0);
    kmm_stream_t a = kmm_stream_pool_next(streams), b = kmm_stream_pool_next(streams),
                 c = kmm_stream_pool_next(streams);
    assert_null(kmm_torch_pool_end(0, id));
    kmm_torch_pool_release(0, id); /* of nothing */
    assert_int_equal(kmm_torch_pool_begin(-1, id, is_captured, asked), KMM_E_DEVICE);
    const size_t before = framework_live_count(0);
    char *kept = NULL, *freed = NULL, *large[2];
    for (int turn = 0; turn < 2; turn++) { /* two graphs with one pool */
        kmm_stream_t mine = turn ? b : a, free = turn ? a : b;
        assert_int_equal(kmm_torch_pool_begin(0, id, is_captured, &asked[turn]), 0);
        capture_begin(mine);
        char *p = kmm_torch_alloc(BYTES, 0, mine), *q = kmm_torch_alloc(BYTES, 0, mine);
        assert_non_null(p);
        assert_non_null(q);
        kmm_torch_free(p, BYTES, 0, mine);
        char *again = kmm_torch_alloc(BYTES, 0, mine); /* in the order of the captured stream */
        assert_ptr_equal(again, p);
        assert_int_equal(capture_call("cuStreamBeginCapture_v2", "hipStreamBeginCapture")(c, 0),
                         CUDA_SUCCESS);
        kmm_torch_record_stream(again, c);
        kmm_torch_free(again, BYTES, 0, mine); /* cannot be ordered: nobody gets it */
        end_whole(c);
        others_get_none_of(p, BYTES, free, free);
        char *next = kmm_torch_alloc(BYTES, 0, mine);
        assert_non_null(next);
        assert_false(overlap(next, p, BYTES));
        kmm_torch_free(next, BYTES, 0, mine);
        large[turn] = kmm_torch_alloc(LARGE, 0, mine);
        assert_non_null(large[turn]);
        kmm_torch_free(large[turn], LARGE, 0, mine);
        const size_t held = framework_usage(0).live_bytes;
        assert_null(kmm_torch_alloc((ptrdiff_t)1 << 40, 0, mine)); /* others give memory back */
        assert_int_equal(framework_usage(0).live_bytes, held);
        for (int graph = 0; graph <= turn; graph++)
            others_get_none_of(large[graph], LARGE, free, free);
        capture_end();
        assert_true(asked[turn] > 0);
        assert_ptr_equal(kmm_torch_pool_end(0, id), &asked[turn]);
        assert_null(kmm_torch_pool_end(0, id));
        others_get_none_of(p, BYTES, a, b);
        others_get_none_of(next, BYTES, a, b);
        if (turn)
            kmm_torch_free(q, BYTES, 0, mine);
        else
            kept = q, freed = p;
    }
    kmm_torch_pool_release(0, id); /* one graph is left */
    others_get_none_of(freed, BYTES, a, b);
    assert_true(framework_live_count(0) > before);
    kmm_torch_pool_release(0, id); /* one allocation is left */
    others_get_none_of(kept, BYTES, a, b);
    others_get_none_of(freed, BYTES, a, b);
    assert_int_equal(kmm_torch_pool_begin(0, other, is_captured, &asked[0]), 0);
    capture_begin(a);
    kmm_torch_free(kept, BYTES, 0, a); /* not while a graph is captured */
    assert_true(framework_live_count(0) > before);
    capture_end();
    assert_ptr_equal(kmm_torch_pool_end(0, other), &asked[0]);
    kmm_torch_empty_cache();
    assert_int_equal(framework_live_count(0), before);
    kmm_torch_pool_release(0, other);
    assert_int_equal(framework_live_count(0), before);
    kmm_resource_stream_end(kmm_resource_of_device(0), a);
    kmm_resource_stream_end(kmm_resource_of_device(0), b);
    kmm_resource_stream_end(kmm_resource_of_device(0), c);
    kmm_stream_pool_destroy(streams);
}

static void frameworks_allocate_from_a_pool(void **state)
{
    (void)state;
    kmm_stream_pool_t *streams;
    assert_int_equal(kmm_stream_pool_create(0, 2, &streams), 0);
    kmm_stream_t a = kmm_stream_pool_next(streams), b = kmm_stream_pool_next(streams);
    void *p = kmm_torch_alloc(1000, 0, a);
    assert_non_null(p);
    assert_non_null(strstr(kmm_resource_name(kmm_resource_of_device(0)), "pool"));
    kmm_torch_record_stream(p, b);
    kmm_torch_record_stream(p, b);
    kmm_torch_free(p, 1000, 0, a);
    kmm_torch_free(NULL, 0, 0, a);
    assert_null(kmm_torch_alloc(0, 0, a));
    assert_null(kmm_torch_alloc(1000, -1, a)); /* the host's memory would be of no use */
    kmm_torch_on_failure(count_failure);
    assert_null(kmm_torch_alloc((ptrdiff_t)1 << 40, 0, a));
    assert_int_equal(failures, 1);
    kmm_torch_on_failure(NULL);
    kmm_cupy_stream(b);
    p = kmm_cupy_alloc(NULL, 4096, 0);
    assert_non_null(p);
    kmm_cupy_stream(NULL);
    kmm_cupy_free(NULL, p, 0);
    assert_null(kmm_cupy_alloc(NULL, SIZE_MAX, 0));
    kmm_resource_usage_t usage;
    assert_int_equal(kmm_resource_usage(kmm_resource_of_device(0), &usage), 0);
    assert_int_equal(usage.live_count, 0);
    kmm_resource_stream_end(kmm_resource_of_device(0), a);
    kmm_resource_stream_end(kmm_resource_of_device(0), b);
    kmm_stream_pool_destroy(streams);
}

/* ---- The end of the process ---- */

static CUresult over_push(CUcontext c)
{
    return (void)c, CUDA_ERROR_DEINITIALIZED;
}
static CUresult over_pop(CUcontext *c)
{
    return (void)c, CUDA_ERROR_DEINITIALIZED;
}
static CUresult over_free(CUdeviceptr p)
{
    return (void)p, CUDA_ERROR_DEINITIALIZED;
}
static CUresult over_record(CUevent e, CUstream s)
{
    return (void)e, (void)s, CUDA_ERROR_DEINITIALIZED;
}
static CUresult over_event(CUevent e)
{
    return (void)e, CUDA_ERROR_DEINITIALIZED;
}
static CUresult over_destroy(CUevent e)
{
    return honest.EventDestroy(e), CUDA_ERROR_DEINITIALIZED;
} /* the fake's own, which nobody else frees */
static CUresult over_mode(int *mode)
{
    return (void)mode, CUDA_ERROR_DEINITIALIZED;
}
static CUresult over_capture(CUstream s, int *status)
{
    return (void)s, (void)status, CUDA_ERROR_DEINITIALIZED;
}

/* Static objects free and destroy after the driver has gone, and its memory with it: no error, and
 * nothing is waited for. */
static void the_driver_goes_first(void **state)
{
    (void)state;
    kmm__driver_t *driver = (kmm__driver_t *)kmm__driver();
    kmm_resource_t *source, *pool;
    kmm_stream_pool_t *streams;
    void *p, *q;
    assert_int_equal(kmm_device_resource_create(0, &source), 0);
    assert_int_equal(kmm_pool_resource_create(source, NULL, &pool), 0);
    assert_int_equal(kmm_stream_pool_create(0, 1, &streams), 0);
    kmm_stream_t s = kmm_stream_pool_next(streams);
    assert_int_equal(kmm_resource_allocate(pool, MIB, 0, s, &p), 0);
    assert_int_equal(kmm_resource_allocate(pool, 4 * MIB, 0, s, &q), 0);
    assert_int_equal(kmm_resource_deallocate(pool, p, MIB, s), 0);
    honest = *driver;
    driver->CtxPushCurrent = over_push;
    driver->CtxPopCurrent = over_pop;
    driver->MemFree = over_free;
    driver->EventRecord = over_record;
    driver->EventQuery = driver->EventSynchronize = over_event;
    driver->EventDestroy = over_destroy;
    driver->ThreadExchangeStreamCaptureMode = over_mode;
    driver->StreamIsCapturing = over_capture;
    assert_int_equal(kmm_resource_deallocate(pool, q, 4 * MIB, s), 0);
    assert_int_equal(kmm_resource_stream_end(pool, s), 0);
    assert_int_equal(kmm_resource_destroy(pool), 0);
    assert_int_equal(kmm_resource_destroy(source), 0);
    *driver = honest;
    kmm_stream_pool_destroy(streams);
}

int main(void)
{
    enum { COUNT = sizeof(subjects) / sizeof(*subjects) };
    const struct CMUnitTest own[] = {
        cmocka_unit_test(there_is_no_such_device),
        cmocka_unit_test(the_driver_runs_out),
        cmocka_unit_test(a_view_of_an_existing_pool),
        cmocka_unit_test(no_more_is_available_than_there_is),
        cmocka_unit_test(a_pool_of_managed_memory),
        cmocka_unit_test(managed_memory_is_prefetched_and_other_memory_not),
        cmocka_unit_test(frames_are_gathered_and_others_keep_what_they_hold),
        cmocka_unit_test(every_call_for_mapping_fails_in_turn),
        cmocka_unit_test(another_device_reaches_mapped_memory),
        cmocka_unit_test(access_is_given_where_something_is_mapped),
        cmocka_unit_test(access_that_fails_can_be_given_again),
        cmocka_unit_test(every_kind_says_who_reaches_it),
        cmocka_unit_test(access_is_given_at_any_time),
        cmocka_unit_test(too_much_is_refused_before_any_frame_is_made),
        cmocka_unit_test(memory_that_cannot_be_mapped),
        cmocka_unit_test(current_resources),
        cmocka_unit_test(current_resources_of_threads),
        cmocka_unit_test(buffers_on_a_stream),
        cmocka_unit_test(another_device_than_the_current_one),
        cmocka_unit_test(frameworks_have_mapped_memory_where_it_will_do),
        cmocka_unit_test(devices_in_use_reach_each_other),
        cmocka_unit_test(memory_used_by_a_stream_of_another_device),
        cmocka_unit_test(a_thread_that_allocates_has_a_context),
        cmocka_unit_test(memory_outlives_its_stream),
        cmocka_unit_test(a_handle_that_is_used_again),
        cmocka_unit_test(a_captured_stream_is_let_alone),
        cmocka_unit_test(frameworks_give_a_graph_nothing),
        cmocka_unit_test(a_graph_has_memory_of_its_own),
        cmocka_unit_test(frameworks_allocate_from_a_pool),
        cmocka_unit_test(the_driver_goes_first),
    };
    struct CMUnitTest tests[COUNT + sizeof(own) / sizeof(*own)];
    const char *loaded = getenv("KMM_TEST_LOADED"); /* as a program has one that is linked with it:
                                                       newer ones are not opened beside it */
    if (loaded && !dlopen(loaded, RTLD_NOW))
        return 2;
    for (int i = 0; i < COUNT; i++)
        tests[i] =
            (struct CMUnitTest){subjects[i].name, conforms, NULL, NULL, (void *)&subjects[i]};
    memcpy(tests + COUNT, own, sizeof(own));
    return cmocka_run_group_tests(tests, NULL, NULL);
}
