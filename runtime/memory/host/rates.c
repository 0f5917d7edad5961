/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how fast several devices copy page-locked memory at once, in both directions. */
#include "memory/host/rates.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "memory/host/costs.h"
#include "memory/host/numa.h"

enum { SAMPLE_BYTES = 32 << 20, DEVICE_PART = 64, PIECES = 4, ROUNDS = 3, MOST_NUMBERS = 8 };

/* the part of the best rate that is enough: more devices that add little only make all wait */
static const double NEARLY = 0.95;

/* Memory of one device's measured copies, on both sides: for a copy in, and behind it for a copy
 * out. */
typedef struct probe {
    kmm__device_t *device;
    uint64_t bytes;
    char *host;
    bool is_locked, is_mapped;
    kmm__frame_handle_t frame;
    kmm__addr_t at; /* 0: not allocated */
    kmm__stream_t *in, *out;
} probe_t;

uint64_t kmm__rates_bytes(const kmm__device_t *d)
{
    uint64_t bytes = d->memory->most / DEVICE_PART < SAMPLE_BYTES ? d->memory->most / DEVICE_PART
                                                                  : SAMPLE_BYTES,
             unit = d->info.granularity;
    return bytes < unit ? unit : bytes / unit * unit;
}

/* ---- Memory and streams ---- */

static void probe_close(probe_t *p)
{
    kmm__device_t *d = p->device;
    kmm__backend_t *b = d->backend;
    uint64_t whole = 2 * p->bytes;
    if (p->in)
        b->stream_destroy(p->in);
    if (p->out)
        b->stream_destroy(p->out);
    if (p->is_mapped && !d->info.whole)
        b->frame_unmap(d->gpu, p->at, whole);
    if (p->at && !d->info.whole)
        b->window_release(d->gpu, p->at, whole);
    if (p->frame)
        b->frame_destroy(d->gpu, p->frame, whole);
    if (p->is_locked)
        b->host_unregister(b, p->host);
    if (p->host)
        munmap(p->host, whole);
}

static bool host_open(probe_t *p)
{
    uint64_t whole = 2 * p->bytes;
    char *host = mmap(NULL, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (host == MAP_FAILED)
        return false;
    p->host = host;
    kmm__numa_bind(p->device, host, whole);
    memset(host, 1, whole);
    p->is_locked = p->device->backend->host_register(p->device->backend, host, whole) == 0;
    return p->is_locked;
}

/* Allocates memory and streams. For a moment, this takes memory of the device beyond its limit.
 * False: something failed, and probe_close frees the rest. */
static bool probe_open(probe_t *p)
{
    kmm__device_t *d = p->device;
    kmm__backend_t *b = d->backend;
    uint64_t whole = 2 * p->bytes;
    if (!host_open(p) || b->frame_create(d->gpu, whole, &p->frame))
        return false;
    if (d->info.whole)
        p->at = p->frame;
    else if (b->window_reserve(d->gpu, whole, &p->at))
        return false;
    p->is_mapped = d->info.whole || b->frame_map(d->gpu, p->at, p->frame, whole) == 0;
    return p->is_mapped && b->stream_create(d->gpu, &p->in) == 0 &&
           b->stream_create(d->gpu, &p->out) == 0;
}

/* ---- Measuring ---- */

static int enqueue(const probe_t *p)
{
    kmm__device_t *d = p->device;
    kmm__addr_t host = (kmm__addr_t)(uintptr_t)p->host;
    kmm__copy_t in = {
        .dst_gpu = d->gpu, .dst = p->at, .src = host, .width = (int64_t)p->bytes, .rows = 1};
    kmm__copy_t out = {.src_gpu = d->gpu,
                       .dst = host + p->bytes,
                       .src = p->at + p->bytes,
                       .width = (int64_t)p->bytes,
                       .rows = 1};
    int error = d->backend->copy(p->in, &in);
    return error ? error : d->backend->copy(p->out, &out);
}

/* Returns the bytes a second that `used` of the devices copy, chosen far apart from each other; 0:
 * something failed. */
static double rate_of(const probe_t *probes, uint32_t count, uint32_t used)
{
    double begin = kmm__costs_now();
    int error = 0;
    for (int piece = 0; piece < PIECES; piece++)
        for (uint32_t k = 0; k < used && !error; k++)
            error = enqueue(&probes[k * count / used]);
    for (uint32_t k = 0; k < used; k++) {
        const probe_t *p = &probes[k * count / used];
        int in = kmm__stream_drain(p->device->backend, p->in),
            out = kmm__stream_drain(p->device->backend, p->out);
        error = error ? error : in ? in : out;
    }
    return error ? 0 : 2.0 * PIECES * used * (double)probes[0].bytes / (kmm__costs_now() - begin);
}

static double best_rate(const probe_t *probes, uint32_t count, uint32_t used)
{
    double best = 0;
    for (int k = 0; k < ROUNDS; k++) {
        double rate = rate_of(probes, count, used);
        if (rate <= 0)
            return 0;
        best = rate > best ? rate : best;
    }
    return best;
}

/* Chooses among 2, 4, 8, ... and all devices. 0: something failed. */
static uint32_t choose(const probe_t *probes, uint32_t count)
{
    double best = 0, rates[MOST_NUMBERS];
    uint32_t used[MOST_NUMBERS], numbers = 0, k = 0;
    for (uint32_t n = 2; n; n = n == count ? 0 : 2 * n < count ? 2 * n : count) {
        used[numbers] = n;
        rates[numbers] = best_rate(probes, count, n);
        if (rates[numbers] <= 0)
            return 0;
        best = rates[numbers] > best ? rates[numbers] : best;
        numbers++;
    }
    while (rates[k] < NEARLY * best)
        k++;
    return used[k];
}

uint32_t kmm__rates_measure(kmm__device_t *const *devices, uint32_t count, bool *measured)
{
    probe_t probes[KMM__MAX_DEVICES] = {0};
    bool opened = true;
    uint32_t chosen = 0;
    for (uint32_t k = 0; k < count; k++)
        probes[k] = (probe_t){.device = devices[k], .bytes = kmm__rates_bytes(devices[0])};
    for (uint32_t k = 0; k < count && opened; k++)
        opened = probe_open(&probes[k]);
    if (opened)
        chosen = choose(probes, count);
    for (uint32_t k = 0; k < count; k++)
        probe_close(&probes[k]);
    *measured = chosen > 0;
    return chosen ? chosen : count;
}
