/* SPDX-License-Identifier: Apache-2.0 */
/* What each adaptor adds, and buffers, on the host's memory. */
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include <kmm/resource.h>

static kmm_resource_t *host;

static int setup(void **state)
{
    (void)state;
    return kmm_host_resource_create(&host);
}

static int teardown(void **state)
{
    (void)state;
    return kmm_resource_destroy(host);
}

static void *get(kmm_resource_t *r, size_t bytes)
{
    void *p;
    assert_int_equal(kmm_resource_allocate(r, bytes, 0, NULL, &p), 0);
    return p;
}

static void put(kmm_resource_t *r, void *p, size_t bytes)
{
    assert_int_equal(kmm_resource_deallocate(r, p, bytes, NULL), 0);
}

static void limiting(void **state)
{
    (void)state;
    kmm_resource_t *r;
    void *none;
    size_t available, total;
    assert_int_equal(kmm_limiting_resource_create(host, 1024, &r), 0);
    void *a = get(r, 257), *b = get(r, 512); /* 512 each */
    assert_int_equal(kmm_resource_allocate(r, 1, 0, NULL, &none), KMM_E_MEMORY);
    assert_int_equal(kmm_resource_memory_info(r, &available, &total), 0);
    assert_int_equal(available, 0);
    assert_int_equal(total, 1024);
    assert_int_equal(kmm_resource_deallocate(r, a, 999, NULL),
                     KMM_E_INVALID); /* frees nothing of the limit */
    assert_int_equal(kmm_resource_allocate(r, 1, 0, NULL, &none), KMM_E_MEMORY);
    put(r, a, KMM_SIZE_RECORDED);
    put(r, b, 512);
    a = get(r, 1024);
    put(r, a, 1024);
    assert_int_equal(kmm_resource_destroy(r), 0);
}

static int fail_code;
static size_t seen_bytes; /* of the last call: alignment shows in them */

static int failing_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)context, (void)stream;
    seen_bytes = bytes;
    return fail_code ? fail_code : posix_memalign(out, 256, bytes) ? KMM_E_MEMORY : 0;
}

static int failing_deallocate(void *context, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)context, (void)bytes, (void)stream;
    free(p);
    return 0;
}

static const kmm_callback_options_t failing = {
    .allocate = failing_allocate, .deallocate = failing_deallocate, .device = -1};

/* What upstream refuses does not count against a limit, nor in statistics, and leaves nothing that
 * is outstanding. */
static void what_upstream_refuses_is_not_counted(void **state)
{
    (void)state;
    kmm_resource_t *source, *limit, *counted, *r;
    kmm_statistics_t s;
    void *p;
    assert_int_equal(kmm_callback_resource_create(&failing, &source), 0);
    assert_int_equal(kmm_limiting_resource_create(source, 1024, &limit), 0);
    assert_int_equal(kmm_statistics_resource_create(limit, &counted), 0);
    assert_int_equal(kmm_tracking_resource_create(counted, KMM_TRACK_POINTERS, &r), 0);
    for (int i = 0; i < 10; i++) {
        fail_code = i % 2 ? KMM_E_MEMORY : KMM_E_DEVICE;
        assert_int_equal(kmm_resource_allocate(r, 1000, 0, NULL, &p), fail_code);
    }
    fail_code = 0;
    assert_int_equal(kmm_statistics_get(counted, &s), 0);
    assert_true(s.bytes.current == 0 && s.bytes.peak == 0 && s.count.total == 0);
    assert_int_equal(kmm_tracking_outstanding(r, NULL, 0), 0);
    put(r, get(r, 1024), 1024);
    assert_int_equal(kmm_resource_destroy(r), 0);
    assert_int_equal(kmm_resource_destroy(counted), 0);
    assert_int_equal(kmm_resource_destroy(limit), 0);
    assert_int_equal(kmm_resource_destroy(source), 0);
}

