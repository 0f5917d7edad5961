/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a trace as the JSON that chrome://tracing and Perfetto read. Each device is a process of
 * the trace, with a track for each stream; so is the host, with a track for each thread.
 *
 * All but the functions that start it run on the tracer.
 */
#include "observe/chrome.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/size.h"
#include "base/spin.h"
#include "observe/trace_file.h"
#include "observe/trace_tasks.h"
#include "observe/trace_tracks.h"

enum { IN = 1001, OUT, PEER, FIRST_STREAM = 1 }; /* tracks of a device */
static const uint64_t DEFAULT_MOST = (uint64_t)1 << 30;

static uint64_t start;     /* time of the trace's begin */
static uint64_t next_flow; /* number of the next arrow */
static uint64_t written;   /* bytes written to disk */
static kmm__json_t line;   /* the event that is being made */

/* ---- Parts of an event ---- */

static uint64_t since_start(uint64_t time)
{
    return time > start ? time - start : 0;
}

/* Begins an event of a phase, such as "X". */
static void put_head(kmm__json_t *j, const char *phase, uint32_t pid, uint32_t tid, uint64_t time)
{
    kmm__json_text(j, "{\"ph\":\"");
    kmm__json_text(j, phase);
    kmm__json_put_number(j, "\",\"pid\":", pid);
    kmm__json_put_number(j, ",\"tid\":", tid);
    kmm__json_put_micros(j, ",\"ts\":", since_start(time));
}

static void head(const char *phase, uint32_t pid, uint32_t tid, uint64_t time)
{
    line.length = 0;
    put_head(&line, phase, pid, tid, time);
}

static void end(const char *text)
{
    kmm__json_text(&line, text);
    kmm__trace_file_add(&line);
}

/* A name of a process or a track, and its place among the others. */
static void name(const char *what, const char *order, uint32_t pid, uint32_t tid, const char *text)
{
    head("M", pid, tid, start);
    kmm__json_put_string(&line, ",\"name\":", what);
    kmm__json_put_string(&line, ",\"args\":{\"name\":", text);
    end("}}");
    head("M", pid, tid, start);
    kmm__json_put_string(&line, ",\"name\":", order);
    kmm__json_put_number(&line, ",\"args\":{\"sort_index\":", tid ? tid : pid);
    end("}}");
}

static void name_process(uint32_t pid, const char *text)
{
    name("process_name", "process_sort_index", pid, 0, text);
}

/* The track, which gets its name when it is first used. */
static kmm__track_t *track(uint32_t pid, uint32_t tid, const char *text)
{
    kmm__track_t *t = kmm__track_get(pid, tid);
    if (!t->is_named)
        name("thread_name", "thread_sort_index", pid, tid, text);
    t->is_named = true;
    return t;
}

/* The threads that run chunks on the CPU have begun before anybody listened. They have a name. */
static bool is_of_pool(uint32_t thread)
{
    char path[64], name[32] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%u/comm", thread);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    bool is = fgets(name, sizeof(name), f) && !strcmp(name, "kmm-host\n");
    fclose(f);
    return is;
}

static kmm__track_t *thread_of(const kmm__event_t *e)
{
    char text[32];
    kmm__track_t *t = kmm__track_get(KMM__TRACK_HOST, e->thread);
    if (t->is_named)
        return t;
    snprintf(text, sizeof(text),
             is_of_pool(e->thread) ? "runs chunks on the CPU (%u)" : "thread %u", e->thread);
    return track(KMM__TRACK_HOST, e->thread, text);
}

static kmm__track_t *stream_of(const kmm__event_t *e)
{
    return track(KMM__TRACK_DEVICE + e->device, FIRST_STREAM + (uint32_t)e->a, "kernels");
}

static kmm__track_t *copies_of(const kmm__event_t *e)
{
    static const uint32_t tids[] = {IN, OUT, PEER};
    static const char *const names[] = {"copies in", "copies out", "copies from devices"};
    return track(KMM__TRACK_DEVICE + e->device, tids[e->mode], names[e->mode]);
}

static const char *label_of(const kmm__traced_task_t *t)
{
    return t ? t->label : "\"?\"";
}

/* A value of a counter from now on. */
static void counter(uint32_t pid, const char *what, const char *unit, uint64_t time, uint64_t value)
{
    head("C", pid, 0, time);
    kmm__json_put_string(&line, ",\"name\":", what);
    kmm__json_put_string(&line, ",\"args\":{", unit);
    kmm__json_put_number(&line, ":", value);
    end("}}");
}

