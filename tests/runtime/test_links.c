/* SPDX-License-Identifier: Apache-2.0 */
/* How many devices copy from and to the host's memory at once, on eight of the fake CUDA driver's.
 */
#include <ftw.h>
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

#include "counts.h"
#include "fake_work.h"
#include "memory/host/costs.h"
#include "memory/host/links.h"
#include "memory/host/rates.h"
#include "memory/state.h"
#include "with_runtime.h"

enum {
    DEVICES = 8,
    CHUNKS = 64,
    N = 2 << 20,
    SWEEPS = 3
}; /* 8 MiB in chunks of 128 KiB, on devices of 512 KiB */

static kmm_runtime_t *make(const char *links, const char *devices)
{
    setenv("KMM_LINKS", links, 1);
    return runtime_open(&(kmm_config_t){.devices = devices, .frame_bytes = 64 << 10});
}

/* Sweeps over an array of twice what all devices have; how many of them copied at once. */
static unsigned long sweep(kmm_runtime_t *rt)
{
    int32_t *model = malloc(N * sizeof(*model)), *got = malloc(N * sizeof(*got)),
            *x = kmm_malloc(N * sizeof(*x));
    assert_non_null(x);
    for (int64_t k = 0; k < N; k++)
        model[k] = (int32_t)k;
    assert_int_equal(kmm_copy_in(rt, x, model, N * sizeof(*x)), 0);
    for (int s = 0; s < SWEEPS; s++) {
        assert_int_equal(fake_work_launch(KMM_KIND_CUDA, SCALE, N, CHUNKS, x, NULL, NULL), 0);
        for (int64_t k = 0; k < N; k++)
            fake_work_element(SCALE, k, N, model, NULL, NULL);
    }
    assert_int_equal(kmm_copy_out(rt, got, x, N * sizeof(*x)), 0);
    assert_memory_equal(got, model, N * sizeof(*got));
    kmm_free(x);
    free(got);
    free(model);
    return fake_counts_now().most_links;
}

/* What is measured on a busy machine may be anything, so that gets another try. */
enum { TRIES = 30 };

/* As many as may do copy at once, and no more; without a bound, more than that. */
static void test_bound(void **state)
{
    static const struct {
        const char *links;
        unsigned long least, most;
    } cases[] = {{"4", 4, 4}, {"4,65536", 4, 4}, {"1,4096", 1, 1}, {"0", 5, 8}, {"8", 5, 8}};
    (void)state;
    setenv("KMM_FAKE_COPY_RATE", "50000000", 1);
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        kmm_runtime_t *rt = make(cases[k].links, "cuda:8,mem=512K");
        uint32_t most = DEVICES, count = DEVICES;
        assert_int_equal(kmm__links_state(rt, &most, &count), cases[k].most < DEVICES);
        assert_int_equal(most, cases[k].most);
        assert_int_equal(count, DEVICES);
        unsigned long at_once = 0;
        for (int try = 0; try < TRIES && at_once < cases[k].least; try++)
            at_once = sweep(rt);
        assert_in_range(at_once, cases[k].least, cases[k].most);
        runtime_close(rt);
    }
    unsetenv("KMM_FAKE_COPY_RATE");
}

/* Few devices, and what is no number. */
static void test_settings(void **state)
{
    static const char *const wrong[] = {"x", "-1", "4x", "4,", "4,x", " -1", "4,-1"};
    (void)state;
    kmm_runtime_t *rt = make("auto", "cuda:4,mem=512K");
    assert_null(rt->memory->links);
    runtime_close(rt);
    for (size_t k = 0; k < sizeof(wrong) / sizeof(*wrong); k++) {
        setenv("KMM_LINKS", wrong[k], 1);
        assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:8,mem=512K"}),
                         KMM_E_INVALID);
        assert_non_null(strstr(kmm_error_text(NULL), "KMM_LINKS"));
    }
}

/* ---- Turns ---- */

typedef struct greedy {
    kmm__device_t *d;
    _Atomic int rounds;
    atomic_bool ends;
} greedy_t;

static void copy_once(kmm__device_t *d)
{
    assert_true(kmm__links_enter(d, 1 << 10));
    pthread_mutex_lock(&d->in_lock);
    kmm__links_leave(d, d->in);
    pthread_mutex_unlock(&d->in_lock);
}

static void *be_greedy(void *arg)
{
    greedy_t *g = arg;
    while (!g->ends) {
        copy_once(g->d);
        g->rounds++;
    }
    return NULL;
}

/* A device that always has copies to enqueue does not keep the only turn; with no others it does.
 */
