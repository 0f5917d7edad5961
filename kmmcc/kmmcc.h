/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kmmcc, the whole program's table of contents, in the order in which a file passes through it:
 *
 *     options -> source -> pragma -> parse -> bind -> declare -> check -> clone | host -> rewrite
 * -> emit -> driver
 *
 * All memory comes from one arena and is freed at exit. Every stage reports all the errors it can
 * find through diag and returns; `unit_failed` is asked between stages.
 */
#ifndef KMMCC_H
#define KMMCC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <clang-c/Index.h>

/* ---- arena.c ---- */
void *arena_alloc(size_t bytes); /* zeroed; never NULL */
char *arena_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *arena_copy(const char *text, size_t length); /* NUL-terminated */

/* Growing text. */
typedef struct text {
    char *data;
    size_t length, capacity;
} text_t;
void text_add(text_t *t, const char *s, size_t length);
void text_printf(text_t *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ---- options.c: the command line ---- */
typedef enum lang { LANG_NONE, LANG_C, LANG_CXX, LANG_CUDA, LANG_HIP } lang_t;
typedef enum target { TARGET_AUTO, TARGET_HOST, TARGET_CUDA, TARGET_HIP } target_t;
typedef enum manage { MANAGE_AUTO, MANAGE_ALL, MANAGE_NONE } manage_t;
typedef enum action {
    ACTION_COMPILE,
    ACTION_HELP,
    ACTION_WARNINGS,
    ACTION_VERSION,
    ACTION_LINK_FLAGS
} action_t;

/* What an argument of the real compiler is, when a command line is taken apart. */
typedef enum role {
    ROLE_OPTION,  /* for compiling and linking alike, and everything unknown */
    ROLE_COMPILE, /* only for compiling: -I, -D ... */
    ROLE_DEPEND,  /* -MD, -MF ... */
    ROLE_LINK,    /* objects, archives, -L, -l, -Xlinker ... */
    ROLE_SOURCE,  /* a file to compile */
    ROLE_OUTPUT,  /* -o */
    ROLE_MODE,    /* -c, -S, -E ...: where to stop */
    ROLE_LANG     /* -x */
} role_t;

typedef struct argument {
    const char *text;
    role_t role;
    lang_t lang;    /* of a ROLE_SOURCE; LANG_NONE is a kind of file kmmcc never transforms */
    bool forced;    /* its language comes from -x */
    bool is_value;  /* belongs to the option before it */
    bool nvcc_only; /* no other compiler understands it */
    bool hip_only;  /* only hipcc, and clang, understand it */
} argument_t;

typedef struct options {
    action_t action;
    const argument_t
        *arguments; /* everything that is the real compiler's, in order, response files expanded */
    int argument_count;
    const char **original; /* the same as it was typed: response files as they were */
    int original_count;
    int source_count;
    const char *
        *parse_flags; /* the part of them that parsing needs: -I -D -U -std -include -isystem ... */
    int parse_flag_count;
    const char *output;                /* -o */
    const char *compiler;              /* --compiler= */
    const char *host_compiler;         /* -ccbin */
    const char *emit_source;           /* --emit-source[=FILE]; "" is stdout */
    const char *check_file;            /* --check= */
    const char *dep_file, *dep_target; /* -MF; -MT or -MQ */
    target_t
        target; /* --target=, for CUDA source; resolved by the driver before any file is read */
    target_t hip_target;           /* the same for HIP source; TARGET_CUDA: HIP for NVIDIA's GPUs */
    bool ignores_pragmas;          /* -fno-kmm */
    bool clones_all;               /* -fkmm-clone */
    bool no_index_elsewhere;       /* -fno-kmm-index-elsewhere */
    manage_t manage;               /* -fkmm-manage= */
    bool fibers;                   /* -fkmm-fibers */
    bool random;                   /* -fkmm-random */
    bool diff;                     /* --diff */
    bool explain;                  /* --explain */
    bool compile_only;             /* stops before linking: -c, -S, -E, -M, -dc, -ptx ... */
    bool preprocess_only;          /* -E, -M, -MM */
    bool deps, deps_only;          /* -MD or -MMD; -M or -MM */
    bool is_static, makes_library; /* -static; -shared, -r, nvcc's -lib and -dlink */
    bool nvcc_only,
        host_only;     /* some argument is one that only nvcc, or only gcc and clang, understand */
    bool has_input;    /* some file, or stdin, is named */
    lang_t stdin_lang; /* of `-`, as -x says */
    bool has_hip_options; /* some argument is one that only hipcc and clang understand */
    bool relocatable;     /* -rdc=true, -dc, -fgpu-rdc: files share the variables of devices */
    bool dry_run, verbose, debug_info;
} options_t;

/* Reads the command line. NULL after errors have been printed. */
options_t *options_read(int argc, char **argv);
/* Appends `argument` in the spelling of gcc and clang to list; drops it if they have no use for it.
 */
typedef struct list {
    const char **item;
    int count, capacity;
} list_t; /* item[count] is NULL */
void list_add(list_t *l, const char *item);
void options_translate(const options_t *o, int index, list_t *list);

/* ---- source.c: a file and places in it ---- */
typedef struct source {
    const char *path; /* as the user wrote it */
    const char *text; /* NUL-terminated */
    size_t length;
    const size_t *lines; /* offset at which line k + 1 begins */
    unsigned line_count;
    bool completed; /* the text is no longer what the file holds: macros are expanded, or pragmas
                       completed */
} source_t;

source_t *source_read(const char *path); /* NULL: errno says why */
source_t *source_from(const char *path, const char *text, size_t length);
void source_place(const source_t *s, size_t offset, unsigned *line, unsigned *column); /* 1-based */
/* Whether a `#pragma kmm` or `_Pragma("kmm` stands in the text outside comments and strings. */
bool source_has_pragma(const source_t *s);

/* ---- includes.c: which headers of the program a source includes, whatever #if says ---- */
typedef struct include_file include_file_t;
/* The name with its quotes, or what a macro makes it of: then there may be several for one place,
 * of which #if chooses. */
typedef struct include {
    size_t begin, end;
    include_file_t *file;
    bool quoted, by_macro, chosen;
} include_t;
struct include_file {
    const char *path, *real; /* as the program names it first; without links and dots */
    const source_t *source;
    bool has_pragma;
    include_t *include;
    int include_count, include_capacity;
    bool reaches_change; /* by transform.c */
};
typedef struct includes {
    include_file_t **file; /* file[0] is the source itself */
    int count;
    unsigned uses; /* USES_... of driver.h */
} includes_t;
const includes_t *includes_read(const options_t *o, const source_t *source);
bool includes_have_pragma(const includes_t *i);

/* ---- diag.c: messages in clang's form, on stderr, sorted by place within a file ---- */
typedef enum severity { SEVERITY_NOTE, SEVERITY_WARNING, SEVERITY_ERROR } severity_t;
/* [begin, end) is underlined, the caret stands at begin. Names the file, line and column, prints
 * the line. A note belongs to the message before it. A warning ends with its name, "
 * [-Wkmm-whole]", by which the command line turns it off or into an error. */
void diag_at(severity_t severity, const source_t *s, size_t begin, size_t end, const char *format,
             ...) __attribute__((format(printf, 5, 6)));
void diag_plain(severity_t severity, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What to write in place of [begin, end) of the file of the message before it, or the note. Shown
 * below the caret when it is on its line; several belong together. */
void diag_fix(size_t begin, size_t end, const char *text);
void diag_parseable_fixes(bool on); /* -fdiagnostics-parseable-fixits */
void diag_warnings_list(void);      /* on stdout */
int diag_error_count(void);
/* Messages since the last flush; [first, last) of them can be taken back, as long as nothing has
 * been flushed. */
int diag_count(void);
void diag_retract(int first, int last);
void diag_colour(bool on);
/* Obeys -W[no-][error=]kmm[-name], -Werror, -Wno-error and -w; true if the option is kmmcc's alone.
 */
bool diag_warning_option(const char *option);
void diag_flush(
    void); /* prints what has come since the last flush; the driver does so after each file */
void diag_summary(void); /* flushes and prints "1 warning and 2 errors generated." */

/* ---- A translation unit on its way ---- */
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

typedef struct directive directive_t; /* directive.h: what one pragma says, and what it governs */

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
    struct mistake
        *mistakes;     /* transform.c: pragmas that could not be parsed, the last one first */
    size_t include_at; /* before this declaration kmm's header is included; SIZE_MAX: nowhere */
    const includes_t *includes; /* of the main one */
    struct function *functions; /* reach.c; of the main one */
    const char *prefix;         /* clone.c; of the main one: what the names of copies begin with */
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

/* ---- The pipeline ---- */
/* A header that the new text includes in place of one of the program. */
typedef struct header {
    const char *path, *name, *text;
    const struct header *next;
} header_t;
/* Transforms one file that has a pragma, itself or in its headers, or any CUDA file when the target
 * is the host. Returns the new text, or NULL after errors have been printed. It includes *headers
 * by their names. */
char *transform(const options_t *o, lang_t lang, target_t target, const includes_t *includes,
                const header_t **headers);

/* Source that has kernels. */
static inline bool is_device_lang(lang_t lang)
{
    return lang == LANG_CUDA || lang == LANG_HIP;
}

/* host.c: appends the edits that turn all kernels and all launches of a parsed CUDA file into C++
 * for the CPU. Launches that a directive governs are edited here too (the text that replaces
 * `k<<<cfg>>>(args)`); rewrite.c puts the description of the launch before it. */
void host_kernels(unit_t *u);
/* clang arguments for parsing CUDA without a CUDA toolkit: -x cuda, -nocudainc, our header folder
 * ... */
void host_parse_flags(const options_t *o, const char ***flags, int *count);

/* ---- driver.c ---- */
/* Finds kmm's own files relative to the running program: "include", "lib". */
const char *driver_folder(const char *what);
int driver_run(options_t *o);

#endif
