/* SPDX-License-Identifier: Apache-2.0 */
/* KMM_STATS=1: prints statistics of each device on stderr when a runtime ends. */
#include "observe/stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/nodes.h"
#include "launch/state.h"
#include "memory/disk/page.h"
#include "memory/disk/spill.h"
#include "memory/host/links.h"
#include "memory/host/stage_choice.h"
#include "memory/state.h"

/* Prints a number of bytes as "1.5 GiB". */
static void print_bytes(const char *what, uint64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double v = (double)bytes;
    unsigned k = 0;
    for (; v >= 1024 && k < 4; k++)
        v /= 1024;
    fprintf(stderr, "%s %.*f %s", what, k ? 1 : 0, v, units[k]);
}

/* Prints the maximum bytes of all arrays, and for each device the maximum bytes of host-backed
 * frames. */
static void print_arrays(const kmm_runtime_t *rt)
{
    fprintf(stderr, "kmm: arrays:");
    print_bytes(" at most", rt->memory->array_most);
    for (uint32_t k = 0; k < rt->device_count; k++) {
        uint64_t most = kmm__counted(&rt->device[k]->counters.host_backed_most);
        if (!most)
            continue;
        fprintf(stderr, "; %s had", rt->device[k]->info.name);
        print_bytes("", most);
        fprintf(stderr, " in the host's memory");
    }
    fprintf(stderr, "\n");
}

static void print_host(kmm_runtime_t *rt)
{
    kmm__spill_stats_t s;
    pthread_mutex_lock(&rt->lock);
    kmm__spill_stats(rt, &s);
    pthread_mutex_unlock(&rt->lock);
    if (!s.limit)
        return;
    fprintf(stderr, "kmm: host memory:");
    print_bytes(" at most", s.limit);
    print_bytes("; used at most", s.most);
    print_bytes("; written to disk", s.written);
    print_bytes(", read back", s.read);
    print_bytes(", dropped", s.dropped);
    fprintf(stderr, " (%s, %s)\n", s.async ? "io_uring" : "pread and pwrite",
            s.direct ? "direct" : "through the page cache");
}

/* Converts a counter of nanoseconds to seconds. */
static double seconds(const uint64_t *counter)
{
    return 1e-9 * (double)kmm__counted(counter);
}

/* Prints the time that mapping frames took on a device. */
static void print_mapping(const kmm__device_t *d)
{
    const kmm__counters_t *c = &d->counters;
    fprintf(stderr,
            "; %" PRIu64 " frames premapped in %.3f s; %" PRIu64
            " frames mapped or unmapped and %" PRIu64 " times given access in %.3f s, %" PRIu64
            " times to others in %.3f s, waited %.3f s for room",
            kmm__counted(&c->premapped), seconds(&c->premap_ns), kmm__counted(&c->mappings),
            kmm__counted(&c->allowings), seconds(&c->mapping_ns), kmm__counted(&c->sharings),
            seconds(&c->sharing_ns), seconds(&c->waiting_ns));
}

/* Prints how ordinary memory was copied, if that was measured. */
static void print_costs(kmm_runtime_t *rt)
{
    kmm__copy_costs_t c;
    double times;
    if (!kmm__stage_costs(rt, &c, &times))
        return;
    fprintf(stderr, "kmm: ordinary memory: page-locked at %.1f GB/s, through buffers %.1f GB/s",
            1e-9 / c.lock, 1e-9 / c.stage);
    if (c.link > 0)
        fprintf(stderr, ", page-locked to a device %.1f GB/s", 1e-9 / c.link);
    fprintf(stderr, ": locked after %.1f copies\n", times);
}

static void print_links(kmm_runtime_t *rt)
{
    uint32_t most, count;
    if (kmm__links_state(rt, &most, &count))
        fprintf(stderr, "kmm: %u of %u devices at once copied from and to the host's memory\n",
                most, count);
}

static void print_nodes(void)
{
    kmm__nodes_counts_t c;
    if (!kmm__nodes_hooks)
        return;
    kmm__nodes_hooks->count(&c);
    fprintf(stderr, "kmm: node %u of %u: %" PRIu64 " parcels and %" PRIu64 " messages", c.me,
            c.count, c.post.parcels, c.post.messages);
    print_bytes(" sent,", c.post.bytes);
    if (c.me == 0)
        fprintf(stderr, "; %" PRIu64 " launches were divided among nodes", c.launches);
    fprintf(stderr, "\n");
}

void kmm__stats_print(kmm_runtime_t *rt)
{
    const char *wanted = getenv("KMM_STATS");
    kmm_device_info_t d;
    if (!wanted || !*wanted || strcmp(wanted, "0") == 0)
        return;
    for (int k = 0; k < kmm_device_count(rt) && kmm_device_get(rt, k, &d) == 0; k++) {
        fprintf(stderr, "kmm: %s: %" PRIu64 " chunks in %" PRIu64 " launches", d.name, d.chunks,
                d.launches);
        uint64_t proven = kmm__counted(&rt->device[k]->counters.proven);
        if (proven)
            fprintf(stderr, ", %" PRIu64 " without a check of each access", proven);
        if (d.memory_bytes) {
            print_bytes(", at most", d.memory_bytes);
            print_bytes("; copied in", d.bytes_in);
            print_bytes(", out", d.bytes_out);
            print_bytes(", from other devices", d.bytes_peer);
            print_bytes(", to them", kmm__counted(&rt->device[k]->counters.bytes_lent));
            print_mapping(rt->device[k]);
            if (kmm_device_node(rt, k) >= 0)
                fprintf(stderr, "; near node %d of the host's memory", kmm_device_node(rt, k));
        }
        fprintf(stderr, "\n");
    }
    if (rt->launches->undone)
        fprintf(stderr,
                "kmm: %" PRIu64 " launches ran whole, because what kmmcc has inferred of them did "
                "not hold\n",
                rt->launches->undone);
    print_arrays(rt);
    print_host(rt);
    print_costs(rt);
    print_links(rt);
    print_nodes();
}
