/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CUDA and HIP backends on the fake drivers: KMM_TEST_DRIVER says which (cuda, hip, or
 * hip_whole, which cannot map memory in parts), and LD_LIBRARY_PATH where it is.
 */
#include <dlfcn.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "backend/backend.h"
#include "base/spin.h"
#include "fake_gpu.h"

enum { FRAME = 4 << 20, FRAMES = 4 };

typedef struct fixture {
    kmm__backend_t *b;
    kmm__gpu_t *gpu, *peer;
    kmm__stream_t *s;
    kmm__addr_t window;
    kmm__frame_handle_t frame[FRAMES];
    bool lost; /* the device is, and says so to the end */
} fixture_t;

static const char *driver(void)
{
    const char *text = getenv("KMM_TEST_DRIVER");
    return text ? text : "cuda";
}

static bool is_hip(void)
{
    return driver()[0] == 'h';
}
static bool is_whole(void)
{
    return !strcmp(driver(), "hip_whole");
}

static int create(kmm__backend_t **out, const char **reason)
{
    return is_hip() ? kmm__hip_backend_create(out, reason) : kmm__cuda_backend_create(out, reason);
}

static fixture_t open_fixture(const char *fail)
{
    fixture_t f = {0};
    const char *reason = "";
    if (fail)
        setenv("KMM_FAKE_FAIL", fail, 1);
    else
        unsetenv("KMM_FAKE_FAIL");
    if (create(&f.b, &reason))
        fail_msg("%s", reason);
    assert_int_equal(f.b->count(f.b), 2);
    assert_int_equal(f.b->open(f.b, 0, &f.gpu), 0);
    assert_int_equal(f.b->open(f.b, 1, &f.peer), 0);
    assert_int_equal(f.b->stream_create(f.gpu, &f.s), 0);
    if (is_whole()) /* one frame is the window */
        assert_int_equal(f.b->frame_create(f.gpu, FRAMES * FRAME, &f.window), 0);
    else
        assert_int_equal(f.b->window_reserve(f.gpu, FRAMES * FRAME, &f.window), 0);
    return f;
}

static void map_frames(fixture_t *f, int count)
{
    for (int k = 0; k < count && !is_whole(); k++) {
        assert_int_equal(f->b->frame_create(f->gpu, FRAME, &f->frame[k]), 0);
        assert_int_equal(
            f->b->frame_map(f->gpu, f->window + (uint64_t)k * FRAME, f->frame[k], FRAME), 0);
    }
}

static void close_fixture(fixture_t *f)
{
    for (int k = 0; k < FRAMES; k++)
        if (f->frame[k]) {
            assert_int_equal(f->b->frame_unmap(f->gpu, f->window + (uint64_t)k * FRAME, FRAME),
                             f->lost ? KMM_E_KERNEL : 0);
            f->b->frame_destroy(f->gpu, f->frame[k], FRAME);
        }
    if (is_whole())
        f->b->frame_destroy(f->gpu, f->window, FRAMES * FRAME);
    else
        f->b->window_release(f->gpu, f->window, FRAMES * FRAME);
    f->b->stream_destroy(f->s);
    f->b->close(f->peer);
    f->b->close(f->gpu);
    f->b->unload(f->b);
}

typedef struct waiter {
    sem_t done;
    int status;
    char text[256];
    kmm__backend_t *b;
} waiter_t;

static void wake(void *arg, int status)
{
    waiter_t *w = arg;
    w->status = status;
    snprintf(w->text, sizeof(w->text), "%s", w->b->error_text(w->b));
    sem_post(&w->done);
}

static int drain(fixture_t *f, kmm__stream_t *s, char text[256])
{
    waiter_t w = {.b = f->b};
    sem_init(&w.done, 0, 0);
    int error = f->b->notify(s, wake, &w);
    if (error)
        return error;
    while (sem_wait(&w.done))
        ;
    if (text)
        memcpy(text, w.text, sizeof(w.text));
    return w.status;
}

static kmm__copy_t to_device(fixture_t *f, uint64_t offset, const void *src, int64_t bytes)
{
    return (kmm__copy_t){.dst_gpu = f->gpu,
                         .dst = f->window + offset,
                         .src = (kmm__addr_t)(uintptr_t)src,
                         .width = bytes,
                         .rows = 1};
}

