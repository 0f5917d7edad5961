/* SPDX-License-Identifier: Apache-2.0 */
/* The command by which the real compiler compiles one file. */
#include "driver/command.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/install.h"
#include "base/path.h"
#include "base/process.h"
#include "base/text.h"
#include "driver/depend.h"
#include "driver/instrument.h"
#include "driver/translate.h"
#include "pragma/includes.h"

/* ---- Commands ---- */

bool command_is_colour(const char *text)
{
    return strcmp(text, "-fcolor-diagnostics") == 0 || strcmp(text, "-fno-color-diagnostics") == 0;
}

bool command_is_unknown_to_nvcc(const char *text)
{
    return command_is_colour(text) || strcmp(text, "-fdiagnostics-parseable-fixits") == 0;
}

bool command_is_for_linker(const options_t *o, int index)
{
    const char *text = o->arguments[index].text;
    for (int k = 0; k < o->argument_count; k++)
        if (strstr(o->arguments[k].text, "-forward-unknown-"))
            return false;
    return strncmp(text, "-Wl,", strlen("-Wl,")) == 0 && text[strlen("-Wl,")];
}

/* The CUDA and HIP runtimes and drivers, which libkmm stands for in programs for the CPU. */
static bool is_runtime_library(const char *text)
{
    static const char *const names[] = {"-lcudart", "-lcudart_static", "-lcudadevrt", "-lcuda",
                                        "-lamdhip64"};
    for (size_t k = 0; k < sizeof(names) / sizeof(*names); k++)
        if (strcmp(text, names[k]) == 0)
            return true;
    return false;
}

bool command_drops(const options_t *o, int index)
{
    return o->target == TARGET_HOST && is_runtime_library(o->arguments[index].text);
}

/* An option of hipcc for another compiler; nvcc has another name for one of them. */
static void add_hip_option(const char *text, compiler_t compiler, list_t *command)
{
    static const char name[] = "--offload-arch=sm_";
    if (compiler.family == FAMILY_NVCC && strncmp(text, name, strlen(name)) == 0)
        list_add(command, arena_printf("-arch=%s", text + strlen("--offload-arch=")));
}

bool command_takes_hip(const options_t *o, compiler_t compiler)
{
    return compiler.family == FAMILY_HIPCC ||
           (compiler.family == FAMILY_CLANG && o->hip_target == TARGET_HIP);
}

void command_add_argument(const options_t *o, int index, compiler_t compiler, list_t *command)
{
    const char *text = o->arguments[index].text;
    if (command_drops(o, index))
        return;
    if (o->arguments[index].hip_only && !command_takes_hip(o, compiler))
        add_hip_option(text, compiler, command);
    else if (command_is_colour(text) && compiler.family == FAMILY_GNU)
        list_add(command,
                 text[2] == 'n' ? "-fdiagnostics-color=never" : "-fdiagnostics-color=always");
    else if (command_is_unknown_to_nvcc(text) && compiler.family == FAMILY_NVCC)
        return;
    else if (compiler.family == FAMILY_NVCC && command_is_for_linker(o, index)) {
        list_add(command, "-Xlinker");
        list_add(command, text + strlen("-Wl,"));
    } else if (compiler.family == FAMILY_NVCC)
        list_add(command, text);
    else
        options_translate(o, index, command);
}

/* -Xcompiler's values are separated by commas. */
static const char *escape_commas(const char *text)
{
    text_t t = {0};
    text_add(&t, "", 0);
    for (; *text; text++) {
        if (*text == ',')
            text_add(&t, "\\", 1);
        text_add(&t, text, 1);
    }
    return t.data;
}

void command_add_host_flag(const compiler_t *compiler, list_t *command, const char *flag,
                           const char *value)
{
    if (compiler->family == FAMILY_NVCC) {
        list_add(command, "-Xcompiler");
        flag = escape_commas(flag);
        list_add(command, value ? arena_printf("%s,%s", flag, escape_commas(value)) : flag);
        return;
    }
    list_add(command, flag);
    if (value)
        list_add(command, value);
}

/* Adds flags for a temporary copy: includes in quotes are searched beside the original, and the
 * compiler records the original's name. gcc warns of some classes unless the main file defines
 * them, and takes the original's name for that of a header. */
