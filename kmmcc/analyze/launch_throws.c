/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions of what a launch evaluates before the kernel runs: its configuration and arguments. */
#include "analyze/launch_throws.h"

#include <clang-c/Index.h>
#include <stddef.h>
#include <string.h>

#include "base/source.h"
#include "base/token.h"
#include "clang/cursor.h"

/* True for functions that every launch calls: the one that pushes the configuration, and
 * constructors that the compiler makes for the configuration and the arguments. */
static bool is_of_launch(CXCursor f)
{
    CXCursor class = clang_getCursorSemanticParent(f);
    bool constructor = clang_getCursorKind(f) == CXCursor_Constructor;
    return strstr(cursor_name(f), "onfigur") || !strcmp(cursor_name(f), "dim3") ||
           (constructor &&
            clang_equalLocations(clang_getCursorLocation(f), clang_getCursorLocation(class)));
}

/* Before C++17, a configuration copies each dim3, which libclang shows as a call of nothing. */
static bool copies_dim3(CXCursor call)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(call));
    return clang_Cursor_isNull(clang_getCursorReferenced(call)) &&
           !strcmp(cursor_name(clang_getTypeDeclaration(type)), "dim3");
}

static enum CXChildVisitResult find_throw(CXCursor c, CXCursor parent, CXClientData data)
{
    bool *found = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    CXCursor f = clang_getCursorReferenced(c);
    (void)parent;
    bool promises = clang_getCursorExceptionSpecificationType(f) ==
                    CXCursor_ExceptionSpecificationKind_BasicNoexcept;
    bool calls = kind == CXCursor_CallExpr && !copies_dim3(c);
    *found |= kind == CXCursor_CXXNewExpr || kind == CXCursor_CXXThrowExpr ||
              (calls && (clang_Cursor_isNull(f) || !is_of_launch(f)) && !promises);
    return *found ? CXChildVisit_Break : CXChildVisit_Recurse;
}

bool launch_throws(const unit_t *u, const directive_t *d)
{
    bool throws = false;
    if (u->lang != LANG_C)
        clang_visitChildren(d->launch, find_throw, &throws);
    return throws;
}

bool launch_is_in_constexpr(const unit_t *u, const directive_t *d)
{
    size_t begin, end, body, last;
    const unit_t *holder = unit_holding(u->main, d->function);
    if (!holder || !unit_range(holder, d->function, &begin, &end) ||
        !unit_range(holder, cursor_body(d->function), &body, &last))
        return false;
    lexer_t l = lexer_at(holder->source, begin, body);
    l.line_start = false;
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (token_is(holder->source, t, "constexpr"))
            return true;
    return false;
}

/* Before C++23, a constexpr function may not have the variable that drops the launch's description
 * when an exception passes it. */
void check_launch_throws(unit_t *u, const directive_t *d)
{
    if (d->is_kernel && launch_throws(u, d) && launch_is_in_constexpr(u, d))
        unit_error(u, d->name_begin, d->name_end,
                   "the launch stands in a constexpr function, and calls a function that may "
                   "throw; compute the value before the pragma, or say noexcept");
}