static kmm__copy_t to_host(fixture_t *f, void *dst, uint64_t offset, int64_t bytes)
{
    return (kmm__copy_t){.src_gpu = f->gpu,
                         .src = f->window + offset,
                         .dst = (kmm__addr_t)(uintptr_t)dst,
                         .width = bytes,
                         .rows = 1};
}

/* ---- Tests ---- */

static void no_device_is_said(void **state)
{
    (void)state;
    kmm__backend_t *b;
    const char *reason = NULL;
    setenv("KMM_FAKE_DEVICES", "0", 1);
    assert_int_equal(create(&b, &reason), KMM_E_NO_DEVICE);
    assert_string_equal(
        reason, is_hip() ? "hipInit: hipErrorNoDevice (no ROCm-capable device is detected)"
                         : "cuInit: CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)");
    unsetenv("KMM_FAKE_DEVICES");
}

static void a_device_describes_itself(void **state)
{
    (void)state;
    fixture_t f = open_fixture(NULL);
    kmm__gpu_info_t info;
    kmm__gpu_t *none;
    map_frames(&f, 1);
    f.b->info(f.gpu, &info);
    assert_string_equal(info.name, "Fake GPU 0");
    assert_int_equal(info.memory_total, 256 << 20);
    assert_int_equal(info.memory_free, (256 << 20) - FRAME * (is_whole() ? FRAMES : 1));
    assert_int_equal(info.granularity, is_whole() ? 4096 : 2 << 20);
    assert_int_equal(info.whole, is_whole());
    assert_int_equal(f.b->open(f.b, 2, &none), KMM_E_DEVICE);
    assert_non_null(strstr(f.b->error_text(f.b),
                           is_hip() ? "hipErrorInvalidDevice" : "CUDA_ERROR_INVALID_DEVICE"));
    close_fixture(&f);
}

static void copies_cross_frames(void **state)
{
    (void)state;
    fixture_t f = open_fixture(NULL);
    map_frames(&f, 2);
    unsigned char *in = malloc(2 * FRAME), *out = calloc(2, FRAME);
    for (int k = 0; k < 2 * FRAME; k++)
        in[k] = (unsigned char)(k * 31 + k / 257);
    assert_int_equal(f.b->host_register(f.b, in, 2 * FRAME), 0);
    assert_int_equal(f.b->host_register(f.b, in, 2 * FRAME), KMM_E_STATE);
    kmm__copy_t up = to_device(&f, 0, in, 2 * FRAME), down = to_host(&f, out, 0, 2 * FRAME);
    assert_int_equal(f.b->copy(f.s, &up), 0);
    assert_int_equal(f.b->fill(f.s, f.window + FRAME - 5, 7, 10), 0);
    assert_int_equal(f.b->copy(f.s, &down), 0);
    assert_int_equal(drain(&f, f.s, NULL), 0);
    memset(in + FRAME - 5, 7, 10);
    assert_memory_equal(in, out, 2 * FRAME);
    assert_int_equal(f.b->host_unregister(f.b, in), 0);
    free(in);
    free(out);
    close_fixture(&f);
}

static void check_rows(fixture_t *f, int64_t width, int64_t rows, int64_t pitch)
{
    size_t bytes = (size_t)(rows * pitch);
    unsigned char *in = malloc(bytes + 1), *out = malloc(bytes + 1);
    for (size_t k = 0; k < bytes; k++)
        in[k] = (unsigned char)(k * 13 + 1);
    memset(out, 0, bytes + 1);
    kmm__copy_t up = to_device(f, 0, in, width), down = to_host(f, out, 0, width);
    up.rows = down.rows = rows;
    up.src_pitch = down.dst_pitch = pitch;
    up.dst_pitch = down.src_pitch = width + 3;
    assert_int_equal(f->b->copy(f->s, &up), 0);
    assert_int_equal(f->b->copy(f->s, &down), 0);
    assert_int_equal(drain(f, f->s, NULL), 0);
    for (size_t k = 0; k < bytes; k++)
        assert_int_equal(out[k], (int64_t)k % pitch < width ? in[k] : 0);
    free(in);
    free(out);
}

