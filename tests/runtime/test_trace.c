/* SPDX-License-Identifier: Apache-2.0 */
/* Trace points: that no event is lost, and in which order a listener gets them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include <pthread.h>

#include "base/trace.h"
#include "observe/trace_file.h"

enum { THREADS = 4, EVENTS = 50000, SLOW = 4096, NAP_NS = 1000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t number;                     /* of events, under the lock */
static uint64_t seen, ends, flushes, wrong; /* of the listener; read after a flush */
static uint64_t last_time;

/* The numbers come one after the other, and their times do not fall. */
static void on_event(const kmm__event_t *e)
{
    wrong += e->a != seen || e->time < last_time || e->kind != KMM__EVENT_READY;
    last_time = e->time;
    if (++seen % SLOW == 0)
        nanosleep(&(struct timespec){0, NAP_NS}, NULL);
}
static void on_flush(void)
{
    flushes++;
}
static void on_end(void)
{
    ends++;
}
static const kmm__listener_t listener = {.event = on_event, .flush = on_flush, .end = on_end};

static void *push_all(void *arg)
{
    (void)arg;
    for (int k = 0; k < EVENTS; k++) {
        pthread_mutex_lock(&lock);
        KMM__TRACE(.kind = KMM__EVENT_READY, .a = number++);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void push_from_threads(void)
{
    pthread_t threads[THREADS];
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(pthread_create(&threads[k], NULL, push_all, NULL), 0);
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
}

static void no_listener(void **state)
{
    (void)state;
    assert_false(kmm__tracing());
    KMM__TRACE(.kind = KMM__EVENT_READY);
    kmm__trace_flush();
    assert_int_equal(seen, 0);
}

/* Threads end, and others get their rings. More events are under way than rings have room for. */
static void all_in_order(void **state)
{
    (void)state;
    assert_int_equal(kmm__trace_listen(&listener), 0);
    assert_true(kmm__tracing() && !kmm__tracing_accesses());
    for (int round = 1; round <= 3; round++) {
        push_from_threads();
        kmm__trace_flush();
        assert_int_equal(seen, number);
        assert_int_equal(seen, round * THREADS * EVENTS);
        assert_int_equal(wrong, 0);
        assert_int_equal(ends, round);
        assert_true(flushes > 0);
    }
    assert_true(kmm__trace_waited() > 0);
}

/* A forked process has no tracer: nobody listens there until it has a listener of its own. */
static void after_fork(void **state)
{
    (void)state;
#ifdef __SANITIZE_THREAD__
    skip(); /* a forked process must not start threads under ThreadSanitizer */
#endif
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        bool ok = !kmm__tracing();
        seen = number = wrong = last_time = 0;
        for (int k = 0; k < EVENTS; k++)
            KMM__TRACE(.kind = KMM__EVENT_READY);
        ok = ok && kmm__trace_listen(&listener) == 0;
        push_all(NULL);
        kmm__trace_flush();
        _exit(ok && seen == EVENTS && wrong == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void texts(void **state)
{
    char text[] = "text";
    (void)state;
    const char *a = kmm__trace_text(text);
    assert_ptr_not_equal(a, text);
    assert_string_equal(a, "text");
    assert_ptr_equal(a, kmm__trace_text("text"));
    assert_ptr_not_equal(a, kmm__trace_text("texts"));
    assert_null(kmm__trace_text(NULL));
}

static void check_string(const char *text, const char *wanted)
{
    kmm__json_t j = {0};
    kmm__json_string(&j, text);
    kmm__json_bytes(&j, "", 1);
    assert_string_equal(j.text, wanted);
    free(j.text);
}

/* What is no UTF-8 becomes a question mark: the file is one of UTF-8. */
static void strings(void **state)
{
    (void)state;
    check_string("a\"b\\c\n", "\"a\\\"b\\\\c\\u000a\"");
    check_string(NULL, "\"?\"");
    check_string("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
                 "\"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80\"");
    check_string("\xe9t\xe9", "\"?t?\"");              /* Latin-1 */
    check_string("\xc0\xaf\xed\xa0\x80", "\"?????\""); /* too long; half of a pair */
    check_string("\xf4\x90\x80\x80", "\"????\"");      /* beyond Unicode */
    check_string("\xe2\x82", "\"??\"");                /* cut */
}

static void numbers(void **state)
{
    kmm__json_t j = {0};
    (void)state;
    kmm__json_number(&j, 0);
    kmm__json_text(&j, " ");
    kmm__json_number(&j, UINT64_MAX);
    kmm__json_put_micros(&j, " ", 1234007);
    kmm__json_put_micros(&j, " ", 90);
    kmm__json_bytes(&j, "", 1);
    assert_string_equal(j.text, "0 18446744073709551615 1234.007 0.090");
    free(j.text);
}

/* The file begins with `wanted`; nothing but white space follows. */
static void check_file(const char *name, const char *wanted)
{
    char text[4096] = "";
    FILE *f = fopen(name, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = 0;
    fclose(f);
    assert_memory_equal(text, wanted, strlen(wanted));
    assert_int_equal(strspn(text + strlen(wanted), "\n"), strlen(text) - strlen(wanted));
}

static void add_event(const char *text)
{
    kmm__json_t j = {0};
    kmm__json_text(&j, text);
    kmm__trace_file_add(&j);
    free(j.text);
}

/* The end of the array, with events that had not ended, is written over. */
static void file_ends(void **state)
{
    static const kmm__json_t none;
    char name[] = "/tmp/kmm-trace-XXXXXX", *copy;
    kmm__json_t open = {0};
    int status = 0;
    (void)state;
    close(mkstemp(name));
    assert_true(kmm__trace_file_open("KMM_TRACE", name, 4096));
    kmm__trace_file_flush(&none);
    check_file(name, "");
    kmm__json_text(&open,
                   ",\n{\"name\":\"this has begun and has not ended when that is written\"}");
    add_event("{1}");
    kmm__trace_file_flush(&open);
    check_file(
        name, "[\n{1},\n{\"name\":\"this has begun and has not ended when that is written\"}\n]\n");
    add_event("{2}");
    kmm__trace_file_flush(&none);
    check_file(name, "[\n{1},\n{2}\n]\n");
    pid_t child = fork();
    if (child == 0) {
        kmm__trace_file_forked();
        unlink(name); /* the old file is its parent's */
        bool is_open = kmm__trace_file_open("KMM_TRACE", name, 0); /* nothing fits */
        add_event("{1}");
        add_event("{2}");
        kmm__trace_file_flush(&open);
        _exit(is_open ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    check_file(name,
               "[\n{\"ph\":\"M\",\"pid\":1,\"name\":\"left_out\",\"args\":{\"events\":2}}\n]\n");
    unlink(name);
    free(open.text);
    copy = kmm__trace_name("a%%%x%");
    assert_string_equal(copy, "a%%x%");
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_listener), cmocka_unit_test(all_in_order), cmocka_unit_test(after_fork),
        cmocka_unit_test(texts),       cmocka_unit_test(strings),      cmocka_unit_test(numbers),
        cmocka_unit_test(file_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
