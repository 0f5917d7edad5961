/* SPDX-License-Identifier: Apache-2.0 */
/* The options of the command line: filled in by driver/options.c and read by every stage. */
#ifndef KMMCC_BASE_OPTIONS_H
#define KMMCC_BASE_OPTIONS_H

#include <stdbool.h>

typedef enum lang { LANG_NONE, LANG_C, LANG_CXX, LANG_CUDA, LANG_HIP } lang_t;
typedef enum target { TARGET_AUTO, TARGET_HOST, TARGET_CUDA, TARGET_HIP } target_t;
typedef enum manage { MANAGE_AUTO, MANAGE_ALL, MANAGE_NONE } manage_t;
typedef enum explain { EXPLAIN_NOTHING, EXPLAIN_TEXT, EXPLAIN_JSON, EXPLAIN_SVG } explain_t;
typedef enum action {
    ACTION_COMPILE,
    ACTION_HELP,
    ACTION_WARNINGS,
    ACTION_VERSION,
    ACTION_LINK_FLAGS
} action_t;

/* What an argument on the command line is for. */
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
    /* The real compiler's arguments, in order, response files expanded. */
    const argument_t *arguments;
    int argument_count;
    const char **original; /* the same as typed, response files as they were */
    int original_count;
    int source_count;
    const char **parse_flags; /* those that parsing needs: -I -D -U -std -include -isystem ... */
    int parse_flag_count;
    const char *output;                /* -o */
    const char *compiler;              /* --compiler= */
    const char *host_compiler;         /* -ccbin */
    const char *emit_source;           /* --emit-source[=FILE]; "" is stdout */
    const char *check_file;            /* --check= */
    const char *check_dir;             /* --check-dir= */
    const char *dep_file, *dep_target; /* -MF; -MT or -MQ */
    target_t target;         /* --target=, of CUDA source; never TARGET_AUTO once files are read */
    target_t hip_target;     /* the same for HIP source; TARGET_CUDA: HIP for NVIDIA's GPUs */
    bool ignores_pragmas;    /* -fno-kmm */
    bool clones_all;         /* -fkmm-clone */
    bool no_index_elsewhere; /* -fno-kmm-index-elsewhere */
    bool no_compare;         /* -fno-kmm-compare */
    bool checks;             /* -fkmm-check */
    bool checks_all;         /* -fkmm-check=all */
    manage_t manage;         /* -fkmm-manage= */
    bool fibers;             /* -fkmm-fibers */
    bool random;             /* -fkmm-random */
    bool diff;               /* --diff */
    explain_t explain;       /* --explain[=FORM] */
    bool suggest;            /* --suggest */
    bool accesses;           /* --accesses */
    bool in_place;           /* --in-place */
    bool update;             /* --update */
    bool automatic;          /* -fkmm-auto */
    bool compile_only;       /* stops before linking: -c, -S, -E, -M, -dc, -ptx ... */
    bool preprocess_only;    /* -E, -M, -MM */
    bool deps, deps_only;    /* -MD or -MMD; -M or -MM */
    bool is_static, makes_library; /* -static; -shared, -r */
    bool makes_archive;            /* nvcc's -lib */
    bool links_devices;            /* nvcc's -dlink: an object with the code of devices */
    bool nvcc_only;                /* some argument is one that only nvcc understands */
    bool host_only;                /* some argument is one that only gcc and clang understand */
    bool has_input;                /* some file, or stdin, is named */
    lang_t stdin_lang;             /* of `-`, as -x says */
    bool has_hip_options;          /* some argument is one that only hipcc and clang understand */
    bool relocatable; /* -rdc=true, -dc, -fgpu-rdc: files share the variables of devices */
    bool dry_run, verbose, debug_info;
} options_t;

/* True if files of the language have kernels. */
static inline bool is_device_lang(lang_t lang)
{
    return lang == LANG_CUDA || lang == LANG_HIP;
}

#endif
