/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs of copies.
 *
 * Ordinary memory is copied at the link's speed only if it is page-locked. Locking costs as much as
 * several copies through staging buffers, or less than one. That depends on the driver, the kernel,
 * the link, and the number of threads that fill buffers. So the costs are measured when memory is
 * first mapped that is large enough for them to matter, and are kept for later processes.
 *
 * When to lock is the ski rental problem (Karlin, Manasse, Rudolph, Sleator: Competitive snoopy
 * caching, Algorithmica 3, 1988). Nobody knows how often a block will be copied, so it goes through
 * buffers until that has cost as much as locking it.
 */
#include "memory/host/costs.h"
#include "backend/device.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_TIMES = 1000, LASTS_S = 7 * 24 * 3600 };

double kmm__costs_times(const kmm__copy_costs_t *c)
{
    /* Copies in and out use the link at the same time, but the same threads fill and empty the
     * buffers of both. */
    double more = c->stage - c->link / 2, times = more > 0 ? c->lock / more : MOST_TIMES;
    return times < 1 ? 0 : times < MOST_TIMES ? times : MOST_TIMES;
}

/* ---- The file ---- */

/* A cache file: its path, and its first line, which says what was measured on which machine. */
typedef struct cache_file {
    char path[4096], key[512];
} cache_file_t;

static uint64_t hash(const char *text)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 0x100000001B3u;
    return h;
}

