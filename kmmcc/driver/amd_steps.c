/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `hipcc -###` prints its steps, a command on a line, with each word in quotes. A step in which
 * clang makes code for a GPU becomes two: clang first writes the optimized IR as text; then, after
 * calls of the check were added, clang compiles that text to what the step was to make.
 */
#include "driver/amd_steps.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "amd/check.h"
#include "base/arena.h"
#include "base/diag.h"
#include "base/path.h"
#include "base/process.h"
#include "base/source.h"
#include "base/text.h"
#include "driver/steps.h"
#include "driver/write.h"

/* ---- Reading a step ---- */

/* Reads a line of words in quotes: ` "clang" "-cc1" "a\"b"`. */
static list_t words_of(const char *line)
{
    list_t words = {0};
    while (*(line += strspn(line, " ")) == '"') {
        text_t word = {0};
        text_add(&word, "", 0);
        for (line++; *line && *line != '"'; line++) {
            line += *line == '\\' && line[1];
            text_add(&word, line, 1);
        }
        line += *line == '"';
        list_add(&words, word.data);
    }
    return words;
}

static bool has(const list_t *words, const char *word)
{
    for (int k = 0; k < words->count; k++)
        if (!strcmp(words->item[k], word))
            return true;
    return false;
}

/* The word behind the last one of that name; "": there is none. */
static const char *behind(const list_t *words, const char *word)
{
    for (int k = words->count - 1; k-- > 0;)
        if (!strcmp(words->item[k], word))
            return words->item[k + 1];
    return "";
}

static bool is_of_device(const list_t *words)
{
    return has(words, "-cc1") && has(words, "-fcuda-is-device");
}

/* What clang makes: a word of its command. NULL: nothing that is checked, as preprocessed text. */
static const char *product_of(const list_t *words)
{
    static const char *const products[] = {"-emit-obj", "-S", "-emit-llvm", "-emit-llvm-bc", NULL};
    for (int k = 0; k < words->count; k++)
        if (text_is_one_of(words->item[k], products))
            return words->item[k];
    return NULL;
}

/* Reports a step whose code cannot be checked. */
static bool refuses(const list_t *words, const char *path)
{
    const char *why = NULL;
    if (strncmp(behind(words, "-triple"), "amdgcn", strlen("amdgcn")))
        why = "as code of that kind (SPIR-V): compile for GPUs by their names, as "
              "--offload-arch=gfx90a";
    else if (has(words, "-fgpu-rdc"))
        why = "with relocatable device code, because it does not see device functions of other "
              "files: leave out -fgpu-rdc";
    else if (has(words, "-flto=full") || has(words, "-flto=thin") || has(words, "-flto"))
        why = "with optimisation while linking: leave out -foffload-lto";
    else if (has(words, "-emit-llvm-uselists") || has(words, "-disable-llvm-passes"))
        why = "in more steps than clang takes by itself: leave out -save-temps and "
              "-disable-llvm-passes";
    if (why)
        diag_plain(SEVERITY_ERROR, "-fkmm-check cannot check '%s' %s", path, why);
    return why;
}

/* ---- Device code ---- */

/* The step with another product. */
static list_t with_product(const list_t *words, const char *product, const char *output)
{
    list_t out = {0};
    for (int k = 0; k < words->count; k++) {
        bool is_output = k && !strcmp(words->item[k - 1], "-o");
        const char *word = words->item[k];
        list_add(&out, is_output ? output : word == product_of(words) ? product : word);
    }
    return out;
}

/* The step that goes on from IR. Headers, libraries in IR and dependencies are done with.
 * kmm_check_access is called, so calls are not off. */
