/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages, bars and the texts of KMM_STATS. KMM_LOG and KMM_LOG_FILE are read once in a process,
 * so each test of them is a process of its own.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/bar.h"
#include "base/descriptor.h"
#include "base/log.h"
#include "base/units.h"
#include "observe/stats_text.h"

static char folder[] = "/tmp/kmm-log-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[4][256];
    static int next;
    char *out = path[next++ % 4];
    snprintf(out, 256, "%s/%s", folder, name);
    return out;
}

/* Runs fn in a process whose stderr is the file "stderr" of the folder. */
static void in_process(void (*fn)(void), const char *level, const char *file)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        int to = open(in_folder("stderr"), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
        dup2(to, STDERR_FILENO);
        close(to);
        level ? setenv("KMM_LOG", level, 1) : unsetenv("KMM_LOG");
        file ? setenv("KMM_LOG_FILE", file, 1) : unsetenv("KMM_LOG_FILE");
        fn();
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static char *contents(const char *name)
{
    static char text[1 << 20];
    FILE *f = fopen(in_folder(name), "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    fclose(f);
    return text;
}

/* ---- Messages ---- */

static void say_all(void)
{
    kmm__log_start();
    kmm__log(KMM__LOG_ERROR, "e %d", 1);
    kmm__log(KMM__LOG_WARNING, "w");
    kmm__log(KMM__LOG_NOTE, "n");
    kmm__log_info("i");
    kmm__log_debug("d");
    kmm__log_text(KMM__LOG_ERROR, "kmm: error: t\n", 14);
}

static void messages_are_as_ever_without_kmm_log(void **state)
{
    (void)state;
    in_process(say_all, NULL, NULL);
    assert_string_equal(contents("stderr"),
                        "kmm: error: e 1\nkmm: warning: w\nkmm: note: n\nkmm: error: t\n");
    in_process(say_all, "0", "");
    assert_string_equal(contents("stderr"),
                        "kmm: error: e 1\nkmm: warning: w\nkmm: note: n\nkmm: error: t\n");
}

static int lines_of(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static void a_level_has_time_and_thread(void **state)
{
    static const struct {
        const char *level;
        int lines;
    } cases[] = {{"error", 2}, {"warning", 4}, {"info", 5}, {"debug", 6}};
    double time;
    long thread;
    int end = 0;
    (void)state;
    for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
        in_process(say_all, cases[k].level, NULL);
        const char *text = contents("stderr");
        assert_int_equal(lines_of(text), cases[k].lines);
        assert_int_equal(sscanf(text, "[%lf %ld] kmm: error: e 1%n", &time, &thread, &end), 2);
        assert_true(end > 0 && time >= 0 && thread > 0);
    }
}

static void a_file_has_all_and_stderr_what_it_had(void **state)
{
    (void)state;
    in_process(say_all, "debug", in_folder("all"));
    assert_int_equal(lines_of(contents("all")), 6);
    assert_string_equal(contents("stderr"),
                        "kmm: error: e 1\nkmm: warning: w\nkmm: note: n\nkmm: error: t\n");
    in_process(say_all, NULL, in_folder("all")); /* is added to */
    assert_int_equal(lines_of(contents("all")), 10);
}

static void a_file_that_cannot_be_written_is_a_warning(void **state)
{
    (void)state;
    in_process(say_all, "info", in_folder("none/file"));
    const char *text = contents("stderr");
    assert_non_null(strstr(text, "kmm: warning: KMM_LOG_FILE=/tmp/"));
    assert_non_null(strstr(text, "No such file or directory; messages go to stderr\n"));
    assert_non_null(strstr(text, "kmm: info: i\n"));
}

static void say_long(void)
{
    static char text[3 * KMM__LOG_BYTES];
    memset(text, 'x', sizeof(text) - 1);
    kmm__log(KMM__LOG_ERROR, "%s", text);
    kmm__log(KMM__LOG_ERROR, "short");
}

static void a_long_message_is_cut_to_a_line(void **state)
{
    (void)state;
    in_process(say_long, NULL, NULL);
    const char *text = contents("stderr"), *end = strchr(text, '\n');
    assert_true(end - text < KMM__LOG_BYTES);
    assert_string_equal(end + 1, "kmm: error: short\n");
}

enum { THREADS = 8, MESSAGES = 200, WIDTH = 300 };

static void *say_many(void *letter)
{
    char text[WIDTH + 1];
    memset(text, *(const char *)letter, WIDTH);
    text[WIDTH] = '\0';
    for (int k = 0; k < MESSAGES; k++)
        kmm__log(KMM__LOG_WARNING, "%s", text);
    return NULL;
}

static void say_in_threads(void)
{
    pthread_t threads[THREADS];
    char letters[THREADS];
    for (int k = 0; k < THREADS; k++) {
        letters[k] = (char)('a' + k);
        pthread_create(&threads[k], NULL, say_many, &letters[k]);
    }
    for (int k = 0; k < THREADS; k++)
        pthread_join(threads[k], NULL);
}

static void lines_do_not_interleave(void **state)
{
    static const char begin[] = "kmm: warning: ";
    (void)state;
    in_process(say_in_threads, NULL, NULL);
    const char *text = contents("stderr");
    assert_int_equal(lines_of(text), THREADS * MESSAGES);
    for (int k = 0; k < THREADS * MESSAGES; k++) {
        assert_memory_equal(text, begin, sizeof(begin) - 1);
        text += sizeof(begin) - 1;
        for (int j = 1; j < WIDTH; j++)
            assert_int_equal(text[j], text[0]);
        text += WIDTH;
        assert_int_equal(*text++, '\n');
    }
}

static void say_and_fork(void)
{
    int status;
    kmm__log_info("parent");
    kmm__log(KMM__LOG_INFO, "parent");
    pid_t child = fork();
    if (child == 0) {
        kmm__log(KMM__LOG_INFO, "child");
        _exit(0);
    }
    waitpid(child, &status, 0);
    kmm__log(KMM__LOG_INFO, "again");
    char names[2][64];
    snprintf(names[0], 64, "of-%ld", (long)getpid());
    snprintf(names[1], 64, "of-%ld", (long)child);
    if (!strstr(contents(names[0]), "parent") || !strstr(contents(names[0]), "again") ||
        strstr(contents(names[0]), "child") || !strstr(contents(names[1]), "child"))
        _exit(1);
}

static void a_forked_process_has_a_file_of_its_own(void **state)
{
    (void)state;
    in_process(say_and_fork, "info", in_folder("of-%p"));
    in_process(say_all, NULL, in_folder("%%p"));
    assert_int_equal(lines_of(contents("%p")), 4);
}

static void move_descriptor(void)
{
    close(STDIN_FILENO);
    int file = kmm__descriptor_keep(open(in_folder("kept"), O_RDWR | O_CREAT, 0600));
    if (file <= STDERR_FILENO || fcntl(STDIN_FILENO, F_GETFD) >= 0)
        _exit(1);
}

static void descriptors_are_none_of_the_standard_ones(void **state)
{
    (void)state;
    in_process(move_descriptor, NULL, NULL);
}

/* ---- Units and bars ---- */

static void units_are_read_at_once(void **state)
{
    (void)state;
    assert_string_equal(KMM__BYTES(0), "0 bytes");
    assert_string_equal(KMM__BYTES(1023), "1023 bytes");
    assert_string_equal(KMM__BYTES(1536), "1.5 KiB");
    assert_string_equal(KMM__BYTES(UINT64_MAX), "16.0 EiB");
    assert_string_equal(KMM__SECONDS(-1), "0.000 s");
    assert_string_equal(KMM__SECONDS(12.34), "12.3 s");
    assert_string_equal(KMM__SECONDS(205), "3:25 min");
    assert_string_equal(KMM__SECONDS(7380), "2:03 h");
    assert_true(strlen(KMM__SECONDS(1e300)) < KMM__UNITS_TEXT);
}

/* The columns that a bar takes: all but the control sequences. */
static size_t columns_of(const char *text)
{
    static const char begin[] = "\r", end[] = "\033[K\r";
    size_t length = strlen(text);
    assert_memory_equal(text, begin, 1);
    assert_string_equal(text + length - strlen(end), end);
    return length - 1 - strlen(end);
}

static void a_bar_fits_each_width(void **state)
{
    static const kmm__bar_t bars[] = {
        {"kmm", 0, 0, 0, NULL, -1},
        {"kmm", 0, 1, 0, "tasks", -1},
        {"kmm", 5, 10, 1.5e9, NULL, 75},
        {"kmm", 10, 5, 1e300, NULL, 1e300},
        {"kmm-replay", UINT64_MAX, UINT64_MAX, 123456789, "calls", 0},
        {"kmm", UINT64_MAX - 1, UINT64_MAX, 1e30, "tasks", 3599},
    };
    char text[KMM__BAR_TEXT];
    (void)state;
    for (size_t k = 0; k < sizeof(bars) / sizeof(*bars); k++)
        for (unsigned columns = KMM__BAR_LEAST; columns <= KMM__BAR_MOST; columns++) {
            size_t length = kmm__bar_text(&bars[k], columns, text);
            assert_int_equal(length, strlen(text));
            assert_true(columns_of(text) < columns);
            assert_non_null(strchr(text, '%'));
        }
    kmm__bar_text(&bars[2], 60, text);
    assert_string_equal(text, "\rkmm: [##########-----------]  50%  1.4 GiB/s  1:15 min left"
                              "\033[K\r");
}

/* ---- Statistics ---- */

static kmm__stats_t stats_of(uint64_t each)
{
    kmm__stats_t s = {.seconds = (double)each, .device_count = KMM__MAX_DEVICES, .undone = each};
    for (uint32_t k = 0; k < KMM__MAX_DEVICES; k++) {
        kmm__device_stats_t *d = &s.devices[k];
        *d = (kmm__device_stats_t){.kind = "cuda",
                                   .has_memory = true,
                                   .chunks = each,
                                   .launches = each,
                                   .proven = each,
                                   .ran = each,
                                   .threads = 1,
                                   .node = INT_MAX,
                                   .limit = each,
                                   .most = each,
                                   .in = each,
                                   .out = each,
                                   .from = each,
                                   .to = each,
                                   .again = each,
                                   .evicted = each,
                                   .host_backed = each,
                                   .premapped = each,
                                   .mapped = each,
                                   .allowed = each,
                                   .shared = each,
                                   .premapping = each,
                                   .mapping = each,
                                   .sharing = each,
                                   .waited = each};
        memset(d->name, '"', sizeof(d->name) - 1);
    }
    s.host_limit = s.host_most = s.written = s.read = s.dropped = s.arrays = each;
    return s;
}

static void huge_numbers_fit(void **state)
{
    enum { ROOM = 1 << 15 };
    static char text[ROOM];
    (void)state;
    kmm__stats_t s = stats_of(UINT64_MAX);
    size_t length = kmm__stats_table(&s, text, ROOM);
    assert_int_equal(length, strlen(text));
    assert_true(length < ROOM - 1);
    assert_int_equal(lines_of(text), KMM__MAX_DEVICES + 5);
    length = kmm__stats_json(&s, text, ROOM);
    assert_int_equal(length, strlen(text));
    assert_true(length < ROOM - 1);
    assert_string_equal(text + length - 2, "}\n");
    assert_int_equal(lines_of(text), 1);
    assert_int_equal(kmm__stats_table(&s, text, 100), 99); /* cut to a line */
    assert_int_equal(text[98], '\n');
}

static void columns_are_aligned(void **state)
{
    char text[4096], *line[3];
    (void)state;
    kmm__stats_t s = stats_of(0);
    s.device_count = 2;
    s.seconds = 2;
    strcpy(s.devices[0].name, "a");
    strcpy(s.devices[1].name, "another");
    s.devices[0].node = s.devices[1].node = -1;
    s.devices[1].chunks = 1234567;
    s.devices[1].ran = 1000000000;
    s.devices[1].limit = 1 << 30;
    s.devices[1].most = 1 << 29;
    kmm__stats_table(&s, text, sizeof(text));
    strtok(text, "\n");
    for (int k = 0; k < 3; k++)
        assert_non_null(line[k] = strtok(NULL, "\n"));
    assert_string_equal(line[0], "kmm: device    chunks  launches  running     memory       of  "
                                 "copied in      out");
    assert_string_equal(line[1], "kmm: a              0         0       0%    0 bytes  0 bytes  "
                                 "  0 bytes  0 bytes");
    assert_string_equal(line[2], "kmm: another  1234567         0      50%  512.0 MiB  1.0 GiB  "
                                 "  0 bytes  0 bytes");
}

static int folder_make(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_as_ever_without_kmm_log),
        cmocka_unit_test(a_level_has_time_and_thread),
        cmocka_unit_test(a_file_has_all_and_stderr_what_it_had),
        cmocka_unit_test(a_file_that_cannot_be_written_is_a_warning),
        cmocka_unit_test(a_long_message_is_cut_to_a_line),
        cmocka_unit_test(lines_do_not_interleave),
        cmocka_unit_test(a_forked_process_has_a_file_of_its_own),
        cmocka_unit_test(descriptors_are_none_of_the_standard_ones),
        cmocka_unit_test(units_are_read_at_once),
        cmocka_unit_test(a_bar_fits_each_width),
        cmocka_unit_test(huge_numbers_fit),
        cmocka_unit_test(columns_are_aligned),
    };
    return cmocka_run_group_tests(tests, folder_make, folder_remove);
}
