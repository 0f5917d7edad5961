/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of the program's memory through buffers, on the fake CUDA driver: that they are right, and
 * when they are made. */
#include <dirent.h>
#include <fcntl.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "counts.h"
#include "memory/host/pagelock.h"
#include "memory/host/stage.h"
#include "memory/host/stage_choice.h"
#include "memory/host/stager.h"
#include "random.h"
#include "with_runtime.h"

enum { MEMORY = 1 << 20, ROUNDS = 400 };

static rng_t rng;

static kmm_runtime_t *make(const char *threads, const char *bytes, const char *times)
{
    setenv("KMM_STAGE_THREADS", threads, 1);
    setenv("KMM_STAGE_BYTES", bytes, 1);
    setenv("KMM_STAGE_TIMES", times, 1);
    return runtime_open(&(kmm_config_t){.devices = "cuda:1,mem=64M"});
}

/* ---- The copies themselves ---- */

typedef struct memory {
    kmm__addr_t window;
    kmm__frame_handle_t frame;
    uint64_t bytes;
} memory_t;

static memory_t memory_open(kmm__device_t *d)
{
    memory_t m = {.bytes = (MEMORY + d->info.granularity - 1) / d->info.granularity *
                           d->info.granularity};
    assert_int_equal(d->backend->window_reserve(d->gpu, m.bytes, &m.window), 0);
    assert_int_equal(d->backend->frame_create(d->gpu, m.bytes, &m.frame), 0);
    assert_int_equal(d->backend->frame_map(d->gpu, m.window, m.frame, m.bytes), 0);
    return m;
}

static void memory_close(kmm__device_t *d, memory_t *m)
{
    assert_int_equal(d->backend->frame_unmap(d->gpu, m->window, m->bytes), 0);
    d->backend->frame_destroy(d->gpu, m->frame, m->bytes);
    d->backend->window_release(d->gpu, m->window, m->bytes);
}

typedef struct rows {
    int64_t offset, width, pitch, rows;
} rows_t;

static rows_t random_rows(void)
{
    rows_t r = {.width = rng_range(&rng, 1, rng_range(&rng, 0, 1) ? 300 : 20000),
                .rows = rng_range(&rng, 1, 40)};
    r.pitch = r.width + (rng_range(&rng, 0, 1) ? rng_range(&rng, 0, 5000) : 0);
    r.offset = rng_range(&rng, 0, MEMORY - ((r.rows - 1) * r.pitch + r.width));
    return r;
}

static void copy_in(kmm__device_t *d, const memory_t *m, char *host, const rows_t *r)
{
    kmm__stage_t in = {.device = d, .stream = d->in};
    pthread_mutex_lock(&d->in_lock);
    assert_int_equal(kmm__stage_copy(&in, m->window + (kmm__addr_t)r->offset, host + r->offset,
                                     r->width, r->pitch, r->rows),
                     0);
    assert_int_equal(kmm__stage_finish(&in), 0);
    pthread_mutex_unlock(&d->in_lock);
}

static void wake(void *arg, int status)
{
    assert_int_equal(status, 0);
    sem_post(arg);
}

static void copy_out(kmm__device_t *d, const memory_t *m, char *host, const rows_t *r,
                     sem_t *landed)
{
    kmm__stage_t out = {.device = d, .stream = d->out, .is_out = true};
    pthread_mutex_lock(&d->out_lock);
    assert_int_equal(kmm__stage_copy(&out, m->window + (kmm__addr_t)r->offset, host + r->offset,
                                     r->width, r->pitch, r->rows),
                     0);
    assert_int_equal(kmm__stage_finish(&out), 0);
    assert_int_equal(kmm__stage_notify(d, wake, landed), 0);
    pthread_mutex_unlock(&d->out_lock);
}

static void model_copy(char *to, const char *from, const rows_t *r)
{
    for (int64_t k = 0; k < r->rows; k++)
        memcpy(to + r->offset + k * r->pitch, from + r->offset + k * r->pitch, (size_t)r->width);
}

static void scribble(char *p)
{
    for (size_t k = 0; k < MEMORY; k += sizeof(uint64_t)) {
        uint64_t v = rng_next(&rng);
        memcpy(p + k, &v, sizeof(v));
    }
}

/* In: the host's memory may be overwritten at once. Out: everything is there when the notification
 * comes, also of copies that go to the same place one after the other. */
