/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a translation unit that kmmcc reads and writes: the one that is compiled, headers
 * with pragmas, and headers that have to change; and the map between what clang parsed and what the
 * user wrote.
 */
#include "clang/unit.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/install.h"
#include "base/text.h"
#include "base/token.h"
#include "clang/cursor.h"

/* ---- Places ---- */

/* The last piece that begins at or before the place; NULL before the first. */
static const piece_t *find_piece(const unit_t *u, size_t parsed)
{
    int low = 0, high = u->piece_count;
    while (low < high) {
        int middle = (low + high) / 2;
        if (u->pieces[middle].parsed <= parsed)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &u->pieces[low - 1] : NULL;
}

bool unit_exact_offset(const unit_t *u, size_t parsed, size_t *out)
{
    const piece_t *piece = find_piece(u, parsed);
    if (!piece || parsed > piece->parsed + piece->length)
        return false;
    *out = piece->origin + (parsed - piece->parsed);
    return true;
}

size_t unit_offset(const unit_t *u, size_t parsed)
{
    const piece_t *piece = find_piece(u, parsed);
    if (!piece)
        return 0;
    size_t into = parsed - piece->parsed;
    return piece->origin + (into < piece->length ? into : piece->length);
}

size_t unit_parsed_offset(const unit_t *u, size_t offset)
{
    for (int k = 0; k < u->piece_count; k++)
        if (u->pieces[k].origin <= offset && offset < u->pieces[k].origin + u->pieces[k].length)
            return u->pieces[k].parsed + (offset - u->pieces[k].origin);
    return SIZE_MAX;
}

bool unit_range(const unit_t *u, CXCursor cursor, size_t *begin, size_t *end)
{
    CXFile file;
    size_t from, to;
    if (!clang_file_range(cursor, &file, &from, &to) || to == from ||
        !clang_File_isEqual(file, clang_getFile(u->tu, u->path)))
        return false;
    if (!unit_exact_offset(u, from, begin) || !unit_exact_offset(u, to - 1, end))
        return false;
    *end += 1;
    return true;
}

bool unit_owns(const unit_t *u, CXCursor cursor)
{
    size_t begin, end;
    if (!unit_range(u, cursor, &begin, &end))
        return false;
    for (int k = 0; k < u->directive_count; k++)
        if (begin >= u->directives[k]->pragma.begin && begin < u->directives[k]->pragma.end)
            return false;
    return true;
}

/* ---- Files ---- */

static CXFile file_of(CXCursor c)
{
    CXFile file = NULL;
    clang_getFileLocation(clang_getCursorLocation(c), &file, NULL, NULL, NULL);
    return file;
}

bool unit_is_in(const unit_t *u, CXCursor cursor)
{
    CXFile file = file_of(cursor), own = clang_getFile(u->tu, u->path);
    return file && own && clang_File_isEqual(file, own);
}

/* True if the translation unit holds the file. */
static bool is_read(const unit_t *main, const char *path)
{
    CXFile file = clang_getFile(main->tu, path);
    return file && !clang_equalLocations(clang_getLocationForOffset(main->tu, file, 0),
                                         clang_getNullLocation());
}

bool unit_is_included(const unit_t *u)
{
    return is_read(u, u->path);
}

/* `by` includes `file` at the place: of the includes that a macro names there, that one holds. */
static void choose(unit_t *main, include_file_t *by, size_t offset, CXFile file)
{
    for (const unit_t *u = main; u; u = u->next)
        if (u->source == by->source)
            offset = unit_offset(u, offset);
    for (int k = 0; k < by->include_count; k++) {
        include_t *i = &by->include[k];
        CXFile named = i->by_macro ? clang_getFile(main->tu, i->file->parsed_as) : NULL;
        if (named && clang_File_isEqual(named, file) &&
            source_line(by->source, i->begin) == source_line(by->source, offset))
            i->chosen = true;
    }
}

static void visit_inclusion(CXFile file, CXSourceLocation *stack, unsigned count, CXClientData data)
{
    unit_t *main = data;
    CXFile by;
    unsigned offset;
    if (count == 0)
        return;
    clang_getFileLocation(stack[0], &by, NULL, NULL, &offset);
    for (int k = 0; k < main->includes->count && by; k++) {
        CXFile own = clang_getFile(main->tu, main->includes->file[k]->parsed_as);
        CXFile nested = !clang_File_isEqual(by, clang_getFile(main->tu, main->path))
                            ? clang_getFile(main->tu, main->includes->file[k]->parsed_as)
                            : NULL;
        if (own && clang_File_isEqual(own, by))
            choose(main, main->includes->file[k], offset, file);
        if (nested && clang_File_isEqual(nested, file))
            main->includes->file[k]->is_nested = true;
    }
}

/* clang_getInclusions leaves out what the main file includes behind its first declaration. Of such
 * headers at one place, the one that was read holds, and that no other header includes. */
static void choose_unvisited(unit_t *main, const include_file_t *f)
{
    for (int k = 0; k < f->include_count; k++) {
        include_t *i = &f->include[k], *read = NULL;
        int count = 0;
        bool is_chosen = !i->by_macro || (k && f->include[k - 1].begin == i->begin);
        for (int m = k; m < f->include_count && f->include[m].begin == i->begin; m++) {
            is_chosen |= f->include[m].chosen;
            if (f->include[m].file->is_nested || !is_read(main, f->include[m].file->parsed_as))
                continue;
            read = &f->include[m];
            count++;
        }
        if (!is_chosen && count > 1)
            unit_error(main, i->begin, i->end,
                       "which header this macro names here is not known; write its name");
        else if (!is_chosen && read)
            read->chosen = true;
    }
}

void unit_choose_includes(unit_t *main)
{
    bool any = false;
    for (int f = 0; f < main->includes->count; f++)
        for (int k = 0; k < main->includes->file[f]->include_count; k++)
            any |= main->includes->file[f]->include[k].by_macro;
    if (any)
        clang_getInclusions(main->tu, visit_inclusion, main);
    if (any)
        choose_unvisited(main, main->includes->file[0]);
}

const include_file_t *unit_includes(const unit_t *u)
{
    for (int k = 0; k < u->main->includes->count; k++) {
        const include_file_t *f = u->main->includes->file[k];
        if (!strcmp(u->path, includes_is_renamed(f) ? f->parsed_as : f->path))
            return f;
    }
    return NULL;
}

unit_t *unit_add(unit_t *main, const source_t *source)
{
    unit_t *u = arena_alloc(sizeof(*u)), *last = main;
    while (last->next)
        last = last->next;
    *u = (unit_t){.main = main,
                  .options = main->options,
                  .lang = main->lang,
                  .target = main->target,
                  .source = source,
                  .path = source->path,
                  .tu = main->tu,
                  .include_at = SIZE_MAX};
    piece_t *all = arena_alloc(sizeof(*all));
    *all = (piece_t){0, 0, source->length};
    u->pieces = all;
    u->piece_count = 1;
    last->next = u;
    return u;
}

unit_t *unit_of_file(unit_t *main, CXFile file)
{
    for (unit_t *u = main; u; u = u->next)
        if (clang_File_isEqual(file, clang_getFile(u->tu, u->path)))
            return u;
    if (clang_Location_isInSystemHeader(clang_getLocationForOffset(main->tu, file, 0)))
        return NULL;
    const char *path = clang_text(clang_getFileName(file)), *own = install_path("include");
    if (!strncmp(path, own, strlen(own)))
        return NULL;
    const source_t *source = NULL;
    for (int k = 0; k < main->includes->count && !source; k++)
        if (clang_File_isEqual(file, clang_getFile(main->tu, main->includes->file[k]->parsed_as)))
            source = main->includes->file[k]->source; /* as the program names it */
    if (!source)
        source = source_read(path);
    return source ? unit_add(main, source) : NULL;
}

unit_t *unit_holding(unit_t *main, CXCursor cursor)
{
    CXFile file = file_of(cursor);
    return file ? unit_of_file(main, file) : NULL;
}

void unit_include_before(unit_t *u, CXCursor cursor)
{
    size_t at = SIZE_MAX, begin, end;
    for (CXCursor c = cursor;
         !clang_Cursor_isNull(c) && clang_isDeclaration(clang_getCursorKind(c));
         c = clang_getCursorLexicalParent(c)) {
        if (!unit_range(u, c, &begin, &end)) {
            unit_t *includes = unit_holding(u->main, c);
            if (!includes || includes == u || !unit_range(includes, c, &begin, &end))
                break;
            u = includes;
            at = SIZE_MAX;
        }
        at = begin < at ? begin : at;
    }
    u->include_at = at < u->include_at ? at : u->include_at;
}

/* ---- Edits ---- */

void unit_edit(unit_t *u, size_t begin, size_t end, const char *text)
{
    u->edits = arena_grow(u->edits, u->edit_count, &u->edit_capacity, sizeof(*u->edits));
    u->edits[u->edit_count] = (edit_t){begin, end, text, u->edit_count};
    u->edit_count++;
}

const char *unit_name(const unit_t *u, const char *name)
{
    list_t *names = &u->main->names;
    const char *fresh = name;
    for (int number = 2; names->item && text_is_one_of(fresh, names->item); number++)
        fresh = arena_printf("%s_%d", name, number);
    list_add(names, fresh);
    return fresh;
}

/* ---- Directives ---- */

directive_t *directive_declared(const directive_t *d)
{
    return d->declared_in && d->declared_order < d->declared_in->directive_count
               ? d->declared_in->directives[d->declared_order]
               : NULL;
}

/* ---- Messages ---- */

void unit_error(const unit_t *u, size_t begin, size_t end, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const char *message = arena_vprintf(format, list);
    va_end(list);
    diag_at(SEVERITY_ERROR, u->source, begin, end, "%s", message);
}

char *unit_words(const unit_t *u, size_t begin, size_t end)
{
    return source_words(u->source, begin, end);
}
