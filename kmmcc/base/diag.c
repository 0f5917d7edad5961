/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in clang's form. They are kept until diag_flush, which prints them sorted by place. */
#include "base/diag.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/message.h"
#include "base/sarif.h"
#include "base/text.h"
#include "base/warning.h"

/* -Wno-X, -WX, -Werror=X, -Wno-error=X; the last rule that matches a warning decides. */
typedef enum state { STATE_OFF, STATE_ON, STATE_ERROR, STATE_NO_ERROR } state_t;
typedef struct rule {
    const char *name;
    state_t state;
} rule_t;

static struct {
    message_t *messages;
    int count, capacity;
    rule_t *rules;
    int rule_count;
    int errors, warnings;
    bool colour, all_errors, no_warnings, parseable, trial;
    bool last_dropped; /* its notes go with it */
} diag;

enum { TAB = 8 };

/* ---- Which warnings are on ---- */

static void rule_add(const char *name, state_t state)
{
    rule_t *rules = arena_alloc((size_t)(diag.rule_count + 1) * sizeof(*rules));
    if (diag.rule_count)
        memcpy(rules, diag.rules, (size_t)diag.rule_count * sizeof(*rules));
    rules[diag.rule_count].name = name;
    rules[diag.rule_count].state = state;
    diag.rules = rules;
    diag.rule_count++;
}

static bool is_ours(const char *name)
{
    return strcmp(name, "kmm") == 0 || strncmp(name, "kmm-", 4) == 0;
}

bool diag_warning_option(const char *option)
{
    if (strcmp(option, "-Werror") == 0)
        diag.all_errors = true;
    if (strcmp(option, "-Wno-error") == 0)
        diag.all_errors = false;
    if (strcmp(option, "-w") == 0)
        diag.no_warnings = true;
    if (strncmp(option, "-Werror=", 8) == 0 && is_ours(option + 8))
        return rule_add(option + 8, STATE_ERROR), true;
    if (strncmp(option, "-Wno-error=", 11) == 0 && is_ours(option + 11))
        return rule_add(option + 11, STATE_NO_ERROR), true;
    if (strncmp(option, "-Wno-", 5) == 0 && is_ours(option + 5))
        return rule_add(option + 5, STATE_OFF), true;
    if (strncmp(option, "-W", 2) == 0 && is_ours(option + 2))
        return rule_add(option + 2, STATE_ON), true;
    return false;
}

static state_t warning_state(const char *name, size_t length)
{
    /* What is right, but slow, is said to those who ask. */
    const warning_t *known = name ? warning_find(name, length) : NULL;
    state_t state = known && known->is_off ? STATE_OFF : STATE_ON;
    for (int k = 0; k < diag.rule_count; k++) {
        const rule_t *r = &diag.rules[k];
        if (strcmp(r->name, "kmm") == 0 ||
            (name && strlen(r->name) == length && strncmp(r->name, name, length) == 0))
            state = r->state;
    }
    if (diag.no_warnings && state != STATE_ERROR)
        return STATE_OFF;
    return diag.all_errors && state == STATE_ON ? STATE_ERROR : state;
}

bool diag_shows(const char *name)
{
    return !diag.trial && warning_state(name, strlen(name)) != STATE_OFF;
}

/* ---- Collecting ---- */

static message_t *message_add(message_t **list, int *count, int *capacity)
{
    *list = arena_grow(*list, *count, capacity, sizeof(**list));
    return &(*list)[(*count)++];
}

static bool is_known(const message_t *m)
{
    for (int k = 0; k < diag.count; k++) {
        const message_t *other = &diag.messages[k];
        if (other->severity == m->severity && other->source == m->source &&
            other->begin == m->begin && strcmp(other->text, m->text) == 0)
            return true;
    }
    return false;
}

/* Turns a warning into what the command line says; false: it is off. */
static bool admit_warning(message_t *m)
{
    size_t length = 0, plain = 0;
    const char *name = warning_in(m->text, &length, &plain);
    state_t state = diag.trial ? STATE_ON : warning_state(name, length);
    if (state == STATE_OFF)
        return false;
    if (state == STATE_ERROR) {
        m->severity = SEVERITY_ERROR;
        if (name)
            m->text = arena_printf("%.*s [-Werror,-W%.*s]", (int)plain, m->text, (int)length, name);
    }
    return true;
}