static list_t from_ir(const list_t *words, const char *input)
{
    static const char *const dropped[] = {"-mlink-builtin-bitcode", "-include", "-include-pch",
                                          "-dependency-file",       "-MT",      NULL};
    static const char *const language = "-x";
    list_t out = {0};
    for (int k = 0; k < words->count; k++) {
        const char *word = words->item[k], *next = k + 1 < words->count ? words->item[k + 1] : "";
        bool is_calls = !strcmp(word, "-mllvm") && !strcmp(next, "-amdgpu-function-calls=false");
        if (text_is_one_of(word, dropped) || is_calls) {
            k++;
        } else if (!strcmp(word, language)) {
            list_add(&out, language);
            list_add(&out, "ir");
            list_add(&out, input);
            break;
        } else if (strcmp(word, "-sys-header-deps")) {
            list_add(&out, word);
        }
    }
    return out;
}

static int run(const options_t *o, const list_t *words)
{
    if (o->verbose)
        process_print(words);
    return process_run(words);
}

/* Whether the IR is of a release whose pointers have no types. */
static bool is_new_enough(const char *ir, const char *path)
{
    if (!strstr(ir, "\ndefine ") || strstr(ir, "(ptr ") || strstr(ir, " ptr ") || !strstr(ir, "* "))
        return true;
    diag_plain(
        SEVERITY_ERROR,
        "-fkmm-check cannot check '%s': hipcc writes IR of pointers with types; it has to be "
        "of LLVM 15 or later",
        path);
    return false;
}

static int run_device_step(const options_t *o, const list_t *words, const char *folder,
                           const char *path)
{
    const char *product = product_of(words);
    if (!product)
        return run(o, words);
    if (refuses(words, path))
        return 1;
    const char *name = path_base(behind(words, "-o"));
    const char *before = process_file(folder, arena_printf("%s.ll", name)),
               *checked = process_file(folder, arena_printf("%s.checked.ll", name));
    list_t first = with_product(words, "-emit-llvm", before), last = from_ir(words, checked);
    int status = run(o, &first);
    if (status)
        return status;
    const source_t *ir = source_read(before);
    if (!ir)
        return diag_plain(SEVERITY_ERROR, "cannot read '%s': %s", before, strerror(errno)), 1;
    const char *text = is_new_enough(ir->text, path) ? amd_check_module(ir->text, path) : NULL;
    if (!text || write_text(checked, text) != 0)
        return 1;
    return run(o, &last);
}

/* ---- All steps ---- */

/* Lines that are no commands are what hipcc says, of which warnings and errors matter. */
static void pass_on(const options_t *o, const char *line)
{
    if (o->verbose || strstr(line, "warning: ") || strstr(line, "error: "))
        fprintf(stderr, "%s\n", line);
}

/* Runs the steps, unless hipcc has `failed` to say them all. */
static int run_steps(const options_t *o, const char *steps, int failed, const char *folder,
                     const char *path)
{
    int status = failed;
    for (size_t length; *steps && status == failed; steps += length + (steps[length] == '\n')) {
        length = strcspn(steps, "\n");
        const char *line = arena_copy(steps, length);
        list_t words = strncmp(line, " \"", 2) ? (list_t){0} : words_of(line);
        if (!words.count)
            pass_on(o, line);
        else if (!failed)
            status =
                is_of_device(&words) ? run_device_step(o, &words, folder, path) : run(o, &words);
    }
    return status;
}

int amd_steps_run(const options_t *o, const list_t *command, const char *folder, const char *path)
{
    text_t steps = {0};
    list_t dry = {0};
    const char *own = process_file(folder, "steps");
    if (mkdir(own, 0700) != 0 && errno != EEXIST)
        return diag_plain(SEVERITY_ERROR, "cannot make '%s': %s", own, strerror(errno)), 1;
    list_add(&dry, "/bin/sh");
    list_add(&dry, "-c");
    list_add(&dry, "TMPDIR=\"$0\" exec \"$@\""); /* the files between the steps are there */
    list_add(&dry, own);
    for (int k = 0; k < command->count; k++)
        list_add(&dry, command->item[k]);
    list_add(&dry, "-###");
    if (o->verbose)
        process_print(command);
    text_add(&steps, "", 0);
    int status = process_run_quiet(&dry, &steps);
    steps_remember(steps.data, own);
    status = run_steps(o, steps.data, status, own, path);
    diag_flush();
    return status;
}