static void add_copy_flags(const job_t *job, list_t *command)
{
    command_add_host_flag(&job->compiler, command, "-iquote", path_folder(job->path));
    const char *slash = strrchr(job->path, '/');
    const char *prefix = slash ? arena_printf("%s/", path_folder(job->path)) : "";
    command_add_host_flag(&job->compiler, command,
                          arena_printf("-ffile-prefix-map=%s/=%s", job->folder, prefix), NULL);
    if (job->lang != LANG_C && job->compiler.family == FAMILY_GNU)
        list_add(command, "-Wno-subobject-linkage");
}

/* The headers and macros of kmm that a file needs. A file without pragmas may include kmm.h or use
 * _KMM. CUDA source for the CPU needs kmm's CUDA headers; .cu files have cuda_runtime.h included,
 * as by nvcc. */
enum {
    NEEDS_KMM = 1,
    NEEDS_CUDA = 2,
    NEEDS_INCLUDE = 4,
    NEEDS_MACRO = 8,
    NEEDS_HIP = 16,
    NEEDS_AMD = 32,
    NEEDS_NVIDIA = 64,
    NEEDS_LINKED = 128
};

/* True if the object is to say that its calls go through libkmm, as that of a pragma does. */
static bool is_marked(const options_t *o, const job_t *job)
{
    family_t family = job->compiler.family;
    return o->manage == MANAGE_ALL && !o->preprocess_only && job->lang != LANG_NONE &&
           job->compiler.path && (family == FAMILY_NVCC || family == FAMILY_HIPCC);
}

unsigned command_headers_of(const plan_t *p, const job_t *job)
{
    bool hip = job->lang == LANG_HIP && job->target != TARGET_HIP; /* by our own headers */
    bool hosted = is_device_lang(job->lang) && job->target == TARGET_HOST;
    bool uses_cuda = (job->uses & USES_CUDA) && p->o->target == TARGET_HOST;
    return (job->transforms || (job->uses & USES_KMM) ? NEEDS_KMM : 0) |
           (hosted || uses_cuda ? NEEDS_CUDA : 0) | (hosted ? NEEDS_INCLUDE : 0) |
           (is_marked(p->o, job) ? NEEDS_LINKED : 0) |
           (hip ? NEEDS_HIP | (hosted ? NEEDS_AMD : NEEDS_NVIDIA) : 0) |
           (!p->o->ignores_pragmas && (job->transforms || (job->uses & USES_MACRO)) ? NEEDS_MACRO
                                                                                    : 0);
}

void command_add_headers(const options_t *o, unsigned needs, list_t *command)
{
    if (needs & NEEDS_MACRO)
        list_add(command, "-D_KMM=1");
    if (needs & NEEDS_KMM)
        list_add(command, arena_printf("-I%s", install_path("include")));
    if (needs & NEEDS_CUDA)
        list_add(command, arena_printf("-I%s", install_path(HOST_HEADERS)));
    if (needs & NEEDS_HIP) {
        list_add(command, "-D__HIPCC__=1");
        list_add(command, arena_printf("-I%s", install_path(HIP_HEADERS)));
    }
    if (needs & NEEDS_AMD)
        list_add(command, "-D__HIP_PLATFORM_AMD__=1");
    if (needs & NEEDS_NVIDIA)
        list_add(command, "-D__HIP_PLATFORM_NVIDIA__=1");
    if (needs & NEEDS_LINKED) {
        list_add(command, "-DKMM__WRAPPED=1");
        list_add(command, "-include");
        list_add(command, install_path("include/kmm/linked.h"));
    }
    if ((needs & NEEDS_INCLUDE) && o->random)
        list_add(command, "-DKMM_HOST_RANDOM=1");
    if (needs & NEEDS_INCLUDE) {
        list_add(command, "-D_KMM_HOST=1");        /* by which a program knows the CPU target */
        list_add(command, "-fno-strict-aliasing"); /* device code reads a float4's floats, and an
                                                      int's bits, through other types */
        list_add(command, "-fno-trapping-math"); /* nor has it floating-point exceptions, for which
                                                    conditional sums could be no vectors */
        list_add(command, "-include");
        list_add(command, needs & NEEDS_HIP ? "hip/hip_runtime.h" : "cuda_runtime.h");
    }
}

