/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the parts of a file that #if disables. The answer of libclang is kept until the parsed text
 * changes. */
#include "clang/disabled.h"

#include <clang-c/Index.h>
#include <stdint.h>

#include "clang/flags.h"
#include "clang/parse.h"

/* Parses the text once more. clang records what #if disables only on demand, and is slower then;
 * few files need it. */
static CXSourceRangeList *disabled_ranges(const unit_t *u)
{
    flags_t f = flags_of(u, flags_last_headers(u));
    unsaved_t files = parse_unsaved(u);
    CXTranslationUnit tu;
    unsigned options = CXTranslationUnit_KeepGoing | CXTranslationUnit_DetailedPreprocessingRecord |
                       CXTranslationUnit_SkipFunctionBodies;
    if (clang_parseTranslationUnit2(parse_index(), u->main->path, f.flag, f.count, files.at,
                                    files.count, options, &tu))
        return NULL;
    return clang_getSkippedRanges(tu, clang_getFile(tu, u->path));
}

bool disabled_in_parsed(unit_t *u, size_t parsed)
{
    if (u->disabled_of != u->parsed) {
        u->disabled = disabled_ranges(u);
        u->disabled_of = u->parsed;
    }
    const CXSourceRangeList *list = u->disabled;
    for (unsigned k = 0; list && k < list->count; k++) {
        unsigned begin, end;
        clang_getFileLocation(clang_getRangeStart(list->ranges[k]), NULL, NULL, NULL, &begin);
        clang_getFileLocation(clang_getRangeEnd(list->ranges[k]), NULL, NULL, NULL, &end);
        if (begin <= parsed && parsed < end)
            return true;
    }
    return false;
}

bool disabled_in_source(unit_t *u, size_t offset)
{
    size_t parsed = unit_parsed_offset(u, offset);
    return parsed != SIZE_MAX && disabled_in_parsed(u, parsed);
}
