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
static ir_analyze_fn *module(const char **reason)
{
    static ir_analyze_fn *found;
    if (found)
        return found;
    const char *path = arena_printf("%s/kmm-ir-" KMM_LLVM_VERSION ".so", install_path("lib"));
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library)
        found = (ir_analyze_fn *)dlsym(library, "kmm_ir_analyze");
    else
        *reason = arena_printf("%s", dlerror());
    return found;
}

static char *first_line(text_t *t)
{
    char *line = t->length ? arena_printf("%.*s", (int)t->length, t->data) : "";
    line[strcspn(line, "\n")] = 0;
    return line;
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

/* The headers are precompiled where that goes well. Otherwise clang's message names their file. */
static bool run_with(const unit_t *main, headers_t headers, const char *out, text_t *messages)
{
    flags_t f = flags_of_device(main, headers);
    const char *precompiled = cache_headers(cache_leading(main), f.flag, f.count, false);
    if (precompiled) {
        flags_t with = flags_of_device(main, headers);
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

/* The bitcode of the file; NULL: clang has said why not. The first headers are those with which the
 * host's part was parsed. */
static const char *compile(const unit_t *main, const char **reason)
{
    if (access(KMM_CLANG, X_OK) != 0) {
        *reason = "there is no program " KMM_CLANG;
        return NULL;
    }
    const char *out = process_file(process_folder(true), "kernels.bc");
    text_t messages = {0};
    headers_t last = toolchain_cuda() && main->lang != LANG_HIP ? HEADERS_TEXTURES : HEADERS_OWN;
    for (headers_t headers = main->headers; headers <= last; headers++) {
        messages = (text_t){0};
        if (run_with(main, headers, out, &messages))
            return out;
    }
    *reason = first_line(&messages);
    return NULL;
}

ir_function_t **ir_functions(const unit_t *main, const char **reason)
{
    static const unit_t *of;
    static ir_function_t **functions;
    static const char *why;
    if (of != main) {
        of = main;
        functions = NULL;
        why = "";
        ir_analyze_fn *analyze = module(&why);
        const char *bitcode = analyze ? compile(main, &why) : NULL;
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

const ir_function_t *ir_plain_function_of(const unit_t *main, CXCursor function)
{
    static const unit_t *of;
    static const char *bitcode;
    static known_t *known;
    const char *why = "", *name = clang_text(clang_Cursor_getMangling(function));
    ir_analyze_fn *analyze = module(&why);
    if (of != main) {
        bitcode = analyze ? compile_host(main) : NULL;
        known = NULL;
    }
    of = main;
    for (known_t *k = known; k; k = k->next)
        if (!strcmp(k->name, name))
            return k->function;
    ir_function_t **list = analyze && bitcode ? analyze(bitcode, name, &why) : NULL;
    known_t *k = arena_alloc(sizeof(*k));
    *k = (known_t){known, name, list ? *list : NULL};
    known = k;
    return k->function;
}
