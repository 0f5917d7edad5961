/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the graph of KMM_DOT. An edge leads from a task to a later one that must follow it,
 * because both use the same elements and one of them writes. An edge is left out where a path says
 * the same.
 */
#include "observe/dot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "observe/json.h"

enum { WORDS = (KMM__DOT_TASKS + 63) / 64, MOST_REGIONS = 3 };
typedef struct set {
    uint64_t words[WORDS];
} set_t;

static bool has(const set_t *s, uint32_t k)
{
    return s->words[k / 64] >> k % 64 & 1;
}

static void add(set_t *s, uint32_t k)
{
    s->words[k / 64] |= UINT64_C(1) << k % 64;
}

/* ---- Which tasks follow which ---- */

/* The elements that both accesses use, in the second one's layout, or as bytes if *is_bytes. False:
 * there are none. */
static bool meet(const kmm__traced_access_t *a, const kmm__traced_access_t *b, kmm__box_t *out,
                 bool *is_bytes)
{
    int64_t begin[2], end[2];
    *is_bytes = !kmm__layout_equal(&a->layout, &b->layout);
    if (!*is_bytes) {
        *out = kmm__box_intersect(&a->box, &b->box);
        return !kmm__box_empty(out);
    }
    kmm__layout_hull(&a->layout, &a->box, &begin[0], &end[0]);
    kmm__layout_hull(&b->layout, &b->box, &begin[1], &end[1]);
    *out = (kmm__box_t){.dims = 1};
    out->lo[0] = begin[0] > begin[1] ? begin[0] : begin[1];
    out->hi[0] = end[0] < end[1] ? end[0] : end[1];
    return out->lo[0] < out->hi[0];
}

/* The region of an edge: "A[0:1024]". */
static void put_region(kmm__json_t *j, const kmm__traced_access_t *a, const kmm__box_t *box,
                       bool is_bytes)
{
    char text[64];
    const int64_t unit = is_bytes || !a->element ? 1 : a->element;
    const char *name = a->item ? a->item : "";
    kmm__json_bytes(j, name, strcspn(name, "["));
    for (uint32_t d = 0; d < box->dims; d++) {
        const int64_t by = d + 1 == box->dims ? unit : 1;
        snprintf(text, sizeof(text), "[%lld:%lld]", (long long)(box->lo[d] / by),
                 (long long)((box->hi[d] + by - 1) / by));
        kmm__json_text(j, text);
    }
    if (is_bytes || !a->element)
        kmm__json_text(j, " bytes");
}

/* True if `to` must follow `from`. *regions receives the text of some regions, each with a new line
 * behind it. Chunks of one launch read what was there before the launch. */
static bool follows(const kmm__dot_task_t *from, const kmm__dot_task_t *to, kmm__json_t *regions)
{
    const bool is_same = from->submitted.c == to->submitted.c;
    uint32_t count = 0;
    regions->length = 0;
    for (uint32_t i = 0; i < from->count; i++)
        for (uint32_t k = 0; k < to->count; k++) {
            const kmm__traced_access_t *a = from->accesses[i], *b = to->accesses[k];
            const bool stores = a->mode != KMM_READ, also = b->mode != KMM_READ;
            kmm__box_t box;
            bool is_bytes;
            if (from->arrays[i] != to->arrays[k] || !(is_same ? stores && also : stores || also) ||
                !meet(a, b, &box, &is_bytes))
                continue;
            if (count++ >= MOST_REGIONS)
                continue;
            put_region(regions, b, &box, is_bytes);
            kmm__json_text(regions, "\n");
        }
    if (count > MOST_REGIONS)
        kmm__json_text(regions, "...\n");
    return count > 0;
}

/* ---- Text ---- */

/* Text in quotes; a line ends with \n. Bytes that belong to no character become `?`. */
static void put_quoted(FILE *f, const char *text, size_t length)
{
    fputc('"', f);
    for (size_t k = 0, bytes; k < length; k += bytes ? bytes : 1) {
        bytes = kmm__utf8_bytes(text + k);
        if (text[k] == '\n')
            fputs("\\n", f);
        else if (bytes == 0 || bytes > length - k)
            fputc('?', f);
        else if (text[k] == '"' || text[k] == '\\')
            fprintf(f, "\\%c", text[k]);
        else
            fwrite(text + k, 1, bytes, f);
    }
    fputc('"', f);
}

static const char *device_name(const kmm__dot_graph_t *g, uint32_t device)
{
    return device < g->device_count && g->devices[device] ? g->devices[device] : "?";
}