static void aligned(void **state)
{
    (void)state;
    kmm_resource_t *r, *pool; /* a pool puts small blocks side by side, whatever malloc does */
    assert_int_equal(kmm_aligned_resource_create(host, 48, 0, &r), KMM_E_INVALID);
    assert_int_equal(kmm_aligned_resource_create(host, 0, 0, &r), KMM_E_INVALID);
    assert_int_equal(kmm_pool_resource_create(host, NULL, &pool), 0);
    assert_int_equal(kmm_aligned_resource_create(pool, 8192, 1000, &r), 0);
    int above = 0;
    for (int i = 0; i < 50; i++) {
        void *large = get(r, 1000), *small = get(r, 999);
        assert_int_equal((uintptr_t)large % 8192, 0);
        above += (uintptr_t)small % 8192 != 0;
        put(r, large, 1000);
        put(r, small, 999);
    }
    assert_true(above > 0); /* small ones are left alone */
    assert_int_equal(kmm_resource_destroy(r), 0);
    assert_int_equal(kmm_resource_destroy(pool), 0);
}

static void logging(void **state)
{
    (void)state;
    char path[] = "/tmp/kmm-log-XXXXXX", line[256], action[32];
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    kmm_resource_t *limit, *r;
    void *none;
    assert_int_equal(kmm_logging_resource_create(host, "/nowhere/at/all", &r), KMM_E_IO);
    assert_int_equal(kmm_limiting_resource_create(host, 4096, &limit), 0);
    assert_int_equal(kmm_logging_resource_create(limit, path, &r), 0);
    void *p = get(r, 100);
    assert_int_equal(kmm_resource_allocate(r, 5000, 0, (kmm_stream_t)0x20, &none), KMM_E_MEMORY);
    assert_int_equal(kmm_resource_deallocate(r, p, 99, NULL), KMM_E_INVALID); /* no line */
    put(r, p, KMM_SIZE_RECORDED);
    assert_int_equal(kmm_logging_flush(r), 0);
    assert_int_equal(kmm_logging_flush(limit), KMM_E_INVALID);
    FILE *file = fopen(path, "r");
    assert_string_equal(fgets(line, sizeof(line), file),
                        "Thread,Time,Action,Pointer,Size,Stream\n");
    const struct {
        const char *action;
        size_t bytes, stream;
        void *p;
    } want[] = {
        {"allocate", 100, 0, p},
        {"allocate failure", 5000, 0x20, NULL},
        {"free", 100, 0, p},
    };
    for (int i = 0; i < 3; i++) {
        long thread;
        int hour, minute;
        double second;
        size_t pointer, bytes, stream;
        assert_non_null(fgets(line, sizeof(line), file));
        assert_int_equal(sscanf(line, "%ld,%d:%d:%lf,%31[^,],0x%zx,%zu,0x%zx", &thread, &hour,
                                &minute, &second, action, &pointer, &bytes, &stream),
                         8);
        assert_string_equal(action, want[i].action);
        assert_int_equal(pointer, (size_t)want[i].p);
        assert_int_equal(bytes, want[i].bytes);
        assert_int_equal(stream, want[i].stream);
    }
    assert_null(fgets(line, sizeof(line), file));
    fclose(file);
    unlink(path);
    assert_int_equal(kmm_resource_destroy(r), 0);
    assert_int_equal(kmm_resource_destroy(limit), 0);
}

static void statistics(void **state)
{
    (void)state;
    kmm_resource_t *r;
    kmm_statistics_t s;
    assert_int_equal(kmm_statistics_resource_create(host, &r), 0);
    void *a = get(r, 1000), *b = get(r, 500);
    put(r, a, 1000);
    assert_int_equal(kmm_statistics_push(r), 0);
    void *c = get(r, 2000);
    put(r, b, KMM_SIZE_RECORDED);
    assert_int_equal(kmm_statistics_get(r, &s), 0);
    assert_int_equal(s.bytes.current, 1500);
    assert_int_equal(s.bytes.peak, 2000);
    assert_int_equal(s.count.total, 1);
    assert_int_equal(kmm_statistics_pop(r, &s), 0);
    assert_int_equal(s.bytes.total, 2000);
    assert_int_equal(kmm_statistics_get(r, &s), 0);
    assert_int_equal(s.bytes.current, 2000);
    assert_int_equal(s.bytes.peak, 2500); /* 500 before the scope and 2000 in it */
    assert_int_equal(s.bytes.total, 3500);
    assert_int_equal(s.count.current, 1);
    assert_int_equal(s.count.total, 3);
    assert_int_equal(kmm_statistics_pop(r, NULL), KMM_E_STATE);
    for (int i = 0; i < 20; i++)
        assert_int_equal(kmm_statistics_push(r), 0);
    for (int i = 0; i < 20; i++)
        assert_int_equal(kmm_statistics_pop(r, NULL), 0);
    put(r, c, 2000);
    assert_int_equal(kmm_statistics_get(host, &s), KMM_E_INVALID);
    assert_int_equal(kmm_resource_destroy(r), 0);
}

