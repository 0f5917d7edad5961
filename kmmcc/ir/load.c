/* SPDX-License-Identifier: Apache-2.0 */
/* Loads the graphs of a file's kernels: runs clang, which writes IR, and calls the module that
 * reads it. */
#include "ir/load.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/install.h"
#include "base/list.h"
#include "base/process.h"
#include "base/text.h"
#include "base/toolchain.h"
#include "clang/cache.h"
#include "clang/cursor.h"
#include "clang/flags.h"

/* The module is never closed: graphs belong to it. */
static void *library(const char **reason)
{
    static void *found;
    if (found)
        return found;
    const char *path = arena_printf("%s/kmm/kmm-ir-" KMM_LLVM_VERSION ".so", install_path("lib"));
    found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!found)
        *reason = arena_printf("%s", dlerror());
    return found;
}

static ir_analyze_fn *module(const char **reason)
{
    void *from = library(reason);
    return from ? (ir_analyze_fn *)dlsym(from, "kmm_ir_analyze") : NULL;
}

/* True if *of is not the path of the file that is compiled, which it then becomes. One run of kmmcc
 * may compile several files, and each of them more than once. */
static bool is_other(const unit_t *main, const char **of)
{
    bool other = !*of || strcmp(*of, main->path) != 0;
    *of = main->path;
    return other;
}

/* The line of the messages in which the first error stands, or the first line where none does. */
static const char *first_error(const text_t *t)
{
    const char *text = t->length ? arena_printf("%.*s", (int)t->length, t->data) : "";
    const char *error = strstr(text, "error: "), *line = error ? error : text;
    while (line > text && line[-1] != '\n')
        line--;
    return arena_copy(line, strcspn(line, "\n"));
}

static int run(const unit_t *main, const flags_t *f, const char *out, text_t *messages)
{
    static const char *const rest[] = {"-c",
                                       "-emit-llvm",
                                       "-Xclang",
                                       "-disable-llvm-passes",
                                       "-w",
                                       "-gline-tables-only",
                                       "-fno-discard-value-names"};
    list_t command = {0};
    list_add(&command, KMM_CLANG);
    for (int k = 0; k < f->count; k++)
        list_add(&command, f->flag[k]);
    for (size_t k = 0; k < sizeof(rest) / sizeof(*rest); k++)
        list_add(&command, rest[k]);
    list_add(&command, main->path);
    list_add(&command, "-o");
    list_add(&command, out);
    return process_run_quiet(&command, messages);
}

/* Returns the flags for one side of the source. */
typedef flags_t side_fn(const unit_t *main, headers_t headers);

/* The headers are precompiled where that goes well. Otherwise clang's message names their file. */
static bool run_with(const unit_t *main, side_fn *side, headers_t headers, const char *out,
                     text_t *messages)
{
    flags_t f = side(main, headers);
    const char *precompiled = cache_headers(cache_leading(main), f.flag, f.count, false);
    if (precompiled) {
        flags_t with = side(main, headers);
        flags_add(&with, "-include-pch");
        flags_add(&with, precompiled);
        if (run(main, &with, out, messages) == 0)
            return true;
        if (messages->length && !strstr(messages->data, precompiled))
            return false;
        *messages = (text_t){0};
    }
    return run(main, &f, out, messages) == 0;
}

/* The bitcode of one side of the file; NULL: clang has said why not. The first headers are those
 * with which the host's part was parsed. */
static const char *compile(const unit_t *main, side_fn *side, const char *name, const char **reason)
{
    if (access(KMM_CLANG, X_OK) != 0) {
        *reason = "there is no program " KMM_CLANG;
        return NULL;
    }
    const char *out = process_file(process_folder(true), name);
    text_t messages = {0};
    headers_t last = toolchain_cuda() && main->lang != LANG_HIP ? HEADERS_TEXTURES : HEADERS_OWN;
    for (headers_t headers = main->headers; headers <= last; headers++) {
        messages = (text_t){0};
        if (run_with(main, side, headers, out, &messages))
            return out;
    }
    *reason = first_error(&messages);
    return NULL;
}

ir_function_t **ir_functions(const unit_t *main, const char **reason)
{
    static const char *of;
    static ir_function_t **functions;
    static const char *why;
    if (is_other(main, &of)) {
        functions = NULL;
        why = "";
        ir_analyze_fn *analyze = module(&why);
        const char *bitcode = analyze ? compile(main, flags_of_device, "kernels.bc", &why) : NULL;
        if (bitcode)
            functions = analyze(bitcode, NULL, &why);
    }
    *reason = why;
    return functions;
}

/* Clang gives kernels that only this file knows a name for the device that no other file has: it
 * puts a hash behind a word. */
