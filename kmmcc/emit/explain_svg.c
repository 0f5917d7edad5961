/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --explain=svg. Each array of a launch is drawn as a bar or as a rectangle that is cut into
 * chunks. One chunk is shown with all that it accesses: its own elements, and hatched those beyond.
 * Sizes are schematic, since most are known only when the program runs.
 */
#include "emit/explain_svg.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/text.h"

/* In pixels. */
enum {
    MARGIN = 16,
    CELL = 356, /* the width of one array */
    CELLS = 2,  /* in a row */
    WIDTH = 2 * MARGIN + CELLS * CELL,
    LINE = 16,       /* from one line of text to the next */
    LEFT = 30,       /* of an array in its cell */
    SPAN = 300,      /* the width of an array */
    BAR = 32,        /* the height of an array of one dimension */
    PLATE = 150,     /* and of two */
    MOST_CHUNKS = 8, /* that are drawn one by one */
    SOME_CHUNKS = 5  /* that stand for more */
};

/* Items of one array that are drawn together. */
typedef struct group {
    const explained_item_t *first;
    text_t items; /* their texts */
    explained_part_t part[MAX_PARTS];
    int count;
} group_t;

/* Where something is along one dimension of the array. */
typedef struct range {
    int begin, end;
} range_t;

/* ---- Text ---- */

static void add_escaped(text_t *out, const char *text, size_t length)
{
    const char *end = text + length;
    while (text < end) {
        uint32_t code;
        size_t bytes = text_utf8(text, end, &code);
        if (!bytes || code < 0x20)
            text_printf(out, "\xEF\xBF\xBD");
        else if (strchr("&<>\"", *text))
            text_printf(out, "&#%u;", (unsigned)code);
        else
            text_add(out, text, bytes);
        text += bytes ? bytes : 1;
    }
}

static void add_text(text_t *out, const char *class, int x, int y, const char *text)
{
    text_printf(out, "<text class=\"%s\" x=\"%d\" y=\"%d\">", class, x, y);
    add_escaped(out, text, strlen(text));
    text_printf(out, "</text>\n");
}

/* How many bytes of the text fit into a line. */
static size_t fitting(const char *text, int characters)
{
    size_t last = 0, k = 0;
    for (int count = 0; text[k]; k++) {
        count += ((unsigned char)text[k] & 0xC0) != 0x80;
        if (count > characters)
            return last ? last : k;
        if (text[k] == ' ')
            last = k + 1;
    }
    return k;
}

/* How many characters of the class fit into a line: code and the rest of a cell, and what is as
 * wide as the picture. */
static int characters_of(const char *class)
{
    static const struct {
        const char *class;
        int characters;
    } widths[] = {{"code", 50}, {"name", 46}, {"cell", 57}, {"title", 90}};
    enum { WHOLE = 110 };
    for (size_t k = 0; k < sizeof(widths) / sizeof(*widths); k++)
        if (!strcmp(class, widths[k].class))
            return widths[k].characters;
    return WHOLE;
}

/* Adds the text in as many lines as it takes. Returns where the next line is. */
static int add_lines(text_t *out, const char *class, int x, int y, const char *text)
{
    for (; *text; y += LINE) {
        size_t length = fitting(text, characters_of(class)), shown = length;
        while (shown && text[shown - 1] == ' ')
            shown--;
        add_text(out, class, x, y, arena_copy(text, shown));
        text += length;
    }
    return y;
}

/* ---- One array ---- */

static const char *mode_class(const group_t *g)
{
    static const char *const classes[] = {"", "r", "w", "u", "p"};
    return classes[g->first->mode];
}

/* In how many chunks the axis is drawn. Where no size is given, the last axis is cut. */
static int chunks_of(const explained_t *x, int axis)
{
    const explained_axis_t *a = &x->axis[axis];
    for (int k = axis + 1; k < x->axis_count && !x->chunk_count; k++)
        if (a->splits && x->axis[k].splits)
            return 1;
    return a->chunks > 0 && a->chunks <= MOST_CHUNKS ? a->chunks : SOME_CHUNKS;
}

/* The chunk that is shown. */
static range_t own_range(const explained_t *x, const explained_part_t *p, int span)
{
    if (p->axis < 0)
        return (range_t){0, span};
    int count = chunks_of(x, p->axis), at = (count - 1) / 2;
    return (range_t){span * at / count, span * (at + 1) / count};
}

