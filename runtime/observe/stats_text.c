/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of KMM_STATS. A column of the table that would be empty is left out. */
#include "observe/stats_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"

/* ---- Sums ---- */

/* The part of the run in which chunks ran on a device, in percent. */
static double ran_percent(const kmm__stats_t *s, const kmm__device_stats_t *d)
{
    double all = 1e9 * s->seconds * (d->threads ? d->threads : 1);
    double percent = all > 0 ? 100 * (double)d->ran / all : 0;
    return percent < 100 ? percent : 100;
}

static kmm__device_stats_t sum_of(const kmm__stats_t *s)
{
    kmm__device_stats_t sum = {.threads = 0};
    for (uint32_t k = 0; k < s->device_count; k++) {
        const kmm__device_stats_t *d = &s->devices[k];
        sum.chunks += d->chunks;
        sum.launches += d->launches;
        sum.ran += d->ran;
        sum.threads += d->threads;
        sum.in += d->in;
        sum.out += d->out;
        sum.from += d->from;
        sum.again += d->again;
        sum.waited += d->waited;
    }
    return sum;
}

/* ---- The table ---- */

enum { COLUMNS = 17, CELL = 72 };

typedef struct column {
    const char *title;
    bool is_shown;
    size_t width;
    char cell[KMM__MAX_DEVICES][CELL];
} column_t;

typedef struct table {
    column_t columns[COLUMNS];
    uint32_t count, row;
} table_t;

/* Puts a text in the next column. `matters` false for all rows: the column is left out. */
static void put(table_t *t, const char *title, bool matters, const char *text)
{
    column_t *c = &t->columns[t->count++];
    c->title = title;
    c->is_shown |= matters;
    snprintf(c->cell[t->row], CELL, "%s", text);
    size_t length = strlen(text) < CELL ? strlen(text) : CELL - 1, least = strlen(title);
    c->width = c->width > length ? c->width : length;
    c->width = c->width > least ? c->width : least;
}

static void put_number(table_t *t, const char *title, bool matters, uint64_t number)
{
    char text[KMM__UNITS_TEXT];
    snprintf(text, sizeof(text), "%" PRIu64, number);
    put(t, title, matters, text);
}

static void put_bytes(table_t *t, const char *title, const kmm__device_stats_t *d, bool matters,
                      uint64_t bytes)
{
    put(t, title, matters, d->has_memory ? KMM__BYTES(bytes) : "-");
}

static void put_percent(table_t *t, const char *title, bool matters, double percent)
{
    char text[KMM__UNITS_TEXT];
    snprintf(text, sizeof(text), "%.0f%%", percent);
    put(t, title, matters, text);
}

static void put_time(table_t *t, const char *title, uint64_t nanoseconds)
{
    put(t, title, nanoseconds >= 500000, KMM__SECONDS(1e-9 * (double)nanoseconds));
}

static void put_device(table_t *t, const kmm__stats_t *s, const kmm__device_stats_t *d)
{
    t->count = 0;
    put(t, "device", true, d->name);
    put_number(t, "chunks", true, d->chunks);
    put_number(t, "launches", true, d->launches);
    put_number(t, "unchecked", d->proven > 0, d->proven);
    put_percent(t, "running", true, ran_percent(s, d));
    put_bytes(t, "memory", d, d->has_memory, d->most);
    put_bytes(t, "of", d, d->has_memory, d->limit);
    put_bytes(t, "copied in", d, d->has_memory, d->in);
    put_bytes(t, "again", d, d->again > 0, d->again);
    put_bytes(t, "out", d, d->has_memory, d->out);
    put_bytes(t, "from peers", d, d->from > 0, d->from);
    put_bytes(t, "to peers", d, d->to > 0, d->to);
    put_bytes(t, "evicted", d, d->evicted > 0, d->evicted);
    put_bytes(t, "on host", d, d->host_backed > 0, d->host_backed);
    put_time(t, "mapping", d->premapping + d->mapping + d->sharing);
    put_time(t, "waiting", d->waited);
    put_number(t, "node", d->node >= 0, d->node >= 0 ? (uint64_t)d->node : 0);
    t->row++;
}

/* Writes one row; row -1: the titles. The first column is aligned to the left. */
static void say_row(kmm__text_t *out, const table_t *t, int row)
{
    kmm__text_say(out, "kmm: ");
    for (uint32_t k = 0; k < t->count; k++) {
        const column_t *c = &t->columns[k];
        const char *text = row < 0 ? c->title : c->cell[row];
        if (k == 0)
            kmm__text_say(out, "%-*s", (int)c->width, text);
        else if (c->is_shown)
            kmm__text_say(out, "  %*s", (int)c->width, text);
    }
    kmm__text_say(out, "\n");
}

static void say_summary(kmm__text_t *out, const kmm__stats_t *s)
{
    kmm__device_stats_t sum = sum_of(s);
    kmm__text_say(out, "kmm: %s", KMM__SECONDS(s->seconds));
    if (s->signal)
        kmm__text_say(out, " until %s", s->signal);
    kmm__text_say(out, ": %" PRIu64 " chunk%s in %" PRIu64 " launch%s, running %.0f%% of the time",
                  sum.chunks, sum.chunks == 1 ? "" : "s", sum.launches,
                  sum.launches == 1 ? "" : "es", ran_percent(s, &sum));
    if (sum.in || sum.out)
        kmm__text_say(out, "; copied in %s, out %s", KMM__BYTES(sum.in), KMM__BYTES(sum.out));
    if (sum.again && sum.in + sum.from)
        kmm__text_say(out, "; %.0f%% of what came in was there before and had been evicted",
                      100 * (double)sum.again / (double)(sum.in + sum.from));
    kmm__text_say(out, "\n");
}

