/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the macros of the compiler for which a program asks. What its text names is searched, in
 * lines that #if disables, too. A name that all compilers of a platform define alike is left out.
 */
#include "pragma/asked.h"

#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "base/text.h"
#include "base/token.h"

typedef struct search {
    const includes_t *includes;
    bool has_standard; /* the command line has -std= */
    bool has_system;   /* the command line names folders of headers that are not searched */
    list_t found;
} search_t;

/* How the text uses a name. */
typedef enum use { USE_IF, USE_DEFINED, USE_TEXT } use_t;

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Macros on which compilers for one platform agree, and words that are no macros. */
static const char *const alike[] = {"__FILE__",
                                    "__LINE__",
                                    "__DATE__",
                                    "__TIME__",
                                    "__COUNTER__",
                                    "__VA_ARGS__",
                                    "__VA_OPT__",
                                    "__BASE_FILE__",
                                    "__TIMESTAMP__",
                                    "__FUNCTION__",
                                    "__STDC__",
                                    "__linux__",
                                    "__linux",
                                    "__unix__",
                                    "__unix",
                                    "__gnu_linux__",
                                    "__x86_64__",
                                    "__x86_64",
                                    "__amd64__",
                                    "__amd64",
                                    "__i386__",
                                    "__i386",
                                    "__aarch64__",
                                    "__arm__",
                                    "__powerpc64__",
                                    "__LP64__",
                                    "_LP64",
                                    "__APPLE__",
                                    "_WIN32",
                                    "_WIN64",
                                    "__WIN32__",
                                    "_MSC_VER",
                                    "__MINGW32__",
                                    "__CYGWIN__",
                                    "__FreeBSD__",
                                    "__BYTE_ORDER__",
                                    "__CHAR_BIT__",
                                    "__INT_MAX__",
                                    "__LONG_MAX__",
                                    "__STDC_FORMAT_MACROS",
                                    "__STDC_LIMIT_MACROS",
                                    "__STDC_CONSTANT_MACROS",
                                    "_KMM",
                                    "_GNU_SOURCE",
                                    "__BYTE_ORDER",
                                    "__LITTLE_ENDIAN",
                                    "__BIG_ENDIAN",
                                    "_POSIX_C_SOURCE",
                                    "_Pragma",
                                    "_Bool",
                                    "_Generic",
                                    "_Static_assert",
                                    "_Atomic",
                                    "_Thread_local",
                                    "_Alignas",
                                    "_Alignof",
                                    "_Noreturn",
                                    "_Complex",
                                    "__INTEL_COMPILER",
                                    "__PGI",
                                    "__NVCOMPILER",
                                    "_CRAYC",
                                    "__IBMC__",
                                    "__SUNPRO_C",
                                    "__SUNPRO_CC",
                                    "__SIZEOF_INT__",
                                    "__SIZEOF_LONG__",
                                    "__SIZEOF_POINTER__",
                                    "__SIZEOF_INT128__",
                                    NULL};
/* Macros that all define, with other values. */
static const char *const alike_if_defined[] = {
    "__GNUC__",        "__GNUG__",      "__cplusplus",         "_OPENMP",       "__STDC_VERSION__",
    "__has_attribute", "__has_builtin", "__has_cpp_attribute", "__has_include", NULL};
/* Macros whose value the option -std gives. */
static const char *const alike_by_standard[] = {"__cplusplus", "__STDC_VERSION__", NULL};
static const char *const alike_prefixes[] = {"__ORDER_", "__CUDA",   "__HIP",      "__NVCC",
                                             "__NV_",    "__AMDGCN", "__builtin_", NULL};

static bool is_alike(const search_t *s, const char *name, use_t use)
{
    if (text_is_one_of(name, alike) ||
        (use == USE_DEFINED && text_is_one_of(name, alike_if_defined)) ||
        (s->has_standard && text_is_one_of(name, alike_by_standard)))
        return true;
    for (const char *const *p = alike_prefixes; *p; p++)
        if (begins(name, *p))
            return true;
    return false;
}