static void add_source(const plan_t *p, const job_t *job, const char *copy, list_t *command)
{
    const char *language = NULL;
    if (is_device_lang(job->lang) && job->target == TARGET_HOST)
        language = "c++";
    else if (job->lang == LANG_HIP && job->compiler.family == FAMILY_NVCC)
        language = "cu";
    else if (p->o->arguments[job->index].forced)
        language = job->lang == LANG_C                   ? "c"
                   : job->lang == LANG_CXX               ? "c++"
                   : job->lang == LANG_HIP               ? "hip"
                   : job->compiler.family == FAMILY_NVCC ? "cu"
                                                         : "cuda";
    if (language) {
        list_add(command, "-x");
        list_add(command, language);
    }
    list_add(command, copy);
}

const char *command_dep_place(const plan_t *p, const job_t *job, bool create)
{
    const options_t *o = p->o;
    if (!job->transforms || (!o->deps && !o->deps_only))
        return NULL;
    if (o->dep_file || !o->deps_only)
        return depend_file(o, job->path, &job->compiler);
    return create ? process_file(job->folder, "deps") : arena_printf("%s/deps", job->folder);
}

static void add_dep_flags(const plan_t *p, const job_t *job, const char *place, list_t *command)
{
    const options_t *o = p->o;
    if (place && !o->dep_file) {
        list_add(command, "-MF");
        list_add(command, place);
    }
    bool names_object =
        (o->deps || o->deps_only) && !o->dep_target && (job->object || o->deps_only);
    if (names_object) { /* the object's own place is temporary, or none */
        const char *base = path_base(job->path);
        list_add(command, "-MT");
        list_add(command, arena_printf("%.*s.o", (int)strcspn(base, "."), base));
    }
}

static bool is_for_compiling(role_t role)
{
    return role == ROLE_OPTION || role == ROLE_COMPILE || role == ROLE_DEPEND || role == ROLE_MODE;
}

const char *command_preprocessed_place(const plan_t *p, const job_t *job, bool create)
{
    const options_t *o = p->o;
    if (!job->transforms || !o->preprocess_only || o->deps_only)
        return NULL;
    return o->output ? o->output
           : create  ? process_file(job->folder, "preprocessed")
                     : arena_printf("%s/preprocessed", job->folder);
}

void command_add_preprocessing(const plan_t *p, const job_t *job, const char *copy, list_t *command)
{
    const options_t *o = p->o;
    command_add_headers(o, command_headers_of(p, job), command);
    for (int k = 0; k < o->argument_count; k++) {
        role_t role = o->arguments[k].role;
        if (k == job->index)
            add_source(p, job, copy, command);
        else if (role == ROLE_OPTION || role == ROLE_COMPILE)
            command_add_argument(o, k, job->compiler, command);
    }
}

list_t command_compile(const plan_t *p, const job_t *job, const char *copy, const char *deps)
{
    const options_t *o = p->o;
    list_t command = {0};
    list_add(&command, job->compiler.path);
    if (job->transforms)
        add_copy_flags(job, &command);
    command_add_headers(p->o, command_headers_of(p, job), &command);
    bool checks = instrument_wants(o, job);
    if (checks)
        instrument_before(&command);
    if (instrument_wants_steps(o, job))
        instrument_kernels(o, job, &command);
    for (int k = 0; k < o->argument_count; k++) {
        if (k == job->index)
            add_source(p, job, copy, &command);
        else if (is_for_compiling(o->arguments[k].role))
            command_add_argument(o, k, job->compiler, &command);
    }
    if (checks)
        instrument_behind(&command);
    add_dep_flags(p, job, deps, &command);
    if (!o->compile_only)
        list_add(&command, "-c");
    const char *text = command_preprocessed_place(p, job, !o->dry_run);
    const char *output = job->object ? job->object : o->deps_only ? NULL : text ? text : o->output;
    if (output) {
        list_add(&command, "-o");
        list_add(&command, output);
    }
    return command;
}