/* ---- Tasks ---- */

/* Numbers of the tasks of a slice, and what is known of the first. */
static void put_tasks(uint64_t task, const kmm__traced_task_t *t)
{
    const kmm__traced_task_t *last = t;
    kmm__json_put_number(&line, ",\"args\":{\"tasks\":[", task);
    for (; last && last->joined; last = last->joined)
        kmm__json_put_number(&line, ",", last->joined->task);
    kmm__json_text(&line, "]");
    if (!t)
        return;
    kmm__json_put_number(&line, ",\"launch\":", t->work);
    kmm__json_put_number(&line, ",\"chunk\":", t->chunk);
    kmm__json_put_number(&line, ",\"last_chunk\":", last->last_chunk);
    kmm__json_put_number(&line, ",\"chunks\":", t->chunks);
    if (t->file) {
        kmm__json_text(&line, ",\"file\":");
        kmm__json_text(&line, t->file);
        kmm__json_put_number(&line, ",\"line\":", t->line);
    }
    kmm__json_put_micros(&line, ",\"submitted\":", since_start(t->submitted));
    if (t->ready)
        kmm__json_put_micros(&line, ",\"ready\":", since_start(t->ready));
    if (t->issued)
        kmm__json_put_micros(&line, ",\"issued\":", since_start(t->issued));
}

/* Arrows from where a task's predecessors ran to the begin of its slice. */
static void put_arrows(const kmm__traced_task_t *t, const kmm__track_t *to, uint64_t begin)
{
    for (uint32_t k = 0; k < t->before_count; k++) {
        const kmm__traced_end_t *from = kmm__traced_end_find(t->before[k]);
        if (!from)
            continue;
        head("s", from->pid, from->tid, from->time);
        kmm__json_put_number(&line, ",\"id\":", next_flow);
        end(",\"name\":\"dependence\",\"cat\":\"dependence\"}");
        head("f", to->pid, to->tid, begin);
        kmm__json_put_number(&line, ",\"id\":", next_flow++);
        end(",\"bp\":\"e\",\"name\":\"dependence\",\"cat\":\"dependence\"}");
    }
}

/* A task, and those that are joined to it, have run in a slice. */
static void ran(kmm__traced_task_t *t, const kmm__track_t *at, uint64_t begin, uint64_t time)
{
    for (; t; t = t->joined) {
        kmm__traced_end_add(
            &(kmm__traced_end_t){t->task, begin + (time - begin) / 2, at->pid, at->tid});
        if (!t->has_run)
            put_arrows(t, at, begin);
        t->has_run = true;
    }
}

static void run_end(const kmm__track_t *at, const kmm__event_t *slice, uint64_t time)
{
    kmm__traced_task_t *t = kmm__traced_task_find(slice->task);
    head("X", at->pid, at->tid, slice->time);
    kmm__json_put_micros(&line, ",\"dur\":", time - slice->time);
    kmm__json_text(&line, ",\"name\":");
    kmm__json_text(&line, label_of(t));
    kmm__json_put_string(&line, ",\"cat\":", t && t->is_operation ? "operation" : "chunk");
    put_tasks(slice->task, t);
    end("}}");
    ran(t, at, slice->time, time);
}

static void stream_end(const kmm__event_t *e)
{
    kmm__track_t *at = stream_of(e);
    kmm__event_t slice;
    if (kmm__track_take_first(at, kmm__event_at(e), &slice))
        run_end(at, &slice, at->end);
}

static void call_end(const kmm__event_t *e)
{
    kmm__track_t *at = thread_of(e);
    kmm__event_t slice;
    if (kmm__track_take_last(at, &slice))
        run_end(at, &slice, e->time);
}

static void joined(const kmm__event_t *e)
{
    kmm__traced_task_t *t = kmm__traced_task_find(e->a);
    while (t && t->joined)
        t = t->joined;
    if (t)
        t->joined = kmm__traced_task_find(e->task);
}

static void edge(const kmm__event_t *e)
{
    kmm__traced_task_t *t = kmm__traced_task_find(e->task);
    if (t && t->before_count < KMM__TRACED_BEFORE)
        t->before[t->before_count++] = e->a;
}

