/* SPDX-License-Identifier: Apache-2.0 */
/* The environment variables of kmm: their names, and the values of those that have few. */
#include "base/environment.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum form { CHECKED_WHERE_READ, WORDS, NUMBER } form_t;

/* docs/environment.md lists the same names; a test compares them. */
static const struct {
    const char *name;
    form_t form;
    const char *words; /* allowed words, each between spaces */
} table[] = {
    {"KMM_CACHE_DIR", CHECKED_WHERE_READ, NULL},
    {"KMM_CACHE_MAX", NUMBER, NULL},
    {"KMM_CHECK", CHECKED_WHERE_READ, NULL},
    {"KMM_CUDA_PATH", CHECKED_WHERE_READ, NULL},
    {"KMM_DEVICES", CHECKED_WHERE_READ, NULL},
    {"KMM_DEVICE_KEEP_FREE", CHECKED_WHERE_READ, NULL},
    {"KMM_DEVICE_MEM", CHECKED_WHERE_READ, NULL},
    {"KMM_FRAME", CHECKED_WHERE_READ, NULL},
    {"KMM_HOST_MEM", CHECKED_WHERE_READ, NULL},
    {"KMM_JOIN", CHECKED_WHERE_READ, NULL},
    {"KMM_LIBRARY", CHECKED_WHERE_READ, NULL},
    {"KMM_LINKS", CHECKED_WHERE_READ, NULL},
    {"KMM_NATIVE", WORDS, " 0 1 "},
    {"KMM_NUMA", WORDS, " 0 1 "},
    {"KMM_ON_ERROR", WORDS, " continue "},
    {"KMM_PINNED_MEM", CHECKED_WHERE_READ, NULL},
    {"KMM_SEED", NUMBER, NULL},
    {"KMM_SPILL_DIR", CHECKED_WHERE_READ, NULL},
    {"KMM_SPILL_IO", CHECKED_WHERE_READ, NULL},
    {"KMM_STAGE_BYTES", NUMBER, NULL},
    {"KMM_STAGE_THREADS", NUMBER, NULL},
    {"KMM_STAGE_TIMES", CHECKED_WHERE_READ, NULL},
    {"KMM_STATS", WORDS, " 0 1 "},
    {"KMM_THREADS", CHECKED_WHERE_READ, NULL},
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
    fprintf(stderr,
            "kmm: warning: the environment has %s, but kmm has no such variable; the nearest is "
            "%s\n",
            name, table[nearest].name);
}

static void check_value(int k, const char *value)
{
    char word[LONGEST];
    char *end;
    if (*value == '\0' || table[k].form == CHECKED_WHERE_READ)
        return;
    if (table[k].form == NUMBER) {
        strtol(value, &end, 10);
        if (*end || end == value)
            fprintf(stderr, "kmm: warning: %s=%s is ignored: it is no whole number\n",
                    table[k].name, value);
        return;
    }
    snprintf(word, sizeof(word), " %s ", value);
    if (!strstr(table[k].words, word))
        fprintf(stderr, "kmm: warning: %s=%s: no such value; there are:%s\n", table[k].name, value,
                table[k].words);
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
    pthread_once(&once, check_all);
}
