/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: kmmcc's own options, and what the real compiler's arguments mean to us. */
#include "driver/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/source.h"
#include "base/text.h"

/* How an option takes its value. */
typedef enum takes {
    TAKES_NONE,
    TAKES_VALUE, /* -name value, -name=value */
    TAKES_JOINED /* -name value, -namevalue */
} takes_t;

/* Has no use for gcc and clang. */
#define DROPPED ""
/* Stays as it is for hipcc and clang, and has no use for gcc and nvcc. */
#define OF_HIP "(hip)"

typedef struct option {
    const char *name;
    takes_t takes;
    role_t role;
    bool nvcc_only;
    const char *host;  /* its name for gcc and clang; NULL: the same; "": none */
    const char *parse; /* its name for parsing with clang; NULL: not needed */
} option_t;

/* A second dash before a name is accepted, as nvcc does. */
static const option_t table[] = {
    /* names that both families know */
    {"-include", TAKES_VALUE, ROLE_COMPILE, false, NULL, "-include"},
    {"-isystem", TAKES_JOINED, ROLE_COMPILE, false, NULL, "-isystem"},
    {"-idirafter", TAKES_JOINED, ROLE_COMPILE, false, NULL, "-idirafter"},
    {"-iquote", TAKES_JOINED, ROLE_COMPILE, false, NULL, "-iquote"},
    {"-imacros", TAKES_VALUE, ROLE_COMPILE, false, NULL, "-imacros"},
    {"-isysroot", TAKES_JOINED, ROLE_OPTION, false, NULL, "-isysroot"},
    {"-sysroot", TAKES_VALUE, ROLE_OPTION, false, "--sysroot", "--sysroot"},
    {"-I", TAKES_JOINED, ROLE_COMPILE, false, NULL, "-I"},
    {"-D", TAKES_JOINED, ROLE_COMPILE, false, NULL, "-D"},
    {"-U", TAKES_JOINED, ROLE_COMPILE, false, NULL, "-U"},
    {"-L", TAKES_JOINED, ROLE_LINK, false, NULL, NULL},
    {"-l", TAKES_JOINED, ROLE_LINK, false, NULL, NULL},
    {"-o", TAKES_JOINED, ROLE_OUTPUT, false, NULL, NULL},
    {"-x", TAKES_JOINED, ROLE_LANG, false, "-x", NULL},
    {"-std", TAKES_VALUE, ROLE_OPTION, false, "-std=", "-std="},
    {"-MF", TAKES_JOINED, ROLE_DEPEND, false, NULL, NULL},
    {"-MT", TAKES_JOINED, ROLE_DEPEND, false, NULL, NULL},
    {"-MQ", TAKES_JOINED, ROLE_DEPEND, false, NULL, NULL},
    {"-MD", TAKES_NONE, ROLE_DEPEND, false, NULL, NULL},
    {"-MMD", TAKES_NONE, ROLE_DEPEND, false, NULL, NULL},
    {"-MP", TAKES_NONE, ROLE_DEPEND, false, NULL, NULL},
    {"-MG", TAKES_NONE, ROLE_DEPEND, false, NULL, NULL},
    {"-M", TAKES_NONE, ROLE_MODE, false, NULL, NULL},
    {"-MM", TAKES_NONE, ROLE_MODE, false, NULL, NULL},
    {"-c", TAKES_NONE, ROLE_MODE, false, NULL, NULL},
    {"-S", TAKES_NONE, ROLE_MODE, false, NULL, NULL},
    {"-E", TAKES_NONE, ROLE_MODE, false, NULL, NULL},
    {"-fsyntax-only", TAKES_NONE, ROLE_MODE, false, NULL, NULL},
    {"-Xlinker", TAKES_VALUE, ROLE_LINK, false, NULL, NULL},
    {"-shared", TAKES_NONE, ROLE_LINK, false, NULL, NULL},
    {"-static", TAKES_NONE, ROLE_LINK, false, NULL, NULL},
    {"-rdynamic", TAKES_NONE, ROLE_LINK, false, NULL, NULL},
    {"-r", TAKES_NONE, ROLE_LINK, false, NULL, NULL},
    {"-T", TAKES_VALUE, ROLE_LINK, false, NULL, NULL},
    {"-u", TAKES_VALUE, ROLE_LINK, false, NULL, NULL},
    {"-z", TAKES_VALUE, ROLE_LINK, false, NULL, NULL},
    {"-e", TAKES_VALUE, ROLE_LINK, false, NULL, NULL},
    {"-Xpreprocessor", TAKES_VALUE, ROLE_COMPILE, false, NULL, NULL},
    {"-Xassembler", TAKES_VALUE, ROLE_COMPILE, false, NULL, NULL},
    {"-Xclang", TAKES_VALUE, ROLE_COMPILE, false, NULL, NULL},
    {"-mllvm", TAKES_VALUE, ROLE_COMPILE, false, NULL, NULL},
    {"-param", TAKES_VALUE, ROLE_OPTION, false, "--param", NULL},
    {"-aux-info", TAKES_VALUE, ROLE_COMPILE, false, NULL, NULL},
    {"-dumpbase", TAKES_VALUE, ROLE_COMPILE, false, NULL, NULL},
    {"-dumpdir", TAKES_VALUE, ROLE_COMPILE, false, NULL, NULL},
    {"-target", TAKES_VALUE, ROLE_OPTION, false, NULL, "-target"},
    {"-pthread", TAKES_NONE, ROLE_OPTION, false, NULL, "-pthread"},
    {"-fopenmp", TAKES_NONE, ROLE_OPTION, false, NULL, "-fopenmp"},
    {"-fno-exceptions", TAKES_NONE, ROLE_OPTION, false, NULL, "-fno-exceptions"},
    {"-fno-rtti", TAKES_NONE, ROLE_OPTION, false, NULL, "-fno-rtti"},
    {"-funsigned-char", TAKES_NONE, ROLE_OPTION, false, NULL, "-funsigned-char"},
    {"-ffast-math", TAKES_NONE, ROLE_OPTION, false, NULL, "-ffast-math"},
    {"-fdiagnostics-parseable-fixits", TAKES_NONE, ROLE_OPTION, false, NULL, NULL},

    /* nvcc's long names of them */
    {"-pre-include", TAKES_VALUE, ROLE_COMPILE, true, "-include", "-include"},
    {"-system-include", TAKES_VALUE, ROLE_COMPILE, true, "-isystem", "-isystem"},
    {"-include-path", TAKES_VALUE, ROLE_COMPILE, true, "-I", "-I"},
    {"-define-macro", TAKES_VALUE, ROLE_COMPILE, true, "-D", "-D"},
    {"-undefine-macro", TAKES_VALUE, ROLE_COMPILE, true, "-U", "-U"},
    {"-library-path", TAKES_VALUE, ROLE_LINK, true, "-L", NULL},
    {"-library", TAKES_VALUE, ROLE_LINK, true, "-l", NULL},
    {"-output-file", TAKES_VALUE, ROLE_OUTPUT, true, "-o", NULL},
    {"-dependency-output", TAKES_VALUE, ROLE_DEPEND, true, "-MF", NULL},
    {"-generate-dependencies-with-compile", TAKES_NONE, ROLE_DEPEND, true, "-MD", NULL},
    {"-generate-nonsystem-dependencies-with-compile", TAKES_NONE, ROLE_DEPEND, true, "-MMD", NULL},
    {"-generate-dependency-targets", TAKES_NONE, ROLE_DEPEND, true, "-MP", NULL},
    {"-compile", TAKES_NONE, ROLE_MODE, true, "-c", NULL},
    {"-preprocess", TAKES_NONE, ROLE_MODE, true, "-E", NULL},
    {"-linker-options", TAKES_VALUE, ROLE_LINK, true, "-Xlinker", NULL},
    {"-optimize", TAKES_VALUE, ROLE_OPTION, true, "-O", NULL},
    {"-device-c", TAKES_NONE, ROLE_MODE, true, "-c", NULL},
    {"-dc", TAKES_NONE, ROLE_MODE, true, "-c", NULL},
    {"-dw", TAKES_NONE, ROLE_MODE, true, "-c", NULL},

    /* nvcc's own */
    {"-Xcompiler", TAKES_VALUE, ROLE_OPTION, true, "-Xcompiler", NULL},
    {"-compiler-options", TAKES_VALUE, ROLE_OPTION, true, "-Xcompiler", NULL},
    {"-compiler-bindir", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-ccbin", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-use_fast_math", TAKES_NONE, ROLE_OPTION, true, "-funsafe-math-optimizations", "-ffast-math"},
    {"-arch", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-gpu-architecture", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-code", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-gpu-code", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-gencode", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-generate-code", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-Xptxas", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-ptxas-options", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-Xnvlink", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-nvlink-options", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-Xcudafe", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-Xfatbin", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-Xarchive", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-archive-options", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-rdc", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-relocatable-device-code", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-dlink", TAKES_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-device-link", TAKES_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-lib", TAKES_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-ptx", TAKES_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-cubin", TAKES_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-fatbin", TAKES_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-optix-ir", TAKES_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-ltoir", TAKES_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-cuda", TAKES_NONE, ROLE_MODE, true, DROPPED, NULL},
    {"-dlto", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-lineinfo", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-generate-line-info", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-G", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-device-debug", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-maxrregcount", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-extended-lambda", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-expt-extended-lambda", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-expt-relaxed-constexpr", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-keep", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-keep-dir", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-odir", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-output-directory", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-default-stream", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-cudart", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-cudadevrt", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-ftz", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-fmad", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-prec-div", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-prec-sqrt", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-res-usage", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-resource-usage", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-restrict", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-allow-unsupported-compiler", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-forward-unknown-to-host-compiler", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-forward-unknown-to-host-linker", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-forward-unknown-opts", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-diag-suppress", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-diag-error", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-diag-warn", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-threads", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-t", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-split-compile", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-machine", TAKES_VALUE, ROLE_OPTION, true, DROPPED, NULL},
    {"-dryrun", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-Wno-deprecated-gpu-targets", TAKES_NONE, ROLE_OPTION, true, DROPPED, NULL},
    {"-disable-warnings", TAKES_NONE, ROLE_OPTION, true, "-w", NULL},

    /* hipcc's own */
    {"-offload-arch", TAKES_VALUE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-no-offload-arch", TAKES_VALUE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-amdgpu-target", TAKES_VALUE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-offload-compress", TAKES_NONE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-no-offload-compress", TAKES_NONE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-fgpu-rdc", TAKES_NONE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-fno-gpu-rdc", TAKES_NONE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-fgpu-default-stream", TAKES_VALUE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-gpu-max-threads-per-block", TAKES_VALUE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-munsafe-fp-atomics", TAKES_NONE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-hip-link", TAKES_NONE, ROLE_LINK, false, OF_HIP, NULL},
    {"-rocm-path", TAKES_VALUE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-rocm-device-lib-path", TAKES_VALUE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-hip-path", TAKES_VALUE, ROLE_OPTION, false, OF_HIP, NULL},
    {"-hip-device-lib-path", TAKES_VALUE, ROLE_OPTION, false, OF_HIP, NULL},
};

static const char *after(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* ---- Response files ---- */

/* Splits text at blanks; quotes group, a backslash takes the next character as it is. */
static void split_words(const char *s, list_t *words)
{
    while (*s) {
        s += strspn(s, " \t\r\n\f\v");
        if (!*s)
            return;
        text_t word = {0};
        text_add(&word, "", 0);
        char quote = 0;
        for (; *s && (quote || !strchr(" \t\r\n\f\v", *s)); s++) {
            if (*s == '\\' && s[1] && quote != '\'')
                text_add(&word, ++s, 1);
            else if (quote ? *s == quote : *s == '"' || *s == '\'')
                quote = quote ? 0 : *s;
            else
                text_add(&word, s, 1);
        }
        list_add(words, word.data);
    }
}

enum { RESPONSE_DEPTH = 16 };

static void expand(const char *argument, list_t *out, int depth);

static bool expand_file(const char *path, list_t *out, int depth)
{
    const source_t *file = access(path, R_OK) == 0 ? source_read(path) : NULL;
    if (!file)
        return false;
    list_t words = {0};
    split_words(file->text, &words);
    for (int k = 0; k < words.count; k++)
        expand(words.item[k], out, depth + 1);
    return true;
}

/* An `@file` that cannot be read is an argument like any other, as for gcc. */
static void expand(const char *argument, list_t *out, int depth)
{
    if (argument[0] != '@' || depth > RESPONSE_DEPTH || !expand_file(argument + 1, out, depth))
        list_add(out, argument);
}

/* The value of nvcc's option that names a response file; NULL if argv[index] is another option. */
static const char *options_file(char **argv, int index, int argc, bool *takes_next)
{
    static const char *const names[] = {"-optf", "--options-file", "-options-file"};
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++) {
        const char *rest = after(argv[index], names[k]);
        *takes_next = rest && !*rest && index + 1 < argc;
        if (*takes_next)
            return argv[index + 1];
        if (rest && *rest == '=')
            return rest + 1;
    }
    return NULL;
}

/* ---- Languages ---- */

typedef struct name {
    const char *name;
    int value;
} name_t;

static int find_name(const name_t *names, const char *name, int missing)
{
    for (; names->name; names++)
        if (strcmp(names->name, name) == 0)
            return names->value;
    return missing;
}

enum { NOT_A_SOURCE = -1 };

static const name_t extensions[] = {{"c", LANG_C},
                                    {"cc", LANG_CXX},
                                    {"cp", LANG_CXX},
                                    {"cpp", LANG_CXX},
                                    {"cxx", LANG_CXX},
                                    {"c++", LANG_CXX},
                                    {"C", LANG_CXX},
                                    {"CPP", LANG_CXX},
                                    {"cu", LANG_CUDA},
                                    {"hip", LANG_HIP},
                                    /* compiled, but never transformed */
                                    {"i", LANG_NONE},
                                    {"ii", LANG_NONE},
                                    {"s", LANG_NONE},
                                    {"S", LANG_NONE},
                                    {"sx", LANG_NONE},
                                    {"h", LANG_NONE},
                                    {"hh", LANG_NONE},
                                    {"hpp", LANG_NONE},
                                    {"hxx", LANG_NONE},
                                    {"cuh", LANG_NONE},
                                    {"m", LANG_NONE},
                                    {"mm", LANG_NONE},
                                    {"f", LANG_NONE},
                                    {"f90", LANG_NONE},
                                    {"F90", LANG_NONE},
                                    {"ptx", LANG_NONE},
                                    {"cubin", LANG_NONE},
                                    {"fatbin", LANG_NONE},
                                    {"ll", LANG_NONE},
                                    {"bc", LANG_NONE},
                                    {NULL, 0}};

static const name_t languages[] = {{"c", LANG_C},       {"c++", LANG_CXX}, {"cu", LANG_CUDA},
                                   {"cuda", LANG_CUDA}, {"hip", LANG_HIP}, {NULL, 0}};

static const char *extension(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot + 1 : "";
}

static bool is_object(const char *path)
{
    static const name_t kinds[] = {{"o", 1},  {"a", 1},   {"so", 1},  {"lo", 1},
                                   {"la", 1}, {"obj", 1}, {"lib", 1}, {NULL, 0}};
    return find_name(kinds, extension(path), 0) || strstr(path, ".so.");
}

/* ---- Arguments of the real compiler ---- */

typedef struct reader {
    options_t *o;
    list_t words; /* response files expanded */
    bool *own;    /* of each word: is kmmcc's alone */
    int next;     /* of words */
    argument_t *arguments;
    list_t flags;              /* for parsing */
    const char *lang_name;     /* of the last -x; NULL: none or "none" */
    const char *lang_of_all;   /* nvcc's -x holds for the files before it too */
    bool after_unknown;        /* the last word was an unknown option, which may take a value */
    bool everything_is_a_file; /* after "--" */
} reader_t;

static argument_t *add_argument(reader_t *r, const char *text, role_t role)
{
    argument_t *a = &r->arguments[r->o->argument_count++];
    *a = (argument_t){.text = text, .role = role};
    return a;
}

/* Whether `rest`, what follows the option's name, can be its value. Joined values follow one dash
 * only. */
static bool rest_fits(const option_t *option, const char *rest, bool two_dashes)
{
    if (!*rest)
        return true;
    switch (option->takes) {
    case TAKES_NONE: return false;
    case TAKES_VALUE: return *rest == '=';
    case TAKES_JOINED: return !two_dashes || *rest == '=';
    }
    return false;
}

/* The option with the longest name that fits the word; *value is NULL where it is the next word. */
static const option_t *find_option(const char *word, const char **value)
{
    bool two_dashes = word[0] == '-' && word[1] == '-';
    const option_t *found = NULL;
    const char *found_rest = NULL;
    for (size_t k = 0; k < sizeof(table) / sizeof(*table); k++) {
        const char *rest = after(word + two_dashes, table[k].name);
        if (rest && rest_fits(&table[k], rest, two_dashes) && (!found || rest < found_rest)) {
            found = &table[k];
            found_rest = rest;
        }
    }
    if (!found || !*found_rest)
        return *value = NULL, found;
    bool equals = *found_rest == '=' &&
                  (found->takes == TAKES_VALUE || two_dashes || found->role == ROLE_LANG);
    *value = found_rest + equals;
    return found;
}

static void add_flag(reader_t *r, const char *name, const char *value)
{
    if (!value) {
        list_add(&r->flags, name);
        return;
    }
    size_t length = strlen(name);
    bool joins = name[length - 1] == '=' || length == 2;
    if (joins) {
        list_add(&r->flags, arena_printf("%s%s", name, value));
        return;
    }
    list_add(&r->flags, name);
    list_add(&r->flags, value);
}

/* Options of the host compiler that parsing needs, inside -Xcompiler a,b. */
static void read_host_options(reader_t *r, const char *value)
{
    list_t parts = {0};
    for (const char *s = value; *s; s += *s == ',') {
        size_t length = strcspn(s, ",");
        list_add(&parts, arena_copy(s, length));
        s += length;
    }
    for (int k = 0; k < parts.count; k++) {
        const char *own = NULL;
        const option_t *option = find_option(parts.item[k], &own);
        if (!option || !option->parse)
            continue;
        if (option->takes != TAKES_NONE && !own && k + 1 < parts.count)
            own = parts.item[++k];
        add_flag(r, option->parse, own);
    }
}

static void read_mode(options_t *o, const char *name)
{
    o->compile_only = true;
    o->preprocess_only |= strcmp(name, "-E") == 0 || name[1] == 'M';
    o->deps_only |= name[1] == 'M';
    if (strcmp(name, "-lib") == 0 || strcmp(name, "-dlink") == 0)
        o->compile_only = false, o->makes_library = true;
}

/* The last one counts. */
static void note_relocatable(options_t *o, const char *name, const char *value)
{
    if (strcmp(name, "-rdc") == 0 || strcmp(name, "-relocatable-device-code") == 0)
        o->relocatable = value && strcmp(value, "true") == 0;
    else if (strcmp(name, "-dc") == 0 || strcmp(name, "-device-c") == 0 ||
             strcmp(name, "-fgpu-rdc") == 0)
        o->relocatable = true;
    else if (strcmp(name, "-fno-gpu-rdc") == 0)
        o->relocatable = false;
}

/* What a known option means for kmmcc itself. */
static void note_option(reader_t *r, const option_t *option, const char *value)
{
    options_t *o = r->o;
    const char *name = option->host && *option->host && strcmp(option->host, OF_HIP) != 0
                           ? option->host
                           : option->name;
    if (strcmp(option->name, "-device-link") == 0)
        name = "-dlink";
    note_relocatable(o, option->name, value);
    o->nvcc_only |= option->nvcc_only;
    o->debug_info |= strcmp(name, "-G") == 0;
    o->is_static |= strcmp(name, "-static") == 0;
    o->makes_library |= strcmp(name, "-shared") == 0 || strcmp(name, "-r") == 0;
    if (strcmp(name, "-ccbin") == 0 || strcmp(name, "-compiler-bindir") == 0)
        o->host_compiler = value;
    if (strcmp(name, "-Xcompiler") == 0 && value)
        read_host_options(r, value);
    if (option->role == ROLE_OUTPUT)
        o->output = value;
    if (option->role == ROLE_MODE)
        read_mode(o, name);
    if (option->role == ROLE_LANG)
        r->lang_name = value && strcmp(value, "none") != 0 ? value : NULL;
    if (option->role == ROLE_LANG && value && strcmp(value, "cu") == 0)
        r->lang_of_all = value, o->nvcc_only = true; /* gcc and clang have other names for it */
    o->deps |= strcmp(name, "-MD") == 0 || strcmp(name, "-MMD") == 0;
    if (strcmp(name, "-MF") == 0)
        o->dep_file = value;
    if (strcmp(name, "-MT") == 0 || strcmp(name, "-MQ") == 0)
        o->dep_target = value;
    if (option->parse)
        add_flag(r, option->parse, value);
}

static bool read_known(reader_t *r, const char *word)
{
    const char *value = NULL;
    const option_t *option = find_option(word, &value);
    if (!option)
        return false;
    bool nvcc_only = option->nvcc_only || after(word, "--x") != NULL;
    if (after(word, "--x"))
        r->o->nvcc_only = true;
    argument_t *named = add_argument(r, word, option->role);
    named->nvcc_only = nvcc_only;
    named->hip_only = option->host && strcmp(option->host, OF_HIP) == 0;
    r->o->has_hip_options |= named->hip_only;
    if (option->takes != TAKES_NONE && !value) {
        if (r->next == r->words.count) {
            diag_plain(SEVERITY_ERROR, "'%s' needs a value after it", word);
            return true;
        }
        value = r->words.item[r->next++];
        argument_t *a = add_argument(r, value, option->role);
        a->is_value = true;
        a->nvcc_only = nvcc_only;
        a->hip_only = named->hip_only;
    }
    note_option(r, option, value);
    return true;
}

static void read_file(reader_t *r, const char *path, bool may_be_value)
{
    int lang = find_name(extensions, extension(path), NOT_A_SOURCE);
    bool forced = r->lang_name && !is_object(path);
    if (forced)
        lang = find_name(languages, r->lang_name, LANG_NONE);
    if (may_be_value && lang == NOT_A_SOURCE && !is_object(path)) {
        add_argument(r, path, ROLE_OPTION)->is_value = true;
        return;
    }
    r->o->has_input = true;
    if (strcmp(path, "-") == 0) {
        r->o->stdin_lang = forced ? (lang_t)lang : LANG_NONE;
        add_argument(r, path, ROLE_OPTION);
        return;
    }
    argument_t *a = add_argument(r, path, lang == NOT_A_SOURCE ? ROLE_LINK : ROLE_SOURCE);
    a->lang = lang == NOT_A_SOURCE ? LANG_NONE : (lang_t)lang;
    a->forced = forced;
    r->o->source_count += a->role == ROLE_SOURCE;
}

/* An option of gcc or clang that nvcc refuses. */
static bool is_host_only(const char *word)
{
    static const char *const fine[] = {"-Werror",
                                       "-Wreorder",
                                       "-Wdefault-stream-launch",
                                       "-Wext-lambda-captures-this",
                                       "-Wmissing-launch-bounds",
                                       "-m64",
                                       "-m32"};
    for (size_t k = 0; k < sizeof(fine) / sizeof(*fine); k++)
        if (strcmp(word, fine[k]) == 0)
            return false;
    return word[1] == 'f' || word[1] == 'W' || word[1] == 'm' || after(word, "-pedantic") ||
           strcmp(word, "-pthread") == 0 || strcmp(word, "-rdynamic") == 0;
}

static void read_unknown(reader_t *r, const char *word)
{
    static const name_t kinds[] = {
        {"all-warnings", 1},          {"cross-execution-space-call", 1}, {"reorder", 1},
        {"default-stream-launch", 1}, {"deprecated-declarations", 1},    {NULL, 0}};
    role_t role = after(word, "-Wl,")   ? ROLE_LINK
                  : after(word, "-Wp,") ? ROLE_COMPILE
                                        : ROLE_OPTION;
    r->o->host_only |= is_host_only(word);
    r->o->debug_info |= word[1] == 'g' && strcmp(word, "-g0") != 0;
    if (word[1] == 'O')
        list_add(&r->flags, word);
    add_argument(r, word, role);
    bool has_kind = strcmp(word, "-Werror") == 0 && r->next < r->words.count &&
                    find_name(kinds, r->words.item[r->next], 0);
    if (has_kind)
        add_argument(r, r->words.item[r->next++], ROLE_OPTION)->is_value = true;
    r->after_unknown = !strchr(word, '=');
}

/* ---- kmmcc's own options ---- */

static target_t read_target(const char *value)
{
    static const name_t targets[] = {{"auto", TARGET_AUTO},
                                     {"host", TARGET_HOST},
                                     {"cuda", TARGET_CUDA},
                                     {"hip", TARGET_HIP},
                                     {NULL, 0}};
    int target = find_name(targets, value, NOT_A_SOURCE);
    if (target != NOT_A_SOURCE)
        return (target_t)target;
    diag_plain(SEVERITY_ERROR, "unknown target '%s' in '--target=%s'", value, value);
    diag_plain(SEVERITY_NOTE,
               "targets are host (the CPU), cuda, hip, and auto, which is the default");
    return TARGET_AUTO;
}

static manage_t read_manage(const char *value)
{
    static const name_t kinds[] = {
        {"auto", MANAGE_AUTO}, {"all", MANAGE_ALL}, {"none", MANAGE_NONE}, {NULL, 0}};
    int manage = find_name(kinds, value, NOT_A_SOURCE);
    if (manage != NOT_A_SOURCE)
        return (manage_t)manage;
    diag_plain(SEVERITY_ERROR, "unknown value '%s' in '-fkmm-manage=%s'", value, value);
    diag_plain(SEVERITY_NOTE, "values are auto (programs that use a kmm pragma), all, and none");
    return MANAGE_AUTO;
}

static bool is_any(const char *word, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(word, *names) == 0)
            return true;
    return false;
}

static bool read_flag(options_t *o, const char *word)
{
    if (is_any(word, (const char *const[]){"--help", "-h", "-help", NULL}))
        return o->action = ACTION_HELP, true;
    if (strcmp(word, "--help=warnings") == 0)
        return o->action = ACTION_WARNINGS, true;
    if (strcmp(word, "--link-flags") == 0)
        return o->action = ACTION_LINK_FLAGS, true;
    if (is_any(word, (const char *const[]){"-###", "--dry-run", NULL}))
        return o->dry_run = true;
    if (strcmp(word, "--verbose") == 0)
        return o->verbose = true;
    if (strcmp(word, "--diff") == 0)
        return o->diff = true;
    if (strcmp(word, "--explain") == 0)
        return o->explain = true;
    if (is_any(word, (const char *const[]){"-fkmm-clone", "-fno-kmm-clone", NULL}))
        return o->clones_all = strcmp(word, "-fkmm-clone") == 0, true;
    if (is_any(word,
               (const char *const[]){"-fkmm-index-elsewhere", "-fno-kmm-index-elsewhere", NULL}))
        return o->no_index_elsewhere = strcmp(word, "-fno-kmm-index-elsewhere") == 0, true;
    if (is_any(word, (const char *const[]){"-fkmm", "-fno-kmm", NULL}))
        return o->ignores_pragmas = strcmp(word, "-fno-kmm") == 0, true;
    if (is_any(word, (const char *const[]){"-fkmm-fibers", "-fno-kmm-fibers", NULL}))
        return o->fibers = strcmp(word, "-fkmm-fibers") == 0, true;
    if (is_any(word, (const char *const[]){"-fkmm-random", "-fno-kmm-random", NULL}))
        return o->random = strcmp(word, "-fkmm-random") == 0, true;
    if (strcmp(word, "--emit-source") == 0)
        return o->emit_source = "", true;
    return diag_warning_option(word);
}

/* The form of messages is ours and the compiler's. */
static void note_form(const char *word)
{
    if (strcmp(word, "-fdiagnostics-parseable-fixits") == 0)
        diag_parseable_fixes(true);
    if (is_any(word, (const char *const[]){"-fcolor-diagnostics", "-fdiagnostics-color",
                                           "-fdiagnostics-color=always", NULL}))
        diag_colour(true);
    if (is_any(word, (const char *const[]){"-fno-color-diagnostics", "-fno-diagnostics-color",
                                           "-fdiagnostics-color=never", NULL}))
        diag_colour(false);
}

static const char *own_value(const char *word, const char *name)
{
    const char *value = after(word, name);
    if (value && !*value)
        diag_plain(SEVERITY_ERROR, "'%s' needs a value after the '='", word);
    return value;
}

/* True if the word is kmmcc's alone and is not passed on. */
static bool read_own(options_t *o, const char *word)
{
    const char *value = after(word, "--target=");
    if (value && !strchr(value, '-')) /* clang's triples have dashes */
        return o->target = read_target(value), true;
    if ((value = own_value(word, "--compiler=")))
        return o->compiler = value, true;
    if ((value = own_value(word, "--emit-source=")))
        return o->emit_source = value, true;
    if ((value = own_value(word, "--check=")))
        return o->check_file = value, true;
    if ((value = own_value(word, "-fkmm-manage=")))
        return o->manage = read_manage(value), true;
    if (read_flag(o, word))
        return true;
    if (!after(word, "-fkmm") && !after(word, "-fno-kmm"))
        return false;
    diag_plain(SEVERITY_ERROR, "unknown option '%s'", word);
    diag_plain(SEVERITY_NOTE, "'kmmcc --help' lists the options that begin with -fkmm");
    return true;
}

/* ---- Reading ---- */

static void read_word(reader_t *r, const char *word)
{
    bool may_be_value = r->after_unknown;
    r->after_unknown = false;
    if (r->everything_is_a_file || word[0] != '-' || !word[1]) {
        read_file(r, word, may_be_value);
        return;
    }
    if (strcmp(word, "--") == 0) {
        r->everything_is_a_file = true;
        return;
    }
    if (strcmp(word, "--version") == 0)
        r->o->action = ACTION_VERSION;
    note_form(word);
    if (strcmp(word, "--compiler") == 0 &&
        r->next < r->words.count) { /* as a launcher, the compiler's command behind it */
        r->own[r->next - 1] = r->own[r->next] = true;
        r->o->compiler = r->words.item[r->next++];
    } else if (read_own(r->o, word))
        r->own[r->next - 1] = true;
    else if (!read_known(r, word))
        read_unknown(r, word);
}

/* What argument k was typed as, and which words it stands for: [first, last). */
typedef struct typed {
    const char *text, *value;
    int first, last;
} typed_t;

static typed_t *expand_all(reader_t *r, int argc, char **argv, int *count)
{
    typed_t *typed = arena_alloc((size_t)argc * sizeof(*typed));
    for (int k = 1; k < argc; k++) {
        typed_t *t = &typed[(*count)++];
        bool takes_next = false;
        const char *file = options_file(argv, k, argc, &takes_next);
        *t = (typed_t){
            .text = argv[k], .value = takes_next ? argv[k + 1] : NULL, .first = r->words.count};
        if (!file)
            expand(argv[k], &r->words, 0);
        else if (!expand_file(file, &r->words, 0))
            diag_plain(SEVERITY_ERROR, "cannot read the options file '%s'", file);
        t->last = r->words.count;
        k += takes_next;
    }
    return typed;
}

/* The command line as it was typed, without our own options. A response file that holds some of
 * them is replaced by the rest of its words. */
static void keep_original(reader_t *r, const typed_t *typed, int count)
{
    list_t original = {0};
    for (int k = 0; k < count; k++) {
        const typed_t *t = &typed[k];
        int own = 0;
        for (int w = t->first; w < t->last; w++)
            own += r->own[w];
        if (!own) {
            list_add(&original, t->text);
            if (t->value)
                list_add(&original, t->value);
            continue;
        }
        for (int w = t->first; w < t->last; w++)
            if (!r->own[w])
                list_add(&original, r->words.item[w]);
    }
    r->o->original = original.item;
    r->o->original_count = original.count;
}

static void force_all(reader_t *r)
{
    for (int k = 0; k < r->o->argument_count; k++) {
        argument_t *a = &r->arguments[k];
        if (a->role == ROLE_SOURCE && !a->forced) {
            a->lang = (lang_t)find_name(languages, r->lang_of_all, LANG_NONE);
            a->forced = true;
        }
    }
}

options_t *options_read(int argc, char **argv)
{
    options_t *o = arena_alloc(sizeof(*o));
    reader_t r = {.o = o};
    int count = 0;
    const typed_t *typed = expand_all(&r, argc, argv, &count);
    size_t words = (size_t)r.words.count + 1;
    r.own = arena_alloc(words * sizeof(*r.own));
    r.arguments = arena_alloc(words * sizeof(*r.arguments));
    while (r.next < r.words.count)
        read_word(&r, r.words.item[r.next++]);
    if (r.lang_of_all)
        force_all(&r);
    keep_original(&r, typed, count);
    o->arguments = r.arguments;
    o->parse_flags = r.flags.item;
    o->parse_flag_count = r.flags.count;
    return diag_error_count() ? NULL : o;
}

/* ---- For gcc and clang ---- */

static void add_split(list_t *list, const char *value)
{
    while (*value) {
        size_t length = strcspn(value, ",");
        list_add(list, arena_copy(value, length));
        value += length + (value[length] == ',');
    }
}

void options_translate(const options_t *o, int index, list_t *list)
{
    const argument_t *a = &o->arguments[index];
    const char *value = NULL;
    const option_t *option = a->is_value || a->text[0] != '-' ? NULL : find_option(a->text, &value);
    bool separate = index + 1 < o->argument_count && o->arguments[index + 1].is_value;
    bool spelled_alike =
        !option || (!a->nvcc_only && !(separate && strcmp(option->name, "-std") == 0));
    if (a->is_value)
        return;
    if (separate)
        value = o->arguments[index + 1].text;
    if (option && option->role == ROLE_LANG && value && strcmp(value, "cu") == 0)
        return;
    if (spelled_alike) {
        list_add(list, a->text);
        if (separate)
            list_add(list, value);
    } else if (!option->host) {
        list_add(list, option->name);
    } else if (strcmp(option->host, "-Xcompiler") == 0) {
        add_split(list, value);
    } else if (value && (strlen(option->host) == 2 || strchr(option->host, '='))) {
        list_add(list, arena_printf("%s%s", option->host, value));
    } else if (*option->host) {
        list_add(list, option->host);
        if (value)
            list_add(list, value);
    }
}