/* A scope that frees more than it allocates ends below nothing, and its peak is nothing. */
static void statistics_of_a_scope_that_frees(void **state)
{
    (void)state;
    kmm_resource_t *r;
    kmm_statistics_t s;
    assert_int_equal(kmm_statistics_resource_create(host, &r), 0);
    void *a = get(r, 1000), *b = get(r, 500);
    assert_int_equal(kmm_statistics_push(r), 0);
    put(r, a, 1000);
    assert_int_equal(kmm_statistics_push(r), 0);
    put(r, b, 500);
    assert_int_equal(kmm_statistics_pop(r, &s), 0);
    assert_true(s.bytes.current == -500 && s.bytes.peak == 0 && s.bytes.total == 0 &&
                s.count.current == -1);
    a = get(r, 1200);
    assert_int_equal(kmm_statistics_pop(r, &s), 0);
    assert_true(s.bytes.current == -300 && s.bytes.peak == 0 && s.bytes.total == 1200);
    assert_int_equal(kmm_statistics_get(r, &s), 0);
    assert_true(s.bytes.current == 1200 && s.bytes.peak == 1500 && s.bytes.total == 2700);
    put(r, a, 1200);
    assert_int_equal(kmm_resource_destroy(r), 0);
}

enum { SCOPES = 500 };
static void *count_in_scopes(void *argument)
{
    kmm_resource_t *r = argument;
    for (int i = 0; i < SCOPES; i++) {
        kmm_statistics_t s;
        assert_int_equal(kmm_statistics_push(r), 0);
        put(r, get(r, 100), 100);
        assert_int_equal(kmm_statistics_pop(r, &s), 0);
    }
    return NULL;
}

/* Scopes are the resource's, so threads share them; whoever pops, nothing is lost. */
static void statistics_of_threads(void **state)
{
    (void)state;
    enum { THREADS = 4 };
    kmm_resource_t *r;
    kmm_statistics_t s;
    pthread_t threads[THREADS];
    assert_int_equal(kmm_statistics_resource_create(host, &r), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_in_scopes, r), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(kmm_statistics_pop(r, NULL), KMM_E_STATE);
    assert_int_equal(kmm_statistics_get(r, &s), 0);
    assert_int_equal(s.count.total, THREADS * SCOPES);
    assert_int_equal(s.bytes.total, THREADS * SCOPES * 100);
    assert_true(s.bytes.current == 0 && s.count.current == 0);
    assert_true(s.count.peak >= 1 && s.count.peak <= THREADS);
    assert_int_equal(kmm_resource_destroy(r), 0);
}

__attribute__((noinline)) static void *allocate_here(kmm_resource_t *r)
{
    return get(r, 77);
}

static void tracking(void **state)
{
    (void)state;
    kmm_resource_t *r;
    kmm_tracked_t t[4];
    char text[4096] = "";
    assert_int_equal(kmm_tracking_resource_create(host, KMM_TRACK_STACKS, &r), 0);
    void *a = get(r, 10), *b = allocate_here(r), *c = get(r, 30);
    put(r, a, 10);
    assert_int_equal(kmm_tracking_outstanding(r, t, 4), 2);
    assert_ptr_equal(t[0].p, b);
    assert_int_equal(t[0].bytes, 77);
    assert_true(t[0].depth >= 3);
    assert_ptr_equal(t[1].p, c);
    assert_int_equal(kmm_tracking_outstanding(r, NULL, 0), 2);
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    assert_int_equal(kmm_tracking_print(r, fds[1]), 0);
    assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
    assert_non_null(strstr(text, "77 bytes"));
    close(fds[0]);
    close(fds[1]);
    assert_int_equal(kmm_resource_deallocate(r, a, 10, NULL), KMM_E_ADDRESS);
    assert_int_equal(kmm_resource_deallocate(r, b, 78, NULL), KMM_E_INVALID);
    put(r, b, 77);
    assert_int_equal(kmm_resource_destroy(r), KMM_E_STATE);
    put(host, c, 30);
}

static int calls;
static void *reserve;

static bool give_reserve(void *context, size_t bytes)
{
    assert_ptr_equal(context, &calls);
    assert_true(bytes == 4000 || bytes == 9000);
    calls++;
    if (!reserve)
        return false;
    free(reserve);
    reserve = NULL;
    return true;
}