static void put_task(FILE *f, const kmm__dot_graph_t *g, uint32_t k)
{
    static const char *const colours[] = {"#cfe2f3", "#d9ead3", "#fff2cc", "#f4cccc",
                                          "#d9d2e9", "#fce5cd", "#d0e0e3", "#ead1dc"};
    enum { COLOURS = sizeof(colours) / sizeof(*colours) };
    const kmm__dot_task_t *t = &g->tasks[k];
    const uint32_t chunk = (uint32_t)(t->submitted.a >> 32), last = (uint32_t)t->submitted.a,
                   chunks = (uint32_t)(t->submitted.b >> 32);
    char text[320];
    int n = 0;
    if (last > chunk)
        n = snprintf(text, sizeof(text), "chunks %u to %u of %u\n", chunk, last, chunks);
    else if (chunks > 1)
        n = snprintf(text, sizeof(text), "chunk %u of %u\n", chunk, chunks);
    n += snprintf(text + n, sizeof(text) - (size_t)n, "device %u: %.100s", t->submitted.device,
                  device_name(g, t->submitted.device));
    if (t->joined)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "\nin a kernel with others");
    else if (t->end)
        n += snprintf(text + n, sizeof(text) - (size_t)n, "\n%.3f ms",
                      1e-6 * (double)(t->end - t->begin));
    else
        n += snprintf(text + n, sizeof(text) - (size_t)n, "\nnot ended");
    fprintf(f, "    t%u [fillcolor=\"%s\"%s label=", k, colours[t->submitted.device % COLOURS],
            t->has_failed ? " color=\"red\" penwidth=3" : "");
    put_quoted(f, text, (size_t)n);
    fputs("];\n", f);
}

/* Tasks of one launch are a cluster. */
static void put_tasks(FILE *f, const kmm__dot_graph_t *g)
{
    bool *is_put = kmm__alloc(g->count + 1);
    for (uint32_t k = 0; k < g->count; k++) {
        const kmm__event_t *e = &g->tasks[k].submitted;
        char text[256];
        if (is_put[k])
            continue;
        const char *slash = e->file ? strrchr(e->file, '/') : NULL;
        int n = e->file ? snprintf(text, sizeof(text), "%.160s\n%.60s:%u", e->text,
                                   slash ? slash + 1 : e->file, (uint32_t)e->b)
                        : snprintf(text, sizeof(text), "%.200s", e->text);
        fprintf(f, "  subgraph cluster_%u {\n    label=", k);
        put_quoted(f, text, (size_t)n);
        fputs(";\n", f);
        for (uint32_t i = k; i < g->count; i++) {
            if (g->tasks[i].submitted.c != e->c)
                continue;
            put_task(f, g, i);
            is_put[i] = true;
        }
        fputs("  }\n", f);
    }
    free(is_put);
}

static void put_edges(FILE *f, const kmm__dot_graph_t *g)
{
    set_t *before = kmm__alloc((g->count + 1) * sizeof(*before));
    kmm__json_t regions = {0};
    for (uint32_t to = 0; to < g->count; to++)
        for (uint32_t from = to; from-- > 0;) {
            if (has(&before[to], from) || !follows(&g->tasks[from], &g->tasks[to], &regions))
                continue;
            add(&before[to], from);
            for (uint32_t w = 0; w < WORDS; w++)
                before[to].words[w] |= before[from].words[w];
            fprintf(f, "  t%u -> t%u [label=", from, to);
            put_quoted(f, regions.text, regions.length ? regions.length - 1 : 0);
            fputs("];\n", f);
        }
    free(regions.text);
    free(before);
}

static void put_graph(FILE *f, const kmm__dot_graph_t *g)
{
    fputs("digraph kmm {\n"
          "  graph [rankdir=TB nodesep=0.2 ranksep=0.4 fontname=\"Helvetica\" fontsize=10];\n"
          "  node [shape=box style=\"filled,rounded\" fontname=\"Helvetica\" fontsize=9];\n"
          "  edge [fontname=\"Helvetica\" fontsize=7 color=\"#666666\"];\n",
          f);
    if (g->left_out)
        fprintf(f, "  label=\"the first %u tasks; %llu later ones are left out\";\n", g->count,
                (unsigned long long)g->left_out);
    put_tasks(f, g);
    put_edges(f, g);
    fputs("}\n", f);
}

/* The file appears as a whole, so that two processes do not write one file at once. */
int kmm__dot_write(const kmm__dot_graph_t *g, const char *file)
{
    enum { NUMBER = 32 };
    const size_t bytes = strlen(file) + NUMBER;
    char *part = kmm__alloc(bytes);
    int error = 0;
    snprintf(part, bytes, "%s.%ld.part", file, (long)getpid());
    FILE *f = fopen(part, "we");
    if (f) {
        put_graph(f, g);
        bool failed = ferror(f);
        failed |= fclose(f) != 0;
        if (failed || rename(part, file))
            error = errno ? errno : EIO;
        if (error)
            unlink(part);
    } else {
        error = errno;
    }
    free(part);
    return error;
}
