/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: kmmcc's own options, and what each argument of the real compiler is. */
#include "driver/options.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/list.h"
#include "base/sarif.h"
#include "driver/option_table.h"
#include "driver/response.h"

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
    list_t preprocessor;       /* words of -Wp and -Xpreprocessor, which come last */
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

/* Words of the host compiler's command line: those that parsing needs. */
static void read_host_words(reader_t *r, const list_t *words)
{
    for (int k = 0; k < words->count; k++) {
        const char *own = NULL;
        const option_t *option = option_find(words->item[k], &own);
        if (!option && option_is_for_parsing(words->item[k]))
            list_add(&r->flags, words->item[k]);
        if (!option || !option->parse)
            continue;
        if (option->value_form != VALUE_NONE && !own && k + 1 < words->count)
            own = words->item[++k];
        add_flag(r, option->parse, own);
    }
}

/* Adds the words of -Xcompiler a,b or -Wp,a,b. */
static void split_words(const char *value, list_t *words)
{
    for (const char *s = value; *s; s += *s == ',') {
        size_t length = strcspn(s, ",");
        list_add(words, arena_copy(s, length));
        s += length;
    }
}

static void read_mode(options_t *o, const char *name)
{
    o->compile_only = true;
    o->preprocess_only |= strcmp(name, "-E") == 0 || name[1] == 'M';
    o->deps_only |= name[1] == 'M';
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

/* Sets the options of kmmcc that a known option of the real compiler implies. */
static void note_option(reader_t *r, const option_t *option, const char *value)
{
    options_t *o = r->o;
    const char *name = option->host && *option->host && strcmp(option->host, OF_HIP) != 0
                           ? option->host
                           : option->name;
    note_relocatable(o, option->name, value);
    o->nvcc_only |= option->nvcc_only;
    o->debug_info |= strcmp(name, "-G") == 0;
    o->is_static |= strcmp(name, "-static") == 0;
    o->makes_library |= strcmp(name, "-shared") == 0 || strcmp(name, "-r") == 0;
    o->makes_archive |= strcmp(option->name, "-lib") == 0;
    o->links_devices |=
        strcmp(option->name, "-dlink") == 0 || strcmp(option->name, "-device-link") == 0;
    if (strcmp(name, "-ccbin") == 0 || strcmp(name, "-compiler-bindir") == 0)
        o->host_compiler = value;
    if (strcmp(name, "-Xcompiler") == 0 && value) {
        list_t words = {0};
        split_words(value, &words);
        read_host_words(r, &words);
    }
    if (strcmp(name, "-Xpreprocessor") == 0 && value)
        list_add(&r->preprocessor, value);
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
    const option_t *option = option_find(word, &value);
    if (!option)
        return false;
    bool is_spelled_for_nvcc = option_rest(word, "--x") || option_rest(word, "-Xlinker=");
    bool nvcc_only = option->nvcc_only || is_spelled_for_nvcc;
    r->o->nvcc_only |= is_spelled_for_nvcc;
    argument_t *named = add_argument(r, word, option->role);
    named->nvcc_only = nvcc_only;
    named->hip_only = option->host && strcmp(option->host, OF_HIP) == 0;
    r->o->has_hip_options |= named->hip_only;
    if (option->value_form != VALUE_NONE && !value) {
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
    if (r->everything_is_a_file && path[0] == '-' && path[1]) /* no option for others */
        path = arena_printf("./%s", path);
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
    return word[1] == 'f' || word[1] == 'W' || word[1] == 'm' || option_rest(word, "-pedantic") ||
           strcmp(word, "-pthread") == 0 || strcmp(word, "-rdynamic") == 0;
}

static void read_unknown(reader_t *r, const char *word)
{
    static const name_t kinds[] = {
        {"all-warnings", 1},          {"cross-execution-space-call", 1}, {"reorder", 1},
        {"default-stream-launch", 1}, {"deprecated-declarations", 1},    {NULL, 0}};
    role_t role = option_rest(word, "-Wl,")   ? ROLE_LINK
                  : option_rest(word, "-Wp,") ? ROLE_COMPILE
                                              : ROLE_OPTION;
    r->o->host_only |= is_host_only(word);
    r->o->debug_info |= word[1] == 'g' && strcmp(word, "-g0") != 0;
    if (word[1] == 'O' || option_is_for_parsing(word))
        list_add(&r->flags, word);
    if (option_rest(word, "-Wp,"))
        split_words(option_rest(word, "-Wp,"), &r->preprocessor);
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

static explain_t read_explain(const char *value)
{
    static const name_t forms[] = {
        {"text", EXPLAIN_TEXT}, {"json", EXPLAIN_JSON}, {"svg", EXPLAIN_SVG}, {NULL, 0}};
    int form = find_name(forms, value, NOT_A_SOURCE);
    if (form != NOT_A_SOURCE)
        return (explain_t)form;
    diag_plain(SEVERITY_ERROR, "unknown form '%s' in '--explain=%s'", value, value);
    diag_plain(SEVERITY_NOTE, "forms are text, which is the default, json, and svg");
    return EXPLAIN_TEXT;
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
        return o->explain = EXPLAIN_TEXT, true;
    if (strcmp(word, "--update") == 0)
        return o->update = true;
    if (strcmp(word, "--suggest") == 0)
        return o->suggest = true;
    if (strcmp(word, "--accesses") == 0)
        return o->accesses = true;
    if (strcmp(word, "--in-place") == 0)
        return o->in_place = true;
    if (is_any(word, (const char *const[]){"-fkmm-auto", "-fno-kmm-auto", NULL}))
        return o->automatic = strcmp(word, "-fkmm-auto") == 0, true;
    if (is_any(word, (const char *const[]){"-fkmm-clone", "-fno-kmm-clone", NULL}))
        return o->clones_all = strcmp(word, "-fkmm-clone") == 0, true;
    if (is_any(word,
               (const char *const[]){"-fkmm-index-elsewhere", "-fno-kmm-index-elsewhere", NULL}))
        return o->no_index_elsewhere = strcmp(word, "-fno-kmm-index-elsewhere") == 0, true;
    if (is_any(word, (const char *const[]){"-fkmm-compare", "-fno-kmm-compare", NULL}))
        return o->no_compare = strcmp(word, "-fno-kmm-compare") == 0, true;
    if (is_any(word, (const char *const[]){"-fkmm-check", "-fno-kmm-check", NULL})) {
        o->checks = strcmp(word, "-fkmm-check") == 0;
        o->checks_all = false;
        return true;
    }
    if (strcmp(word, "-fkmm-check=all") == 0)
        return o->checks = o->checks_all = true;
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

/* The value is as in gcc's option -fdiagnostics-add-output=. */
static void read_output(const char *value)
{
    const char *path = option_rest(value, "sarif:file=");
    if (path && *path)
        sarif_start(path);
    else
        diag_plain(SEVERITY_ERROR, "'%s' is no output of messages; there is sarif:file=FILE",
                   value);
}

static const char *own_value(const char *word, const char *name)
{
    const char *value = option_rest(word, name);
    if (value && !*value)
        diag_plain(SEVERITY_ERROR, "'%s' needs a value after the '='", word);
    return value;
}

/* True if the word is kmmcc's alone and is not passed on. */
static bool read_own(options_t *o, const char *word)
{
    const char *value = option_rest(word, "--target=");
    if (value && !strchr(value, '-')) /* clang's triples have dashes */
        return o->target = read_target(value), true;
    if ((value = own_value(word, "--compiler=")))
        return o->compiler = value, true;
    if ((value = own_value(word, "--emit-source=")))
        return o->emit_source = value, true;
    if ((value = own_value(word, "--check=")))
        return o->check_file = value, true;
    if ((value = own_value(word, "--check-dir=")))
        return o->check_dir = value, true;
    if ((value = option_rest(word, "--explain=")))
        return o->explain = read_explain(value), true;
    if ((value = own_value(word, "-fkmm-manage=")))
        return o->manage = read_manage(value), true;
    if ((value = option_rest(word, "-fkmm-diagnostics-add-output=")))
        return read_output(value), true;
    if (read_flag(o, word))
        return true;
    if (!option_rest(word, "-fkmm") && !option_rest(word, "-fno-kmm"))
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

/* Argument k as it was typed, and the words [first, last) that it expands to. */
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
        const char *file = response_option(argv, k, argc, &takes_next);
        *t = (typed_t){
            .text = argv[k], .value = takes_next ? argv[k + 1] : NULL, .first = r->words.count};
        if (!file)
            response_expand(argv[k], &r->words, 0);
        else if (!response_read(file, &r->words, 0))
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
    read_host_words(&r, &r.preprocessor);
    if (r.lang_of_all)
        force_all(&r);
    keep_original(&r, typed, count);
    o->arguments = r.arguments;
    o->parse_flags = r.flags.item;
    o->parse_flag_count = r.flags.count;
    if (o->automatic && o->manage == MANAGE_AUTO)
        o->manage = MANAGE_ALL; /* launches that get no pragma are managed, too */
    if (o->in_place && !o->suggest)
        diag_plain(SEVERITY_ERROR, "'--in-place' goes with '--suggest'");
    if (o->update && !o->check_dir)
        diag_plain(SEVERITY_ERROR, "'--update' goes with '--check-dir='");
    if (o->check_dir &&
        (o->emit_source || o->check_file || o->diff || o->explain || o->accesses || o->suggest))
        diag_plain(SEVERITY_ERROR, "'--check-dir=' goes with no other way to look at a file");
    return diag_error_count() ? NULL : o;
}