static int scarce_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)context, (void)stream;
    if (reserve)
        return KMM_E_MEMORY;
    return bytes > 8000 ? KMM_E_MEMORY : posix_memalign(out, 256, bytes) ? KMM_E_MEMORY : 0;
}
static int scarce_deallocate(void *context, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)context, (void)bytes, (void)stream;
    free(p);
    return 0;
}

static void failure(void **state)
{
    (void)state;
    kmm_resource_t *scarce, *r;
    void *p;
    const kmm_callback_options_t o = {
        .allocate = scarce_allocate, .deallocate = scarce_deallocate, .device = -1};
    assert_int_equal(kmm_callback_resource_create(&o, &scarce), 0);
    assert_int_equal(kmm_failure_resource_create(scarce, give_reserve, &calls, &r), 0);
    reserve = malloc(100);
    p = get(r, 4000); /* fails once, the function makes room */
    assert_int_equal(calls, 1);
    put(r, p, 4000);
    assert_int_equal(kmm_resource_allocate(r, 9000, 0, NULL, &p), KMM_E_MEMORY); /* it gives up */
    assert_int_equal(calls, 2);
    assert_int_equal(kmm_resource_destroy(r), 0);
    assert_int_equal(kmm_resource_destroy(scarce), 0);
}

typedef struct cache {
    kmm_resource_t *r;
    void *kept[4];
    int calls;
} cache_t;

/* Makes room through the very resource that has none, as programs with a cache of their own do. */
static bool evict(void *context, size_t bytes)
{
    cache_t *c = context;
    void *small;
    (void)bytes;
    c->calls++;
    for (int i = 0; i < 4; i++)
        if (c->kept[i]) {
            put(c->r, c->kept[i], 300);
            c->kept[i] = NULL;
            assert_int_equal(kmm_resource_allocate(c->r, 1, 0, NULL, &small), 0);
            put(c->r, small, 1);
            return true;
        }
    return false;
}

static void a_failure_function_uses_its_resource(void **state)
{
    (void)state;
    kmm_resource_t *limit;
    cache_t c = {0};
    void *p;
    assert_int_equal(kmm_limiting_resource_create(host, 2048, &limit), 0);
    assert_int_equal(kmm_failure_resource_create(limit, evict, &c, &c.r), 0);
    for (int i = 0; i < 4; i++)
        c.kept[i] = get(c.r, 300);
    p = get(c.r, 1500);
    assert_int_equal(c.calls, 3);
    put(c.r, p, 1500);
    put(c.r, c.kept[3], 300);
    assert_int_equal(kmm_resource_destroy(c.r), 0);
    assert_int_equal(kmm_resource_destroy(limit), 0);
}

/* A failure that more room cannot cure is not asked about; what is tried again is the same request.
 */
static void failures_of_other_kinds(void **state)
{
    (void)state;
    kmm_resource_t *source, *r;
    void *p;
    int asked = calls;
    assert_int_equal(kmm_callback_resource_create(&failing, &source), 0);
    assert_int_equal(kmm_failure_resource_create(source, give_reserve, &calls, &r), 0);
    fail_code = KMM_E_DEVICE;
    assert_int_equal(kmm_resource_allocate(r, 4000, 0, NULL, &p), KMM_E_DEVICE);
    assert_int_equal(calls, asked);
    fail_code = KMM_E_MEMORY;
    reserve = malloc(100);
    assert_int_equal(kmm_resource_allocate(r, 4000, 1 << 20, NULL, &p), KMM_E_MEMORY);
    assert_int_equal(calls, asked + 2); /* it made room once, and had none the second time */
    assert_int_equal(seen_bytes, 4000 + (1 << 20) - 256);
    fail_code = 0;
    assert_int_equal(kmm_resource_destroy(r), 0);
    assert_int_equal(kmm_resource_destroy(source), 0);
}

/* ---- One call at a time ---- */

static _Atomic int inside, most_inside;
static int slow_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)context, (void)stream;
    int now = atomic_fetch_add(&inside, 1) + 1;
    if (now > most_inside)
        most_inside = now;
    sched_yield();
    int error = posix_memalign(out, 256, bytes);
    atomic_fetch_sub(&inside, 1);
    return error ? KMM_E_MEMORY : 0;
}