static void admit(message_t m)
{
    if (m.severity == SEVERITY_NOTE && diag.last_dropped)
        return;
    if (m.severity == SEVERITY_NOTE && diag.count) {
        message_t *owner = &diag.messages[diag.count - 1];
        *message_add(&owner->notes, &owner->note_count, &owner->note_capacity) = m;
        return;
    }
    diag.last_dropped = (m.severity == SEVERITY_WARNING && !admit_warning(&m)) || is_known(&m);
    if (diag.last_dropped)
        return;
    diag.errors += m.severity == SEVERITY_ERROR;
    diag.warnings += m.severity == SEVERITY_WARNING;
    m.order = diag.count;
    *message_add(&diag.messages, &diag.count, &diag.capacity) = m;
}

static const char *print_text(const char *format, va_list list)
{
    char *text = NULL;
    if (vasprintf(&text, format, list) < 0)
        return "out of memory while printing a message";
    const char *copy = arena_copy(text, strlen(text));
    free(text);
    return copy;
}

void diag_at(severity_t severity, const source_t *s, size_t begin, size_t end, const char *format,
             ...)
{
    va_list list;
    va_start(list, format);
    admit((message_t){.severity = severity,
                      .source = s,
                      .begin = begin,
                      .end = end,
                      .text = print_text(format, list)});
    va_end(list);
}

void diag_plain(severity_t severity, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    admit((message_t){.severity = severity, .text = print_text(format, list)});
    va_end(list);
}

void diag_file(severity_t severity, const char *path, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    admit((message_t){
        .severity = severity, .path = path, .line = 1, .text = print_text(format, list)});
    va_end(list);
}

void diag_elsewhere(severity_t severity, const char *path, unsigned line, unsigned column,
                    const char *text)
{
    const char *place = arena_printf("%s:%u:%u: ", path, line, column);
    admit((message_t){.severity = severity,
                      .path = path,
                      .line = line,
                      .column = column,
                      .text = arena_printf("%s%s", place, text),
                      .prefix = strlen(place)});
}

void diag_fix(size_t begin, size_t end, const char *text)
{
    if (diag.last_dropped || !diag.count)
        return;
    message_t *m = &diag.messages[diag.count - 1];
    if (m->note_count)
        m = &m->notes[m->note_count - 1];
    if (m->fix_count < MAX_FIXES)
        m->fix[m->fix_count++] = (fix_t){begin, end, text};
}

int diag_count(void)
{
    return diag.count;
}

void diag_retract(int first, int last)
{
    for (int k = first; k < last; k++) {
        diag.errors -= diag.messages[k].severity == SEVERITY_ERROR;
        diag.warnings -= diag.messages[k].severity == SEVERITY_WARNING;
    }
    for (int k = last; k < diag.count; k++)
        diag.messages[first + k - last] = diag.messages[k];
    diag.count -= last - first;
}

void diag_retract_in(const source_t *s, size_t begin, size_t end, const char *words)
{
    for (int k = diag.count - 1; k >= 0; k--) {
        const message_t *m = &diag.messages[k];
        int last = k + 1;
        if (m->source != s || m->begin < begin || m->begin >= end || !strstr(m->text, words))
            continue;
        while (last < diag.count && diag.messages[last].severity == SEVERITY_NOTE)
            last++;
        diag_retract(k, last);
    }
}

const char *diag_said(int number)
{
    return diag.messages[number].text;
}

const char *diag_said_in(const source_t *s, size_t begin, size_t end)
{
    for (int k = 0; k < diag.count; k++) {
        const message_t *m = &diag.messages[k];
        if (m->source == s && begin <= m->begin && m->begin < end)
            return m->text;
    }
    return NULL;
}

void diag_trial(bool on)
{
    diag.trial = on;
}

int diag_error_count(void)
{
    return diag.errors;
}

