/* SPDX-License-Identifier: Apache-2.0 */
/* Command lines that name no files: questions to a compiler, versions, --kmm-link-flags. */
#include "driver/question.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/install.h"
#include "base/list.h"
#include "base/process.h"
#include "base/toolchain.h"
#include "driver/compiler.h"
#include "driver/link.h"
#include "driver/run.h"

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Returns the compiler that a command line without files is for. -dump, -print and a lone -v are
 * for the C compiler, unless the command line names another one. */
static compiler_t asked_compiler(const options_t *o)
{
    bool c = false;
    for (int k = 0; k < o->argument_count; k++) {
        const char *text = o->arguments[k].text;
        c |= starts_with(text, "-dump") || starts_with(text, "-print") ||
             starts_with(text, "--print") || (strcmp(text, "-v") == 0 && o->argument_count == 1);
    }
    if (o->compiler)
        return toolchain_named(o->compiler);
    if (o->target == TARGET_HIP)
        return compiler_of_hip();
    return o->target == TARGET_CUDA && !c ? compiler_of_cuda() : compiler_of_c(o);
}

/* Meson asks what macros a C compiler has, and does not say which language it means. */
static bool is_question_to_c(const options_t *o, compiler_t compiler)
{
    bool asks = false;
    for (int k = 0; k < o->argument_count; k++)
        asks |= strcmp(o->arguments[k].text, "-dM") == 0;
    if (!asks || compiler.family != FAMILY_NVCC)
        return false;
    diag_plain(SEVERITY_ERROR, "'-dM' is a question to a C or C++ compiler, and '%s' is none",
               compiler.path);
    diag_plain(SEVERITY_NOTE, "name the compiler: 'kmmcc --compiler=cc', as in CC='kmmcc "
                              "--compiler=cc'; docs/linking.md says how Meson takes kmmcc");
    return true;
}

int question_pass(const options_t *o)
{
    compiler_t compiler = asked_compiler(o);
    if (!compiler.path || is_question_to_c(o, compiler))
        return 1;
    list_t command = {0};
    list_add(&command, compiler.path);
    for (int k = 0; k < o->original_count; k++)
        list_add(&command, o->original[k]);
    return run_in_place(o, &command);
}

int question_version(const options_t *o)
{
    compiler_t compiler = asked_compiler(o);
    printf("kmmcc %s (libclang %s)\n", install_version(), KMM_LLVM_VERSION);
    if (!compiler.path)
        return 1;
    printf("%s: %s\n",
           o->target == TARGET_CUDA  ? "CUDA compiler"
           : o->target == TARGET_HIP ? "HIP compiler"
                                     : "compiler",
           compiler.path);
    list_t command = {0};
    list_add(&command, compiler.path);
    list_add(&command, "--version");
    return process_replace(&command);
}

int question_link_flags(const options_t *o)
{
    bool cuda = o->target == TARGET_CUDA, hip = o->target == TARGET_HIP,
         managed = o->manage != MANAGE_NONE;
    list_t flags = {0};
    link_flags((link_kind_t){.needs_kmm = true,
                             .managed_cuda = cuda && managed,
                             .managed_hip = hip && managed,
                             .hosted = !cuda && !hip,
                             .checks = o->checks,
                             .is_program = true,
                             .needs_cxx = !cuda && !hip},
               &flags);
    for (int k = 0; k < flags.count; k++)
        printf("%s%s", k ? " " : "", flags.item[k]);
    printf("\n");
    return 0;
}