static bool is_reserved(const char *name)
{
    return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

/* Names of macros in code: words of compilers are in small letters. */
static bool is_capital(const char *name)
{
    for (; *name; name++)
        if (islower((unsigned char)*name))
            return false;
    return true;
}

/* True if a file of the program defines the name. */
static bool is_own(const search_t *s, const char *name)
{
    for (int k = 0; k < s->includes->count; k++)
        if (source_defines(s->includes->file[k]->source, name))
            return true;
    return false;
}

/* True for a name by which a library may say which compiler it sees. */
static bool is_of_library(const char *name)
{
    static const char *const words[] = {"CLANG", "GCC",  "GNU",   "COMP", "BUILTIN",
                                        "ATTR",  "SSE",  "AVX",   "SIMD", "VECTOR",
                                        "OPTIM", "HAS_", "HAVE_", "FMA"};
    for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
        if (strstr(name, words[k]))
            return true;
    return false;
}

static void ask(search_t *s, const char *name, use_t use)
{
    bool reserved = is_reserved(name);
    if (reserved && use == USE_TEXT && !is_capital(name) && !begins(name, "__clang_"))
        return;
    if ((!reserved && (use == USE_TEXT || !(s->has_system || is_of_library(name)))) ||
        is_alike(s, name, use) || !strcmp(name, "defined") ||
        (s->found.item && text_is_one_of(name, s->found.item)))
        return;
    if (reserved || !is_own(s, name))
        list_add(&s->found, name);
}

/* The names of an #if line; one behind `defined` asks only whether there is such a macro. */
static void ask_condition(search_t *s, const source_t *source, lexer_t l, bool defined)
{
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind != TOKEN_NAME)
            continue;
        bool asks = token_is(source, t, "defined");
        for (t = asks ? lex(&l) : t; asks && token_is(source, t, "("); t = lex(&l))
            ;
        if (t.kind == TOKEN_NAME)
            ask(s, token_text(source, t), asks || defined ? USE_DEFINED : USE_IF);
    }
}

/* The text of a macro, behind its name. */
static void ask_text(search_t *s, const source_t *source, lexer_t l)
{
    lex(&l);
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_NAME && source->text[t.begin] == '_')
            ask(s, token_text(source, t), USE_TEXT);
}

/* True if the next directive defines the name for which the first one of the file asks. */
static bool is_guard(const source_t *source, lexer_t condition, lexer_t l)
{
    token_t word, name = lex(&condition), t;
    while (token_is(source, name, "!") || token_is(source, name, "defined") ||
           token_is(source, name, "("))
        name = lex(&condition);
    for (t = lex(&l); t.kind != TOKEN_DIRECTIVE && t.kind != TOKEN_END; t = lex(&l))
        ;
    if (t.kind == TOKEN_END)
        return false;
    lexer_t rest = lexer_in_directive(source, t, &word);
    return token_is(source, word, "define") &&
           token_is(source, lex(&rest), token_text(source, name));
}

static void ask_file(search_t *s, const source_t *source)
{
    static const char *const conditions[] = {"if", "elif", NULL}, *const defined[] = {
                                                                      "ifdef", "ifndef", "elifdef",
                                                                      "elifndef", NULL};
    lexer_t l = lexer_at(source, 0, source->length);
    int count = 0;
    for (token_t t = lex(&l), word; t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind == TOKEN_NAME && source->text[t.begin] == '_')
            ask(s, token_text(source, t), USE_TEXT);
        if (t.kind != TOKEN_DIRECTIVE)
            continue;
        lexer_t rest = lexer_in_directive(source, t, &word);
        if (count++ == 0 && is_guard(source, rest, l))
            continue;
        const char *name = word.kind == TOKEN_NAME ? token_text(source, word) : "";
        if (text_is_one_of(name, conditions) || text_is_one_of(name, defined))
            ask_condition(s, source, rest, text_is_one_of(name, defined));
        else if (!strcmp(name, "define"))
            ask_text(s, source, rest);
    }
}

list_t asked_names(const includes_t *includes, const options_t *o)
{
    static const char *const folders[] = {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH"};
    search_t s = {.includes = includes};
    for (size_t k = 0; k < sizeof(folders) / sizeof(*folders); k++)
        s.has_system |= getenv(folders[k]) != NULL;
    for (int k = 0; k < o->parse_flag_count; k++) {
        s.has_standard |= begins(o->parse_flags[k], "-std=") || !strcmp(o->parse_flags[k], "-ansi");
        s.has_system |=
            !strcmp(o->parse_flags[k], "-isystem") || !strcmp(o->parse_flags[k], "-idirafter");
    }
    for (int k = 0; k < includes->count; k++)
        if (!includes->file[k]->first)
            ask_file(&s, includes->file[k]->source);
    return s.found;
}

bool asked_behind_target(const includes_t *includes, const source_t **s, token_t *at)
{
    for (int k = 0; k < includes->count; k++) {
        const source_t *source = includes->file[k]->source;
        lexer_t l = lexer_at(source, 0, source->length);
        token_t word;
        if (!strstr(source->text, "GCC"))
            continue;
        for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l)) {
            if (t.kind != TOKEN_DIRECTIVE)
                continue;
            lexer_t rest = lexer_in_directive(source, t, &word);
            if (!token_is(source, word, "pragma") || !token_is(source, lex(&rest), "GCC"))
                continue;
            word = lex(&rest);
            *s = source;
            *at = t;
            if (token_is(source, word, "target") || token_is(source, word, "optimize"))
                return true;
        }
    }
    return false;
}
