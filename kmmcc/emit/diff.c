/* SPDX-License-Identifier: Apache-2.0 */
/* Unified diffs by the greedy method of E. W. Myers, "An O(ND) Difference Algorithm and Its
 * Variations", Algorithmica 1, 1986. */
#include "emit/diff.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"

enum {
    CONTEXT = 3,
    MAX_EDITS =
        4000 /* texts that differ more are shown as wholly replaced; bounds time and memory */
};

typedef struct lines {
    const char **line;
    size_t *length;
    int count;
} lines_t;

/* A line keeps its '\n': a last line without one differs from one with it. */
static lines_t split(const char *text)
{
    int count = 0;
    for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n')
        count++;
    lines_t l = {arena_alloc((size_t)count * sizeof(*l.line) + 1),
                 arena_alloc((size_t)count * sizeof(*l.length) + 1), 0};
    for (const char *s = text; *s; s += l.length[l.count++]) {
        l.line[l.count] = s;
        l.length[l.count] = strcspn(s, "\n");
        l.length[l.count] += s[l.length[l.count]] == '\n';
    }
    return l;
}

typedef struct pair {
    lines_t a, b;
} pair_t;

static bool equal(const pair_t *p, int x, int y)
{
    return p->a.length[x] == p->b.length[y] &&
           memcmp(p->a.line[x], p->b.line[y], p->a.length[x]) == 0;
}

/* reach[d] holds, for diagonals k = -d..d at index k + d, how far x gets with d edits. */
typedef struct trace {
    int **reach;
    int edits;
    bool found;
} trace_t;

static int reach_at(const trace_t *t, int d, int k)
{
    return d < 0 || k < -d || k > d ? -1 : t->reach[d][k + d];
}

/* True if the best way to diagonal k with d edits ends in an insertion (x stays) rather than a
 * deletion. */
static bool inserts(const trace_t *t, int d, int k)
{
    return k == -d || (k != d && reach_at(t, d - 1, k - 1) < reach_at(t, d - 1, k + 1));
}

static int step(const pair_t *p, const trace_t *t, int d, int k)
{
    int x = d == 0             ? 0
            : inserts(t, d, k) ? reach_at(t, d - 1, k + 1)
                               : reach_at(t, d - 1, k - 1) + 1;
    while (x < p->a.count && x - k < p->b.count && x - k >= 0 && equal(p, x, x - k))
        x++;
    return x;
}

static trace_t find_path(const pair_t *p)
{
    int most = p->a.count + p->b.count;
    if (most > MAX_EDITS)
        most = MAX_EDITS;
    trace_t t = {.reach = arena_alloc(((size_t)most + 1) * sizeof(*t.reach))};
    for (int d = 0; d <= most; d++) {
        t.reach[d] = arena_alloc((2 * (size_t)d + 1) * sizeof(**t.reach));
        t.edits = d;
        for (int k = -d; k <= d; k += 2) {
            t.reach[d][k + d] = step(p, &t, d, k);
            t.found = t.reach[d][k + d] == p->a.count && p->a.count - k == p->b.count;
            if (t.found)
                return t;
        }
    }
    return t;
}

/* removed[x], added[y]: which lines the way from a to b deletes and inserts. */
typedef struct marks {
    bool *removed, *added;
} marks_t;

static marks_t mark(const pair_t *p)
{
    trace_t t = find_path(p);
    marks_t m = {arena_alloc((size_t)p->a.count + 1), arena_alloc((size_t)p->b.count + 1)};
    int x = p->a.count, y = p->b.count;
    if (!t.found) {
        memset(m.removed, true, (size_t)x);
        memset(m.added, true, (size_t)y);
        return m;
    }
    for (int d = t.edits; d > 0; d--) {
        int k = x - y;
        if (inserts(&t, d, k)) {
            x = reach_at(&t, d - 1, k + 1);
            y = x - (k + 1);
            m.added[y] = true;
        } else {
            x = reach_at(&t, d - 1, k - 1);
            y = x - (k - 1);
            m.removed[x] = true;
        }
    }
    return m;
}

static void print_line(char sign, const lines_t *l, int index)
{
    printf("%c%.*s", sign, (int)l->length[index], l->line[index]);
    if (l->line[index][l->length[index] - 1] != '\n')
        printf("\n\\ No newline at end of file\n");
}

/* A hunk is lines [x0, x1) of a and [y0, y1) of b. */
typedef struct hunk {
    int x0, x1, y0, y1;
} hunk_t;

static void print_range(int begin, int end)
{
    if (end - begin == 1)
        printf("%d", begin + 1);
    else
        printf("%d,%d", end > begin ? begin + 1 : begin, end - begin);
}

static void print_hunk(const pair_t *p, const marks_t *m, hunk_t h)
{
    printf("@@ -");
    print_range(h.x0, h.x1);
    printf(" +");
    print_range(h.y0, h.y1);
    printf(" @@\n");
    int x = h.x0, y = h.y0;
    while (x < h.x1 || y < h.y1) {
        if (x < h.x1 && m->removed[x])
            print_line('-', &p->a, x++);
        else if (y < h.y1 && m->added[y])
            print_line('+', &p->b, y++);
        else
            print_line(' ', &p->a, x++), y++;
    }
}

static bool changed(const pair_t *p, const marks_t *m, int x, int y)
{
    return (x < p->a.count && m->removed[x]) || (y < p->b.count && m->added[y]);
}

/* Extends the hunk from its first change to the last one that follows within two contexts. */
static hunk_t grow_hunk(const pair_t *p, const marks_t *m, int x, int y)
{
    int lead = x < CONTEXT ? x : CONTEXT;
    hunk_t h = {.x0 = x - lead, .y0 = y - lead};
    int same = 0;
    while ((x < p->a.count || y < p->b.count) && same <= 2 * CONTEXT) {
        if (!changed(p, m, x, y)) {
            same++, x++, y++;
            continue;
        }
        same = 0;
        if (x < p->a.count && m->removed[x])
            x++;
        else
            y++;
    }
    int extra = same > CONTEXT ? same - CONTEXT : 0;
    h.x1 = x - extra;
    h.y1 = y - extra;
    return h;
}

bool diff_print(version_t before, version_t after)
{
    if (strcmp(before.text, after.text) == 0)
        return false;
    pair_t p = {split(before.text), split(after.text)};
    marks_t m = mark(&p);
    printf("--- %s\n+++ %s\n", before.label, after.label);
    int x = 0, y = 0;
    while (x < p.a.count || y < p.b.count) {
        if (!changed(&p, &m, x, y)) {
            x++, y++;
            continue;
        }
        hunk_t h = grow_hunk(&p, &m, x, y);
        print_hunk(&p, &m, h);
        x = h.x1;
        y = h.y1;
    }
    return true;
}