static void done(const kmm__event_t *e)
{
    const kmm__traced_task_t *t = kmm__traced_task_find(e->task);
    if (t && e->a) {
        head("i", KMM__TRACK_DEVICE + t->device, 0, e->time);
        kmm__json_text(&line, ",\"s\":\"p\",\"cat\":\"error\",\"name\":");
        kmm__json_text(&line, label_of(t));
        kmm__json_put_number(&line, ",\"args\":{\"task\":", e->task);
        kmm__json_put_number(&line, ",\"error\":", e->a);
        end("}}");
    }
    kmm__traced_task_remove(e->task);
}

/* ---- Copies, memory and disk ---- */

static void copy_end(const kmm__event_t *e)
{
    static const char *const names[] = {"copy in", "copy out", "copy from a device"};
    static const char *const rates[] = {"rate in", "rate out", "rate from devices"};
    kmm__track_t *at = copies_of(e);
    kmm__event_t slice;
    if (!kmm__track_take_first(at, kmm__event_at(e), &slice))
        return;
    const uint64_t begin = slice.time, took = at->end - begin;
    const kmm__traced_array_t *a = kmm__traced_array_find(e->a);
    const kmm__traced_task_t *t = kmm__traced_task_find(e->task);
    head("X", at->pid, at->tid, begin);
    kmm__json_put_micros(&line, ",\"dur\":", took);
    kmm__json_put_string(&line, ",\"name\":", e->task ? names[e->mode] : "copy out (eviction)");
    kmm__json_put_number(&line, ",\"cat\":\"copy\",\"args\":{\"bytes\":", e->b);
    kmm__json_put_number(&line, ",\"array\":", e->a);
    if (a && a->label)
        kmm__json_put_string(&line, ",\"label\":", a->label);
    kmm__json_put_number(&line, ",\"from\":", e->c);
    kmm__json_put_number(&line, ",\"to\":", e->d);
    if (e->task)
        kmm__json_put_number(&line, ",\"task\":", e->task);
    if (t) {
        kmm__json_text(&line, ",\"for\":");
        kmm__json_text(&line, label_of(t));
        kmm__json_put_number(&line, ",\"line\":", t->line);
    }
    end("}}");
    counter(at->pid, rates[e->mode], "bytes/s", begin,
            took ? (uint64_t)(1e9 * (double)e->b / (double)took) : 0);
    counter(at->pid, rates[e->mode], "bytes/s", at->end, 0);
}

static void evicted(const kmm__event_t *e)
{
    const kmm__traced_array_t *a = kmm__traced_array_find(e->a);
    head("i", KMM__TRACK_DEVICE + e->device, OUT, e->time);
    kmm__json_put_string(&line, ",\"s\":\"t\",\"cat\":\"eviction\",\"name\":",
                         e->mode ? "evict, with a copy" : "evict, without a copy");
    kmm__json_put_number(&line, ",\"args\":{\"bytes\":", e->b);
    kmm__json_put_number(&line, ",\"array\":", e->a);
    if (a && a->label)
        kmm__json_put_string(&line, ",\"label\":", a->label);
    kmm__json_put_number(&line, ",\"from\":", e->c);
    kmm__json_put_number(&line, ",\"to\":", e->c + e->b);
    end("}}");
}

static void disk(const kmm__event_t *e)
{
    const bool ends = e->kind == KMM__EVENT_DISK_END;
    track(KMM__TRACK_DISK, 1, "transfers");
    head(ends ? "e" : "b", KMM__TRACK_DISK, 1, e->time);
    kmm__json_put_number(&line, ",\"id\":", e->a);
    kmm__json_put_string(&line, ",\"cat\":\"disk\",\"name\":", e->mode ? "write" : "read");
    kmm__json_put_number(&line, ",\"args\":{\"bytes\":", e->b);
    end("}}");
    if (!ends || !e->mode)
        return;
    written += e->b;
    counter(KMM__TRACK_DISK, "written to disk", "bytes", e->time, written);
}

/* ---- The host's threads ---- */

/* Messages to one node, or from it, are one after the other on a track, as they end. */
static void message(const kmm__event_t *e)
{
    const bool is_sent = e->kind == KMM__EVENT_SENT;
    const uint32_t tid = 2 * e->device + (is_sent ? 1 : 2);
    char text[32];
    kmm__track_t *all = kmm__track_get(KMM__TRACK_NODES, 0);
    if (!all->is_named)
        name_process(KMM__TRACK_NODES, "nodes");
    all->is_named = true;
    snprintf(text, sizeof(text), "%s node %u", is_sent ? "to" : "from", e->device);
    kmm__track_t *t = track(KMM__TRACK_NODES, tid, text);
    const uint64_t begin = e->a > t->end ? e->a : t->end;
    t->end = e->time;
    head("X", t->pid, t->tid, begin);
    kmm__json_put_micros(&line, ",\"dur\":", e->time - begin);
    kmm__json_put_string(&line,
                         ",\"cat\":\"message\",\"name\":", e->mode ? "contents" : "commands");
    kmm__json_put_number(&line, ",\"args\":{\"bytes\":", e->b);
    end("}}");
}

