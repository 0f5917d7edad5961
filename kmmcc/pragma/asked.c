/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the macros of the compiler for which a program asks. What its text names is searched, in
 * lines that #if disables, too. A name that all compilers of a platform define alike is left out.
 */
#include "pragma/asked.h"

#include <ctype.h>
#include <stddef.h>
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

/* True if compilers for one platform agree on the name, or if it is no macro. */
static bool is_alike(const search_t *s, const char *name, use_t use)
{
    static const char *const always[] = {"__FILE__",
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
                                         "_KMM",
                                         "_GNU_SOURCE",
                                         "__BYTE_ORDER",
                                         "__LITTLE_ENDIAN",
                                         "__BIG_ENDIAN",
                                         "__has_include",
                                         "_POSIX_C_SOURCE",
                                         "_Pragma",
                                         "__STDC_LIMIT_MACROS",
                                         "__STDC_CONSTANT_MACROS",
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
                                         NULL},
                             *const defined[] = {"__GNUC__",
                                                 "__GNUG__",
                                                 "__cplusplus",
                                                 "_OPENMP",
                                                 "__STDC_VERSION__",
                                                 "__has_attribute",
                                                 "__has_builtin",
                                                 "__has_cpp_attribute",
                                                 NULL},
                             *const standard[] = {"__cplusplus", "__STDC_VERSION__", NULL},
                             *const prefixes[] = {"__SIZEOF_", "__ORDER_",   "__CUDA",
                                                  "__HIP",     "__NVCC",     "__NV_",
                                                  "__AMDGCN",  "__builtin_", NULL};
    if (text_is_one_of(name, always) && strcmp(name, "__has_include") != 0)
        return true;
    if (use == USE_DEFINED && (text_is_one_of(name, defined) || !strcmp(name, "__has_include")))
        return true;
    if (s->has_standard && text_is_one_of(name, standard))
        return true;
    for (const char *const *p = prefixes; *p; p++)
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

/* True if the name is defined in the program, as a guard or otherwise. */
static bool is_own(const search_t *s, const char *name)
{
    for (int k = 0; k < s->includes->count; k++)
        if (source_defines(s->includes->file[k]->source, name))
            return true;
    return false;
}

static void ask(search_t *s, const char *name, use_t use)
{
    bool reserved = is_reserved(name);
    if (reserved && use == USE_TEXT && !is_capital(name) && !begins(name, "__clang_"))
        return;
    if ((!reserved && (use == USE_TEXT || !s->has_system)) || is_alike(s, name, use) ||
        !strcmp(name, "defined") || (s->found.item && text_is_one_of(name, s->found.item)))
        return;
    bool is_guard = strstr(name, "_H") || strstr(name, "_h_") || !reserved;
    if (!is_guard || !is_own(s, name))
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

static void ask_text(search_t *s, const source_t *source, lexer_t l)
{
    for (token_t t = lex(&l); t.kind != TOKEN_END; t = lex(&l))
        if (t.kind == TOKEN_NAME && source->text[t.begin] == '_')
            ask(s, token_text(source, t), USE_TEXT);
}

static void ask_file(search_t *s, const source_t *source)
{
    static const char *const conditions[] = {"if", "elif", NULL}, *const defined[] = {
                                                                      "ifdef", "ifndef", "elifdef",
                                                                      "elifndef", NULL};
    lexer_t l = lexer_at(source, 0, source->length);
    for (token_t t = lex(&l), word; t.kind != TOKEN_END; t = lex(&l)) {
        if (t.kind == TOKEN_NAME && source->text[t.begin] == '_')
            ask(s, token_text(source, t), USE_TEXT);
        if (t.kind != TOKEN_DIRECTIVE)
            continue;
        lexer_t rest = lexer_in_directive(source, t, &word);
        const char *name = word.kind == TOKEN_NAME ? token_text(source, word) : "";
        if (text_is_one_of(name, conditions) || text_is_one_of(name, defined))
            ask_condition(s, source, rest, text_is_one_of(name, defined));
        else if (!strcmp(name, "define"))
            ask_text(s, source, rest);
    }
}

list_t asked_names(const includes_t *includes, const options_t *o)
{
    search_t s = {.includes = includes};
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