static void test_copies(void **state)
{
    (void)state;
    kmm_runtime_t *rt = make("3", "4096", "2");
    kmm__device_t *d = rt->device[0];
    memory_t m = memory_open(d);
    char *host = malloc(MEMORY), *got = malloc(MEMORY), *model = malloc(MEMORY),
         *expected = malloc(MEMORY);
    const rows_t all = {0, MEMORY, MEMORY, 1};
    sem_t landed;
    sem_init(&landed, 0, 0);
    assert_true(kmm__stage_works(d));
    scribble(host);
    copy_in(d, &m, host, &all);
    memcpy(model, host, MEMORY);
    memset(got, 0, MEMORY);
    memset(expected, 0, MEMORY);
    for (int round = 0; round < ROUNDS; round++) {
        rows_t in = random_rows(), out = random_rows();
        if (round % 40 == 0)
            scribble(host);
        assert_int_equal(kmm__stream_drain(d->backend, d->out),
                         0); /* what goes out has left the device */
        copy_in(d, &m, host, &in);
        model_copy(model, host, &in);
        memset(host + in.offset, round, (size_t)in.width);
        assert_int_equal(kmm__stream_drain(d->backend, d->in), 0);
        copy_out(d, &m, got, &out, &landed);
        model_copy(expected, model, &out);
        if (rng_range(&rng, 0, 1)) {
            kmm__stage_await(rt, got + out.offset,
                             got + out.offset + (out.rows - 1) * out.pitch + out.width);
            for (int64_t k = 0; k < out.rows; k++)
                assert_memory_equal(got + out.offset + k * out.pitch,
                                    expected + out.offset + k * out.pitch, out.width);
        }
        while (sem_wait(&landed))
            ;
        assert_memory_equal(got, expected, MEMORY);
    }
    sem_destroy(&landed);
    memory_close(d, &m);
    free(host);
    free(got);
    free(model);
    free(expected);
    runtime_close(rt);
}

/* ---- Which memory goes which way ---- */

static kmm__array_t *map(kmm_runtime_t *rt, void *p, size_t bytes)
{
    assert_int_equal(kmm_map(rt, KMM_MAP_TOFROM, p, bytes), 0);
    pthread_mutex_lock(&rt->lock);
    kmm__array_t *a = kmm__array_find(rt, p);
    pthread_mutex_unlock(&rt->lock);
    assert_non_null(a);
    return a;
}

static void test_choice(void **state)
{
    (void)state;
    enum { BYTES = 2 << 20 };
    char *p = malloc(BYTES);
    kmm_runtime_t *rt = make("1", "4096", "2");
    kmm__device_t *d = rt->device[0];
    kmm__backend_t *b = d->backend;
    kmm__array_t *a = map(rt, p, BYTES);
    for (int time = 0; time < 2; time++)
        for (int part = 0; part < 4; part++)
            assert_false(kmm__pagelock(a, d, part * (BYTES / 4), BYTES / 4));
    assert_int_equal(registrations(), 1); /* the buffers */
    assert_true(kmm__pagelock(a, d, 0, BYTES));
    assert_int_equal(registrations(), 2);
    assert_int_equal(kmm_unmap(rt, p), 0);
    assert_int_equal(registrations(), 1);

    assert_int_equal(b->host_register(b, p, BYTES), 0); /* by the program */
    a = map(rt, p, BYTES);
    assert_true(kmm__pagelock(a, d, 0, BYTES));
    assert_null(a->blocks[0].locked_by);
    assert_int_equal(kmm_unmap(rt, p), 0);
    assert_int_equal(registrations(), 2); /* it is still the program's */
    assert_int_equal(b->host_unregister(b, p), 0);
    runtime_close(rt);

    rt = make("0", "4096", "2");
    a = map(rt, p, BYTES);
    assert_true(kmm__pagelock(a, rt->device[0], 0, BYTES));
    assert_int_equal(registrations(), 1);
    assert_int_equal(kmm_unmap(rt, p), 0);
    runtime_close(rt);
    free(p);
}

/* ---- What decides ---- */