static void span(const kmm__event_t *e)
{
    const kmm__track_t *at = thread_of(e);
    if (!e->a)
        return; /* it began before anybody listened */
    head("X", at->pid, at->tid, e->a);
    kmm__json_put_micros(&line, ",\"dur\":", e->time - e->a);
    kmm__json_put_string(&line, ",\"cat\":\"host\",\"name\":", e->text);
    kmm__json_text(&line, ",\"args\":{");
    const char *comma = "";
    if (e->file) {
        kmm__json_put_string(&line, "\"of\":", e->file);
        comma = ",";
    }
    if (e->b || e->c) {
        kmm__json_text(&line, comma);
        kmm__json_put_number(&line, e->b ? "\"bytes\":" : "\"line\":", e->b ? e->b : e->c);
        comma = ",";
    }
    if (e->mode) {
        kmm__json_text(&line, comma);
        kmm__json_put_number(&line, "\"device\":", e->device);
        comma = ",";
    }
    if (e->task) {
        kmm__json_text(&line, comma);
        kmm__json_put_number(&line, "\"task\":", e->task);
    }
    end("}}");
}

static void instant(const kmm__event_t *e)
{
    const kmm__track_t *at = thread_of(e);
    head("i", at->pid, at->tid, e->time);
    kmm__json_put_string(&line, ",\"s\":\"t\",\"cat\":\"host\",\"name\":", e->text);
    kmm__json_text(&line, ",\"args\":{");
    if (e->file) {
        kmm__json_put_string(&line, "\"of\":", e->file);
        kmm__json_put_number(&line, ",\"line\":", e->c);
    }
    end("}}");
}

static void thread(const kmm__event_t *e)
{
    char text[64];
    snprintf(text, sizeof(text), "%s (%u)", e->text, e->thread);
    kmm__track_get(KMM__TRACK_HOST, e->thread)->is_named = false; /* numbers are used again */
    track(KMM__TRACK_HOST, e->thread, text);
}

static void device(const kmm__event_t *e)
{
    char text[128];
    const uint32_t pid = KMM__TRACK_DEVICE + e->device;
    snprintf(text, sizeof(text), "device %u: %s", e->device, e->text);
    name_process(pid, text);
    head("M", pid, 0, e->time);
    kmm__json_put_number(&line, ",\"name\":\"memory_limit\",\"args\":{\"bytes\":", e->a);
    kmm__json_put_number(&line, ",\"runtime\":", e->b >> 32);
    kmm__json_put_number(&line, ",\"index\":", (uint32_t)e->b);
    end("}}");
}

static void ready(const kmm__event_t *e)
{
    kmm__traced_task_t *t = kmm__traced_task_find(e->task);
    if (t)
        t->ready = e->time;
}

/* A task is issued when its kernel is enqueued, which its state tells later. */
static void issued(const kmm__event_t *e)
{
    kmm__traced_task_t *t = kmm__traced_task_find(e->task);
    if (t && !t->issued)
        t->issued = e->time;
}

static void enqueued(const kmm__event_t *e)
{
    issued(e);
    kmm__track_push(stream_of(e), e);
}

