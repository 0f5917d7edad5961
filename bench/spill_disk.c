/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What going to disk costs: arrays of 2 GiB (or the bytes in the first argument) are filled and
 * read back with an eighth of that as host memory, in KMM_SPILL_DIR (TMPDIR, /var/tmp). Beside it
 * plain pwrite and pread of as much in the same folder, in blocks of the same size, past the page
 * cache where the file system can. Gigabytes are 1e9 bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include <kmm.h>

#include "bench.h"
#include "memory/disk/page.h"
#include "memory/disk/spill.h"

enum { ROUNDS = 3, BLOCK = 8 << 20 };

static const char *folder(void)
{
    const char *names[] = {getenv("KMM_SPILL_DIR"), getenv("TMPDIR")};
    for (int k = 0; k < 2; k++)
        if (names[k] && *names[k])
            return names[k];
    return "/var/tmp";
}

static int open_file(bool *direct)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/kmm-bench-XXXXXX", folder());
    int file = mkstemp(path);
    if (file < 0) {
        perror(path);
        exit(1);
    }
    int again = open(path, O_RDWR | O_DIRECT);
    *direct = again >= 0;
    unlink(path);
    if (again < 0)
        return file;
    close(file);
    return again;
}

static void plain(uint64_t bytes, double *writes, double *reads, bool *direct)
{
    char *block = aligned_alloc(4096, BLOCK);
    int file = open_file(direct);
    double start = bench_now();
    for (uint64_t at = 0; at < bytes; at += BLOCK) {
        memset(block, (int)(at / BLOCK), BLOCK); /* what the program does to its data */
        if (pwrite(file, block, BLOCK, (off_t)at) != BLOCK) {
            perror("pwrite");
            exit(1);
        }
    }
    fdatasync(file);
    *writes = (double)bytes / (bench_now() - start) / 1e9;
    start = bench_now();
    for (uint64_t at = 0; at < bytes; at += BLOCK)
        if (pread(file, block, BLOCK, (off_t)at) != BLOCK) {
            perror("pread");
            exit(1);
        }
    *reads = (double)bytes / (bench_now() - start) / 1e9;
    close(file);
    free(block);
}

static kmm__spill_stats_t stats(kmm_runtime_t *rt)
{
    kmm__spill_stats_t s;
    pthread_mutex_lock(&rt->lock);
    kmm__spill_stats(rt, &s);
    pthread_mutex_unlock(&rt->lock);
    return s;
}

/* Rates of what went to disk and came back while an array was filled and then copied out. */
static void spilled(uint64_t bytes, double *writes, double *reads, kmm__spill_stats_t *last)
{
    enum { PART = 64 << 20 };
    kmm_runtime_t *rt;
    void *a;
    char *part = malloc(PART);
    bench_check(kmm_create(&rt, &(kmm_config_t){.devices = "host", .host_mem = bytes / 8}),
                "kmm_create");
    bench_check(
        kmm_array_create(
            rt, &(kmm_shape_t){.dims = 1, .extent = {(int64_t)bytes}, .element_bytes = 1}, &a),
        "kmm_array_create");
    double start = bench_now();
    bench_check(kmm_fill(rt, a, 1, bytes), "kmm_fill");
    *writes = (double)stats(rt).written / (bench_now() - start) / 1e9;
    start = bench_now();
    for (uint64_t at = 0; at < bytes; at += PART)
        bench_check(kmm_copy_out(rt, part, (char *)a + at, bytes - at < PART ? bytes - at : PART),
                    "kmm_copy_out");
    *last = stats(rt);
    *reads = (double)last->read / (bench_now() - start) / 1e9;
    bench_check(kmm_destroy(rt), "kmm_destroy");
    free(part);
}

int main(int argc, char **argv)
{
    uint64_t bytes = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)2 << 30;
    double rate[6][ROUNDS];
    bool direct = false;
    kmm__spill_stats_t s[2];
    bytes = bytes / BLOCK * BLOCK;
    for (int k = 0; k < ROUNDS; k++) {
        plain(bytes, &rate[0][k], &rate[1][k], &direct);
        unsetenv("KMM_SPILL_IO");
        spilled(bytes, &rate[2][k], &rate[3][k], &s[0]);
        setenv("KMM_SPILL_IO", "pread", 1);
        spilled(bytes, &rate[4][k], &rate[5][k], &s[1]);
    }
    printf("%s, %.2f GB, %s; kmm: %s, %s, sheets of %llu bytes\n", folder(), (double)bytes / 1e9,
           direct ? "direct" : "through the page cache", s[0].async ? "io_uring" : "no io_uring",
           s[0].direct ? "direct" : "through the page cache", (unsigned long long)s[0].page_bytes);
    bench_report("plain pwrite", "GB/s", rate[0], ROUNDS);
    bench_report("fill of an array of 8 times the limit, to disk", "GB/s", rate[2], ROUNDS);
    bench_report("the same without io_uring", "GB/s", rate[4], ROUNDS);
    bench_report("plain pread", "GB/s", rate[1], ROUNDS);
    bench_report("copy out of it, from disk", "GB/s", rate[3], ROUNDS);
    bench_report("the same without io_uring", "GB/s", rate[5], ROUNDS);
    static const char *const names[] = {"fill of an array of 8 times KMM_HOST_MEM",
                                        "copy out of that array"};
    for (int k = 2; k < 6; k++)
        bench_row("spill_disk/rate", rate[k][ROUNDS / 2], rate[k % 2][ROUNDS / 2], "GB/s", "%s%s",
                  names[k % 2], k < 4 ? "" : ", without io_uring");
    return 0;
}