static void test_times(void **state)
{
    (void)state;
    /* As on an H200: locking 0.07 s/GB, buffers 25 GB/s, the link 55. */
    assert_float_equal(kmm__costs_times(&(kmm__copy_costs_t){70e-12, 40e-12, 18e-12}), 70. / 31,
                       1e-6);
    assert_float_equal(kmm__costs_times(&(kmm__copy_costs_t){70e-12, 40e-12, 0}), 1.75, 1e-6);
    assert_true(kmm__costs_times(&(kmm__copy_costs_t){70e-12, 200e-12, 18e-12}) ==
                0); /* one thread: locked at once */
    assert_true(kmm__costs_times(&(kmm__copy_costs_t){70e-12, 40e-12, 90e-12}) >=
                1000); /* the link is slower */
    assert_true(kmm__costs_times(&(kmm__copy_costs_t){1, 40e-12, 18e-12}) >=
                1000); /* it cannot be locked */
    kmm_runtime_t *rt;
    setenv("KMM_STAGE_TIMES", "twice", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=64M"}), KMM_E_INVALID);
    assert_non_null(strstr(kmm_error_text(NULL), "KMM_STAGE_TIMES=twice"));
    setenv("KMM_STAGE_TIMES", "-1", 1);
    assert_int_equal(kmm_create(&rt, &(kmm_config_t){.devices = "cuda:1,mem=64M"}), KMM_E_INVALID);
}

/* The file in the folder, of which there is at most one. */
static bool find_file(const char *folder, char *path, size_t size)
{
    DIR *d = opendir(folder);
    bool found = false;
    for (struct dirent *e; d && (e = readdir(d));) {
        if (*e->d_name == '.')
            continue;
        assert_false(found);
        assert_memory_equal(e->d_name, "copies-", 7);
        snprintf(path, size, "%s/%s", folder, e->d_name);
        found = true;
    }
    if (d)
        closedir(d);
    return found;
}

/* What a runtime knows once an array of so many bytes has been mapped. */
static kmm__copy_costs_t costs_now(size_t bytes, bool *known)
{
    kmm_runtime_t *rt = make("2", "65536", "");
    kmm__copy_costs_t c;
    double times;
    if (kmm__stage_works(rt->device[0]))
        kmm__stage_times(rt->device[0], bytes);
    *known = kmm__stage_costs(rt, &c, &times);
    assert_true(registrations() <= 1); /* the buffers; what was measured with is gone */
    runtime_close(rt);
    return c;
}

static void put(const char *path, const char *text, const char *mode)
{
    FILE *f = fopen(path, mode);
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Small arrays measure nothing; a large one does, once; later runtimes believe the file, unless it
 * is broken or another machine's. */
static void test_kept(void **state)
{
    (void)state;
    char folder[] = "/tmp/kmm-costs-XXXXXX", deep[64], path[512], key[512], text[1024];
    bool known;
    assert_non_null(mkdtemp(folder));
    snprintf(deep, sizeof(deep), "%s/a/b", folder);
    setenv("KMM_CACHE_DIR", deep, 1);
    costs_now(1 << 20, &known);
    assert_false(known);
    assert_false(find_file(deep, path, sizeof(path)));
    kmm__copy_costs_t c = costs_now(64 << 20, &known);
    assert_true(known);
    assert_true(c.stage > 0 && c.stage < 1e-6 && c.lock >= 0 && c.lock < 1e-6 && c.link > 0 &&
                c.link < 1e-6);
    assert_true(find_file(deep, path, sizeof(path)));

    FILE *f = fopen(path, "r");
    assert_non_null(fgets(key, sizeof(key), f));
    fclose(f);
    snprintf(text, sizeof(text), "%slock 0x1p-30\nstage 0x1p-31\nlink 0x1p-32\n", key);
    put(path, text, "w");
    c = costs_now(1, &known);
    assert_true(known);
    assert_true(c.lock == 0x1p-30 && c.stage == 0x1p-31 && c.link == 0x1p-32);

    struct timespec old[2] = {{time(NULL) - 8 * 24 * 3600, 0}, {time(NULL) - 8 * 24 * 3600, 0}};
    assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
    costs_now(1, &known);
    assert_false(known);

    static const char *const broken[] = {
        "lock 0x1p-30\nstage 0x1p-31\n", "lock nan\nstage 0x1p-31\nlink 0\n",
        "lock 0\nstage 0\nlink 0\n", "lock -1\nstage 1\nlink 0\n", ""};
    for (size_t k = 0; k < sizeof(broken) / sizeof(*broken); k++) {
        snprintf(text, sizeof(text), "%s%s", key, broken[k]);
        put(path, text, "w");
        costs_now(1, &known);
        assert_false(known);
    }
    snprintf(text, sizeof(text), "x%slock 0x1p-30\nstage 0x1p-31\nlink 0x1p-32\n", key);
    put(path, text, "w");
    costs_now(1, &known);
    assert_false(known);
    char victim[64], planted[600];
    snprintf(victim, sizeof(victim), "%s/victim", folder);
    snprintf(planted, sizeof(planted), "%s.%ld", path, (long)getpid());
    put(victim, "", "w");
    assert_int_equal(symlink(victim, planted), 0); /* by whom else the folder belongs to */
    c = costs_now(64 << 20, &known);
    assert_true(known && c.lock != 0x1p-30);
    struct stat after;
    assert_int_equal(stat(victim, &after), 0);
    assert_int_equal(after.st_size, 0);
    assert_int_equal(unlink(victim), 0);

    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(deep), 0);
    put(deep, "", "w"); /* no folder can be there: it is measured, and nothing is kept */
    costs_now(64 << 20, &known);
    assert_true(known);
    setenv("KMM_CACHE_DIR", "none", 1);
    costs_now(64 << 20, &known);
    assert_true(known);
    unlink(deep);
    snprintf(deep, sizeof(deep), "%s/a", folder);
    assert_int_equal(rmdir(deep), 0);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    rng.state = rng_seed();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies), cmocka_unit_test(test_choice),
                                       cmocka_unit_test(test_times), cmocka_unit_test(test_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
