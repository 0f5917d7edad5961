/* SPDX-License-Identifier: Apache-2.0 */
/* Transforms and compiles one file. */
#include "driver/compile.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/install.h"
#include "base/list.h"
#include "base/options.h"
#include "base/path.h"
#include "base/process.h"
#include "base/source.h"
#include "base/text.h"
#include "base/toolchain.h"
#include "driver/amd_steps.h"
#include "driver/automatic.h"
#include "driver/command.h"
#include "driver/depend.h"
#include "driver/frontend.h"
#include "driver/instrument.h"
#include "driver/option_table.h"
#include "driver/preprocess.h"
#include "driver/run.h"
#include "driver/steps.h"
#include "driver/write.h"
#include "emit/explained.h"
#include "pragma/includes.h"

/* ---- Transforming ---- */

/* The options for parsing one file: a C++ file that includes CUDA's headers must find them; on the
 * CPU they are our own. */
const options_t *compile_options(const options_t *o, const job_t *job)
{
    const char *cuda = toolchain_cuda();
    if (!(job->uses & USES_CUDA) || !cuda ||
        (is_device_lang(job->lang) && job->target == TARGET_HOST))
        return o;
    options_t *own = arena_alloc(sizeof(*own));
    *own = *o;
    list_t flags = {0};
    for (int k = 0; k < o->parse_flag_count; k++)
        list_add(&flags, o->parse_flags[k]);
    list_add(&flags, "-isystem");
    list_add(&flags, arena_printf("%s/include", cuda));
    own->parse_flags = flags.item;
    own->parse_flag_count = flags.count;
    return own;
}

/* CUDA and HIP source for the CPU needs our own CUDA headers. */
static bool has_host_headers(const job_t *job)
{
    const char *header = arena_printf("%s/cuda_runtime.h", install_path(HOST_HEADERS));
    if (!is_device_lang(job->lang) || job->target != TARGET_HOST || access(header, R_OK) == 0)
        return true;
    diag_plain(SEVERITY_ERROR,
               "'%s' cannot be compiled for the CPU: this installation of kmm has no '%s'",
               job->path, header);
    diag_plain(SEVERITY_NOTE,
               "install kmm anew, or compile for a GPU: --target=cuda, --target=hip");
    return false;
}

/* What clang takes for another size or another value would be wrong in chunks. */
static bool has_known_types(const options_t *o, const job_t *job)
{
    for (int k = 0; k < o->argument_count && !o->ignores_pragmas; k++) {
        const char *text = o->arguments[k].text;
        if (o->arguments[k].role != ROLE_OPTION || !option_is_beyond_clang(text))
            continue;
        diag_plain(SEVERITY_ERROR,
                   "'%s' has kmm pragmas, and '%s' changes types or constants in a way that clang, "
                   "by which kmmcc reads the program, does not know",
                   job->path, text);
        diag_plain(SEVERITY_NOTE, "compile this file without the option");
        return false;
    }
    return true;
}

static const char *transformed(const plan_t *p, job_t *job)
{
    if (!p->o->ignores_pragmas)
        preprocess_macros(p, job, job->includes);
    return frontend_transform(compile_options(p->o, job), job->lang, job->target, job->includes,
                              &job->headers);
}

static bool compile_transform(const plan_t *p, job_t *job)
{
    if (!has_host_headers(job) || (job->has_pragma && !has_known_types(p->o, job)))
        return false;
    int first = diag_count(), explained = explained_count();
    if (job->transforms && !job->result)
        job->result = transformed(p, job);
    if (job->transforms && !job->result && automatic_undo(p, job)) {
        diag_retract(first, diag_count()); /* what is wrong with the program is said again */
        explained_retract(explained);
        job->result = transformed(p, job);
    }
    diag_flush();
    return !job->transforms || job->result;
}

bool compile_transform_all(plan_t *p)
{
    for (int k = 0; k < p->job_count; k++)
        compile_transform(p, &p->jobs[k]);
    return diag_error_count() == 0;
}

/* ---- Compiling ---- */

/* Returns the flags with which clang reads the transformed copy as the compiler does. */
static list_t reading_flags(const plan_t *p, const job_t *job)
{
    const options_t *o = p->o;
    list_t flags = {0};
    list_add(&flags, "-xc++");
    list_add(&flags, "-w");
    list_add(&flags, "-iquote");
    list_add(&flags, path_folder(job->path));
    command_add_headers(o, command_headers_of(p, job), &flags);
    for (int k = 0; k < o->parse_flag_count; k++)
        list_add(&flags, o->parse_flags[k]);
    return flags;
}

