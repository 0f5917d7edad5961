/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a log of allocations line by line, and numbers the blocks in it. */
#include "replay.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct live {
    uint64_t address;
    uint32_t block;
    size_t bytes;
} live_t;

typedef struct reader {
    const char *path;
    size_t line;
    replay_log_t *log;
    size_t capacity, bytes;
    uint64_t *threads;
    void *live; /* a tree of live_t by address */
} reader_t;

static int wrong(const reader_t *r, const char *what)
{
    fprintf(stderr, "kmm-replay: %s:%zu: %s\n", r->path, r->line, what);
    return -1;
}

static int by_address(const void *a, const void *b)
{
    const live_t *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* The index of a value in a short list, to which it is added. UINT32_MAX: no memory. */
static uint32_t index_of(uint64_t **list, uint32_t *count, uint64_t value)
{
    for (uint32_t i = 0; i < *count; i++)
        if ((*list)[i] == value)
            return i;
    uint64_t *longer = realloc(*list, (*count + 1) * sizeof(**list));
    if (!longer)
        return UINT32_MAX;
    *list = longer;
    longer[*count] = value;
    return (*count)++;
}

static int event_add(reader_t *r, replay_event_t e)
{
    replay_log_t *log = r->log;
    if (log->count == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 1024;
        replay_event_t *more = realloc(log->events, r->capacity * sizeof(*more));
        if (!more)
            return wrong(r, "no memory for the log");
        log->events = more;
    }
    log->events[log->count++] = e;
    return 0;
}

static int allocation(reader_t *r, replay_event_t e, uint64_t address)
{
    if (e.bytes > PTRDIFF_MAX - r->bytes)
        return wrong(r, "more is allocated than addresses can tell apart");
    live_t *l = malloc(sizeof(*l));
    if (!l)
        return wrong(r, "no memory for the log");
    *l = (live_t){address, (uint32_t)r->log->blocks, e.bytes};
    live_t **at = tsearch(l, &r->live, by_address);
    if (!at || *at != l) {
        free(l);
        return wrong(r, "the address is allocated already");
    }
    e.block = (uint32_t)r->log->blocks++;
    r->bytes += e.bytes;
    if (r->log->peak < r->bytes)
        r->log->peak = r->bytes;
    return event_add(r, e);
}

static int deallocation(reader_t *r, replay_event_t e, uint64_t address)
{
    live_t key = {.address = address}, **at = tfind(&key, &r->live, by_address);
    if (!at) /* from before the log began */
        return r->log->unknown++, 0;
    live_t *l = *at;
    if (l->bytes != e.bytes)
        return wrong(r, "the size is not the allocation's");
    e.block = l->block;
    r->bytes -= l->bytes;
    tdelete(&key, &r->live, by_address);
    free(l);
    return event_add(r, e);
}

/* A whole field that is a number. */
static bool number_read(const char *text, int base, uint64_t *out)
{
    char *end;
    *out = strtoull(text, &end, base);
    return end != text && *end == '\0' && *text != '-' && *text != ' ';
}

/* As printf writes it: RMM gives an allocation that failed the address "(nil)". */
static bool pointer_read(const char *text, uint64_t *out)
{
    *out = 0;
    return strcmp(text, "(nil)") == 0 || number_read(text, 16, out);
}

/* line = thread "," time "," action "," pointer "," size "," stream */
static int line_read(reader_t *r, char *text)
{
    char *field[6], *rest = text;
    for (int i = 0; i < 6; i++)
        field[i] = strsep(&rest, ",");
    if (!field[5] || rest)
        return wrong(r, "a line has six fields");
    uint64_t thread, address, size, stream;
    if (!number_read(field[0], 10, &thread) || !pointer_read(field[3], &address) ||
        !number_read(field[4], 10, &size) || !number_read(field[5], 0, &stream))
        return wrong(r, "thread, pointer, size or stream is no number");
    if (strcmp(field[2], "allocate failure") == 0)
        return r->log->failures++, 0;
    replay_event_t e = {.allocates = strcmp(field[2], "allocate") == 0, .bytes = size};
    if (!e.allocates && strcmp(field[2], "free"))
        return wrong(r, "an action is allocate, allocate failure or free");
    e.thread = index_of(&r->threads, &r->log->thread_count, thread);
    e.stream = index_of(&r->log->streams, &r->log->stream_count, stream);
    if (e.thread == UINT32_MAX || e.stream == UINT32_MAX)
        return wrong(r, "no memory for the log");
    if (size == 0)
        return 0;
    return e.allocates ? allocation(r, e, address) : deallocation(r, e, address);
}

static bool line_is_whole(const char *text)
{
    int commas = 0;
    for (const char *c = text; *c; c++)
        commas += *c == ',';
    return commas == 0
               ? *text == '\0'
               : commas >= 5 && text[strlen(text) - 1] != ',' && text[strlen(text) - 1] != 'x';
}

static int lines_read(reader_t *r, FILE *file)
{
    char *text = NULL;
    size_t capacity = 0;
    int status = 0;
    for (r->line = 1; status == 0 && getline(&text, &capacity, file) >= 0; r->line++) {
        const size_t length = strcspn(text, "\r\n");
        const bool is_cut = text[length] == '\0' && r->line > 1; /* its writer was stopped */
        text[length] = '\0';
        if (is_cut && !line_is_whole(text))
            fprintf(stderr, "kmm-replay: %s:%zu: the log ends amid a line, which is left out\n",
                    r->path, r->line);
        else if (r->line == 1 && strcmp(text, "Thread,Time,Action,Pointer,Size,Stream"))
            status = wrong(r, "the first line must be Thread,Time,Action,Pointer,Size,Stream");
        else if (r->line > 1 && text[0])
            status = line_read(r, text);
    }
    if (status == 0 && r->line == 1)
        status = wrong(r, "the log is empty");
    free(text);
    return status;
}

int replay_log_read(const char *path, replay_log_t *out)
{
    reader_t r = {.path = path, .log = out};
    *out = (replay_log_t){0};
    FILE *file = fopen(path, "re");
    if (!file) {
        fprintf(stderr, "kmm-replay: %s cannot be read\n", path);
        return -1;
    }
    int status = lines_read(&r, file);
    fclose(file);
    tdestroy(r.live, free);
    free(r.threads);
    out->left = r.bytes;
    if (status)
        replay_log_free(out);
    return status;
}

void replay_log_free(replay_log_t *log)
{
    free(log->events);
    free(log->streams);
    *log = (replay_log_t){0};
}
