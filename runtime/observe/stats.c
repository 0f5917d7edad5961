/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_STATS: collects what a runtime and its devices did, and prints it where it is wanted. */
#include "observe/stats.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/spin.h"
#include "launch/state.h"
#include "memory/disk/page.h"
#include "memory/disk/spill.h"
#include "memory/host/links.h"
#include "memory/host/numa.h"
#include "memory/host/stage_choice.h"
#include "memory/state.h"
#include "observe/stats_text.h"

void kmm__stats_start(kmm_runtime_t *rt)
{
    const char *text = getenv("KMM_STATS");
    rt->began = kmm__now();
    rt->stats = text && *text && strcmp(text, "0") != 0 ? kmm__copy_text(text) : NULL;
}

void kmm__stats_stop(kmm_runtime_t *rt)
{
    free(rt->stats);
}

/* ---- Collecting ---- */

static void collect_device(kmm__device_t *d, kmm__device_stats_t *out)
{
    const kmm__counters_t *c = &d->counters;
    *out = (kmm__device_stats_t){
        .kind = d->backend->name,
        .has_memory = d->space != KMM__HOST,
        .chunks = kmm__counted(&c->chunks),
        .launches = kmm__counted(&c->launches),
        .proven = kmm__counted(&c->proven),
        .ran = kmm__counted(&c->run_ns),
        .threads = d->compute_stream_count,
        .node = -1,
        .limit = d->space != KMM__HOST ? d->memory->limit : 0,
        .most = kmm__counted(&c->memory_most),
        .in = kmm__counted(&c->bytes_in),
        .out = kmm__counted(&c->bytes_out),
        .from = kmm__counted(&c->bytes_peer),
        .to = kmm__counted(&c->bytes_lent),
        .again = kmm__counted(&c->bytes_again),
        .evicted = kmm__counted(&c->evicted),
        .host_backed = kmm__counted(&c->host_backed_most),
        .premapped = kmm__counted(&c->premapped),
        .mapped = kmm__counted(&c->mappings),
        .allowed = kmm__counted(&c->allowings),
        .shared = kmm__counted(&c->sharings),
        .premapping = kmm__counted(&c->premap_ns),
        .mapping = kmm__counted(&c->mapping_ns),
        .sharing = kmm__counted(&c->sharing_ns),
        .waited = kmm__counted(&c->waiting_ns),
    };
    memcpy(out->name, d->info.name, sizeof(out->name));
}

static void collect_disk(kmm_runtime_t *rt, kmm__stats_t *out)
{
    kmm__spill_stats_t s;
    kmm__spill_stats(rt, &s);
    out->host_limit = s.limit;
    out->host_most = s.most;
    out->written = s.written;
    out->read = s.read;
    out->dropped = s.dropped;
    out->is_async = s.async;
    out->is_direct = s.direct;
}

/* Not locked: what other locks guard. */
static void collect_host(kmm_runtime_t *rt, kmm__stats_t *out)
{
    kmm__copy_costs_t c;
    for (uint32_t k = 0; k < out->device_count; k++)
        if (out->devices[k].has_memory)
            out->devices[k].node = kmm__numa_node(rt->device[k]);
    if (kmm__stage_costs(rt, &c, &out->lock_after)) {
        out->locks = 1 / c.lock;
        out->stages = 1 / c.stage;
        out->links = c.link > 0 ? 1 / c.link : 0;
    }
}

/* True if the lock was taken within a moment. */
static bool lock_soon(pthread_mutex_t *lock)
{
    enum { SOON_NS = 300000000, SECOND = 1000000000 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += SOON_NS;
    until.tv_sec += until.tv_nsec / SECOND;
    until.tv_nsec %= SECOND;
    return pthread_mutex_timedlock(lock, &until) == 0;
}

static const char *name_of(int signal)
{
    switch (signal) {
    case SIGINT: return "SIGINT";
    case SIGTERM: return "SIGTERM";
    case SIGHUP: return "SIGHUP";
    case SIGQUIT: return "SIGQUIT";
    case SIGABRT: return "SIGABRT";
    case SIGFPE: return "SIGFPE";
    case SIGILL: return "SIGILL";
    case SIGSEGV: return "SIGSEGV";
    case SIGBUS: return "SIGBUS";
    case -1: return "a chunk ended its thread";
    default: return signal ? "a signal" : NULL;
    }
}

static void collect(kmm_runtime_t *rt, int signal, kmm__stats_t *out)
{
    *out = (kmm__stats_t){.signal = name_of(signal),
                          .process = (long)getpid(),
                          .seconds = 1e-9 * (double)(kmm__now() - rt->began)};
    bool locked = lock_soon(&rt->lock);
    for (uint32_t k = 0; k < rt->visible_count; k++)
        collect_device(rt->device[k], &out->devices[out->device_count++]);
    out->undone = rt->launches->undone;
    out->arrays = rt->memory->array_most;
    collect_disk(rt, out);
    if (kmm__links_state(rt, &out->links_at_once, &out->links_all) == false)
        out->links_all = 0;
    if (locked)
        pthread_mutex_unlock(&rt->lock);
    if (!signal)
        collect_host(rt, out);
}

/* ---- Printing ---- */

/* Adds the line to a file. False: it cannot be written. */
static bool append(const char *name, const char *line, size_t length)
{
    int file = kmm__log_open(name);
    if (file < 0)
        return false;
    bool all = write(file, line, length) == (ssize_t)length;
    return close(file) == 0 && all;
}

void kmm__stats_print(kmm_runtime_t *rt, int signal)
{
    static const char json[] = "json", file[] = "json:";
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards what follows */
    static kmm__stats_t stats;
    static char text[1 << 15];
    const char *how = rt->stats;
    if (!how || atomic_exchange(&rt->stats_told, true) || !lock_soon(&lock))
        return;
    collect(rt, signal, &stats);
    bool to_file = strncmp(how, file, sizeof(file) - 1) == 0;
    size_t length = to_file || strcmp(how, json) == 0
                        ? kmm__stats_json(&stats, text, sizeof(text))
                        : kmm__stats_table(&stats, text, sizeof(text));
    if (to_file && !append(how + sizeof(file) - 1, text, length)) {
        kmm__log(KMM__LOG_WARNING, "KMM_STATS=%s cannot be written: %s", how, strerror(errno));
        to_file = false;
    }
    if (!to_file)
        kmm__log_plain(text, length);
    pthread_mutex_unlock(&lock);
}