static int slow_deallocate(void *context, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)context, (void)bytes, (void)stream;
    int now = atomic_fetch_add(&inside, 1) + 1;
    if (now > most_inside)
        most_inside = now;
    sched_yield();
    free(p);
    atomic_fetch_sub(&inside, 1);
    return 0;
}

static void *use_often(void *r)
{
    void *p;
    size_t wrong = 0;
    for (int i = 0; i < 2000; i++)
        wrong +=
            kmm_resource_allocate(r, 100, 0, NULL, &p) || kmm_resource_deallocate(r, p, 100, NULL);
    return (void *)wrong;
}

static void thread_safe(void **state)
{
    (void)state;
    kmm_resource_t *slow, *r;
    pthread_t threads[4];
    void *wrong;
    const kmm_callback_options_t o = {
        .allocate = slow_allocate, .deallocate = slow_deallocate, .device = -1};
    assert_int_equal(kmm_callback_resource_create(&o, &slow), 0);
    assert_int_equal(kmm_thread_safe_resource_create(slow, &r), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use_often, r), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], &wrong);
        assert_null(wrong);
    }
    assert_int_equal(most_inside, 1);
    assert_int_equal(kmm_resource_destroy(r), 0);
    assert_int_equal(kmm_resource_destroy(slow), 0);
}

/* ---- Owning ---- */

static int taken_count;
static int counted_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)context, (void)stream;
    taken_count++;
    return posix_memalign(out, 256, bytes) ? KMM_E_MEMORY : 0;
}

static int counted_deallocate(void *context, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)context, (void)bytes, (void)stream;
    taken_count--;
    free(p);
    return 0;
}

static void owning(void **state)
{
    (void)state;
    kmm_resource_t *source, *pool, *statistics, *r;
    const kmm_callback_options_t o = {
        .allocate = counted_allocate, .deallocate = counted_deallocate, .device = -1};
    assert_int_equal(kmm_callback_resource_create(&o, &source), 0);
    assert_int_equal(
        kmm_pool_resource_create(source, &(kmm_pool_options_t){.initial_bytes = 1 << 20}, &pool),
        0);
    assert_int_equal(kmm_statistics_resource_create(pool, &statistics), 0);
    assert_int_equal(
        kmm_owning_resource_create(statistics, (kmm_resource_t *[]){pool, source}, 2, &r), 0);
    put(r, get(r, 1000), 1000);
    assert_int_equal(taken_count, 1); /* the pool's region */
    void *left = get(r, 1000);
    assert_non_null(left);
    assert_int_equal(kmm_resource_destroy(r),
                     KMM_E_STATE); /* what is left is reported by whoever owns it */
    assert_int_equal(taken_count, 0);
}

static void callbacks_are_checked(void **state)
{
    (void)state;
    kmm_resource_t *r;
    kmm_callback_options_t o = {.allocate = scarce_allocate};
    assert_int_equal(kmm_callback_resource_create(&o, &r), KMM_E_INVALID);
    o.deallocate = scarce_deallocate;
    o.alignment = 24;
    assert_int_equal(kmm_callback_resource_create(&o, &r), KMM_E_INVALID);
    o.alignment = 0;
    const kmm_stream_order_t empty = {0};
    o.order = &empty;
    assert_int_equal(kmm_callback_resource_create(&o, &r), KMM_E_INVALID);
    assert_int_equal(kmm_callback_resource_create(NULL, &r), KMM_E_INVALID);
}

/* A program's function that does what `odd` says. */
typedef enum odd_way { ODD_NO, ODD_POSITIVE, ODD_ADDRESS, ODD_SILENT } odd_way_t;
static odd_way_t odd;
static int odd_live;

static int odd_allocate(void *context, size_t bytes, kmm_stream_t stream, void **out)
{
    (void)context, (void)stream;
    if (odd == ODD_POSITIVE)
        return 2; /* as CUDA's own numbers are */
    if (odd == ODD_SILENT)
        return 0;
    char *p = aligned_alloc(256, (bytes + 511) & ~(size_t)255);
    odd_live++;
    *out = odd == ODD_ADDRESS ? p + 8 : p;
    return 0;
}

static int odd_deallocate(void *context, void *p, size_t bytes, kmm_stream_t stream)
{
    (void)context, (void)bytes, (void)stream;
    free((void *)((uintptr_t)p & ~(uintptr_t)255));
    odd_live--;
    return odd == ODD_POSITIVE ? 2 : 0;
}

