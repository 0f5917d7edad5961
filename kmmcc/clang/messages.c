/* SPDX-License-Identifier: Apache-2.0 */
/* Shows clang's messages at their positions in the source, and in the words of the pragma that they
 * are about. */
#include "clang/messages.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/options.h"
#include "base/source.h"
#include "base/token.h"
#include "clang/cursor.h"
#include "pragma/directive.h"
#include "pragma/expression.h"

static size_t word_end(const source_t *s, size_t begin)
{
    lexer_t l = lexer_at(s, begin, s->length);
    l.line_start = false;
    token_t t = lex(&l);
    return t.begin == begin ? t.end : begin;
}

/* The directive whose pragma has the place; NULL: none. */
static directive_t *directive_around(const unit_t *u, size_t offset)
{
    for (int k = 0; k < u->directive_count; k++)
        if (offset >= u->directives[k]->pragma.begin && offset <= u->directives[k]->pragma.end)
            return u->directives[k];
    return NULL;
}

static bool contains(const expr_t *e, size_t offset)
{
    return e && e->begin <= offset && offset < e->end;
}

/* True if the offset is in a part of the directive where axes have no meaning. An axis named there
 * is an unknown name to clang. */
static bool outside_sections(const directive_t *d, size_t offset)
{
    bool inside = offset >= d->chunk_begin && offset < d->chunk_end;
    for (int k = 0; k < d->axis_count; k++)
        inside |= contains(d->axis[k].lower, offset) || contains(d->axis[k].length, offset);
    for (int k = 0; k < d->shape_count; k++)
        inside |= d->shape[k].begin <= offset && offset < d->shape[k].end;
    for (int k = 0; k < d->item_count; k++)
        inside |= contains(d->item[k].base, offset);
    return inside;
}

/* clang's message in the words of the pragma; its own where that says it best. */
static const char *explain(const unit_t *u, const directive_t *d, size_t begin, const char *text)
{
    if (begin <= d->pragma.begin || begin >= d->pragma.end)
        return "the pragma governs nothing: it must stand before a statement in a function, which "
               "a "
               "declaration is not";
    for (int k = 0; strstr(text, "undeclared identifier") && k < d->axis_count; k++)
        if (!strncmp(u->source->text + begin, d->axis[k].name, strlen(d->axis[k].name)) &&
            word_end(u->source, begin) == begin + strlen(d->axis[k].name) &&
            outside_sections(d, begin))
            return arena_printf("axis '%s' has a meaning only in the sections of items; this must "
                                "be the same for the whole launch",
                                d->axis[k].name);
    return text;
}

/* The directive that stands before the place with nothing in between. */
static directive_t *directive_before(const unit_t *u, size_t offset)
{
    for (int k = 0; k < u->directive_count; k++) {
        lexer_t l = lexer_at(u->source, u->directives[k]->pragma.end, u->source->length);
        if (u->directives[k]->pragma.end <= offset && lex(&l).begin == offset)
            return u->directives[k];
    }
    return NULL;
}

/* An error at a place of the main file. One for each directive: what follows is seldom another
 * mistake. */
static void show_at(const unit_t *u, severity_t severity, size_t begin, const char *text,
                    int *foreign)
{
    directive_t *d = directive_around(u, begin), *before = directive_before(u, begin);
    if (!d && before && !before->broken && !strncmp(text, "expected", 8)) {
        before->broken = true;
        diag_at(
            severity, u->source, before->name_begin, before->name_end,
            "the pragma governs nothing: it must stand before a statement in a function, which a "
            "declaration is not");
        return;
    }
    const directive_t *declared = d ? directive_declared(d) : NULL;
    *foreign += !d && severity == SEVERITY_ERROR;
    if (d && severity == SEVERITY_ERROR && (d->broken || (declared && declared->broken))) {
        d->broken = true;
        return;
    }
    if (d && severity == SEVERITY_ERROR) {
        d->broken = true;
        text = explain(u, d, begin, text);
        if (begin <= d->pragma.begin || begin >= d->pragma.end) {
            diag_at(severity, u->source, d->name_begin, d->name_end, "%s", text);
            return;
        }
    }
    diag_at(severity, u->source, begin, word_end(u->source, begin), "%s", text);
}

/* The file of the translation unit in which clang says the place is; NULL: none that kmmcc knows.
 */