static bool is_name(const char *of_device, const char *name)
{
    static const char *const words[] = {"__intern__", "__static__"};
    size_t length = strlen(name);
    if (strncmp(of_device, name, length) != 0)
        return false;
    for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
        if (!strncmp(of_device + length, words[k], strlen(words[k])))
            return true;
    return !of_device[length];
}

const ir_function_t *ir_function(const unit_t *main, const char *name)
{
    const char *reason;
    ir_function_t **list = ir_functions(main, &reason);
    for (; list && *list; list++)
        if (is_name((*list)->name, name))
            return *list;
    return NULL;
}

/* The kernel's name in code for the device. For the host, clang puts a word before the name, which
 * the length before the name counts. */
static const char *device_name(CXCursor kernel)
{
    static const char word[] = "__device_stub__";
    const char *name = clang_text(clang_Cursor_getMangling(kernel)), *at = strstr(name, word);
    if (!at)
        return name;
    size_t length = strlen(cursor_name(kernel)), digits = 0;
    for (size_t left = length + strlen(word); left; left /= 10)
        digits++;
    if (at < name + digits || name[0] != '_')
        return arena_printf("%.*s%s", (int)(at - name), name, at + strlen(word));
    return arena_printf("%.*s%zu%s", (int)(at - name - (long)digits), name, length,
                        at + strlen(word));
}

const ir_function_t *ir_function_of(const unit_t *main, CXCursor kernel)
{
    return ir_function(main, device_name(kernel));
}

/* ---- Launches ---- */

/* As libclang parses the file. Clang's program would add operators new that kmm's headers have. */
static flags_t flags_of_launches(const unit_t *main, headers_t headers)
{
    flags_t f = flags_of(main, headers);
    if (headers <= HEADERS_OWN)
        flags_add(&f, "-D__CLANG_CUDA_WRAPPERS_NEW");
    return f;
}

const ir_launch_t *ir_launches(const unit_t *main, int *count, const char **reason)
{
    static const char *of;
    static ir_launch_t *launches;
    static int number;
    static const char *why;
    if (is_other(main, &of)) {
        launches = NULL;
        why = "";
        void *from = library(&why);
        ir_launches_fn *find = from ? (ir_launches_fn *)dlsym(from, "kmm_ir_launches") : NULL;
        const char *bitcode = find ? compile(main, flags_of_launches, "launches.bc", &why) : NULL;
        if (bitcode)
            launches = find(bitcode, &number, &why);
    }
    *reason = why;
    *count = launches ? number : 0;
    return launches;
}

/* ---- Plain functions ---- */

/* The bitcode of the file, compiled for the host; NULL: it does not compile so. */
static const char *compile_host(const unit_t *main)
{
    headers_t headers = is_device_lang(main->lang) ? flags_last_headers(main) : HEADERS_OWN;
    flags_t f = flags_of(main, headers);
    const char *out = process_file(process_folder(true), "functions.bc");
    text_t messages = {0};
    flags_add(&f, "-O1"); /* otherwise functions are marked as not to be looked into */
    return access(KMM_CLANG, X_OK) == 0 && run(main, &f, out, &messages) == 0 ? out : NULL;
}

/* A function that was asked for, and what is known of it. */
typedef struct known {
    struct known *next;
    const char *name;
    const ir_function_t *function;
} known_t;

/* The same, made once. */
static const char *host_bitcode(const unit_t *main)
{
    static const char *of;
    static const char *bitcode;
    if (is_other(main, &of))
        bitcode = compile_host(main);
    return bitcode;
}

const ir_gap_t *ir_prove(const unit_t *main, CXCursor function, const ir_role_t *role, int count,
                         uint64_t axes, const char **reason)
{
    void *from = library(reason);
    ir_prove_fn *prove = from ? (ir_prove_fn *)dlsym(from, "kmm_ir_prove") : NULL;
    const char *bitcode = prove ? host_bitcode(main) : NULL;
    if (bitcode) {
        *reason = NULL;
        return prove(bitcode, clang_text(clang_Cursor_getMangling(function)), role, count, axes);
    }
    if (prove)
        *reason = "clang does not compile it for the host";
    return NULL;
}

const ir_function_t *ir_plain_function_of(const unit_t *main, CXCursor function)
{
    static const char *of;
    static const char *bitcode;
    static known_t *known;
    const char *why = "", *name = clang_text(clang_Cursor_getMangling(function));
    ir_analyze_fn *analyze = module(&why);
    if (is_other(main, &of)) {
        bitcode = analyze ? host_bitcode(main) : NULL;
        known = NULL;
    }
    for (known_t *k = known; k; k = k->next)
        if (!strcmp(k->name, name))
            return k->function;
    ir_function_t **list = analyze && bitcode ? analyze(bitcode, name, &why) : NULL;
    known_t *k = arena_alloc(sizeof(*k));
    *k = (known_t){known, name, list ? *list : NULL};
    known = k;
    return k->function;
}