static void rows_are_copied_at_any_pitch(void **state)
{
    (void)state;
    fixture_t f = open_fixture(NULL);
    map_frames(&f, 1);
    check_rows(&f, 100, 50, 128);
    check_rows(&f, 64, 3, 64);
    check_rows(&f, 1, 1, 1);
    check_rows(&f, 16, 0, 16);
    check_rows(&f, 0, 4, 16);
    check_rows(&f, 100, 3, (1 << 20) + 8); /* more than the fake's largest pitch: row by row */
    close_fixture(&f);
}

/* Rows with their pitch begin in one frame and end in the next, which HIP refuses to copy: by bytes
 * of a row, between two and with a row that ends where the frame does. */
static void rows_cross_a_border_of_frames(void **state)
{
    (void)state;
    enum { WIDTH = 100, PITCH = 160, ROWS = 4 };
    static const int offsets[] = {FRAME - 50, FRAME - PITCH - 120, FRAME - WIDTH,
                                  FRAME - (ROWS - 1) * PITCH - WIDTH, FRAME};
    fixture_t f = open_fixture(NULL);
    map_frames(&f, 2);
    char in[ROWS * PITCH], out[ROWS * PITCH];
    for (int k = 0; k < 5; k++) {
        memset(out, 0, sizeof(out));
        for (size_t i = 0; i < sizeof(in); i++)
            in[i] = i % PITCH < WIDTH ? (char)(i * 7 + (size_t)k) : 0;
        kmm__copy_t up = to_device(&f, (uint64_t)offsets[k], in, WIDTH),
                    down = to_host(&f, out, (uint64_t)offsets[k], WIDTH);
        up.rows = down.rows = ROWS;
        up.dst_pitch = up.src_pitch = down.dst_pitch = down.src_pitch = PITCH;
        assert_int_equal(f.b->copy(f.s, &up), 0);
        assert_int_equal(f.b->copy(f.s, &down), 0);
        assert_int_equal(drain(&f, f.s, NULL), 0);
        assert_memory_equal(in, out, sizeof(in));
    }
    close_fixture(&f);
}

/* Rows in the first and the third frame, and nothing mapped between them, which drivers refuse to
 * copy across. */
static void rows_lie_on_both_sides_of_a_hole(void **state)
{
    (void)state;
    enum { WIDTH = 100, PITCH = 2 * FRAME };
    fixture_t f = open_fixture(NULL);
    map_frames(&f, 3);
    if (f.frame[1]) {
        assert_int_equal(f.b->frame_unmap(f.gpu, f.window + FRAME, FRAME), 0);
        f.b->frame_destroy(f.gpu, f.frame[1], FRAME);
        f.frame[1] = 0;
    }
    char *in = calloc(1, PITCH + WIDTH), *out = calloc(1, PITCH + WIDTH);
    memset(in, 1, WIDTH);
    memset(in + PITCH, 2, WIDTH);
    kmm__copy_t copy = {.dst_gpu = f.gpu,
                        .dst = f.window,
                        .src = (kmm__addr_t)(uintptr_t)in,
                        .dst_pitch = PITCH,
                        .src_pitch = PITCH,
                        .width = WIDTH,
                        .rows = 2};
    assert_int_equal(f.b->copy(f.s, &copy), 0);
    copy = (kmm__copy_t){.src_gpu = f.gpu,
                         .dst = (kmm__addr_t)(uintptr_t)out,
                         .src = f.window,
                         .dst_pitch = PITCH,
                         .src_pitch = PITCH,
                         .width = WIDTH,
                         .rows = 2};
    assert_int_equal(f.b->copy(f.s, &copy), 0);
    assert_int_equal(drain(&f, f.s, NULL), 0);
    assert_memory_equal(in, out, PITCH + WIDTH);
    free(in);
    free(out);
    close_fixture(&f);
}

static int add_block(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    const kmm_blocks_t *b = args[0];
    int *data = *(int **)args[1];
    uint32_t x = block[0] + b->offset_x, y = block[1] + b->offset_y;
    (void)grid;
    data[y * b->grid_x + x] += *(int *)args[2];
    return 0;
}

static int bad_block(const uint32_t block[3], const uint32_t grid[3], void **args)
{
    (void)block, (void)grid, (void)args;
    return 700; /* CUDA_ERROR_ILLEGAL_ADDRESS */
}

