/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A translation unit on its way: its files, the map between what clang parsed and what the user
 * wrote, and the edits of each file.
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

typedef struct edit {
    size_t begin, end;
    const char *text;
    int order;
} edit_t; /* replaces [begin, end) */

/* One file of a translation unit: the one that is compiled, or a header that has pragmas or is
 * changed. */
typedef struct unit {
    struct unit *main; /* of the file that is compiled */
    struct unit *next; /* headers, from the main one on */
    const options_t *options;
    lang_t lang;
    target_t target; /* TARGET_CUDA, TARGET_HOST, ...; for LANG_C and LANG_CXX it is TARGET_HOST */
    const source_t *source;
    const char *path; /* by which clang knows the file */
    CXTranslationUnit tu;
    directive_t **directives;
    int directive_count;
    const char *parsed;    /* the text that clang parsed */
    const piece_t *pieces; /* ascending; the map from what clang parsed to the source */
    int piece_count;
    CXSourceRangeList
        *disabled; /* clang.c: what #if disables in disabled_of, which is a text that was parsed */
    const char *disabled_of;
    edit_t *edits;
    int edit_count, edit_capacity;
    struct insertion *insertions; /* declare.c */
    struct mistake *mistakes; /* pragmas.c: pragmas that could not be parsed, the last one first */
    size_t include_at; /* before this declaration kmm's header is included; SIZE_MAX: nowhere */
    const includes_t *includes; /* of the main one */
    struct function *functions; /* reach.c; of the main one */
    const char *prefix;         /* clone.c; of the main one: what the names of copies begin with */
    list_t names;               /* of the main one: what unit_name has given */
} unit_t;

/* kmm's header is included before the declaration at the top of the file that the cursor is in. */
void unit_include_before(unit_t *u, CXCursor cursor);
/* Whether the translation unit includes the file, which the text of an #include that #if hides may
 * name. */
bool unit_is_included(const unit_t *u);
/* Finds which of the headers that a macro may name it does name: sets `chosen`. */
void unit_choose_includes(unit_t *main);
/* Whether the cursor's place is in the file, macros being where they are expanded. */
bool unit_is_in(const unit_t *u, CXCursor cursor);
unit_t *unit_add(unit_t *main, const source_t *source);
/* The file in which the cursor stands; a header of the program is added when it is new. NULL: none
 * of the program's. */
unit_t *unit_holding(unit_t *main, CXCursor cursor);
unit_t *unit_of_file(unit_t *main, CXFile file);

void unit_edit(unit_t *u, size_t begin, size_t end,
               const char *text); /* edits do not overlap; equal places keep their order */

/* Where a cursor of u->tu stands in u->source. u->tu was parsed from a copy in which pragmas are
 * replaced by longer text, so clang's offsets are not the source's: always ask here. False: in
 * another file, from a macro's expansion, or not in the source at all. */
bool unit_range(const unit_t *u, CXCursor cursor, size_t *begin, size_t *end);
/* The same for one place: the end of the text before it that is the source's own. */
size_t unit_offset(const unit_t *u, size_t clang_offset);
bool unit_exact_offset(const unit_t *u, size_t clang_offset,
                       size_t *offset); /* false: the text is none of the source */
/* The other way; SIZE_MAX for a place in what a pragma was replaced by. */
size_t unit_parsed_offset(const unit_t *u, size_t offset);
/* Whether the cursor is code of the main file that the user wrote, and not what a pragma was
 * replaced by. */
bool unit_owns(const unit_t *u, CXCursor cursor);

/* The declaration that completed the launch; NULL: none did. */
directive_t *directive_declared(const directive_t *d);

/* The name, with a number behind it if the translation unit has got that name before: lines of
 * different files have the same number, and a line may hold several pragmas and kernels. */
const char *unit_name(const unit_t *u, const char *name);

/* Reports an error at [begin, end) of the unit's source. */
void unit_error(const unit_t *u, size_t begin, size_t end, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* source_words of the unit's source. */
char *unit_words(const unit_t *u, size_t begin, size_t end);

#endif
