/* SPDX-License-Identifier: Apache-2.0 */
/* -fkmm-check: the flags by which gcc calls runtime/instrument before each load and store, and by
 * which nvcc's PTX code can be checked. */
#include "driver/instrument.h"

#include <stddef.h>
#include <string.h>

#include "base/diag.h"

static bool is_code(const job_t *job)
{
    return job->lang == LANG_C || job->lang == LANG_CXX || is_device_lang(job->lang);
}

static bool is_by_nvcc(const job_t *job)
{
    return is_device_lang(job->lang) && job->compiler.family == FAMILY_NVCC;
}

/* By hipcc, or clang in its place. */
static bool is_for_amd(const job_t *job)
{
    return is_device_lang(job->lang) && job->target == TARGET_HIP &&
           (job->compiler.family == FAMILY_HIPCC || job->compiler.family == FAMILY_CLANG);
}

bool instrument_wants_steps(const options_t *o, const job_t *job)
{
    return o->checks && (is_by_nvcc(job) || is_for_amd(job)) && job->transforms &&
           !o->preprocess_only && !o->deps_only;
}

/* Lines of instructions come with the debug information of -G, too. The calls take registers: with
 * 64 of them a block may have as many threads as any. */
void instrument_kernels(const options_t *o, const job_t *job, list_t *command)
{
    if (is_for_amd(job)) { /* an own -g, which follows, has the last word */
        list_add(command, "-DKMM_CHECKED=1");
        list_add(command, "-gline-tables-only");
        return;
    }
    bool has_debug = false, has_limit = false;
    for (int k = 0; k < o->argument_count; k++) {
        const char *text = o->arguments[k].text;
        has_debug |= !strcmp(text, "-G") || !strcmp(text, "--device-debug");
        has_limit |= strstr(text, "maxrregcount") != NULL;
    }
    list_add(command, "-DKMM_CHECKED=1");
    if (!has_debug)
        list_add(command, "-lineinfo");
    if (!has_limit)
        list_add(command, "-maxrregcount=64");
}

bool instrument_wants(const options_t *o, const job_t *job)
{
    return o->checks && is_code(job) && !o->preprocess_only && !is_by_nvcc(job) && !is_for_amd(job);
}

bool instrument_refuses(const options_t *o, const job_t *job)
{
    if (!instrument_wants(o, job) || job->compiler.family == FAMILY_GNU)
        return false;
    diag_plain(SEVERITY_ERROR, "-fkmm-check cannot check '%s', because '%s' is not gcc", job->path,
               job->compiler.path);
    diag_plain(SEVERITY_NOTE, is_device_lang(job->lang)
                                  ? "--target=host checks its kernels on the CPU; or compile this "
                                    "file without -fkmm-check"
                                  : "name gcc with --compiler=; or compile this file without "
                                    "-fkmm-check");
    return true;
}

/* An own -g, which follows, has the last word. */
void instrument_before(list_t *command)
{
    list_add(command, "-g1");
    list_add(command, "-DKMM_HOST_CHECKED=1");
}

/* Optimisation that moves accesses to where the source does not do them, or reads what is between
 * two elements, is off. */
void instrument_behind(list_t *command)
{
    static const char *const flags[] = {"-O1",
                                        "-fsanitize=thread",
                                        "-Wno-tsan", /* libkmm has fences */
                                        "--param=tsan-distinguish-volatile=1",
                                        "-fno-builtin",
                                        "-U_FORTIFY_SOURCE",
                                        "-fno-tree-loop-im",
                                        "-fno-tree-vectorize",
                                        "-fno-tree-slp-vectorize",
                                        "-fno-tree-loop-if-convert",
                                        "-fno-if-conversion",
                                        "-fno-store-merging"};
    for (size_t k = 0; k < sizeof(flags) / sizeof(*flags); k++)
        list_add(command, flags[k]);
}