void diag_colour(bool on)
{
    diag.colour = on;
}

void diag_parseable_fixes(bool on)
{
    diag.parseable = on;
}

/* ---- Printing ---- */

static const char *paint(const char *escape)
{
    return diag.colour ? escape : "";
}

/* One character of UTF-8 at s: its bytes, and the columns it takes. Bytes that are no UTF-8 count
 * alone and are printed as <XX>, four columns. */
typedef struct glyph {
    size_t bytes;
    unsigned columns;
    bool valid;
} glyph_t;

static unsigned code_columns(uint32_t c)
{
    static const struct {
        uint32_t first, last;
        unsigned columns;
    } ranges[] = {
        {0x0300, 0x036F, 0}, {0x1100, 0x115F, 2}, {0x200B, 0x200F, 0},   {0x2E80, 0xA4CF, 2},
        {0xAC00, 0xD7A3, 2}, {0xF900, 0xFAFF, 2}, {0xFE00, 0xFE0F, 0},   {0xFE30, 0xFE6F, 2},
        {0xFF00, 0xFF60, 2}, {0xFFE0, 0xFFE6, 2}, {0x1F300, 0x1FAFF, 2}, {0x20000, 0x3FFFD, 2},
    };
    for (size_t k = 0; k < sizeof(ranges) / sizeof(*ranges); k++)
        if (c >= ranges[k].first && c <= ranges[k].last)
            return ranges[k].columns;
    return 1;
}

static glyph_t glyph_at(const char *s, const char *end)
{
    unsigned char lead = (unsigned char)*s;
    if (lead < 0x80)
        return (glyph_t){1, lead < 0x20 || lead == 0x7F ? 4 : 1, lead >= 0x20 && lead != 0x7F};
    uint32_t code;
    size_t bytes = text_utf8(s, end, &code);
    if (!bytes)
        return (glyph_t){1, 4, false};
    return (glyph_t){bytes, code_columns(code), true};
}

static void add_times(text_t *t, char c, unsigned count)
{
    while (count--)
        text_add(t, &c, 1);
}

/* Appends the source line to `shown` and the caret under [mark, mark_end) to `marks`. */
static void lay_out(const char *line, const char *end, const char *mark, const char *mark_end,
                    text_t *shown, text_t *marks)
{
    unsigned column = 0;
    const char *s = line;
    while (s < end) {
        glyph_t g = *s == '\t' ? (glyph_t){1, TAB - column % TAB, true} : glyph_at(s, end);
        if (s == mark) {
            text_add(marks, "^", 1);
            add_times(marks, mark_end > s + g.bytes ? '~' : ' ', g.columns > 1 ? g.columns - 1 : 0);
        } else {
            add_times(marks, s > mark && s < mark_end ? '~' : ' ', g.columns);
        }
        if (*s == '\t')
            add_times(shown, ' ', g.columns);
        else if (!g.valid)
            text_printf(shown, "<%02X>", (unsigned char)*s);
        else
            text_add(shown, s, g.bytes);
        column += g.columns;
        s += g.bytes;
    }
    if (mark >= end)
        text_add(marks, "^", 1);
    while (marks->length && marks->data[marks->length - 1] == ' ')
        marks->data[--marks->length] = '\0';
}

/* The text below the place on the line that it replaces; nothing for what is on another line, or
 * only taken away. */
static void print_fix(const source_t *s, unsigned line, const fix_t *fix)
{
    const char *first = s->text + s->lines[line - 1], *last = first + strcspn(first, "\r\n");
    const char *at = s->text + fix->begin;
    text_t shown = {0}, marks = {0};
    if (at < first || at > last || !*fix->text || strchr(fix->text, '\n'))
        return;
    text_add(&shown, "", 0);
    text_add(&marks, "", 0);
    lay_out(first, last, at, at, &shown, &marks);
    fprintf(stderr, "%*s%s%s%s\n", marks.length ? (int)marks.length - 1 : 0, "",
            paint("\033[0;32m"), fix->text, paint("\033[0m"));
}