static bool has_colour(const list_t *command)
{
    for (int k = 0; k < command->count; k++)
        if (command_is_colour(command->item[k]) || strstr(command->item[k], "diagnostics-color"))
            return true;
    return false;
}

/*
 * Compiles C++ that was CUDA or HIP. What it was made of is known to be right, so when the compiler
 * refuses it clang is asked, too: what it also refuses is a mistake of kmmcc, and is said to be one
 * in place of the compiler's messages. To ask before would cost each compilation a second parse.
 */
static int run_hosted(const plan_t *p, const job_t *job, const char *copy, list_t *command)
{
    text_t messages = {0};
    if (isatty(STDERR_FILENO) && !has_colour(command))
        list_add(command, "-fdiagnostics-color=always"); /* it sees a pipe */
    if (p->o->verbose)
        process_print(command);
    int status = process_run_quiet(command, &messages);
    list_t flags = reading_flags(p, job);
    if (status && !frontend_verify(job->source, copy, &flags) && !p->o->verbose)
        return status;
    if (messages.length)
        fwrite(messages.data, 1, messages.length, stderr);
    return status;
}

/* Replaces the names of the temporary copies by those of the originals, in dependency files and
 * preprocessed text. */
static int mend(const plan_t *p, const job_t *job, const char *copy, const char *deps)
{
    const char *text = command_preprocessed_place(p, job, true);
    bool good = !deps || depend_mend(deps, copy, job->path);
    good = good && (!text || depend_mend_lines(text, copy, job->path));
    for (const header_t *h = job->headers; h && good; h = h->next) {
        const char *header = arena_printf("%s/%s", job->folder, h->name);
        good = (!deps || depend_mend(deps, header, h->path)) &&
               (!text || depend_mend_lines(text, header, h->path));
    }
    const source_t *shown = good && text && !p->o->output ? source_read(text) : NULL;
    if (shown && fwrite(shown->text, 1, shown->length, stdout) != shown->length)
        return write_fail("the standard output");
    return good ? 0 : 1;
}

/* The dependencies that -M wants printed. */
static int print_deps(const options_t *o, const char *place)
{
    const source_t *deps = source_read(place);
    if (!deps)
        return 1;
    if (o->output)
        return write_text(o->output, deps->text);
    return fputs(deps->text, stdout) == EOF ? write_fail("the standard output") : 0;
}

int compile_job(const plan_t *p, job_t *job, int number)
{
    const options_t *o = p->o;
    bool create = !o->dry_run;
    const char *copy = job->path;
    if (job->transforms || !o->compile_only) {
        job->folder = process_subfolder(number, create);
        if (!job->folder)
            return 1;
    }
    if (job->transforms) {
        const char *base = path_base(job->path);
        copy = create ? process_file(job->folder, base) : arena_printf("%s/%s", job->folder, base);
        if (create && write_text(copy, job->result) != 0)
            return 1;
        for (const header_t *h = job->headers; h && create; h = h->next)
            if (write_text(process_file(job->folder, h->name), h->text) != 0)
                return 1;
    }
    if (!o->compile_only) {
        const char *base = arena_printf("%s.o", path_base(job->path));
        job->object =
            create ? process_file(job->folder, base) : arena_printf("%s/%s", job->folder, base);
    }
    const char *deps = command_dep_place(p, job, create);
    list_t command = command_compile(p, job, copy, deps);
    bool hosted = job->transforms && job->target == TARGET_HOST && is_device_lang(job->lang);
    bool checked = instrument_wants_steps(o, job);
    int status = o->dry_run ? run_command(o, &command)
                 : hosted   ? run_hosted(p, job, copy, &command)
                 : checked && job->target == TARGET_HIP
                     ? amd_steps_run(o, &command, job->folder, job->path)
                 : checked ? steps_run(o, &command, job->folder, job->path)
                           : run_command(o, &command);
    if (status || o->dry_run)
        return status;
    if (mend(p, job, copy, deps))
        return 1;
    return deps && o->deps_only && !o->dep_file ? print_deps(o, deps) : 0;
}