/* How wide so many elements are drawn: enough to be seen. */
static int reach_width(long long elements, bool is_open)
{
    enum { ONE = 9, MORE = 2, MOST = 17, OPEN = 13 };
    long long count = elements < 0 ? -elements : elements;
    if (is_open)
        return OPEN;
    int width = !count ? 0 : count > 4 ? MOST : ONE + MORE * (int)(count - 1);
    return elements < 0 ? -width : width;
}

static int within(int at, int span)
{
    return at < 0 ? 0 : at > span ? span : at;
}

static range_t used_range(const explained_part_t *p, range_t own, int span)
{
    if (p->axis < 0)
        return own;
    return (range_t){within(own.begin - reach_width(p->before, p->before_is_open), span),
                     within(own.end + reach_width(p->after, p->after_is_open), span)};
}

static void add_rectangle(text_t *out, const char *class, range_t x, range_t y)
{
    if (x.end > x.begin && y.end > y.begin)
        text_printf(out, "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n",
                    class, x.begin, y.begin, x.end - x.begin, y.end - y.begin);
}

static range_t moved(range_t r, int by)
{
    return (range_t){r.begin + by, r.end + by};
}

static range_t both(range_t a, range_t b)
{
    return (range_t){a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

/* The lines between chunks. */
static void add_cuts(text_t *out, const explained_t *x, const explained_part_t *p, range_t along,
                     range_t across, bool is_row)
{
    int count = p->axis < 0 ? 1 : chunks_of(x, p->axis);
    for (int k = 1; k < count; k++) {
        int at = along.begin + (along.end - along.begin) * k / count;
        if (is_row)
            text_printf(out, "<path class=\"cut\" d=\"M%d %dH%d\"/>\n", across.begin, at,
                        across.end);
        else
            text_printf(out, "<path class=\"cut\" d=\"M%d %dV%d\"/>\n", at, across.begin,
                        across.end);
    }
}

/* The names of the chunk's bounds. */
static void add_bounds(text_t *out, const explained_t *x, const explained_part_t *p, range_t own,
                       int beside, bool is_row)
{
    if (p->axis < 0)
        return;
    const char *name = x->axis[p->axis].name;
    for (int k = 0; k < 2; k++) {
        int at = k ? own.end : own.begin;
        text_printf(out, "<text class=\"bound\" x=\"%d\" y=\"%d\" text-anchor=\"%s\">",
                    is_row ? beside - 5 : at, is_row ? at + 4 : beside - 5,
                    is_row ? "end" : "middle");
        add_escaped(out, name, strlen(name));
        text_printf(out, "%d</text>\n", k);
    }
}

/* Draws the array with its upper left corner there; the columns are its last dimension. */
static void add_array(text_t *out, const explained_t *x, const group_t *g, int left, int top)
{
    const explained_part_t whole = {.axis = -1};
    const explained_part_t *row = g->count > 1 ? &g->part[0] : &whole,
                           *column = &g->part[g->count - 1];
    int height = g->count > 1 ? PLATE : BAR;
    range_t all_x = {left, left + SPAN}, all_y = {top, top + height};
    range_t own_x = own_range(x, column, SPAN), own_y = own_range(x, row, height);
    range_t used_x = moved(used_range(column, own_x, SPAN), left),
            used_y = moved(used_range(row, own_y, height), top);
    own_x = moved(own_x, left);
    own_y = moved(own_y, top);
    add_rectangle(out, "array", all_x, all_y);
    add_rectangle(out, arena_printf("%s more", mode_class(g)), used_x, used_y);
    text_printf(out, "<g fill=\"url(#hatch)\">");
    add_rectangle(out, "hatch", used_x, used_y);
    text_printf(out, "</g>\n");
    add_rectangle(out, mode_class(g), both(own_x, used_x), both(own_y, used_y));
    add_cuts(out, x, column, all_x, all_y, false);
    add_cuts(out, x, row, all_y, all_x, true);
    add_rectangle(out, "frame", all_x, all_y);
    add_rectangle(out, "own", own_x, own_y);
    add_bounds(out, x, column, own_x, top, false);
    add_bounds(out, x, row, own_y, left, true);
}

/* ---- What is said below it ---- */

static const char *reach_words(long long elements, bool is_open)
{
    return is_open ? "some" : arena_printf("%lld", elements > 0 ? elements : 0);
}

static const char *beyond_words(const explained_t *x, const group_t *g)
{
    text_t out = {0};
    for (int k = 0; k < g->count; k++) {
        const explained_part_t *p = &g->part[k];
        bool reaches = p->before > 0 || p->after > 0 || p->before_is_open || p->after_is_open;
        if (p->axis < 0 || !reaches)
            continue;
        text_printf(&out, "%s %s %s before, %s after",
                    out.length ? ";" : "beyond its own:", x->axis[p->axis].name,
                    reach_words(p->before, p->before_is_open),
                    reach_words(p->after, p->after_is_open));
    }
    return out.data;
}

static bool is_shared(const group_t *g)
{
    for (int k = 0; k < g->count; k++)
        if (g->part[k].axis >= 0)
            return false;
    return true;
}

/* Draws the array and what is said of it. Returns where it ends. */
static int add_cell(text_t *out, const explained_t *x, const group_t *g, int left, int top)
{
    const explained_item_t *item = g->first;
    const char *beyond = beyond_words(x, g);
    int y = add_lines(out, "name", left, top + LINE,
                      arena_printf("%s %s%s%s%s", explained_verb(item->mode), item->base,
                                   item->op ? " (" : "", item->op ? item->op : "",
                                   item->op ? ")" : ""));
    y = add_lines(out, "code", left, y, g->items.data) + LINE / 2;
    add_array(out, x, g, left + LEFT, y);
    y += (g->count > 1 ? PLATE : BAR) + LINE;
    if (item->mode == KMM_REDUCE)
        y = add_lines(out, "cell", left, y, "each chunk has a private copy");
    else if (is_shared(g))
        y = add_lines(out, "cell", left, y, "the same for each chunk");
    if (!strstr(g->items.data, ", ") && item->elements[0] != '{')
        y = add_lines(out, "code", left, y, item->elements);
    if (item->bytes && !strstr(g->items.data, ", "))
        y = add_lines(out, "cell", left, y, arena_printf("bytes: %s", item->bytes));
    return beyond ? add_lines(out, "cell", left, y, beyond) : y;
}

/* ---- One launch ---- */

static bool is_alike(const group_t *g, const explained_item_t *item)
{
    bool alike = g->count == item->part_count && g->first->mode == item->mode &&
                 !strcmp(g->first->base, item->base);
    for (int k = 0; k < item->part_count && alike; k++)
        alike = g->part[k].axis == item->part[k].axis;
    return alike;
}

/* Adds the item to a group: the smallest box around both. */
static void join(group_t *g, const explained_item_t *item)
{
    text_printf(&g->items, ", %s", item->text);
    for (int k = 0; k < g->count; k++) {
        explained_part_t *p = &g->part[k];
        const explained_part_t *q = &item->part[k];
        p->before = p->before > q->before ? p->before : q->before;
        p->after = p->after > q->after ? p->after : q->after;
        p->before_is_open |= q->before_is_open;
        p->after_is_open |= q->after_is_open;
    }
}

static group_t *find_groups(const explained_t *x, int *count)
{
    group_t *g = arena_alloc(((size_t)x->item_count + 1) * sizeof(*g));
    *count = 0;
    for (int k = 0; k < x->item_count; k++) {
        const explained_item_t *item = &x->item[k];
        int i = 0;
        while (i < *count && !is_alike(&g[i], item))
            i++;
        if (!item->part_count)
            continue;
        if (i < *count) {
            join(&g[i], item);
            continue;
        }
        g[*count] = (group_t){.first = item, .count = item->part_count};
        memcpy(g[*count].part, item->part, sizeof(item->part));
        text_printf(&g[(*count)++].items, "%s", item->text);
    }
    return g;
}

static int add_head(text_t *out, const explained_t *x, int y)
{
    static const char *const kinds[] = {"launch of kernel", "call of function", "task"};
    y = add_lines(out, "title", MARGIN, y + LINE + 2,
                  x->callee ? arena_printf("%s '%s'", kinds[x->kind], x->callee) : kinds[x->kind]);
    y = add_lines(out, "small", MARGIN, y, arena_printf("%s:%u", x->path, x->line)) - LINE;
    for (int k = 0; k < x->axis_count; k++) {
        const explained_axis_t *a = &x->axis[k];
        const char *size = "";
        for (int i = 0; i < x->chunk_count; i++)
            if (x->chunk[i].axis == k)
                size = arena_printf(", chunks of %s %s", x->chunk[i].size,
                                    x->chunk[i].is_blocks ? "blocks" : "elements");
        y = add_lines(out, "small", MARGIN, y + LINE,
                      a->lower
                          ? arena_printf("%s <= %s < %s (%s)%s", a->lower, a->name, a->beyond,
                                         a->source, size)
                          : arena_printf("%s (%s): the whole grid%s", a->name, a->source, size)) -
            LINE;
    }
    if (x->one_chunk)
        y = add_lines(out, "small", MARGIN, y + LINE, arena_printf("one chunk: %s", x->one_chunk)) -
            LINE;
    else if (!x->chunk_count)
        add_text(out, "small", MARGIN, y += LINE, "the size of chunks is chosen when it runs");
    return y;
}

static int add_launch(text_t *out, const explained_t *x, int y)
{
    int count, bottom;
    const group_t *g = find_groups(x, &count);
    y = bottom = add_head(out, x, y) + LINE / 2;
    for (int k = 0; k < count; k++) {
        if (k % CELLS == 0)
            y = bottom;
        int end = add_cell(out, x, &g[k], MARGIN + k % CELLS * CELL, y);
        bottom = end > bottom ? end : bottom;
    }
    for (int k = 0; k < x->item_count; k++)
        if (!x->item[k].part_count)
            bottom =
                add_lines(out, "small", MARGIN, bottom + LINE,
                          arena_printf("%s %s is not drawn: %s", explained_verb(x->item[k].mode),
                                       x->item[k].text, x->item[k].undrawn)) -
                LINE / 2;
    return bottom + LINE;
}

/* ---- The whole ---- */

static const char style[] =
    "<style>\n"
    "text { font: 12px system-ui, \"Segoe UI\", Helvetica, Arial, sans-serif; fill: #747c86 }\n"
    ".title { font-size: 14px; font-weight: 600 } .name { font-weight: 600 }\n"
    ".small, .cell { font-size: 11px }\n"
    ".code, .bound { font: 11px ui-monospace, \"DejaVu Sans Mono\", Menlo, monospace }\n"
    ".array { fill: #8c959f; fill-opacity: .14 } .cut { stroke: #8c959f; stroke-opacity: .6 }\n"
    ".frame, .own { fill: none; stroke: #8c959f } .own { stroke-width: 1.8 }\n"
    ".r { fill: #4384d4 } .w { fill: #d4812f } .u { fill: #8a63d2 } .p { fill: #4a9e69 }\n"
    ".more { fill-opacity: .4 }\n"
    "@media (prefers-color-scheme: light) { text { fill: #24292f } .small, .cell { fill: #57606a } "
    ".own { stroke: #24292f } }\n"
    "@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .small, .cell { fill: #9da7b3 } "
    ".own { stroke: #e6edf3 } }\n"
    "</style>\n"
    "<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
    "patternTransform=\"rotate(45)\"><path d=\"M0 0V5\" stroke=\"#fff\" stroke-width=\"2.4\" "
    "stroke-opacity=\".6\"/></pattern></defs>\n";

static int add_legend(text_t *out, int y)
{
    static const char *const lines[] = {
        "Filled: the chunk's own elements. Hatched: the box around all that it accesses, where "
        "that is "
        "more; drawn wider than it is.",
        "Sizes are schematic. An axis with more than 8 chunks, or with as many as are known only "
        "when it runs, is drawn with 5."};
    for (size_t k = 0; k < sizeof(lines) / sizeof(*lines); k++)
        add_text(out, "small", MARGIN, y += LINE, lines[k]);
    return y + MARGIN;
}

const char *explain_svg(const explained_t *first)
{
    text_t body = {0}, out = {0};
    int y = MARGIN / 2;
    bool any = false;
    text_add(&body, "", 0);
    for (const explained_t *x = first; x; x = x->next)
        if (x->kind != EXPLAINED_TASK) {
            y = add_launch(&body, x, y);
            any = true;
        }
    if (!any)
        add_text(&body, "small", MARGIN, y += LINE, "No launch has a pragma.");
    y = add_legend(&body, y);
    text_printf(&out,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                "viewBox=\"0 0 %d %d\" role=\"img\">\n"
                "<title>What one chunk of each launch accesses</title>\n",
                WIDTH, y, WIDTH, y);
    text_add(&out, style, strlen(style));
    text_add(&out, body.data, body.length);
    text_printf(&out, "</svg>\n");
    return out.data;
}
