/* SPDX-License-Identifier: Apache-2.0 */
/* What tests of native standing share: arrays as the wrappers make them, and processes of their
 * own, since the standing is the process's. What a native kernel would do, a test does itself:
 * memory that a fake device may access can be accessed at its address. Include it after cmocka's
 * headers. */
#ifndef NATIVE_WORK_H
#define NATIVE_WORK_H

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kmm.h>
#include <kmm/cuda_api.h>

#include "counts.h"

/* Making and ending a process takes ThreadSanitizer a long time. */
#ifdef __SANITIZE_THREAD__
enum { BRIEF = 8 };
#else
enum { BRIEF = 1 };
#endif

enum { KIND = KMM_KIND_CUDA };

/* As the wrappers allocate. */
static inline char *make(size_t bytes)
{
    void *p = NULL;
    if (kmm_cuda_native_enter(KIND) ||
        (kmm_cuda_native_return(KIND) && kmm_cuda_native_enter(KIND))) {
        int fits = kmm_cuda_native_malloc(&p, bytes);
        kmm_cuda_native_leave();
        if (fits)
            return p;
    }
    return kmm_cuda_malloc(&p, bytes) ? NULL : p;
}

static inline void drop(char *p)
{
    if (kmm_cuda_native_enter(KIND)) {
        assert_true(kmm_cuda_native_free(p));
        kmm_cuda_native_leave();
        return;
    }
    assert_int_equal(kmm_cuda_free(p), 0);
}

static inline unsigned char value_of(size_t array, size_t at)
{
    return (unsigned char)(array * 37 + at * 11 + at / 4096);
}

static inline void fill_native(char *p, size_t n, size_t array)
{
    assert_true(kmm_cuda_native_enter(KIND));
    for (size_t k = 0; k < n; k++)
        p[k] = (char)value_of(array, k);
    kmm_cuda_native_leave();
}

static inline void check(const char *p, size_t n, size_t array)
{
    unsigned char *got = malloc(n + 1);
    assert_int_equal(kmm_copy_out(kmm_default(), got, p, n), 0);
    for (size_t k = 0; k < n; k++)
        if (got[k] != value_of(array, k))
            fail_msg("byte %zu of array %zu (%zu bytes) is %d", k, array, n, got[k]);
    free(got);
}

/* True if the host can read the byte. */
static inline int is_accessible(const char *p)
{
    int pipes[2];
    assert_int_equal(pipe(pipes), 0);
    ssize_t n = write(pipes[1], p, 1);
    close(pipes[0]);
    close(pipes[1]);
    return n == 1;
}

static inline void end(void)
{
    assert_int_equal(kmm_destroy(kmm_default()), 0);
    fake_counts_t left = fake_counts_now();
    assert_int_equal(left.frames, 0);
    assert_int_equal(left.mappings, 0);
    assert_int_equal(left.windows, 0);
}

static inline void child(void (*part)(void))
{
    pid_t pid = fork();
    int status;
    if (pid == 0) {
        setenv("CMOCKA_TEST_ABORT", "1", 1);
        part();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#define PART(name)                                                                                 \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        child(part_##name);                                                                        \
    }

#endif