static void say_rest(kmm__text_t *out, const kmm__stats_t *s)
{
    if (s->undone)
        kmm__text_say(out,
                      "kmm: %" PRIu64
                      " launches ran whole, because what kmmcc has inferred of them did not "
                      "hold\n",
                      s->undone);
    kmm__text_say(out, "kmm: arrays: at most %s\n", KMM__BYTES(s->arrays));
    if (s->host_limit)
        kmm__text_say(
            out,
            "kmm: host memory: at most %s; used at most %s; written to disk %s, read back %s, "
            "dropped %s (%s, %s)\n",
            KMM__BYTES(s->host_limit), KMM__BYTES(s->host_most), KMM__BYTES(s->written),
            KMM__BYTES(s->read), KMM__BYTES(s->dropped),
            s->is_async ? "io_uring" : "pread and pwrite",
            s->is_direct ? "direct" : "through the page cache");
    if (s->locks > 0) {
        kmm__text_say(out,
                      "kmm: ordinary memory: page-locked at %.1f GB/s, through buffers %.1f GB/s",
                      1e-9 * s->locks, 1e-9 * s->stages);
        if (s->links > 0)
            kmm__text_say(out, ", page-locked to a device %.1f GB/s", 1e-9 * s->links);
        kmm__text_say(out, ": locked after %.1f copies\n", s->lock_after);
    }
    if (s->links_all)
        kmm__text_say(out, "kmm: %u of %u devices at once copied from and to the host's memory\n",
                      s->links_at_once, s->links_all);
}

size_t kmm__stats_table(const kmm__stats_t *s, char *out, size_t size)
{
    kmm__text_t text = {out, size, 0};
    static table_t t;
    t = (table_t){.count = 0};
    for (uint32_t k = 0; k < s->device_count; k++)
        put_device(&t, s, &s->devices[k]);
    say_summary(&text, s);
    for (int row = -1; row < (int)t.row; row++)
        say_row(&text, &t, row);
    say_rest(&text, s);
    if (text.length)
        out[text.length - 1] = '\n';
    return text.length;
}

/* ---- JSON ---- */

static void say_string(kmm__text_t *out, const char *s)
{
    kmm__text_say(out, "\"");
    for (; *s; s++)
        if ((unsigned char)*s < ' ')
            kmm__text_say(out, "\\u%04x", (unsigned)(unsigned char)*s);
        else
            kmm__text_say(out, *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    kmm__text_say(out, "\"");
}

static void say_field(kmm__text_t *out, const char *name, uint64_t value)
{
    kmm__text_say(out, ",\"%s\":%" PRIu64, name, value);
}

static void say_seconds(kmm__text_t *out, const char *name, uint64_t nanoseconds)
{
    kmm__text_say(out, ",\"%s\":%.6f", name, 1e-9 * (double)nanoseconds);
}

static void say_device(kmm__text_t *out, const kmm__device_stats_t *d)
{
    kmm__text_say(out, "{\"name\":");
    say_string(out, d->name);
    kmm__text_say(out, ",\"kind\":\"%s\"", d->kind);
    say_field(out, "chunks", d->chunks);
    say_field(out, "launches", d->launches);
    say_field(out, "unchecked_chunks", d->proven);
    say_seconds(out, "running_s", d->ran);
    say_field(out, "threads", d->threads);
    say_field(out, "memory_limit", d->limit);
    say_field(out, "memory_most", d->most);
    say_field(out, "bytes_in", d->in);
    say_field(out, "bytes_again", d->again);
    say_field(out, "bytes_out", d->out);
    say_field(out, "bytes_from_peers", d->from);
    say_field(out, "bytes_to_peers", d->to);
    say_field(out, "bytes_evicted", d->evicted);
    say_field(out, "bytes_host_backed", d->host_backed);
    say_field(out, "frames_premapped", d->premapped);
    say_seconds(out, "premapping_s", d->premapping);
    say_field(out, "frames_mapped", d->mapped);
    say_field(out, "times_allowed", d->allowed);
    say_seconds(out, "mapping_s", d->mapping);
    say_field(out, "times_shared", d->shared);
    say_seconds(out, "sharing_s", d->sharing);
    say_seconds(out, "waiting_s", d->waited);
    kmm__text_say(out, ",\"node\":%d}", d->node);
}

size_t kmm__stats_json(const kmm__stats_t *s, char *out, size_t size)
{
    kmm__text_t text = {out, size, 0};
    kmm__text_say(&text, "{\"kmm_stats\":1,\"process\":%ld,\"signal\":", s->process);
    if (s->signal)
        say_string(&text, s->signal);
    else
        kmm__text_say(&text, "null");
    kmm__text_say(&text, ",\"seconds\":%.6f,\"devices\":[", s->seconds);
    for (uint32_t k = 0; k < s->device_count; k++) {
        kmm__text_say(&text, "%s", k ? "," : "");
        say_device(&text, &s->devices[k]);
    }
    kmm__text_say(&text, "],\"arrays_most\":%" PRIu64, s->arrays);
    say_field(&text, "launches_undone", s->undone);
    say_field(&text, "host_limit", s->host_limit);
    say_field(&text, "host_most", s->host_most);
    say_field(&text, "disk_written", s->written);
    say_field(&text, "disk_read", s->read);
    say_field(&text, "disk_dropped", s->dropped);
    kmm__text_say(&text, "}\n");
    if (text.length)
        out[text.length - 1] = '\n';
    return text.length;
}