/* Makes all folders of the path. False: one could not be made. */
static bool make_folders(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Sets the path, in the folder in which kmmcc keeps headers. The key is set. False: there is no
 * such folder. */
static bool cache_file_find(const char *what, cache_file_t *out)
{
    const char *own = getenv("KMM_CACHE_DIR"), *user = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    char folder[3800];
    if (own && *own)
        snprintf(folder, sizeof(folder), "%s", own);
    else if (user && *user == '/')
        snprintf(folder, sizeof(folder), "%s/kmm", user);
    else
        snprintf(folder, sizeof(folder), "%s/.cache/kmm", home ? home : "");
    if (*folder != '/' || ((!own || !*own) && (!user || *user != '/') && !home) ||
        !make_folders(folder))
        return false; /* KMM_CACHE_DIR=none */
    snprintf(out->path, sizeof(out->path), "%s/%s-%016llx", folder, what,
             (unsigned long long)hash(out->key));
    return true;
}

/* Keys name the machine, because machines share home folders. */
static bool cache_file_of_copies(const kmm__device_t *d, uint32_t threads, size_t buffer_bytes,
                                 cache_file_t *out)
{
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    snprintf(out->key, sizeof(out->key),
             "kmm copies 1: %s, %s, %ld CPUs, %u threads, buffers of %zu", host, d->info.name,
             sysconf(_SC_NPROCESSORS_ONLN), threads, buffer_bytes);
    return cache_file_find("copies", out);
}

static bool cache_file_of_links(const kmm__device_t *d, uint32_t count, cache_file_t *out)
{
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    snprintf(out->key, sizeof(out->key), "kmm links 1: %s, %u of %s, %ld CPUs", host, count,
             d->info.name, sysconf(_SC_NPROCESSORS_ONLN));
    return cache_file_find("links", out);
}

/* True if the file was written within a week. Measurements can be disturbed, and machines change.
 */
static bool is_recent(FILE *f)
{
    struct stat s;
    return fstat(fileno(f), &s) == 0 && s.st_mtime > time(NULL) - LASTS_S;
}

/* Opens the file behind its first line. NULL: there is none, or it has another key. */
static FILE *cache_file_open(const cache_file_t *at)
{
    char key[sizeof(at->key) + 1];
    FILE *f = fopen(at->path, "r");
    if (f && is_recent(f) && fgets(key, sizeof(key), f) &&
        strncmp(key, at->key, strlen(at->key)) == 0 && strcmp(key + strlen(at->key), "\n") == 0)
        return f;
    if (f)
        fclose(f);
    return NULL;
}

/* Writes the file whole or not at all: a new file takes the name of the old one. */
static void cache_file_write(const cache_file_t *at, const char *text)
{
    char path[sizeof(at->path) + 16];
    snprintf(path, sizeof(path), "%s.%ld", at->path, (long)getpid());
    unlink(path); /* the new file must not exist: others may write to the folder, too */
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    FILE *f = file < 0 ? NULL : fdopen(file, "w");
    if (!f)
        return;
    fprintf(f, "%s\n%s", at->key, text);
    if (fclose(f) || rename(path, at->path))
        unlink(path);
}

static bool is_cost(double v)
{
    return isfinite(v) && v >= 0 && v < 1;
}

bool kmm__costs_load(const kmm__device_t *d, uint32_t threads, size_t buffer_bytes,
                     kmm__copy_costs_t *out)
{
    cache_file_t at;
    kmm__copy_costs_t c;
    FILE *f = cache_file_of_copies(d, threads, buffer_bytes, &at) ? cache_file_open(&at) : NULL;
    if (!f)
        return false;
    bool ok = fscanf(f, "lock %la\nstage %la\nlink %la", &c.lock, &c.stage, &c.link) == 3 &&
              is_cost(c.lock) && is_cost(c.stage) && is_cost(c.link) && c.stage > 0;
    fclose(f);
    if (ok)
        *out = c;
    return ok;
}

void kmm__costs_save(const kmm__device_t *d, uint32_t threads, size_t buffer_bytes,
                     const kmm__copy_costs_t *c)
{
    cache_file_t at;
    char text[256];
    snprintf(text, sizeof(text), "lock %a\nstage %a\nlink %a\n", c->lock, c->stage, c->link);
    if (cache_file_of_copies(d, threads, buffer_bytes, &at))
        cache_file_write(&at, text);
}

bool kmm__links_load(const kmm__device_t *d, uint32_t count, uint32_t *out)
{
    cache_file_t at;
    uint32_t most = 0;
    FILE *f = cache_file_of_links(d, count, &at) ? cache_file_open(&at) : NULL;
    if (!f)
        return false;
    bool ok = fscanf(f, "%u", &most) == 1 && most >= 1 && most <= count;
    fclose(f);
    if (ok)
        *out = most;
    return ok;
}

void kmm__links_save(const kmm__device_t *d, uint32_t count, uint32_t most)
{
    cache_file_t at;
    char text[32];
    snprintf(text, sizeof(text), "%u\n", most);
    if (cache_file_of_links(d, count, &at))
        cache_file_write(&at, text);
}

/* ---- Measuring ---- */

double kmm__costs_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double lock_cost(kmm__backend_t *b, char *sample)
{
    double best = 0;
    for (int k = 0; k < KMM__COST_ROUNDS; k++) {
        double begin = kmm__costs_now();
        if (b->host_register(b, sample, KMM__SAMPLE_BYTES))
            return 1; /* memory cannot be locked */
        b->host_unregister(b, sample);
        double took = kmm__costs_now() - begin;
        best = k == 0 || took < best ? took : best;
    }
    return best / KMM__SAMPLE_BYTES;
}

static double copy_time(kmm__device_t *d, kmm__stream_t *s, kmm__addr_t at, char *locked,
                        size_t bytes)
{
    kmm__copy_t copy = {.dst_gpu = d->gpu,
                        .dst = at,
                        .src = (kmm__addr_t)(uintptr_t)locked,
                        .width = (int64_t)bytes,
                        .rows = 1};
    double best = 0;
    for (int k = 0; k < KMM__COST_ROUNDS; k++) {
        double begin = kmm__costs_now();
        if (d->backend->copy(s, &copy) || kmm__stream_drain(d->backend, s))
            return 0;
        double took = kmm__costs_now() - begin;
        best = k == 0 || took < best ? took : best;
    }
    return best;
}

static double with_stream(kmm__device_t *d, kmm__addr_t at, char *locked, size_t bytes)
{
    kmm__stream_t *stream;
    if (d->backend->stream_create(d->gpu, &stream))
        return 0;
    double took = copy_time(d, stream, at, locked, bytes);
    d->backend->stream_destroy(stream);
    return took;
}

static double with_window(kmm__device_t *d, kmm__frame_handle_t frame, size_t whole, char *locked,
                          size_t bytes)
{
    kmm__backend_t *b = d->backend;
    kmm__addr_t window;
    double took = 0;
    int stuck = 0; /* the driver did not unmap the frame, so that the window stays */
    if (b->window_reserve(d->gpu, whole, &window))
        return 0;
    if (b->frame_map(d->gpu, window, frame, whole) == 0) {
        took = with_stream(d, window, locked, bytes);
        stuck = b->frame_unmap(d->gpu, window, whole);
    }
    if (!stuck)
        b->window_release(d->gpu, window, whole);
    return took;
}

/* Measures the link with memory of the device, which is taken beyond its limit for a moment. */
static double link_cost(kmm__device_t *d, char *locked, size_t bytes)
{
    uint64_t unit = d->info.granularity, whole = (bytes + unit - 1) / unit * unit;
    kmm__frame_handle_t frame;
    if (d->backend->frame_create(d->gpu, whole, &frame))
        return 0;
    double took = d->info.whole ? with_stream(d, frame, locked, bytes)
                                : with_window(d, frame, whole, locked, bytes);
    d->backend->frame_destroy(d->gpu, frame, whole);
    return took / (double)bytes;
}

void kmm__costs_measure(kmm__device_t *d, char *sample, char *locked, size_t bytes,
                        kmm__copy_costs_t *out)
{
    out->lock = lock_cost(d->backend, sample);
    out->link = link_cost(d, locked, bytes);
}