static const uint32_t add_sizes[] = {sizeof(kmm_blocks_t), 8, 4};
static fake_kernel_t fake_add = {add_block, 3, add_sizes, 0, NULL},
                     fake_bad = {bad_block, 3, add_sizes, 0, NULL};

static int launch(fixture_t *f, fake_kernel_t *kernel, uint32_t offset, size_t shared_bytes)
{
    const kmm_kernel_t k = {KMM_LAUNCH_VERSION,
                            is_hip() ? KMM_KIND_HIP : KMM_KIND_CUDA,
                            "add",
                            NULL,
                            kernel,
                            3,
                            add_sizes,
                            1,
                            NULL};
    kmm_blocks_t blocks = {offset, 0, 0, 8, 4, 1};
    kmm__addr_t data = f->window;
    int value = 5;
    kmm__run_t r = {.kernel = &k,
                    .geometry = {{8, 4, 1}, {32, 1, 1}, shared_bytes, NULL},
                    .offset = {offset, 0, 0},
                    .count = {4, 4, 1},
                    .args = (void *[]){&blocks, &data, &value}};
    return f->b->launch(f->s, &r);
}

static void a_launch_runs_the_chunks_blocks(void **state)
{
    (void)state;
    fixture_t f = open_fixture(NULL);
    map_frames(&f, 1);
    int got[32];
    assert_int_equal(f.b->fill(f.s, f.window, 0, sizeof(got)), 0);
    assert_int_equal(launch(&f, &fake_add, 0, 0), 0);
    assert_int_equal(launch(&f, &fake_add, 4, 100 << 10),
                     0);       /* more shared memory than a kernel has unasked */
    fake_add.shared_limit = 0; /* another kernel, in the place of one that was unloaded */
    f.b->kernel_forget(f.gpu, &fake_add);
    assert_int_equal(launch(&f, &fake_add, 4, 100 << 10), 0);
    kmm__copy_t down = to_host(&f, got, 0, sizeof(got));
    assert_int_equal(f.b->copy(f.s, &down), 0);
    assert_int_equal(drain(&f, f.s, NULL), 0);
    for (int k = 0; k < 32; k++)
        assert_int_equal(got[k], k % 8 < 4 ? 5 : 10);
    assert_true(launch(&f, &fake_add, 0, 300 << 10) < 0);
    const kmm_kernel_t host = {.kind = KMM_KIND_HOST, .name = "add"};
    assert_int_equal(f.b->launch(f.s, &(kmm__run_t){.kernel = &host}), KMM_E_INVALID);
    close_fixture(&f);
}

static void events_order_streams_of_two_devices(void **state)
{
    (void)state;
    fixture_t f = open_fixture(NULL);
    map_frames(&f, 2);
    kmm__stream_t *other;
    kmm__event_t *e;
    int *got = calloc(1, FRAME);
    assert_int_equal(f.b->stream_create(f.peer, &other), 0);
    assert_int_equal(f.b->event_create(f.gpu, &e), 0);
    assert_int_equal(f.b->event_query(e), 1);
    assert_int_equal(f.b->frame_share(f.gpu, f.window, FRAME, f.peer), 0);
    for (int round = 1; round < 50; round++) {
        assert_int_equal(f.b->fill(f.s, f.window, round, FRAME), 0);
        assert_int_equal(f.b->event_record(e, f.s), 0);
        assert_int_equal(f.b->stream_wait(other, e), 0);
        kmm__copy_t down = to_host(&f, got, 0, FRAME);
        down.src_gpu = f.gpu;
        assert_int_equal(f.b->copy(other, &down), 0);
        assert_int_equal(drain(&f, other, NULL), 0);
        assert_int_equal(f.b->event_query(e), 1);
        assert_int_equal(got[FRAME / 4 - 1], round * 0x01010101);
    }
    /* The second frame is not shared: the peer's access is an error of the peer alone. */
    kmm__copy_t down = to_host(&f, got, FRAME, FRAME);
    assert_int_equal(f.b->copy(other, &down), 0);
    assert_int_equal(drain(&f, other, NULL), is_whole() ? 0 : KMM_E_KERNEL);
    assert_int_equal(drain(&f, f.s, NULL), 0);
    free(got);
    f.b->event_destroy(e);
    f.b->stream_destroy(other);
    close_fixture(&f);
}