static int odd_info(void *context, size_t *available, size_t *total)
{
    (void)context;
    *available = *total = 1;
    return odd == ODD_POSITIVE ? 2 : 0;
}

static void callbacks_may_be_odd(void **state)
{
    (void)state;
    const kmm_callback_options_t o = {.allocate = odd_allocate,
                                      .deallocate = odd_deallocate,
                                      .memory_info = odd_info,
                                      .device = -1};
    kmm_resource_t *r;
    void *p;
    size_t available, total;
    assert_int_equal(kmm_callback_resource_create(&o, &r), 0);
    put(r, get(r, 100), 100);
    for (odd = ODD_POSITIVE; odd <= ODD_SILENT; odd++) {
        assert_int_equal(kmm_resource_allocate(r, 100, 0, NULL, &p), KMM_E_DEVICE);
        assert_null(p);
        assert_int_equal(odd_live, 0);
    }
    odd = ODD_NO;
    p = get(r, 100);
    odd = ODD_POSITIVE;
    assert_int_equal(kmm_resource_deallocate(r, p, 100, NULL), KMM_E_DEVICE);
    assert_int_equal(kmm_resource_memory_info(r, &available, &total), KMM_E_DEVICE);
    assert_int_equal(kmm_resource_destroy(r), 0);
}

static void nothing_is_built_on_nothing(void **state)
{
    (void)state;
    kmm_resource_t *r;
    assert_int_equal(kmm_pool_resource_create(NULL, NULL, &r), KMM_E_INVALID);
    assert_int_equal(kmm_arena_resource_create(NULL, NULL, &r), KMM_E_INVALID);
    assert_int_equal(kmm_fixed_size_resource_create(NULL, NULL, &r), KMM_E_INVALID);
    assert_int_equal(kmm_binning_resource_create(NULL, &r), KMM_E_INVALID);
    assert_int_equal(kmm_limiting_resource_create(NULL, 1, &r), KMM_E_INVALID);
    assert_int_equal(kmm_logging_resource_create(host, NULL, &r), KMM_E_INVALID);
    assert_int_equal(kmm_tracking_resource_create(NULL, KMM_TRACK_POINTERS, &r), KMM_E_INVALID);
    assert_int_equal(kmm_failure_resource_create(host, NULL, NULL, &r), KMM_E_INVALID);
    assert_int_equal(kmm_owning_resource_create(NULL, NULL, 0, &r), KMM_E_INVALID);
    assert_int_equal(kmm_resource_allocate(NULL, 1, 0, NULL, (void **)&r), KMM_E_INVALID);
    assert_int_equal(kmm_resource_destroy(NULL), 0);
    assert_int_equal(kmm_pool_resource_create(
                         host, &(kmm_pool_options_t){.initial_bytes = 2, .maximum_bytes = 1}, &r),
                     KMM_E_INVALID);
}

static void a_numa_node(void **state)
{
    (void)state;
    kmm_resource_t *r;
    void *p;
    assert_int_equal(kmm_numa_resource_create(-1, &r), KMM_E_NO_DEVICE);
    assert_int_equal(kmm_numa_resource_create(1000, &r), KMM_E_NO_DEVICE);
    assert_int_equal(kmm_numa_resource_create(0, &r), 0);
    int status = kmm_resource_allocate(r, 100000, 65536, NULL, &p);
    if (status == 0) {
        assert_int_equal((uintptr_t)p % 65536, 0);
        memset(p, 1, 100000);
        put(r, p, 100000);
    } else {
        assert_int_equal(status, KMM_E_DEVICE); /* a container may forbid binding */
    }
    assert_int_equal(kmm_resource_destroy(r), 0);
}

static void host_is_current(void **state)
{
    (void)state;
    kmm_resource_t *first = kmm_resource_of_device(-1), *old;
    if (kmm_resource_device(kmm_resource_current()) >= 0)
        skip(); /* there are devices */
    assert_ptr_equal(kmm_resource_current(), first);
    assert_int_equal(kmm_resource_set_current(host, &old), 0);
    assert_ptr_equal(old, first);
    assert_ptr_equal(kmm_resource_current(), host);
    assert_int_equal(kmm_resource_set_of_device(-1, NULL, NULL), 0);
    assert_ptr_equal(kmm_resource_current(), first);
    assert_null(kmm_resource_of_device(-2));
}

