/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A translation unit: its files, the map between the text that clang parsed and the user's text,
 * and the edits of each file.
 */
#ifndef KMMCC_CLANG_UNIT_H
#define KMMCC_CLANG_UNIT_H

#include <clang-c/Index.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"
#include "base/options.h"
#include "base/source.h"
#include "pragma/directive.h"
#include "pragma/includes.h"

/* One piece of the text that clang parsed: `length` bytes at `parsed` that stand at `origin` in the
 * source. Between the pieces is text that replaces a pragma. */
typedef struct piece {
    size_t parsed, origin, length;
} piece_t;

/* One change of a file: `text` replaces [begin, end) of the source. Edits of equal places are
 * applied by `order`. */
typedef struct edit {
    size_t begin, end;
    const char *text;
    int order;
} edit_t;

/*
 * The headers with which CUDA and HIP source is parsed, the quickest first. If a file does not
 * parse, the next ones are tried. kmm's own headers declare what most programs use, and take a
 * quarter of the time of the toolkit's. HEADERS_LIGHT leaves out <cmath> unless the file includes
 * it. include/kmm/parse stands in for the toolkit's headers of textures until HEADERS_TEXTURES.
 */
typedef enum headers { HEADERS_LIGHT, HEADERS_OWN, HEADERS_TOOLKIT, HEADERS_TEXTURES } headers_t;

/* One file of a translation unit: the one that is compiled, or a header that has pragmas or is
 * changed. */
typedef struct unit {
    struct unit *main; /* unit of the file that is compiled */
    struct unit *next; /* list of headers, which begins at the main unit */
    const options_t *options;
    lang_t lang;
    target_t target; /* TARGET_CUDA, TARGET_HOST, ...; for LANG_C and LANG_CXX it is TARGET_HOST */
    const source_t *source;
    const char *path; /* the name by which clang knows the file */
    CXTranslationUnit tu;
    headers_t headers; /* with which clang parsed the file */
    directive_t **directives;
    int directive_count;
    const char *named;     /* of the main file: code that is parsed behind it; NULL: none */
    const char *parsed;    /* the text that clang parsed */
    const piece_t *pieces; /* map from the parsed text to the source; ascending */
    int piece_count;
    CXSourceRangeList *disabled; /* by disabled.c: the ranges that #if disables in disabled_of */
    const char *disabled_of;     /* the text for which `disabled` holds; it was `parsed` once */
    edit_t *edits;
    int edit_count, edit_capacity;
    struct insertion *insertions; /* by analyze/complete.c: text to add to pragmas */
    struct mistake *mistakes; /* by pragmas.c: pragmas that could not be parsed, the last first */
    size_t include_at;        /* offset before which kmm's header is included; SIZE_MAX: nowhere */
    const includes_t *includes; /* of the main file */
    struct function *functions; /* of the main file, by gpu/reach.c */
    const char *prefix;         /* of the main file, by gpu/name.c: begins the names of copies */
    list_t names;               /* of the main file: the names that unit_name has returned */
} unit_t;

/* Lowers include_at to the declaration at the top of the file that holds the cursor: of u, or of
 * the file that includes u's within that declaration. */
void unit_include_before(unit_t *u, CXCursor cursor);
/* True if the translation unit includes the file. An #include that #if disables may have named
 * it. */
bool unit_is_included(const unit_t *u);
/* Sets `chosen` of the headers that an #include with a macro names, after the parse. */
void unit_choose_includes(unit_t *main);
/* True if the cursor is in the file. What a macro writes is where the macro is used. */
bool unit_is_in(const unit_t *u, CXCursor cursor);
/* Returns the #include lines of the unit's file; NULL: no #include names it. */
const include_file_t *unit_includes(const unit_t *u);
unit_t *unit_add(unit_t *main, const source_t *source);
/* Returns the file in which the cursor is; adds a header of the program if it is new. NULL if the
 * file is not the program's. */
unit_t *unit_holding(unit_t *main, CXCursor cursor);
unit_t *unit_of_file(unit_t *main, CXFile file);

/* Adds an edit. Edits do not overlap; those of the same place keep their order. */
void unit_edit(unit_t *u, size_t begin, size_t end, const char *text);

/* Stores the range of u->source in which a cursor of u->tu is. clang's offsets are those of
 * u->parsed, in which longer text replaces pragmas, so every offset of clang is converted here.
 * False if the cursor is in another file, written by a macro, or in the text that replaces a
 * pragma. */
bool unit_range(const unit_t *u, CXCursor cursor, size_t *begin, size_t *end);
/* Returns the offset in the source of an offset in u->parsed. In the text that replaces a pragma,
 * that is the pragma's. */
size_t unit_offset(const unit_t *u, size_t clang_offset);
/* Stores that offset to *offset. False in the text that replaces a pragma. */
bool unit_exact_offset(const unit_t *u, size_t clang_offset, size_t *offset);
/* Returns the offset in u->parsed of an offset in the source; SIZE_MAX in a pragma. */
size_t unit_parsed_offset(const unit_t *u, size_t offset);
/* True if the cursor is code that the user wrote in the file, outside of pragmas. */
bool unit_owns(const unit_t *u, CXCursor cursor);

/* Returns the declaration that completed the launch; NULL if none did. */
directive_t *directive_declared(const directive_t *d);

/* Returns the name, with a number behind it if the translation unit has got that name before. Lines
 * of different files have the same number, and a line may hold several pragmas and kernels. */
const char *unit_name(const unit_t *u, const char *name);

/* Reports an error at [begin, end) of the unit's source. */
void unit_error(const unit_t *u, size_t begin, size_t end, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* source_words of the unit's source. */
char *unit_words(const unit_t *u, size_t begin, size_t end);

#endif