static void print_quoted(const char *text)
{
    fputc('"', stderr);
    for (; *text; text++) {
        if (*text == '\n')
            fputs("\\n", stderr);
        else if (*text == '"' || *text == '\\')
            fprintf(stderr, "\\%c", *text);
        else
            fputc(*text, stderr);
    }
    fputc('"', stderr);
}

/* As clang writes it: fix-it:"file":{line:column-line:column}:"text". Columns are bytes; the end is
 * exclusive. */
static void print_parseable(const source_t *s, const fix_t *fix)
{
    unsigned line, column, end_line, end_column;
    source_place(s, fix->begin, &line, &column);
    source_place(s, fix->end, &end_line, &end_column);
    fputs("fix-it:", stderr);
    print_quoted(s->path);
    fprintf(stderr, ":{%u:%u-%u:%u}:", line, column, end_line, end_column);
    print_quoted(fix->text);
    fputc('\n', stderr);
}

/* Text that kmmcc has completed is not what the file holds, so its places mean nothing to an
 * editor. */
static void print_fixes(const message_t *m, unsigned line)
{
    for (int k = 0; k < m->fix_count; k++)
        print_fix(m->source, line, &m->fix[k]);
    for (int k = 0; k < m->fix_count && diag.parseable && !m->source->completed; k++)
        print_parseable(m->source, &m->fix[k]);
}

static void print_line(const source_t *s, unsigned line, size_t begin, size_t end)
{
    const char *first = s->text + s->lines[line - 1];
    const char *last = first + strcspn(first, "\r\n");
    const char *stop = s->text + s->length;
    text_t shown = {0}, marks = {0};
    text_add(&shown, "", 0);
    text_add(&marks, "", 0);
    lay_out(first, last < stop ? last : stop, s->text + begin, s->text + end, &shown, &marks);
    fprintf(stderr, "%s\n%s%s%s\n", shown.data, paint("\033[0;1;32m"), marks.data,
            paint("\033[0m"));
}

static void print_message(const message_t *m)
{
    static const char *const names[] = {"note", "warning", "error"};
    static const char *const paints[] = {"\033[0;1;36m", "\033[0;1;35m", "\033[0;1;31m"};
    unsigned line = 0, column = 0;
    fputs(paint("\033[1m"), stderr);
    if (m->source) {
        source_place(m->source, m->begin, &line, &column);
        fprintf(stderr, "%s:%u:%u: ", m->source->path, line, column);
    } else {
        fputs("kmmcc: ", stderr);
    }
    fprintf(stderr, "%s%s: %s%s%s%s\n", paint(paints[m->severity]), names[m->severity],
            paint("\033[0m"), m->severity == SEVERITY_NOTE ? "" : paint("\033[1m"), m->text,
            paint("\033[0m"));
    if (m->source)
        print_line(m->source, line, m->begin, m->end);
    if (m->source)
        print_fixes(m, line);
    for (int k = 0; k < m->note_count; k++)
        print_message(&m->notes[k]);
}

/* By place within a file; messages without a place, and those of different files, as they came. */
static int compare(const void *left, const void *right)
{
    const message_t *a = left, *b = right;
    if (a->source && a->source == b->source && a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->order - b->order;
}

void diag_flush(void)
{
    int first = 0;
    while (first < diag.count) {
        int last = first + 1;
        while (last < diag.count && diag.messages[last].source == diag.messages[first].source)
            last++;
        qsort(diag.messages + first, (size_t)(last - first), sizeof(*diag.messages), compare);
        for (int k = first; k < last; k++) {
            print_message(&diag.messages[k]);
            sarif_add(&diag.messages[k]);
        }
        first = last;
    }
    diag.count = 0;
}

void diag_summary(void)
{
    diag_flush();
    if (!diag.errors && !diag.warnings)
        return;
    if (diag.warnings)
        fprintf(stderr, "%d warning%s", diag.warnings, diag.warnings == 1 ? "" : "s");
    if (diag.errors)
        fprintf(stderr, "%s%d error%s", diag.warnings ? " and " : "", diag.errors,
                diag.errors == 1 ? "" : "s");
    fputs(" generated.\n", stderr);
}
