/* SPDX-License-Identifier: Apache-2.0 */
/* Where plain functions print to. A stream is followed back to the calls that open it: through
 * local variables, conditions, and parameters of functions whose calls are all seen. */
#include "analyze/output.h"

#include <stddef.h>
#include <string.h>

#include "analyze/flow.h"
#include "base/text.h"
#include "clang/cursor.h"

enum { DEEPEST = 16, STANDARD = -1, LAST = -2 };

/* Functions that print, and the argument that is their stream or file descriptor. */
static const struct {
    const char *name;
    int stream;
} printers[] = {{"printf", STANDARD},
                {"vprintf", STANDARD},
                {"puts", STANDARD},
                {"putchar", STANDARD},
                {"wprintf", STANDARD},
                {"vwprintf", STANDARD},
                {"putwchar", STANDARD},
                {"putchar_unlocked", STANDARD},
                {"putwchar_unlocked", STANDARD},
                {"print", 0},
                {"println", 0},
                {"fprintf", 0},
                {"vfprintf", 0},
                {"fwprintf", 0},
                {"vfwprintf", 0},
                {"dprintf", 0},
                {"vdprintf", 0},
                {"write", 0},
                {"writev", 0},
                {"send", 0},
                {"sendto", 0},
                {"sendmsg", 0},
                {"fputs", LAST},
                {"fputc", LAST},
                {"putc", LAST},
                {"fwrite", LAST},
                {"fputwc", LAST},
                {"fputws", LAST},
                {"putw", LAST},
                {"putwc", LAST},
                {"putc_unlocked", LAST},
                {"fputc_unlocked", LAST},
                {"fputs_unlocked", LAST},
                {"fwrite_unlocked", LAST},
                {"putwc_unlocked", LAST},
                {"fputwc_unlocked", LAST},
                {"fputws_unlocked", LAST}};

/* The number of the function in the table; -1: it is not there. */
static int printer_of(CXCursor f)
{
    const char *name = cursor_name(f), prefix[] = "__builtin_";
    bool builtin = strncmp(name, prefix, strlen(prefix)) == 0;
    if (clang_getCursorKind(f) == CXCursor_CXXMethod || (!builtin && !cursor_is_system(f)))
        return -1;
    name += builtin ? strlen(prefix) : 0;
    for (size_t k = 0; k < sizeof(printers) / sizeof(*printers); k++)
        if (!strcmp(name, printers[k].name))
            return (int)k;
    return -1;
}

bool output_is_printer(CXCursor f)
{
    return printer_of(f) >= 0;
}

typedef struct trace {
    const CXCursor *functions;
    int count, depth;
    CXCursor variable[DEEPEST]; /* those that are being followed */
} trace_t;

static bool is_own(trace_t *t, CXCursor stream);

/* The values that a variable gets. */
typedef struct values {
    trace_t *trace;
    CXCursor variable;
    bool own;
} values_t;

static bool names(CXCursor c, CXCursor variable)
{
    c = flow_operand(c);
    return clang_getCursorKind(c) == CXCursor_DeclRefExpr &&
           clang_equalCursors(clang_getCursorReferenced(c), variable);
}

static enum CXChildVisitResult find_assignment(CXCursor c, CXCursor parent, CXClientData data)
{
    values_t *v = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_BinaryOperator &&
        clang_getCursorBinaryOperatorKind(c) == CXBinaryOperator_Assign &&
        names(cursor_first_child(c), v->variable))
        v->own &= is_own(v->trace, cursor_last_child(c));
    if (kind == CXCursor_UnaryOperator &&
        clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_AddrOf &&
        names(cursor_first_child(c), v->variable))
        v->own = false;
    if (kind == CXCursor_VarDecl && flow_is_reference(clang_getCursorType(c)) &&
        names(cursor_last_child(c), v->variable))
        v->own = false;
    return v->own ? CXChildVisit_Recurse : CXChildVisit_Break;
}

static bool has_own_values(trace_t *t, CXCursor variable, CXCursor function)
{
    values_t v = {t, variable, true};
    CXCursor first = clang_Cursor_getVarDeclInitializer(variable);
    if (!clang_Cursor_isNull(first) && !is_own(t, first))
        return false;
    clang_visitChildren(function, find_assignment, &v);
    return v.own;
}

/* The calls of a function, and what they pass for a parameter. */
typedef struct calls {
    trace_t *trace;
    CXCursor function;
    unsigned parameter;
    int mentions, count;
    bool own;
} calls_t;

static bool is_definition(CXCursor f, CXCursor definition)
{
    return !clang_Cursor_isNull(f) && clang_equalCursors(clang_getCursorDefinition(f), definition);
}