static void on_event(const kmm__event_t *e)
{
    switch ((kmm__event_kind_t)e->kind) {
    case KMM__EVENT_THREAD: thread(e); return;
    case KMM__EVENT_DEVICE: device(e); return;
    case KMM__EVENT_SUBMITTED: kmm__traced_task_add(e); return;
    case KMM__EVENT_ACCESS: return;
    case KMM__EVENT_EDGE: edge(e); return;
    case KMM__EVENT_READY: ready(e); return;
    case KMM__EVENT_ISSUED: issued(e); return;
    case KMM__EVENT_JOINED: joined(e); return;
    case KMM__EVENT_RUN_ENQUEUED: enqueued(e); return;
    case KMM__EVENT_RUN_BEGIN: kmm__track_begin(stream_of(e), kmm__event_at(e)); return;
    case KMM__EVENT_RUN_END: stream_end(e); return;
    case KMM__EVENT_CALL_BEGIN: kmm__track_push(thread_of(e), e); return;
    case KMM__EVENT_CALL_END: call_end(e); return;
    case KMM__EVENT_DONE: done(e); return;
    case KMM__EVENT_COPY_ENQUEUED: kmm__track_push(copies_of(e), e); return;
    case KMM__EVENT_COPY_BEGIN: kmm__track_begin(copies_of(e), kmm__event_at(e)); return;
    case KMM__EVENT_COPY_END: copy_end(e); return;
    case KMM__EVENT_ARRAY: kmm__traced_array_add(e); return;
    case KMM__EVENT_ARRAY_END: kmm__traced_array_remove(e->a); return;
    case KMM__EVENT_EVICTED: evicted(e); return;
    case KMM__EVENT_MEMORY:
        counter(KMM__TRACK_DEVICE + e->device, "memory in use", "bytes", e->time, e->a);
        return;
    case KMM__EVENT_HOST_MEMORY:
        counter(KMM__TRACK_HOST, "host memory in use", "bytes", e->time, e->a);
        return;
    case KMM__EVENT_DISK_BEGIN:
    case KMM__EVENT_DISK_END: disk(e); return;
    case KMM__EVENT_SENT:
    case KMM__EVENT_RECEIVED: message(e); return;
    case KMM__EVENT_SPAN: span(e); return;
    case KMM__EVENT_INSTANT: instant(e); return;
    }
}

/* Adds a slice that has not ended. */
static void put_open(kmm__json_t *j, const kmm__track_t *t, const kmm__event_t *slice)
{
    const uint64_t begin = slice->time > t->end ? slice->time : t->end;
    const bool copies =
        slice->kind == KMM__EVENT_COPY_ENQUEUED || slice->kind == KMM__EVENT_COPY_BEGIN;
    kmm__json_text(j, ",\n");
    put_head(j, "B", t->pid, t->tid, begin);
    kmm__json_text(j, ",\"cat\":\"unfinished\",\"name\":");
    kmm__json_text(j, copies ? "\"copy\"" : label_of(kmm__traced_task_find(slice->task)));
    kmm__json_put_number(j, ",\"args\":{\"task\":", slice->task);
    kmm__json_text(j, "}}");
}

/* Writes what was added, and what has begun and not ended: the first of each stream, and all of a
 * thread. */
static void on_flush(void)
{
    kmm__json_t open = {0};
    for (const kmm__track_t *t = kmm__tracks_all(); t; t = t->next_of_all)
        for (uint32_t k = t->first; k < t->count; k++) {
            if (k == t->first || t->pid == KMM__TRACK_HOST)
                put_open(&open, t, &t->slices[k]);
        }
    kmm__trace_file_flush(&open);
    free(open.text);
}

static void on_end(void)
{
    const uint64_t waited = kmm__trace_waited();
    if (waited) {
        head("M", KMM__TRACK_HOST, 0, kmm__now());
        kmm__json_put_micros(&line, ",\"name\":\"waited_for_tracer\",\"args\":{\"us\":", waited);
        end("}}");
    }
    on_flush();
    kmm__trace_file_tell();
}

/* ---- The start ---- */

static const kmm__listener_t listener = {.event = on_event, .flush = on_flush, .end = on_end};

/* Runs in a forked process, which has a trace of its own. */
static void forked(void)
{
    kmm__trace_file_forked();
    kmm__traced_forked();
    kmm__tracks_forked();
    line = (kmm__json_t){0};
    written = next_flow = 0;
}

static void register_fork(void)
{
    pthread_atfork(NULL, NULL, forked);
}

int kmm__chrome_start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const char *file = getenv("KMM_TRACE");
    uint64_t most = 0;
    if (!file || !*file)
        return 0;
    int error = kmm__size_of_variable("KMM_TRACE_MAX", &most);
    if (error || !kmm__trace_file_open("KMM_TRACE", file, most ? most : DEFAULT_MOST))
        return error;
    pthread_once(&once, register_fork);
    start = kmm__now();
    name_process(KMM__TRACK_HOST, "host");
    name_process(KMM__TRACK_DISK, "disk");
    on_flush(); /* however soon the process is killed, the file can be read */
    return kmm__trace_listen(&listener) ? kmm__error_set(KMM_E_MEMORY, "no thread for KMM_TRACE")
                                        : 0;
}