static void test_turns(void **state)
{
    enum { TIMES = 100, OTHERS = 3 };
    (void)state;
    kmm_runtime_t *rt = make("1,8192", "cuda:8,mem=512K");
    greedy_t g[OTHERS] = {0};
    pthread_t thread[OTHERS];
    for (int k = 0; k < OTHERS; k++) {
        g[k].d = rt->device[k];
        pthread_create(&thread[k], NULL, be_greedy, &g[k]);
    }
    for (int k = 0; k < TIMES; k++)
        copy_once(rt->device[OTHERS + k % 2]);
    for (int k = 0; k < OTHERS; k++) {
        g[k].ends = true;
        pthread_join(thread[k], NULL);
        assert_true(g[k].rounds > 0);
    }
    runtime_close(rt);
}

/* ---- What is best ---- */

static int drop(const char *path, const struct stat *s, int type, struct FTW *at)
{
    (void)s, (void)type, (void)at;
    return remove(path);
}

/* A device copies 8 MB/s both ways together, all of them `rate`, and half of that when more than
 * `links` do. */
static void slow_host(const char *rate, const char *links)
{
    setenv("KMM_FAKE_COPY_RATE", "4000000", 1);
    setenv("KMM_FAKE_HOST_RATE", rate, 1);
    setenv("KMM_FAKE_HOST_LINKS", links, 1);
}

static void fast_host(void)
{
    unsetenv("KMM_FAKE_COPY_RATE");
    unsetenv("KMM_FAKE_HOST_RATE");
    unsetenv("KMM_FAKE_HOST_LINKS");
}

static void check_measured(const char *rate, const char *links, uint32_t expected)
{
    uint32_t most = 0;
    slow_host(rate, links);
    for (int k = 0; k < TRIES && most != expected; k++) {
        bool ok = false;
        kmm_runtime_t *rt = make("0", "cuda:8,mem=4M");
        most = kmm__rates_measure(rt->device, DEVICES, &ok);
        assert_true(ok);
        runtime_close(rt);
    }
    assert_int_equal(most, expected);
    fast_host();
}

static void test_measured(void **state)
{
    (void)state;
    check_measured("16000000", "2", 2);
    check_measured("32000000", "4", 4);
    check_measured("64000000", "8", 8);
}

/* What could not be measured is no bound. */
static void test_not_measured(void **state)
{
    static const char *const faults[] = {"register:3", "alloc:5",   "reserve:2",
                                         "map:4",      "stream:40", "copy:9"};
    (void)state;
    for (size_t k = 0; k < sizeof(faults) / sizeof(*faults); k++) {
        bool ok = true;
        setenv("KMM_FAKE_FAIL", faults[k], 1);
        kmm_runtime_t *rt = make("0", "cuda:8,mem=512K");
        assert_int_equal(kmm__rates_measure(rt->device, DEVICES, &ok), DEVICES);
        assert_false(ok);
        runtime_close(rt);
        unsetenv("KMM_FAKE_FAIL");
        fake_counts_t left = fake_counts_now();
        assert_int_equal(
            left.frames + left.mappings + left.windows + left.registrations + left.streams, 0);
    }
}

/* Copies until it has been measured, in the midst of that; the number, of all devices. */
static uint32_t copy_until_measured(void)
{
    uint32_t most = 0, count = 0;
    slow_host("32000000", "4");
    kmm_runtime_t *rt = make("auto", "cuda:8,mem=2M");
    assert_false(kmm__links_state(rt, &most, &count));
    assert_true(kmm__links_count(rt));
    for (int k = 0; k < 8 && kmm__links_count(rt) && !kmm__links_state(rt, &most, &count); k++)
        sweep(rt);
    bool limited = kmm__links_state(rt, &most, &count);
    assert_true(limited || !kmm__links_count(rt));
    runtime_close(rt);
    fast_host();
    return limited ? most : DEVICES;
}

/* Another runtime need not measure it again. */
static void check_kept(void)
{
    uint32_t most = 0, count = 0;
    kmm_runtime_t *rt = make("", "cuda:8,mem=512K");
    assert_true(kmm__links_state(rt, &most, &count));
    assert_int_equal(most, 4);
    assert_in_range(sweep(rt), 1, 4);
    runtime_close(rt);
}

static void test_auto(void **state)
{
    uint32_t most = 0;
    (void)state;
    for (int k = 0; k < TRIES && most != 4; k++) {
        char folder[] = "/tmp/kmm_links_XXXXXX";
        assert_non_null(mkdtemp(folder));
        setenv("KMM_CACHE_DIR", folder, 1);
        most = copy_until_measured();
        if (most == 4)
            check_kept();
        nftw(folder, drop, 8, FTW_DEPTH | FTW_PHYS);
        setenv("KMM_CACHE_DIR", "none", 1);
    }
    assert_int_equal(most, 4);
}

int main(void)
{
    setenv("KMM_FAKE_DEVICES", "8", 1);
    setenv("KMM_CACHE_DIR", "none", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bound),        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_turns),        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_not_measured), cmocka_unit_test(test_auto),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
