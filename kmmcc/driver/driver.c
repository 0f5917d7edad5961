/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what happens to the files of a command line.
 *
 * If nothing is transformed and one compiler can do it all, that compiler gets the command line as
 * it was typed. Otherwise each source is compiled by a command of its own, transformed ones from a
 * temporary copy of the same name, and the objects are linked in the places of their sources.
 */
#include "driver/driver.h"

#include <stdbool.h>
#include <string.h>

#include "base/diag.h"
#include "base/list.h"
#include "base/toolchain.h"
#include "base/warning.h"
#include "driver/automatic.h"
#include "driver/cmake.h"
#include "driver/command.h"
#include "driver/compile.h"
#include "driver/compiler.h"
#include "driver/help.h"
#include "driver/instrument.h"
#include "driver/plan.h"
#include "driver/program.h"
#include "driver/question.h"
#include "driver/run.h"
#include "driver/show.h"
#include "driver/write.h"

/* ---- Linking ---- */

static int compile_and_link(plan_t *p)
{
    if (p->o->compile_only && p->job_count > 1 && p->o->output && !p->o->deps_only) {
        diag_plain(SEVERITY_ERROR, "-o names one file, but %d files are compiled", p->job_count);
        diag_plain(SEVERITY_NOTE, "compile them one by one, or leave out -c to link them");
        return 1;
    }
    if (!p->o->dry_run && !compile_transform_all(p))
        return 1;
    int status = 0;
    for (int k = 0; k < p->job_count; k++) {
        int result = compile_job(p, &p->jobs[k], k);
        status = status ? status : result;
    }
    return status || p->o->compile_only ? status : program_link(p);
}

/* ---- Untouched ---- */

static bool same(compiler_t a, compiler_t b)
{
    return a.path && b.path && strcmp(a.path, b.path) == 0;
}

/* True if one compiler can take the command line as it is. */
static bool is_one_command(const plan_t *p)
{
    if (plan_has_transformed(p) || (p->o->checks && p->job_count) || program_links_for_nvcc(p))
        return false;
    for (int k = 0; k < p->job_count;
         k++) /* has to be told that it is CUDA, and where HIP's headers are */
        if (p->jobs[k].lang == LANG_HIP && p->jobs[k].target == TARGET_CUDA)
            return false;
    for (int k = 1; k < p->job_count; k++)
        if (!same(p->jobs[k].compiler, p->jobs[0].compiler))
            return false;
    return p->o->compile_only || !p->job_count || same(p->jobs[0].compiler, p->linker);
}

static list_t original_command(const options_t *o, compiler_t compiler)
{
    list_t command = {0};
    list_add(&command, compiler.path);
    bool is_nvcc = compiler.family == FAMILY_NVCC, drops = false;
    for (int k = 0; k < o->argument_count; k++)
        drops |= command_drops(o, k) || (is_nvcc && command_is_for_linker(o, k));
    drops |= o->has_hip_options && !command_takes_hip(o, compiler);
    if (!drops && (is_nvcc || !o->nvcc_only)) {
        for (int k = 0; k < o->original_count; k++)
            if (is_nvcc && command_is_unknown_to_nvcc(o->original[k]))
                continue;
            else if (!command_is_colour(o->original[k]) || compiler.family == FAMILY_CLANG)
                list_add(&command, o->original[k]);
            else
                list_add(&command, o->original[k][2] == 'n' ? "-fdiagnostics-color=never"
                                                            : "-fdiagnostics-color=always");
        return command;
    }
    for (int k = 0; k < o->argument_count; k++)
        command_add_argument(o, k, compiler, &command);
    return command;
}

static int compile_untouched(const plan_t *p)
{
    const options_t *o = p->o;
    compiler_t compiler = p->job_count ? p->jobs[0].compiler : p->linker;
    list_t command = original_command(o, compiler);
    unsigned needs = 0;
    for (int k = 0; k < p->job_count; k++)
        needs |= command_headers_of(p, &p->jobs[k]);
    command_add_headers(o, needs, &command);
    if (cmake_asks(o))
        return cmake_answer(o, &command);
    if (!o->compile_only)
        program_add_flags(p, &command);
    return run_in_place(o, &command);
}

/* ---- The whole ---- */

static int compile_files(const options_t *o)
{
    plan_t *p = plan_make(o);
    if (diag_error_count())
        return 1;
    if (o->suggest)
        return automatic_suggest(p);
    if (o->automatic)
        automatic_choose_all(p);
    if (o->emit_source || o->check_file || o->check_dir || o->diff || o->explain || o->accesses)
        return show_all(p);
    compiler_choose(p);
    for (int k = 0; k < p->job_count && !diag_error_count(); k++)
        instrument_refuses(o, &p->jobs[k]);
    if (diag_error_count())
        return 1;
    return is_one_command(p) ? compile_untouched(p) : compile_and_link(p);
}

int driver_run(options_t *o)
{
    bool asked_of_compiler =
        o->compiler && (o->action == ACTION_HELP || o->action == ACTION_VERSION);
    if (o->action == ACTION_HELP && !asked_of_compiler)
        return help_print(), 0;
    if (o->action == ACTION_WARNINGS)
        return warning_list(), 0;
    if (o->action == ACTION_COMPILE && o->argument_count == 0) {
        diag_plain(SEVERITY_ERROR, "no files were named");
        diag_plain(SEVERITY_NOTE, "'kmmcc --help' tells what can be done with files");
        return 1;
    }
    compiler_resolve_target(o);
    if (diag_error_count())
        return 1;
    if (o->action == ACTION_VERSION && !asked_of_compiler)
        return question_version(o);
    if (o->action == ACTION_LINK_FLAGS)
        return question_link_flags(o);
    if (!o->has_input || asked_of_compiler)
        return question_pass(o);
    return compile_files(o);
}

int driver_finish(int status)
{
    int failed = write_messages(status == 0);
    return status ? status : failed;
}
