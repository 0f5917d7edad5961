/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scanner and the parser of pragmas on any bytes: all pragmas are found and parsed. With
 * FUZZ_MACROS, the macros of the text that write pragmas are expanded before. Memory comes from a
 * pool, in which a sanitizer sees what is read beyond the end of each piece; all of it is free
 * again behind each input. Built with FUZZ_MAIN it runs the files that it is given once.
 */
#include <sanitizer/asan_interface.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/options.h"
#include "base/source.h"
#include "pragma/directive.h"
#include "pragma/macro.h"
#include "pragma/parse.h"
#include "pragma/pragma.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- In place of arena.c ---- */

enum { POOL_BYTES = 1 << 28, ALIGNMENT = 16 };

static _Alignas(16) char pool[POOL_BYTES]; /* [pool_used, POOL_BYTES) is zero */
static size_t pool_used;

/* Between two pieces there is at least ALIGNMENT bytes that nobody may touch. */
void *arena_alloc(size_t bytes)
{
    size_t whole = (bytes + 2 * ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (bytes > POOL_BYTES || whole > POOL_BYTES - pool_used)
        abort();
    char *piece = pool + pool_used;
    pool_used += whole;
    ASAN_UNPOISON_MEMORY_REGION(piece, bytes);
    ASAN_POISON_MEMORY_REGION(piece + bytes, whole - bytes);
    return piece;
}

static void arena_free(void)
{
    ASAN_UNPOISON_MEMORY_REGION(pool, pool_used);
    memset(pool, 0, pool_used);
    pool_used = 0;
}

char *arena_copy(const char *text, size_t length)
{
    char *copy = arena_alloc(length + 1);
    memcpy(copy, text, length);
    return copy;
}

char *arena_vprintf(const char *format, va_list list)
{
    va_list again;
    va_copy(again, list);
    int count = vsnprintf(NULL, 0, format, again);
    va_end(again);
    if (count < 0)
        abort();
    char *result = arena_alloc((size_t)count + 1);
    vsnprintf(result, (size_t)count + 1, format, list);
    return result;
}

char *arena_printf(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *result = arena_vprintf(format, list);
    va_end(list);
    return result;
}

void *arena_grow(void *items, int count, int *capacity, size_t size)
{
    if (count < *capacity)
        return items;
    *capacity = 2 * *capacity + 1;
    void *grown = arena_alloc((size_t)*capacity * size);
    if (count)
        memcpy(grown, items, (size_t)count * size);
    return grown;
}

/* ---- In place of diag.c: a message's place must be in the text ---- */

void diag_at(severity_t severity, const source_t *s, size_t begin, size_t end, const char *format,
             ...)
{
    unsigned line, column;
    va_list list;
    (void)severity;
    if (begin > end || end > s->length)
        abort();
    source_place(s, begin, &line, &column);
    va_start(list, format);
    arena_vprintf(format, list);
    va_end(list);
}

void diag_plain(severity_t severity, const char *format, ...)
{
    va_list list;
    (void)severity;
    va_start(list, format);
    arena_vprintf(format, list);
    va_end(list);
}

void diag_fix(size_t begin, size_t end, const char *text)
{
    if (begin > end || (begin == end && !*text))
        abort();
}

/* ---- One input ---- */

static void check_expression(const source_t *s, const expr_t *e)
{
    for (; e; e = e->next) {
        if (e->begin >= e->end || e->end > s->length)
            abort();
        check_expression(s, e->left);
        check_expression(s, e->right);
        check_expression(s, e->other);
    }
}

static void check_directive(const source_t *s, const directive_t *d)
{
    for (int k = 0; k < d->axis_count; k++) {
        check_expression(s, d->axis[k].lower);
        check_expression(s, d->axis[k].length);
    }
    for (int k = 0; k < d->item_count; k++) {
        check_expression(s, d->item[k].base);
        for (int i = 0; i < d->item[k].section_count; i++) {
            check_expression(s, d->item[k].section[i].lower);
            check_expression(s, d->item[k].section[i].length);
        }
    }
    for (int k = 0; k < d->map_count; k++)
        check_expression(s, d->map[k].base);
    for (int k = 0; k < d->setting_count; k++) {
        check_expression(s, d->setting[k].value);
        if (!d->setting[k].value)
            directive_string(s, d, d->setting[k].string);
    }
}

/* Takes each copy for its own preprocessed text. */
static bool pass_through(const preprocessor_t *p, int pass, const macro_copy_t *copies, int count,
                         text_t *out)
{
    (void)p;
    (void)count;
    text_add(out, copies[0].text, strlen(copies[0].text));
    return pass == 0;
}

static const source_t *expanded(const source_t *s)
{
    const options_t options = {0};
    const preprocessor_t preprocessor = {.run = pass_through};
    include_file_t file = {.path = "input", .source = s};
    include_file_t *files[] = {&file};
    includes_t includes = {.file = files, .count = 1};
    macro_expand(&includes, &options, &preprocessor);
    return file.source;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const source_t *s = source_from("input", (const char *)data, size);
    pragma_t pragma;
    source_has_pragma(s);
#ifdef FUZZ_MACROS
    s = expanded(s);
#else
    (void)expanded;
#endif
    for (size_t from = 0; pragma_next(s, &from, &pragma);) {
        directive_t *d = parse_directive(s, pragma);
        if (d)
            check_directive(s, d);
    }
    arena_free();
    return 0;
}

#ifdef FUZZ_MAIN
int main(int argc, char **argv)
{
    static uint8_t data[1 << 20];
    for (int k = 1; k < argc; k++) {
        FILE *file = fopen(argv[k], "rb");
        if (!file)
            return fprintf(stderr, "%s: cannot be opened\n", argv[k]), 1;
        size_t size = fread(data, 1, sizeof(data), file);
        fclose(file);
        LLVMFuzzerTestOneInput(data, size);
    }
    printf("%d files\n", argc - 1);
    return argc > 1 ? 0 : 1;
}
#endif
