/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Macros of the real compiler for which the program asks, for clang. The real compiler's
 * preprocessed text begins with them. __GNUC__ and its like are set by the release of gcc that
 * clang pretends to be; __clang__ and its like stay, so that branches may differ
 * (clang/branches.c).
 */
#include "clang/asked.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/source.h"
#include "pragma/includes.h"

static bool begins(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* True for a marker that begins lines of the command line, of the compiler itself, or of the header
 * that gcc includes first. */
static bool is_builtin(const char *marker)
{
    size_t length = strcspn(marker, "\n");
    static const char *const names[] = {"\"<built-in>\"", "\"<command-line>\"",
                                        "\"<command line>\"", "/stdc-predef.h\""};
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
        if (memmem(marker, length, names[k], strlen(names[k])))
            return true;
    return false;
}

/* What stands behind the name in the compiler's own #define lines: " value" or "(parameters)
 * value"; the last one counts. *by_program becomes true if the program or a header defines it. */
static const char *definition(const source_t *s, const char *name, bool *by_program)
{
    static const char define[] = "#define ", undef[] = "#undef ";
    const char *found = NULL;
    bool is_own = false;
    *by_program = false;
    size_t length = strlen(name);
    for (const char *line = s->text; line && *line;
         line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
        if (begins(line, "# ") || begins(line, "#line "))
            is_own = is_builtin(line);
        else if (begins(line, define) && begins(line + strlen(define), name) &&
                 strchr(" (\n", line[strlen(define) + length])) {
            found = is_own ? line + strlen(define) + length : found;
            *by_program |= !is_own;
        } else if (is_own && begins(line, undef) && begins(line + strlen(undef), name) &&
                   line[strlen(undef) + length] == '\n')
            found = NULL;
    }
    return found ? arena_copy(found, strcspn(found, "\n")) : NULL;
}

const char *asked_value(const unit_t *u, const char *name)
{
    const source_t *s = u->main->includes->compiled;
    bool by_program;
    const char *found = s ? definition(s, name, &by_program) : NULL;
    return found && *found == ' ' ? found + 1 : found;
}

/* Headers of the system and clang's own ask for these, too. */
static bool is_kept(const char *name)
{
    static const char *const prefixes[] = {
        "__clang",  "__llvm", "__has_",         "__GNUC",        "__GNUG", "__CUDA",
        "__HIP",    "__NVCC", "_KMM",           "KMM_",          "__cpp_", "__FLOAT",
        "__BITINT", "__hip",  "__STDCPP_FLOAT", "__STDC_HOSTED", "__CHAR", "__GLIBC"};
    for (size_t k = 0; k < sizeof(prefixes) / sizeof(*prefixes); k++)
        if (begins(name, prefixes[k]))
            return true;
    return name[0] != '_';
}

/* From release 7 on, gcc has types for which the C library's headers write no typedef. */
static void add_float_types(flags_t *f)
{
    static const char *const types[] = {
#ifdef __x86_64__
        "-D_Float128=__float128",
#else
        "-D_Float128=long double",
#endif
        "-D_Float64x=long double", "-D_Float64=double", "-D_Float32x=double", "-D_Float32=float"};
    for (size_t k = 0; k < sizeof(types) / sizeof(*types); k++)
        flags_add(f, types[k]);
}

static void add_release(const unit_t *u, flags_t *f)
{
    enum { TYPES_OF_C = 7, TYPES_OF_CXX = 13 };
    const char *major = asked_value(u, "__GNUC__"), *minor = asked_value(u, "__GNUC_MINOR__"),
               *patch = asked_value(u, "__GNUC_PATCHLEVEL__");
    if (!major || !minor || !patch || asked_value(u, "__clang__"))
        return;
    flags_add(f, arena_printf("-fgnuc-version=%s.%s.%s", major, minor, patch));
    if (atoi(major) >= (u->lang == LANG_C ? TYPES_OF_C : TYPES_OF_CXX))
        add_float_types(f);
}

void asked_add_flags(const unit_t *u, flags_t *f)
{
    const includes_t *includes = u->main->includes;
    bool asks_release = false;
    if (!includes->compiled)
        return;
    for (int k = 0; k < includes->asked.count; k++) {
        const char *name = includes->asked.item[k];
        asks_release |= begins(name, "__GNUC");
        if (is_kept(name))
            continue;
        bool by_program;
        const char *value = definition(includes->compiled, name, &by_program);
        /* Behind a precompiled preamble, -U removes what the preamble defines, too. */
        if (!value && by_program)
            continue;
        if (!value)
            flags_add(f, arena_printf("-U%s", name));
        else if (*value == '(')
            flags_add(f, arena_printf("-D%s%.*s=%s", name, (int)strcspn(value, " "), value,
                                      value + strcspn(value, " ")));
        else
            flags_add(f, arena_printf("-D%s=%s", name, *value ? value + 1 : ""));
    }
    if (asks_release)
        add_release(u, f);
}