static void a_kernels_fault_is_reported(void **state)
{
    (void)state;
    fixture_t f = open_fixture(NULL);
    char text[256] = "";
    map_frames(&f, 1);
    assert_int_equal(launch(&f, &fake_bad, 0, 0), 0);
    int status = drain(&f, f.s, text);
    assert_int_equal(status, KMM_E_KERNEL);
    assert_int_equal(f.b->fill(f.s, f.window, 0, 1), KMM_E_KERNEL); /* the context stays lost */
    assert_non_null(strstr(f.b->error_text(f.b),
                           is_hip() ? "hipErrorIllegalAddress" : "CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_int_equal(drain(&f, f.s, NULL), KMM_E_KERNEL);
    f.lost = true;
    close_fixture(&f);
}

static void driver_failures_have_a_text(void **state)
{
    (void)state;
    static const char *const texts[] = {"cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (out of memory)",
                                        "hipMemCreate: hipErrorOutOfMemory (out of memory)",
                                        "hipMalloc: hipErrorOutOfMemory (out of memory)"};
    kmm__frame_handle_t frame;
    /* HIP's own trial makes three frames on each device, and a window that is whole is an
     * allocation. */
    fixture_t f = open_fixture(is_whole() ? "alloc:2" : is_hip() ? "alloc:8" : "alloc:2");
    map_frames(&f, 1);
    assert_int_equal(f.b->frame_create(f.gpu, FRAME, &frame), KMM_E_MEMORY);
    assert_string_equal(f.b->error_text(f.b), texts[is_whole() ? 2 : is_hip()]);
    if (!is_whole())
        assert_int_equal(f.b->frame_create(f.gpu, 1000, &frame), KMM_E_DEVICE);
    assert_int_equal(f.b->frame_create(f.gpu, (size_t)512 << 20, &frame), KMM_E_MEMORY);
    close_fixture(&f);
    f = open_fixture("running:2");
    map_frames(&f, 1);
    assert_int_equal(launch(&f, &fake_add, 0, 0), 0);
    assert_int_equal(drain(&f, f.s, NULL), 0);
    assert_int_equal(launch(&f, &fake_add, 0, 0), 0);
    assert_int_equal(drain(&f, f.s, NULL), KMM_E_KERNEL);
    f.lost = true;
    close_fixture(&f);
}

static void count_in_order(void *arg, int status)
{
    int *next = ((int **)arg)[0], *bad = ((int **)arg)[1];
    if (status || *next != (int)(intptr_t)((void **)arg)[2])
        ++*bad;
    ++*next;
}

static void notifications_keep_their_order(void **state)
{
    (void)state;
    enum { NOTES = 500 };
    static void *args[NOTES][3];
    static kmm__event_t *events[NOTES];
    int next = 0, bad = 0;
    fixture_t f = open_fixture(NULL);
    for (int k = 0; k < NOTES; k++) {
        memcpy(args[k], (void *[]){&next, &bad, (void *)(intptr_t)k}, sizeof(args[k]));
        assert_int_equal(f.b->event_create(f.gpu, &events[k]), 0);
        assert_int_equal(f.b->event_record(events[k], f.s), 0);
        assert_int_equal(k % 3 ? f.b->notify_event(f.s, events[k], count_in_order, args[k])
                               : f.b->notify(f.s, count_in_order, args[k]),
                         0);
    }
    assert_int_equal(drain(&f, f.s, NULL), 0);
    assert_int_equal(next, NOTES);
    assert_int_equal(bad, 0);
    for (int k = 0; k < NOTES; k++) {
        assert_int_equal(f.b->event_query(events[k]), 1); /* it is still the test's */
        f.b->event_destroy(events[k]);
    }
    close_fixture(&f);
}

typedef struct timed {
    sem_t in, go, done;
    int status;
    uint64_t time;
} timed_t;

static void hold_delivery(void *arg, int status)
{
    timed_t *t = arg;
    (void)status;
    sem_post(&t->in);
    sem_wait(&t->go);
}

static void keep_time(void *arg, int status, uint64_t time)
{
    timed_t *t = arg;
    t->status = status;
    t->time = time;
    sem_post(&t->done);
}

/* Nothing is delivered for a while, and the time is that of the work all the same. */
static void a_timed_notification_knows_when_work_was_done(void **state)
{
    (void)state;
    enum { PAUSE_NS = 200000000 };
    fixture_t f = open_fixture(NULL);
    kmm__stream_t *other;
    kmm__event_t *e;
    timed_t t;
    sem_init(&t.in, 0, 0);
    sem_init(&t.go, 0, 0);
    sem_init(&t.done, 0, 0);
    assert_int_equal(f.b->stream_create(f.gpu, &other), 0);
    assert_int_equal(f.b->event_create(f.gpu, &e), 0);
    assert_int_equal(f.b->notify(f.s, hold_delivery, &t), 0);
    sem_wait(&t.in);
    const uint64_t before = kmm__now();
    assert_int_equal(f.b->notify_timed(other, keep_time, &t), 0);
    assert_int_equal(f.b->event_record(e, other), 0);
    while (f.b->event_query(e) == 0)
        sched_yield();
    nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
    const uint64_t after = kmm__now();
    sem_post(&t.go);
    sem_wait(&t.done);
    assert_int_equal(t.status, 0);
    assert_in_range(t.time, before - PAUSE_NS / 2, after - PAUSE_NS / 2);
    f.b->event_destroy(e);
    f.b->stream_destroy(other);
    close_fixture(&f);
}

/* The one that a notification wakes may destroy the stream while its delivery still returns. */
static void a_stream_may_end_when_it_was_heard_of(void **state)
{
    (void)state;
    fixture_t f = open_fixture(NULL);
    for (int k = 0; k < 500; k++) {
        kmm__stream_t *s;
        assert_int_equal(f.b->stream_create(f.gpu, &s), 0);
        assert_int_equal(drain(&f, s, NULL), 0);
        f.b->stream_destroy(s);
    }
    close_fixture(&f);
}

/* HIP's last error of this thread; what CUDA's driver has not. */
static int last_error(void)
{
    static const char *const libraries[] = {"libamdhip64.so.6", "libamdhip64.so.5"};
    int (*get)(void) = NULL;
    for (int k = 0; k < 2 && is_hip() && !get; k++) {
        void *library = dlopen(libraries[k], RTLD_NOW | RTLD_NOLOAD);
        *(void **)&get = library ? dlsym(library, "hipGetLastError") : NULL;
    }
    return get ? get() : 0;
}

/* What the driver that is open has not been given back. */
static unsigned long held(void)
{
    static const char *const libraries[] = {"libamdhip64.so.6", "libamdhip64.so.5"};
    fake_counts_function_t *get = NULL;
    fake_counts_t c;
    for (int k = 0; k < 2 && !get; k++) {
        void *library = dlopen(libraries[k], RTLD_NOW | RTLD_NOLOAD);
        *(void **)&get = library ? dlsym(library, "fake_counts") : NULL;
    }
    assert_non_null(get);
    get(&c);
    return c.windows + c.frames + c.mappings + c.allocations + c.streams;
}

static void check_whole(const char *name, const char *value)
{
    kmm__backend_t *b;
    kmm__gpu_t *gpu;
    kmm__gpu_info_t info;
    kmm__frame_handle_t frame;
    const char *reason;
    setenv(name, value, 1);
    assert_int_equal(create(&b, &reason), 0);
    assert_int_equal(b->open(b, 0, &gpu), 0);
    b->info(gpu, &info);
    assert_true(info.whole);
    assert_int_equal(last_error(), 0);
    assert_int_equal(held(), 0);
    assert_int_equal(b->frame_create(gpu, 5000, &frame), 0);
    b->frame_destroy(gpu, frame, 5000);
    b->close(gpu);
    b->unload(b);
    unsetenv(name);
}

/* Where mapping fails when it is tried, at whatever, or says success and is not so, arrays are
 * whole on that device, which works all the same. */
static void a_device_that_cannot_map_is_whole(void **state)
{
    (void)state;
    static const char *const faults[] = {"reserve:1", "stream:1", "alloc:1", "alloc:3", "map:1",
                                         "map:3",     "map:4",    "map:5",   "map:6",   "copy:1",
                                         "copy:2",    "copy:3",   "copy:6"};
    if (!is_hip())
        return; /* CUDA devices say so themselves */
    for (size_t k = 0; k < sizeof(faults) / sizeof(*faults) && !is_whole(); k++)
        check_whole("KMM_FAKE_FAIL", faults[k]);
    check_whole("KMM_FAKE_HIP_MAP", "base");
}

/* What was asked, and answered "no", is no error that the program finds when it asks for its own.
 */
static void the_program_finds_no_error_of_ours(void **state)
{
    (void)state;
    setenv("KMM_FAKE_COPY_RATE", "1048576", 1); /* four seconds for what is asked about */
    fixture_t f = open_fixture(NULL);
    kmm__event_t *e;
    char *memory = aligned_alloc(4096, 4096);
    map_frames(&f, 1);
    unsetenv("KMM_FAKE_COPY_RATE");
    assert_int_equal(f.b->event_create(f.gpu, &e), 0);
    assert_int_equal(f.b->fill(f.s, f.window, 1, FRAME), 0);
    assert_int_equal(f.b->event_record(e, f.s), 0);
    assert_int_equal(f.b->event_query(e), 0);
    assert_int_equal(f.b->follow(f.gpu, f.b->native(f.s), NULL, NULL), 1);
    assert_int_equal(last_error(), 0);
    assert_int_equal(f.b->host_register(f.b, memory, 4096), 0);
    assert_int_equal(f.b->host_register(f.b, memory, 4096), KMM_E_STATE);
    assert_int_equal(last_error(), 0);
    assert_int_equal(f.b->host_unregister(f.b, memory), 0);
    assert_int_equal(drain(&f, f.s, NULL), 0);
    f.b->event_destroy(e);
    free(memory);
    close_fixture(&f);
}

/* ---- Graphs of the program's ---- */

typedef struct graph_calls {
    int (*begin)(void *, int), (*end)(void *, void **), (*launch)(void *, void *),
        (*destroy)(void *);
} graph_calls_t;

/* Those of the driver that is open already. */
static graph_calls_t graph_calls(void)
{
    static const char *const libraries[] = {"libcuda.so.1", "libamdhip64.so.6", "libamdhip64.so.5"};
    static const char *const symbols[][4] = {
        {"cuStreamBeginCapture_v2", "cuStreamEndCapture", "cuGraphLaunch", "cuGraphDestroy"},
        {"hipStreamBeginCapture", "hipStreamEndCapture", "hipGraphLaunch", "hipGraphDestroy"}};
    graph_calls_t c = {0};
    void *library = NULL;
    for (int k = 0; k < 3 && !library; k++)
        library = dlopen(libraries[k], RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    *(void **)&c.begin = dlsym(library, symbols[is_hip()][0]);
    *(void **)&c.end = dlsym(library, symbols[is_hip()][1]);
    *(void **)&c.launch = dlsym(library, symbols[is_hip()][2]);
    *(void **)&c.destroy = dlsym(library, symbols[is_hip()][3]);
    return c;
}

/* All that allocates, asks or waits, and work of each kind. */
static void do_everything(fixture_t *f)
{
    kmm__frame_handle_t frame;
    kmm__gpu_info_t info;
    kmm__addr_t window;
    kmm__stream_t *s;
    kmm__event_t *e;
    int *memory = aligned_alloc(4096, 4096);
    f->b->info(f->gpu, &info);
    assert_int_equal(f->b->stream_create(f->gpu, &s), 0);
    assert_int_equal(f->b->event_create(f->gpu, &e), 0);
    assert_int_equal(f->b->host_register(f->b, memory, 4096), 0);
    assert_int_equal(f->b->frame_create(f->gpu, FRAME, &frame), 0);
    if (!is_whole()) {
        assert_int_equal(f->b->window_reserve(f->gpu, FRAME, &window), 0);
        assert_int_equal(f->b->frame_map(f->gpu, window, frame, FRAME), 0);
        assert_int_equal(f->b->frame_share(f->gpu, window, FRAME, f->peer), 0);
        assert_int_equal(f->b->frame_unmap(f->gpu, window, FRAME), 0);
        assert_int_equal(f->b->frame_map_without_access(f->gpu, window, frame, FRAME), 0);
        assert_int_equal(f->b->frames_allow(f->gpu, window, FRAME), 0);
        assert_int_equal(f->b->frame_unmap(f->gpu, window, FRAME), 0);
        f->b->window_release(f->gpu, window, FRAME);
    }
    f->b->frame_destroy(f->gpu, frame, FRAME);
    kmm__copy_t down = to_host(f, memory, 0, 4096);
    assert_int_equal(f->b->fill(f->s, f->window, 3, 4096), 0);
    assert_int_equal(f->b->copy(f->s, &down), 0);
    assert_int_equal(f->b->event_record(e, f->s), 0);
    while (f->b->event_query(e) == 0)
        ;
    assert_int_equal(f->b->event_query(e), 1);
    assert_int_equal(memory[1023], 0x03030303);
    assert_int_equal(drain(f, f->s, NULL), 0);
    assert_int_equal(f->b->host_unregister(f->b, memory), 0);
    f->b->event_destroy(e);
    f->b->stream_destroy(s);
    free(memory);
}

/* A capture forbids calls of all threads that allocate or ask: ours neither fail nor spoil it. */
static void captures_and_the_backend_leave_each_other_alone(void **state)
{
    (void)state;
    fixture_t f = open_fixture(NULL);
    graph_calls_t c = graph_calls();
    kmm__stream_t *s;
    void *graph = NULL;
    int got[32];
    map_frames(&f, 1);
    kmm__copy_t down = to_host(&f, got, 8192, sizeof(got));
    assert_int_equal(f.b->stream_create(f.gpu, &s), 0);
    bool entered = f.b->enter(f.gpu);
    assert_int_equal(c.begin(f.b->native(s), 0), 0);
    assert_int_equal(f.b->fill(s, f.window + 8192, 5, sizeof(got)), 0); /* is captured */
    do_everything(&f);
    assert_int_equal(c.end(f.b->native(s), &graph), 0);
    assert_int_equal(f.b->fill(s, f.window + 8192, 4, sizeof(got)), 0);
    assert_int_equal(c.launch(graph, f.b->native(s)), 0);
    f.b->leave(entered);
    assert_int_equal(f.b->copy(s, &down), 0);
    assert_int_equal(drain(&f, s, NULL), 0);
    assert_int_equal(got[31], 0x05050505);
    assert_int_equal(c.destroy(graph), 0);
    f.b->stream_destroy(s);
    close_fixture(&f);
}

/* The fake itself is strict: without this, tests on it would say little. */
static void unmapping_what_is_in_use_ends_the_program(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int status = 0;
        freopen("/dev/null", "w", stderr);
        fixture_t f = open_fixture(NULL);
        map_frames(&f, 1);
        for (int k = 0; k < 100; k++)
            f.b->fill(f.s, f.window, k, FRAME);
        if (is_whole())
            f.b->frame_destroy(f.gpu, f.window, FRAMES * FRAME);
        else
            status = f.b->frame_unmap(f.gpu, f.window, FRAME);
        _exit(status ? 1 : 0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unmapping_what_is_in_use_ends_the_program),
        cmocka_unit_test(no_device_is_said),
        cmocka_unit_test(the_program_finds_no_error_of_ours),
        cmocka_unit_test(captures_and_the_backend_leave_each_other_alone),
        cmocka_unit_test(a_device_that_cannot_map_is_whole),
        cmocka_unit_test(a_device_describes_itself),
        cmocka_unit_test(copies_cross_frames),
        cmocka_unit_test(rows_are_copied_at_any_pitch),
        cmocka_unit_test(rows_cross_a_border_of_frames),
        cmocka_unit_test(rows_lie_on_both_sides_of_a_hole),
        cmocka_unit_test(a_launch_runs_the_chunks_blocks),
        cmocka_unit_test(events_order_streams_of_two_devices),
        cmocka_unit_test(a_kernels_fault_is_reported),
        cmocka_unit_test(driver_failures_have_a_text),
        cmocka_unit_test(notifications_keep_their_order),
        cmocka_unit_test(a_timed_notification_knows_when_work_was_done),
        cmocka_unit_test(a_stream_may_end_when_it_was_heard_of),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