static enum CXChildVisitResult find_call(CXCursor c, CXCursor parent, CXClientData data)
{
    calls_t *calls = data;
    enum CXCursorKind kind = clang_getCursorKind(c);
    (void)parent;
    if (kind == CXCursor_DeclRefExpr &&
        is_definition(clang_getCursorReferenced(c), calls->function))
        calls->mentions++;
    if (kind == CXCursor_CallExpr && is_definition(clang_getCursorReferenced(c), calls->function)) {
        calls->count++;
        calls->own &= is_own(calls->trace, clang_Cursor_getArgument(c, calls->parameter));
    }
    return calls->own ? CXChildVisit_Recurse : CXChildVisit_Break;
}

/* True if all calls of the parameter's function pass a stream that is their own. */
static bool gets_own(trace_t *t, CXCursor parameter)
{
    CXCursor f = clang_getCursorDefinition(clang_getCursorSemanticParent(parameter));
    calls_t calls = {.trace = t, .function = f, .own = true};
    int count = clang_Cursor_getNumArguments(f);
    bool found = false;
    for (int k = 0; k < count; k++)
        if (clang_equalCursors(clang_Cursor_getArgument(f, (unsigned)k), parameter)) {
            calls.parameter = (unsigned)k;
            found = true;
        }
    if (!found || t->count == 0 || clang_equalCursors(t->functions[0], f))
        return false;
    for (int k = 0; k < t->count && calls.own; k++)
        clang_visitChildren(t->functions[k], find_call, &calls);
    return calls.own && calls.count > 0 && calls.mentions <= calls.count;
}

static bool is_own_variable(trace_t *t, CXCursor v)
{
    CXCursor f = clang_getCursorSemanticParent(v);
    enum CXCursorKind kind = clang_getCursorKind(v);
    for (int k = 0; k < t->depth; k++)
        if (clang_equalCursors(t->variable[k], v))
            return true;
    if (!strcmp(cursor_name(v), "stderr") && cursor_is_system(v))
        return true;
    bool local = kind == CXCursor_VarDecl && clang_getCursorKind(f) != CXCursor_TranslationUnit &&
                 clang_getCursorKind(f) != CXCursor_Namespace &&
                 clang_Cursor_getStorageClass(v) != CX_SC_Static &&
                 clang_Cursor_getStorageClass(v) != CX_SC_Extern;
    if (t->depth == DEEPEST || (!local && kind != CXCursor_ParmDecl))
        return false;
    t->variable[t->depth++] = v;
    bool own = has_own_values(t, v, f) && (local || gets_own(t, v));
    t->depth--;
    return own;
}

/* True for what no line of another chunk goes to, for standard error, and for null pointers. */
static bool is_own(trace_t *t, CXCursor stream)
{
    static const char *const opens[] = {"open_memstream", "open_wmemstream", "fmemopen",
                                        "tmpfile",        "memfd_create",    NULL};
    CXCursor c = flow_operand(stream);
    cursors_t list = cursor_children(c);
    switch (clang_getCursorKind(c)) {
    case CXCursor_CallExpr: return text_is_one_of(cursor_name(c), opens);
    case CXCursor_DeclRefExpr: return is_own_variable(t, clang_getCursorReferenced(c));
    case CXCursor_CStyleCastExpr:
    case CXCursor_CXXStaticCastExpr: return is_own(t, cursor_last_child(c));
    case CXCursor_ConditionalOperator:
        return list.count == 3 && is_own(t, list.at[1]) && is_own(t, list.at[2]);
    case CXCursor_IntegerLiteral: {
        CXEvalResult result = clang_Cursor_Evaluate(c);
        int number = result ? clang_EvalResult_getAsInt(result) : 1;
        if (result)
            clang_EvalResult_dispose(result);
        return number == 0 || number == 2; /* a null pointer; the descriptor of standard error */
    }
    case CXCursor_CXXNullPtrLiteralExpr:
    case CXCursor_GNUNullExpr: return true;
    default: return false;
    }
}

bool output_is_ordered(CXCursor call, const CXCursor *functions, int count)
{
    trace_t t = {.functions = functions, .count = count};
    int printer = printer_of(clang_getCursorReferenced(call)),
        arguments = clang_Cursor_getNumArguments(call);
    if (printer < 0)
        return false;
    int stream = printers[printer].stream == LAST ? arguments - 1 : printers[printer].stream;
    return stream < 0 || stream >= arguments ||
           !is_own(&t, clang_Cursor_getArgument(call, (unsigned)stream));
}
