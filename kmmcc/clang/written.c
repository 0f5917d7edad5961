/* SPDX-License-Identifier: Apache-2.0 */
#include "clang/written.h"

#include <clang-c/Index.h>
#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/list.h"
#include "base/options.h"
#include "base/text.h"
#include "clang/cursor.h"

const char TYPE_OPAQUE[] = "void *";

/* True if a pointer's type names a number of elements that only the called function knows. */
static bool has_variable_rows(CXType type)
{
    for (type = clang_getCanonicalType(type); type.kind == CXType_Pointer || type_is_array(type);
         type = type_pointee(type))
        if (type.kind == CXType_VariableArray)
            return true;
    return false;
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* True if the type is declared in a function, where no `::` may stand before it. */
static bool is_local(CXType type)
{
    CXCursor at = clang_getTypeDeclaration(type);
    for (; clang_isDeclaration(clang_getCursorKind(at)); at = clang_getCursorSemanticParent(at)) {
        enum CXTypeKind kind = clang_getCursorType(at).kind;
        if (kind == CXType_FunctionProto || kind == CXType_FunctionNoProto)
            return true;
    }
    return false;
}

/* Adds the outermost names of the types in `type` that functions declare. */
static void add_local_names(CXType type, list_t *names)
{
    type = clang_getCanonicalType(type);
    while (type.kind == CXType_Pointer || type_is_array(type))
        type = clang_getCanonicalType(type_pointee(type));
    for (int k = 0; k < clang_getNumArgTypes(type); k++)
        add_local_names(clang_getArgType(type, (unsigned)k), names);
    if (clang_getResultType(type).kind != CXType_Invalid)
        add_local_names(clang_getResultType(type), names);
    for (int k = 0; k < clang_Type_getNumTemplateArguments(type); k++)
        add_local_names(clang_Type_getTemplateArgumentAsType(type, (unsigned)k), names);
    if (!is_local(type))
        return;
    const char *text = clang_text(clang_getTypeSpelling(clang_getUnqualifiedType(type)));
    size_t length = 0;
    while (is_letter(text[length]))
        length++;
    list_add(names, arena_copy(text, length));
}

/* Writes `::` before each name that begins a path. clang writes the paths whole. */
static const char *qualified(CXType type)
{
    static const char *const words[] = {
        "const",  "volatile", "__restrict", "signed",   "unsigned",   "char",     "short",
        "int",    "long",     "float",      "double",   "bool",       "void",     "wchar_t",
        "true",   "false",    "char8_t",    "char16_t", "char32_t",   "__int128", "nullptr",
        "__fp16", "__bf16",   "_Float16",   "_Complex", "__float128", "noexcept", NULL};
    static const char unnamed[] = "(anonymous namespace)::";
    const char *text = clang_text(clang_getTypeSpelling(type));
    list_t local = {0};
    text_t out = {0};
    if (strstr(text, "__attribute__") || strstr(text, "(unnamed") || strstr(text, "(lambda"))
        return text;
    add_local_names(type, &local);
    for (const char *c = text; *c;) {
        size_t length = 0;
        if (!strncmp(c, unnamed, sizeof(unnamed) - 1)) {
            c += sizeof(unnamed) - 1;
            continue;
        }
        while (is_letter(c[length]))
            length++;
        const char *word = arena_copy(c, length);
        bool inner = out.length && out.data[out.length - 1] == ':';
        if (length && !isdigit((unsigned char)*c) && !inner && !text_is_one_of(word, words) &&
            !(local.item && text_is_one_of(word, local.item)))
            text_printf(&out, "%s::", out.length && out.data[out.length - 1] == '<' ? " " : "");
        length += !length;
        text_add(&out, c, length);
        c += length;
    }
    return out.data;
}

bool type_is_plain(CXType type)
{
    type = clang_getCanonicalType(type);
    while (type.kind == CXType_Pointer)
        type = clang_getCanonicalType(clang_getPointeeType(type));
    return type.kind >= CXType_FirstBuiltin && type.kind <= CXType_LastBuiltin;
}

/* True if the word stands in the text. */
static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *c = strstr(text, word); c; c = strstr(c + 1, word))
        if ((c == text || !is_letter(c[-1])) && !is_letter(c[length]))
            return true;
    return false;
}

/* True if the type, or one that it is made of, is _Bool. */
static bool has_plain_bool(CXType type)
{
    type = clang_getCanonicalType(type);
    while (type.kind == CXType_Pointer || clang_getArrayElementType(type).kind != CXType_Invalid)
        type = type.kind == CXType_Pointer ? clang_getPointeeType(type)
                                           : clang_getArrayElementType(type);
    bool found = type.kind == CXType_Bool;
    for (int k = 0; k < clang_getNumArgTypes(type) && !found; k++)
        found = has_plain_bool(clang_getArgType(type, (unsigned)k));
    CXType result = clang_getResultType(type);
    return found || (result.kind != CXType_Invalid && has_plain_bool(result));
}

/* A type of C as every compiler for the language's versions reads it. clang writes C23's `bool`,
 * where `bool` is no name of the program, and `typeof`, which is no keyword of older versions. */
static const char *written_in_c(CXType type)
{
    const char *text = clang_text(clang_getTypeSpelling(type));
    if (has_word(text, "typeof") || has_word(text, "auto"))
        text = clang_text(clang_getTypeSpelling(type = clang_getCanonicalType(type)));
    if (!has_word(text, "bool") || !has_plain_bool(type))
        return text;
    text_t out = {0};
    while (*text) {
        bool inside = out.length && is_letter(out.data[out.length - 1]);
        if (!inside && !strncmp(text, "bool", 4) && !is_letter(text[4])) {
            text_add(&out, "_Bool", 5);
            text += 4;
        } else {
            text_add(&out, text++, 1);
        }
    }
    return out.data;
}

const char *type_written(lang_t lang, CXType type)
{
    CXType canonical = clang_getCanonicalType(type);
    const char *own = lang == LANG_C ? written_in_c(type) : clang_text(clang_getTypeSpelling(type)),
               *text = lang == LANG_C             ? own
                       : type_is_plain(canonical) ? clang_text(clang_getTypeSpelling(canonical))
                                                  : qualified(canonical);
    bool unnamed = strstr(text, "(unnamed"), is_own = lang == LANG_C;
    if (has_variable_rows(type) || (unnamed && is_own && canonical.kind == CXType_Pointer))
        return TYPE_OPAQUE;
    if (unnamed && is_own && canonical.kind == CXType_Enum)
        return clang_text(clang_getTypeSpelling(
            clang_getEnumDeclIntegerType(clang_getTypeDeclaration(canonical))));
    return unnamed ? own : text;
}

/* Returns the length of what stands before the name in a declaration of the type: a pointer to an
 * array or function has the name in its first parentheses. */
static size_t before_name(const char *type)
{
    int depth = 0;
    for (const char *c = type; *c; c++) {
        depth += (*c == '<') - (*c == '>');
        if (depth || *c != '(' || c == type || c[-1] != ' ')
            continue;
        size_t length = strspn(c, "(*: _abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789");
        if (c[length] == ')' && memchr(c, '*', length))
            return (size_t)(c - type) + length;
    }
    return strlen(type);
}

const char *type_declaration(const char *type, const char *name)
{
    size_t before = before_name(type), length = strlen(type);
    if (before < length)
        return arena_printf("%.*s%s%s%s", (int)before, type, type[before - 1] == '*' ? "" : " ",
                            name, type + before);
    return arena_printf("%s%s%s", type, length && type[length - 1] == '*' ? "" : " ", name);
}
