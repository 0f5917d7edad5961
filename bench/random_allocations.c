/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The workload of RMM's benchmark random_allocations, on resources of kmm and on malloc.
 *
 *   random_allocations [allocations [maximum MiB [resource ...]]]     default: 10000, 1, host
 * resources
 *
 * Allocations happen with probability 0.73 while they fit below the cap of 16,000 MiB, else a
 * random live one is freed; sizes are uniform from 1 to the maximum; at the end everything is
 * freed. Pools are grown before the clock starts. Memory is not touched. Resources are named as
 * tools/spec.h says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "spec.h"

static const size_t MIB = (size_t)1 << 20;
static const size_t CAP = (size_t)16000 << 20;

typedef struct piece {
    void *p;
    size_t bytes;
} piece_t;
typedef struct result {
    double seconds;
    size_t peak, operations;
} result_t;

static uint64_t roll(uint64_t *state, uint64_t n)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state % n;
}

static void *get(kmm_resource_t *r, size_t bytes)
{
    void *p = NULL;
    if (!r)
        p = malloc(bytes);
    else if (kmm_resource_allocate(r, bytes, 0, NULL, &p))
        fprintf(stderr, "%s\n", kmm_resource_error_text());
    if (!p)
        exit(1);
    return p;
}

static void put(kmm_resource_t *r, piece_t a)
{
    if (!r)
        free(a.p);
    else if (kmm_resource_deallocate(r, a.p, a.bytes, NULL)) {
        fprintf(stderr, "%s\n", kmm_resource_error_text());
        exit(1);
    }
}

/* r NULL: malloc. */
static result_t run(kmm_resource_t *r, size_t allocations, size_t most)
{
    piece_t *live = malloc(allocations * sizeof(*live));
    size_t count = 0, bytes = 0, done = 0;
    result_t result = {0};
    uint64_t state = 2026;
    double start = bench_now();
    while (done < allocations || count > 0) {
        size_t size = roll(&state, most) + 1;
        bool allocate =
            done < allocations && (count == 0 || roll(&state, 100) < 73) && bytes + size <= CAP;
        if (allocate) {
            live[count++] = (piece_t){get(r, size), size};
            bytes += size;
            done++;
            result.peak = result.peak < bytes ? bytes : result.peak;
        } else {
            size_t i = roll(&state, count);
            put(r, live[i]);
            bytes -= live[i].bytes;
            live[i] = live[--count];
        }
        result.operations++;
    }
    result.seconds = bench_now() - start;
    free(live);
    return result;
}

static void row(const char *figure, const char *load, double value, const char *unit,
                const char *name)
{
    char subject[128];
    snprintf(subject, sizeof(subject), "random_allocations_%s/%s", figure, load);
    bench_row(subject, value, 0, unit, "%s", name);
}

static void report(const char *name, kmm_resource_t *r, size_t allocations, size_t most)
{
    result_t result = run(r, allocations, most);
    kmm_resource_usage_t usage;
    printf("%-22s %8zu x %3zu MiB %10.3f ms %7.0f ns each", name, allocations, most / MIB,
           1e3 * result.seconds, 1e9 * result.seconds / (double)result.operations);
    if (r && kmm_resource_usage(r, &usage) == 0)
        printf("  extent/peak %.3f of %zu MiB", (double)usage.extent_bytes / (double)result.peak,
               result.peak / MIB);
    printf("\n");
    char load[64];
    snprintf(load, sizeof(load), "%zux%zuMiB", allocations, most / MIB);
    row("time", load, 1e3 * result.seconds, "ms", name);
    if (r && kmm_resource_usage(r, &usage) == 0)
        row("extent", load, (double)usage.extent_bytes / (double)result.peak, "of-peak", name);
}

/* A resource's text, as tools/spec.h says, or "malloc". */
static int bench(const char *name, size_t allocations, size_t most)
{
    kmm_resource_t *r = NULL;
    const char *wrong = name;
    if (strcmp(name, "malloc") == 0) {
        report(name, NULL, allocations, most);
        return 0;
    }
    int status = kmm_spec_create(name, &r, &wrong);
    if (status) {
        fprintf(stderr, "%s: %s at \"%s\": %s\n", name, kmm_error_string(status), wrong,
                kmm_resource_error_text());
        return 1;
    }
    report(name, r, allocations, most);
    return kmm_resource_destroy(r) != 0;
}

int main(int argc, char **argv)
{
    size_t allocations = argc > 1 ? strtoull(argv[1], NULL, 10) : 10000;
    size_t most = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1) * MIB;
    const char *usual[] = {"pool:20000M/host", "arena:20000M/host", "malloc"};
    int wrong = allocations == 0 || most == 0;
    if (wrong)
        fprintf(stderr, "usage: random_allocations [allocations [maximum MiB [resource ...]]]\n");
    for (int i = 0; i < 3 && argc <= 3 && !wrong; i++)
        wrong |= bench(usual[i], allocations, most);
    for (int i = 3; i < argc && !wrong; i++)
        wrong |= bench(argv[i], allocations, most);
    return wrong;
}
