/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables of kmm: their names, and the values of those that have few. */
#include "base/environment.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"

/* SIZE: where it is read, text that is no size is an error; 0 bytes count as not set. */
typedef enum form { CHECKED_WHERE_READ, WORDS, WORD_LIST, NUMBER, SIZE, FOLDER } form_t;

/* docs/environment.md lists the same names; a test compares them. */
static const struct {
    const char *name;
    form_t form;
    const char *words; /* allowed words, each between spaces */
    long least, most;  /* of a NUMBER */
} table[] = {
    {"KMM_CACHE_DIR", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_CACHE_MAX", NUMBER, NULL, 1, 1 << 30},
    {"KMM_CHECK", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_CUDA_PATH", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_DEVICES", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_DEVICE_KEEP_FREE", SIZE, NULL, 0, 0},
    {"KMM_DEVICE_MEM", SIZE, NULL, 0, 0},
    {"KMM_DOT", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_DOT_LINES", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_FRAME", SIZE, NULL, 0, 0},
    {"KMM_HOST_MEM", SIZE, NULL, 0, 0},
    {"KMM_JOIN", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_LIBRARY", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_LINKS", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_LOG", WORDS, " 0 error warning info debug ", 0, 0},
    {"KMM_LOG_FILE", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_NATIVE", WORDS, " 0 1 ", 0, 0},
    {"KMM_NODES", WORDS, " 0 1 ", 0, 0},
    {"KMM_NODE_TIMEOUT", NUMBER, NULL, 0, 86400},
    {"KMM_NUMA", WORDS, " 0 1 ", 0, 0},
    {"KMM_ON_ERROR", WORDS, " continue ", 0, 0},
    {"KMM_ORDER", WORDS, " reuse submission ", 0, 0},
    {"KMM_PINNED_MEM", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_PROGRESS", WORDS, " 0 1 ", 0, 0},
    {"KMM_RANGES", WORDS, " 0 nvtx roctx ", 0, 0},
    {"KMM_SEED", NUMBER, NULL, LONG_MIN, LONG_MAX},
    {"KMM_SPILL_DIR", FOLDER, NULL, 0, 0},
    {"KMM_SPILL_IO", WORD_LIST, " pread cached ", 0, 0},
    {"KMM_STAGE_BYTES", NUMBER, NULL, 1, 1 << 30},
    {"KMM_STAGE_THREADS", NUMBER, NULL, 0, 12},
    {"KMM_STAGE_TIMES", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_STATS", WORDS, " 0 1 json json:FILE ", 0, 0},
    {"KMM_THREADS", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_TRACE", CHECKED_WHERE_READ, NULL, 0, 0},
    {"KMM_TRACE_MAX", SIZE, NULL, 0, 0},
    {"KMM_TRANSPORT", CHECKED_WHERE_READ, NULL, 0, 0},
};
enum { COUNT = sizeof(table) / sizeof(*table), LONGEST = 48 };

/* Prefixes of names that kmm's own tests and benchmarks use. */
static const char *const internal_names[] = {"KMM_TEST_",  "KMM_FAKE_",   "KMM_BENCH_",
                                             "KMM_FAULTS", "KMM_ORACLE_", NULL};

/* Returns the number of letters that must be inserted, removed or replaced to turn a into b (Wagner
 * and Fischer). */
static size_t distance(const char *a, const char *b)
{
    size_t row[LONGEST + 1], n = strlen(b);
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t replaced = diagonal + (a[i - 1] != b[j - 1]), least = replaced;
            least = row[j] + 1 < least ? row[j] + 1 : least;
            least = row[j - 1] + 1 < least ? row[j - 1] + 1 : least;
            diagonal = row[j];
            row[j] = least;
        }
    }
    return row[n];
}

static void warn_of_name(const char *name)
{
    int nearest = 0;
    for (int k = 1; k < COUNT; k++)
        if (distance(name, table[k].name) < distance(name, table[nearest].name))
            nearest = k;
    kmm__log(KMM__LOG_WARNING,
             "the environment has %s, but kmm has no such variable; the nearest is %s", name,
             table[nearest].name);
}

static void check_number(int k, const char *value)
{
    char *end;
    long n = strtol(value, &end, 10);
    if (*end || end == value)
        kmm__log(KMM__LOG_WARNING, "%s=%s is ignored: it is no whole number", table[k].name, value);
    else if (n < table[k].least || n > table[k].most)
        kmm__log(KMM__LOG_WARNING, "%s=%s is ignored: it is a number from %ld to %ld",
                 table[k].name, value, table[k].least, table[k].most);
}

/* A size of 0, or of less than a byte. */
static void check_size(int k, const char *value)
{
    char *end;
    double size = strtod(value, &end);
    if (end != value && (size == 0 || (size > 0 && size < 1 && *end == '\0')))
        kmm__log(KMM__LOG_WARNING, "%s=%s is ignored: it is less than a byte", table[k].name,
                 value);
}

static void check_folder(int k, const char *value)
{
    struct stat s;
    if (stat(value, &s) || !S_ISDIR(s.st_mode) || access(value, W_OK))
        kmm__log(KMM__LOG_WARNING, "%s=%s: it is no folder in which files can be made",
                 table[k].name, value);
}

/* True if a text is one of the words. A word that ends with ":FILE" stands for any file. */
static bool is_word(const char *words, const char *text, size_t length)
{
    char word[LONGEST];
    const char *colon = memchr(text, ':', length);
    if (colon && colon + 1 < text + length)
        snprintf(word, sizeof(word), " %.*s:FILE ", (int)(colon - text), text);
    else
        snprintf(word, sizeof(word), " %.*s ", (int)length, text);
    return strstr(words, word) && (colon || !memchr(text, ' ', length));
}

static void check_words(int k, const char *value)
{
    size_t length;
    for (const char *at = value; *at; at += length + (at[length] != '\0')) {
        length = table[k].form == WORD_LIST ? strcspn(at, ",") : strlen(at);
        if (is_word(table[k].words, at, length))
            continue;
        kmm__log(KMM__LOG_WARNING, "%s=%s: no such value; there are:%s", table[k].name, value,
                 table[k].words);
        return;
    }
}

static void check_value(int k, const char *value)
{
    if (*value == '\0')
        return;
    switch (table[k].form) {
    case CHECKED_WHERE_READ: return;
    case WORDS:
    case WORD_LIST: check_words(k, value); return;
    case NUMBER: check_number(k, value); return;
    case SIZE: check_size(k, value); return;
    case FOLDER: check_folder(k, value); return;
    }
}

static void check(const char *entry)
{
    char name[LONGEST];
    const char *equals = strchr(entry, '=');
    if (strncmp(entry, "KMM_", 4) != 0 || !equals)
        return;
    for (int k = 0; internal_names[k]; k++)
        if (strncmp(entry, internal_names[k], strlen(internal_names[k])) == 0)
            return;
    snprintf(name, sizeof(name), "%.*s", (int)(equals - entry), entry);
    for (int k = 0; k < COUNT; k++)
        if (strcmp(name, table[k].name) == 0) {
            check_value(k, equals + 1);
            return;
        }
    warn_of_name(name);
}

static void check_all(void)
{
    for (char **entry = environ; entry && *entry; entry++)
        check(*entry);
}

void kmm__environment_check(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    kmm__log_start();
    pthread_once(&once, check_all);
}
