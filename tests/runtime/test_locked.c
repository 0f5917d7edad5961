/* SPDX-License-Identifier: Apache-2.0 */
/* How much host memory is page-locked, and what is kept of it, on the fake CUDA driver. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "counts.h"
#include "memory/host/pagelock.h"
#include "memory/lifetime.h"
#include "with_runtime.h"

enum { BYTES = 2 << 20, MANY = 8 };

static kmm_runtime_t *make(const char *bound, const char *threads)
{
    setenv("KMM_PINNED_MEM", bound, 1);
    setenv("KMM_STAGE_THREADS", threads, 1);
    setenv("KMM_STAGE_TIMES", "2", 1);
    return runtime_open(&(kmm_config_t){.devices = "cuda:1,mem=64M"});
}

/* An array that has a buffer. */
static kmm__array_t *array(kmm_runtime_t *rt, size_t bytes)
{
    void *p = kmm_malloc(bytes);
    assert_non_null(p);
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, p);
    assert_non_null(a);
    assert_non_null(kmm__array_host(a));
    pthread_mutex_unlock(&rt->lock);
    return a;
}

static bool pin(kmm__array_t *a)
{
    bool plain = kmm__pagelock(a, a->runtime->device[0], 0, (int64_t)a->bytes);
    kmm__pagelock_await(a);
    return plain;
}

/* Frees it and waits until it is gone. */
static void drop(kmm__array_t *a)
{
    kmm_runtime_t *rt = a->runtime;
    pthread_mutex_lock(&rt->lock);
    uint32_t live = rt->memory->live_arrays;
    pthread_mutex_unlock(&rt->lock);
    kmm_free(a->base);
    pthread_mutex_lock(&rt->lock);
    while (rt->memory->live_arrays == live)
        pthread_cond_wait(&rt->progress, &rt->lock);
    pthread_mutex_unlock(&rt->lock);
}

static bool is_locked(const kmm__array_t *a)
{
    return a->block_count == 1 && a->blocks[0].locked_by;
}

/* What does not fit goes through buffers, or as it is where there are none, until there is room. */
static void test_bound(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("3M", "1");
    kmm__array_t *a = array(rt, BYTES), *b = array(rt, BYTES);
    assert_true(pin(a) && is_locked(a));
    assert_int_equal(registrations(), 1);
    for (int time = 0; time < 5; time++)
        assert_false(pin(b));
    assert_int_equal(registrations(), 2); /* the stager's buffers, which do not count */
    drop(a);
    assert_int_equal(registrations(), 1); /* an eighth of 3 MiB holds no 2 MiB */
    assert_true(pin(b) && is_locked(b));
    drop(b);
    runtime_close(rt);
    assert_int_equal(registrations(), 0);

    rt = make("3M", "0");
    a = array(rt, BYTES);
    b = array(rt, BYTES);
    assert_true(pin(a) && is_locked(a));
    assert_true(pin(b) && !is_locked(b));
    drop(a);
    assert_true(pin(b) && is_locked(b));
    drop(b);
    runtime_close(rt);

    rt = make("0", "1");
    a = array(rt, BYTES);
    b = array(rt, 100);
    assert_false(pin(a));
    assert_false(pin(b));
    drop(a);
    drop(b);
    runtime_close(rt);
}

static void test_kept(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("64M", "1");
    kmm__array_t *a = array(rt, BYTES);
    char *host = a->host;
    assert_true(pin(a) && is_locked(a));
    drop(a);
    assert_int_equal(registrations(), 1);
    a = array(rt, BYTES + 1);
    assert_ptr_not_equal(a->host, host);
    drop(a); /* nothing of it was locked */
    a = array(rt, BYTES);
    assert_ptr_equal(a->host, host);
    assert_true(pin(a) && is_locked(a));
    assert_int_equal(registrations(), 1);
    drop(a);
    assert_int_equal(registrations(), 1);

    kmm__array_t *many[MANY];
    for (int k = 0; k < MANY; k++)
        assert_true(pin(many[k] = array(rt, BYTES)));
    host = many[MANY - 1]->host;
    assert_int_equal(registrations(), MANY);
    for (int k = 0; k < MANY; k++)
        drop(many[k]);
    assert_int_equal(registrations(), 4); /* 8 MiB, an eighth */
    a = array(rt, BYTES);
    assert_ptr_equal(a->host, host);
    drop(a);
    runtime_close(rt);
    assert_int_equal(registrations(), 0);
}

/* What is kept gives way to what is in use. */
static void test_gives_way(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("16M", "0");
    kmm__array_t *a = array(rt, BYTES), *many[MANY];
    assert_true(pin(a) && is_locked(a));
    drop(a);
    assert_int_equal(registrations(), 1);
    for (int k = 0; k < MANY; k++) {
        many[k] = array(rt, BYTES + 4096 * (k == 0)); /* 4096 too many for the last */
        assert_true(pin(many[k]));
        assert_int_equal(is_locked(many[k]), k < MANY - 1);
    }
    assert_int_equal(registrations(), MANY - 1);
    for (int k = 0; k < MANY; k++)
        drop(many[k]);
    runtime_close(rt);
}

static void test_given(void **state)
{
    (void)state;
    kmm_runtime_t *rt = NULL;
    setenv("KMM_PINNED_MEM", "lots", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=64M"}), KMM_E_INVALID);
    assert_non_null(strstr(kmm_error_text(NULL), "KMM_PINNED_MEM=lots"));
    setenv("KMM_PINNED_MEM", "1M", 1); /* what the program says counts more */
    setenv("KMM_STAGE_THREADS", "0", 1);
    assert_int_equal(
        kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=64M", .pinned_mem = BYTES}), 0);
    kmm_use(rt);
    kmm__array_t *a = array(rt, BYTES);
    assert_true(pin(a) && is_locked(a));
    drop(a);
    runtime_close(rt);
    unsetenv("KMM_PINNED_MEM");
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=64M"}), 0);
    kmm_use(rt);
    a = array(rt, BYTES);
    assert_true(pin(a) && is_locked(a));
    drop(a);
    runtime_close(rt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bound), cmocka_unit_test(test_kept),
                                       cmocka_unit_test(test_gives_way),
                                       cmocka_unit_test(test_given)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