static void buffers(void **state)
{
    (void)state;
    kmm_buffer_t b;
    char back[8] = "";
    assert_int_equal(kmm_buffer_init_copy(&b, "abcdef", 7, NULL, host), 0);
    assert_int_equal(kmm_buffer_reserve(&b, 1000, NULL), 0);
    assert_int_equal(b.bytes, 7);
    assert_int_equal(b.capacity, 1000);
    void *before = b.data;
    assert_int_equal(kmm_buffer_resize(&b, 900, NULL), 0);
    assert_ptr_equal(b.data, before);
    assert_int_equal(kmm_buffer_resize(&b, 3, NULL), 0);
    assert_int_equal(kmm_buffer_shrink(&b, NULL), 0);
    assert_int_equal(b.capacity, 3);
    assert_int_equal(kmm_buffer_read(&b, 0, back, 3), 0);
    assert_string_equal(back, "abc");
    assert_int_equal(kmm_buffer_read(&b, 1, back, 3), KMM_E_RANGE);
    assert_int_equal(kmm_buffer_write(&b, SIZE_MAX, back, 2), KMM_E_RANGE);
    assert_int_equal(kmm_buffer_fill(&b, 1, 'x', 2), 0);
    assert_int_equal(kmm_buffer_read(&b, 0, back, 3), 0);
    assert_string_equal(back, "axx");
    assert_int_equal(kmm_buffer_resize(&b, SIZE_MAX, NULL), KMM_E_MEMORY);
    assert_int_equal(b.bytes, 3);
    assert_int_equal(kmm_buffer_resize(&b, 0, NULL), 0);
    assert_int_equal(kmm_buffer_shrink(&b, NULL), 0);
    assert_null(b.data);
    assert_int_equal(kmm_buffer_resize(&b, 5, NULL), 0);
    assert_int_equal(kmm_buffer_deinit(&b), 0);
    assert_int_equal(kmm_buffer_deinit(&b), 0);
}

static void vectors_and_scalars(void **state)
{
    (void)state;
    kmm_vector_t v;
    int64_t x = 42, y = 0;
    assert_int_equal(kmm_vector_init(&v, 0, 5, NULL, host), KMM_E_INVALID);
    assert_int_equal(kmm_vector_init(&v, 8, SIZE_MAX / 4, NULL, host), KMM_E_MEMORY);
    assert_int_equal(kmm_vector_init(&v, sizeof(x), 3, NULL, host), 0);
    assert_int_equal(kmm_vector_set(&v, 2, &x), 0);
    assert_int_equal(kmm_vector_resize(&v, 1000, NULL), 0);
    assert_int_equal(kmm_vector_get(&v, 2, &y), 0);
    assert_int_equal(y, 42);
    assert_int_equal(kmm_vector_get(&v, 1000, &y), KMM_E_RANGE);
    assert_int_equal(kmm_vector_set(&v, 0, NULL), KMM_E_INVALID);
    assert_int_equal(kmm_vector_deinit(&v), 0);
    kmm_scalar_t s;
    assert_int_equal(kmm_scalar_init(&s, &x, sizeof(x), NULL, host), 0);
    x = 43;
    assert_int_equal(kmm_scalar_set(&s, &x), 0);
    assert_int_equal(kmm_scalar_get(&s, &y), 0);
    assert_int_equal(y, 43);
    assert_int_equal(kmm_scalar_deinit(&s), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limiting),
        cmocka_unit_test(what_upstream_refuses_is_not_counted),
        cmocka_unit_test(aligned),
        cmocka_unit_test(logging),
        cmocka_unit_test(statistics),
        cmocka_unit_test(statistics_of_a_scope_that_frees),
        cmocka_unit_test(statistics_of_threads),
        cmocka_unit_test(tracking),
        cmocka_unit_test(failure),
        cmocka_unit_test(a_failure_function_uses_its_resource),
        cmocka_unit_test(failures_of_other_kinds),
        cmocka_unit_test(thread_safe),
        cmocka_unit_test(owning),
        cmocka_unit_test(callbacks_are_checked),
        cmocka_unit_test(callbacks_may_be_odd),
        cmocka_unit_test(nothing_is_built_on_nothing),
        cmocka_unit_test(a_numa_node),
        cmocka_unit_test(host_is_current),
        cmocka_unit_test(buffers),
        cmocka_unit_test(vectors_and_scalars),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