static const unit_t *unit_at(const unit_t *u, CXFile file)
{
    for (; u; u = u->next)
        if (clang_File_isEqual(file, clang_getFile(u->tu, u->path)))
            return u;
    return NULL;
}

/* "'thrust/sort.h' file not found", where that is of a library that the CPU target lacks, with the
 * library's name. */
static char *with_library(const unit_t *u, char *text)
{
    static const char *const libraries[][2] = {
        {"'thrust/", "Thrust"},
        {"'cub/", "CUB"},
        {"'cuda/", "the CUDA C++ library"},
        {"'cutlass/", "CUTLASS"},
        {"'rocthrust/", "rocThrust"},
        {"'hipcub/", "hipCUB"},
        {"'rocprim/", "rocPRIM"},
        {"'hipblas", "hipBLAS"},
        {"'rocblas", "rocBLAS"},
        {"'hipfft", "hipFFT"},
        {"'hiprand", "hipRAND"},
        {"'rocrand", "rocRAND"},
        {"'hipsparse", "hipSPARSE"},
        {"'hipsolver", "hipSOLVER"},
        {"'miopen", "MIOpen"},
    };
    if (u->target != TARGET_HOST || !is_device_lang(u->lang) || !strstr(text, "' file not found"))
        return text;
    for (size_t k = 0; k < sizeof(libraries) / sizeof(*libraries); k++)
        if (!strncmp(text, libraries[k][0], strlen(libraries[k][0])))
            return arena_printf("%s: %s is missing on the CPU target", text, libraries[k][1]);
    return text;
}

static void show_diagnostic(const unit_t *u, CXDiagnostic d, severity_t severity, int *foreign)
{
    CXFile file;
    unsigned line, column, offset;
    char *text = with_library(u, clang_text(clang_getDiagnosticSpelling(d)));
    CXSourceLocation location = clang_getDiagnosticLocation(d);
    clang_getFileLocation(location, &file, &line, &column, &offset);
    const unit_t *in = file ? unit_at(u, file) : NULL;
    if (!strncmp(text, "in file included from", strlen("in file included from")))
        return;
    if (in) {
        show_at(in, severity, unit_offset(in, offset), text, foreign);
        return;
    }
    *foreign += severity == SEVERITY_ERROR;
    if (file)
        diag_elsewhere(severity, clang_text(clang_getFileName(file)), line, column, text);
    else
        diag_plain(severity, "%s", text);
}

int messages_show(const unit_t *u)
{
    int foreign = 0;
    for (unsigned k = 0; k < clang_getNumDiagnostics(u->tu); k++) {
        CXDiagnostic d = clang_getDiagnostic(u->tu, k);
        if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
            show_diagnostic(u, d, SEVERITY_ERROR, &foreign);
            CXDiagnosticSet notes = clang_getChildDiagnostics(d);
            for (unsigned i = 0; i < clang_getNumDiagnosticsInSet(notes); i++)
                show_diagnostic(u, clang_getDiagnosticInSet(notes, i), SEVERITY_NOTE, &foreign);
        }
        clang_disposeDiagnostic(d);
    }
    return foreign;
}

bool messages_have_error(const unit_t *u)
{
    bool found = false;
    for (unsigned k = 0; k < clang_getNumDiagnostics(u->tu) && !found; k++) {
        CXDiagnostic d = clang_getDiagnostic(u->tu, k);
        found = clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error;
        clang_disposeDiagnostic(d);
    }
    return found;
}

bool messages_name(const unit_t *u, const char *path)
{
    bool found = false;
    for (unsigned k = 0; k < clang_getNumDiagnostics(u->tu) && !found; k++) {
        CXDiagnostic d = clang_getDiagnostic(u->tu, k);
        found = strstr(clang_text(clang_getDiagnosticSpelling(d)), path) != NULL;
        clang_disposeDiagnostic(d);
    }
    return found;
}

bool messages_have_foreign(const unit_t *u)
{
    bool found = false;
    for (unsigned k = 0; k < clang_getNumDiagnostics(u->tu); k++) {
        CXDiagnostic d = clang_getDiagnostic(u->tu, k);
        unsigned offset;
        CXFile file;
        clang_getFileLocation(clang_getDiagnosticLocation(d), &file, NULL, NULL, &offset);
        const unit_t *in = file ? unit_at(u, file) : NULL;
        found |= clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error &&
                 (!in || !directive_around(in, unit_offset(in, offset)));
        clang_disposeDiagnostic(d);
    }
    return found;
}
