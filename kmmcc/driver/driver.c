/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides what happens to each file and runs the real compilers.
 *
 * If nothing is transformed and one compiler can do it all, it gets the command line as it was
 * typed. Otherwise each source is compiled by a command of its own, transformed ones from a
 * temporary copy of the same name, and the objects are linked in the places of their sources.
 */
#include "driver/driver.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/install.h"
#include "base/list.h"
#include "base/path.h"
#include "base/process.h"
#include "base/source.h"
#include "base/text.h"
#include "base/toolchain.h"
#include "clang/verify.h"
#include "driver/depend.h"
#include "driver/help.h"
#include "driver/link.h"
#include "driver/object.h"
#include "driver/options.h"
#include "driver/transform.h"
#include "emit/diff.h"
#include "pragma/includes.h"

/* Where kmm's own cuda_runtime.h is, and hip/hip_runtime.h over CUDA's. */
#define HOST_HEADERS "include/kmm/host"
#define HIP_HEADERS "include/kmm/hip"

typedef struct job {
    int index; /* of its argument */
    const char *path;
    lang_t lang;
    target_t target;
    const source_t *source; /* NULL for what kmmcc never transforms */
    const includes_t *includes;
    bool has_pragma,
        transforms; /* has_pragma: itself or a header of the program that it includes */
    unsigned uses;  /* USES_... */
    compiler_t compiler;
    const char *result;      /* transformed text */
    const header_t *headers; /* that it includes */
    const char *folder;      /* of its temporary files */
    const char *object;      /* NULL if only compiled */
} job_t;

typedef struct plan {
    const options_t *o;
    job_t *jobs;
    int job_count;
    unsigned objects; /* what the linked objects hold: OBJECT_... */
    compiler_t linker;
} plan_t;

/* ---- Which compiler ---- */

static compiler_t found(compiler_t compiler, const char *kind, const char *remedy)
{
    if (!compiler.path && !diag_error_count()) {
        diag_plain(SEVERITY_ERROR, "no %s compiler was found", kind);
        diag_plain(SEVERITY_NOTE, "%s", remedy);
    }
    return compiler;
}

static compiler_t c_compiler(const options_t *o)
{
    return o->host_compiler ? toolchain_named(o->host_compiler)
                            : found(toolchain_c(), "C",
                                    "install gcc or clang, or name a compiler by --compiler=");
}

static compiler_t cxx_compiler(const options_t *o)
{
    return o->host_compiler ? toolchain_named(o->host_compiler)
                            : found(toolchain_cxx(), "C++",
                                    "install g++ or clang, or name a compiler by --compiler=");
}

static compiler_t cuda_compiler(void)
{
    return found(toolchain_nvcc(), "CUDA",
                 "put nvcc in PATH or set CUDA_HOME or KMM_CUDA_PATH; --target=host compiles CUDA "
                 "source for the CPU");
}

static compiler_t hip_compiler(void)
{
    return found(
        toolchain_hipcc(), "HIP",
        "put hipcc in PATH or set ROCM_PATH; --target=host compiles HIP source for the CPU");
}

static target_t target_of(family_t family)
{
    return family == FAMILY_NVCC ? TARGET_CUDA : family == FAMILY_HIPCC ? TARGET_HIP : TARGET_HOST;
}

/* Whether HIP source is for NVIDIA's GPUs: by the variable that hipcc obeys, or the macro that it
 * defines. */
static bool is_hip_for_nvidia(const options_t *o)
{
    const char *platform = getenv("HIP_PLATFORM");
    for (int k = 0; k < o->parse_flag_count; k++)
        if (strncmp(o->parse_flags[k], "-D__HIP_PLATFORM_NVIDIA__",
                    strlen("-D__HIP_PLATFORM_NVIDIA__")) == 0)
            return true;
    return platform && (strcmp(platform, "nvidia") == 0 || strcmp(platform, "nvcc") == 0);
}

/* Turns TARGET_AUTO into what .cu files and HIP source are compiled for. */
static void resolve_target(options_t *o)
{
    bool is_auto = o->target == TARGET_AUTO;
    o->hip_target = o->target;
    if (is_auto && o->compiler)
        o->target = o->hip_target = target_of(toolchain_named(o->compiler).family);
    else if (is_auto)
        o->target = toolchain_nvcc().path ? TARGET_CUDA : TARGET_HOST;
    if (is_auto && !o->compiler)
        o->hip_target = toolchain_hipcc().path ? TARGET_HIP : TARGET_HOST;
    if ((is_auto || o->hip_target == TARGET_HIP) && o->hip_target != TARGET_HOST &&
        is_hip_for_nvidia(o))
        o->hip_target = TARGET_CUDA;
    else if (is_auto && !o->compiler && is_hip_for_nvidia(o))
        o->hip_target = TARGET_CUDA;
}

static compiler_t compiler_of_plain(const options_t *o, const job_t *job)
{
    bool by_nvcc = o->nvcc_only || ((job->uses & USES_CUDA) && !o->host_only);
    if (o->target == TARGET_CUDA && by_nvcc)
        return cuda_compiler();
    if ((job->uses & USES_HIP) && toolchain_hipcc().path)
        return toolchain_hipcc();
    return job->lang == LANG_CXX ? cxx_compiler(o) : c_compiler(o);
}

static compiler_t compiler_of(const options_t *o, const job_t *job)
{
    bool is_device = is_device_lang(job->lang);
    bool translates =
        job->lang == LANG_HIP && job->target == TARGET_CUDA; /* hipcc would only call nvcc */
    if (o->compiler && !(translates && toolchain_named(o->compiler).family == FAMILY_HIPCC))
        return toolchain_named(o->compiler);
    if (is_device && job->target == TARGET_CUDA)
        return cuda_compiler();
    if (is_device)
        return job->target == TARGET_HIP ? hip_compiler() : cxx_compiler(o);
    return compiler_of_plain(o, job);
}

static bool any_job(const plan_t *p, family_t family)
{
    for (int k = 0; k < p->job_count; k++)
        if (p->jobs[k].compiler.path && p->jobs[k].compiler.family == family)
            return true;
    return false;
}

static bool has_cxx(const plan_t *p)
{
    for (int k = 0; k < p->job_count; k++)
        if (p->jobs[k].lang == LANG_CXX || is_device_lang(p->jobs[k].lang))
            return true;
    return p->objects & OBJECT_CXX;
}

static bool is_hosted(const plan_t *p)
{
    for (int k = 0; k < p->job_count; k++)
        if (is_device_lang(p->jobs[k].lang) && p->jobs[k].target == TARGET_HOST)
            return true;
    return p->objects & OBJECT_HOSTED;
}

static compiler_t choose_linker(const plan_t *p)
{
    const options_t *o = p->o;
    bool cuda = any_job(p, FAMILY_NVCC) || (p->objects & OBJECT_CUDA) || o->nvcc_only;
    bool hip = any_job(p, FAMILY_HIPCC) || (p->objects & OBJECT_HIP);
    if (o->compiler &&
        !(any_job(p, FAMILY_NVCC) && toolchain_named(o->compiler).family == FAMILY_HIPCC))
        return toolchain_named(o->compiler);
    if ((o->target == TARGET_CUDA || any_job(p, FAMILY_NVCC)) && cuda && !is_hosted(p))
        return cuda_compiler();
    if (hip && toolchain_hipcc().path && !is_hosted(p))
        return toolchain_hipcc();
    return has_cxx(p) || o->stdin_lang == LANG_CXX ? cxx_compiler(o) : c_compiler(o);
}

/* ---- Looking at the files ---- */

/* hipcc takes C++ for HIP, and who includes HIP's headers means that. */
static lang_t lang_of(const options_t *o, const job_t *job)
{
    if (job->lang == LANG_CUDA)
        return o->target == TARGET_HIP ? LANG_HIP : LANG_CUDA;
    bool asks = (job->uses & USES_HIP) && !(job->uses & USES_CUDA);
    return job->lang == LANG_CXX && asks && !o->arguments[job->index].forced ? LANG_HIP : job->lang;
}

static void look_at(const plan_t *p, job_t *job)
{
    const options_t *o = p->o;
    if (job->lang != LANG_NONE) {
        job->source = source_read(job->path);
        if (!job->source) {
            diag_plain(SEVERITY_ERROR, "cannot read '%s': %s", job->path, strerror(errno));
            return;
        }
        job->includes = includes_read(o, job->source);
        job->uses = job->includes->uses;
        job->has_pragma = !o->ignores_pragmas && includes_have_pragma(job->includes);
    }
    job->lang = lang_of(o, job);
    job->target = job->lang == LANG_CUDA  ? o->target
                  : job->lang == LANG_HIP ? o->hip_target
                                          : TARGET_HOST;
    job->transforms = job->has_pragma ||
                      (is_device_lang(job->lang) && (job->target == TARGET_HOST || o->clones_all));
}

/* The value of `-Lx` or `-L x` at argument k; NULL if it is another option. */
static const char *link_value(const options_t *o, int k, const char *option)
{
    const argument_t *a = &o->arguments[k];
    if (a->role != ROLE_LINK || a->is_value || strncmp(a->text, option, strlen(option)) != 0)
        return NULL;
    if (a->text[strlen(option)])
        return a->text + strlen(option);
    return k + 1 < o->argument_count ? o->arguments[k + 1].text : NULL;
}

/* What -lname holds if it is an archive in one of the -L folders. */
static unsigned scan_library(const options_t *o, const char *name)
{
    for (int k = 0; k < o->argument_count; k++) {
        const char *folder = link_value(o, k, "-L");
        const char *path = folder ? arena_printf("%s/lib%s.a", folder, name) : NULL;
        if (path && access(path, R_OK) == 0)
            return object_scan(path);
    }
    return 0;
}

static unsigned scan_objects(const options_t *o)
{
    unsigned kind = 0;
    for (int k = 0; k < o->argument_count; k++) {
        const argument_t *a = &o->arguments[k];
        const char *library = link_value(o, k, "-l");
        if (library)
            kind |= scan_library(o, library);
        else if (a->role == ROLE_LINK && !a->is_value && a->text[0] != '-')
            kind |= object_scan(a->text);
    }
    return kind;
}

static plan_t *make_plan(const options_t *o)
{
    plan_t *p = arena_alloc(sizeof(*p));
    p->o = o;
    p->jobs = arena_alloc(((size_t)o->source_count + 1) * sizeof(*p->jobs));
    for (int k = 0; k < o->argument_count; k++) {
        const argument_t *a = &o->arguments[k];
        if (a->role != ROLE_SOURCE)
            continue;
        job_t *job = &p->jobs[p->job_count++];
        *job = (job_t){.index = k, .path = a->text, .lang = a->lang};
        look_at(p, job);
    }
    return p;
}

/* HIP's calls have other names then, which the linker does not wrap. */
static void refuse_per_thread(const plan_t *p)
{
    static const char option[] = "-fgpu-default-stream=per-thread";
    for (int k = 0; k < p->o->argument_count; k++)
        for (int j = 0; j < p->job_count && strcmp(p->o->arguments[k].text, option) == 0; j++)
            if (p->jobs[j].has_pragma && p->jobs[j].target == TARGET_HIP) {
                diag_plain(SEVERITY_ERROR,
                           "'%s' has kmm pragmas, and '%s' is not supported with them",
                           p->jobs[j].path, option);
                diag_plain(
                    SEVERITY_NOTE,
                    "leave the option out, and give launches and copies streams of their own");
                return;
            }
}

static void choose_compilers(plan_t *p)
{
    refuse_per_thread(p);
    for (int k = 0; k < p->job_count; k++)
        p->jobs[k].compiler = compiler_of(p->o, &p->jobs[k]);
    if (p->o->compile_only && p->job_count)
        return;
    p->objects = scan_objects(p->o);
    p->linker = choose_linker(p);
}

/* ---- Transforming ---- */

/* The options for parsing one file: a C++ file that includes CUDA's headers must find them; on the
 * CPU they are our own. */
static const options_t *options_for(const options_t *o, const job_t *job)
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

static bool transform_job(const options_t *o, job_t *job)
{
    if (!has_host_headers(job))
        return false;
    if (job->transforms && !job->result)
        job->result =
            transform(options_for(o, job), job->lang, job->target, job->includes, &job->headers);
    diag_flush();
    return !job->transforms || job->result;
}

static bool transform_all(plan_t *p)
{
    for (int k = 0; k < p->job_count; k++)
        transform_job(p->o, &p->jobs[k]);
    return diag_error_count() == 0;
}

static int fail_to_write(const char *path)
{
    diag_plain(SEVERITY_ERROR, "cannot write '%s': %s", path, strerror(errno));
    return 1;
}

static int write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return fail_to_write(path);
    bool failed = fputs(text, file) == EOF;
    failed |= fclose(file) != 0;
    return failed ? fail_to_write(path) : 0;
}

/* The headers that the new text includes lie beside it. */
static int write_headers(const job_t *job, const char *folder)
{
    int status = 0;
    for (const header_t *h = job->headers; h && !status; h = h->next)
        status = write_text(arena_printf("%s/%s", folder, h->name), h->text);
    return status;
}

/* ---- --emit-source, --check, --diff ---- */

static const char *text_of(const job_t *job)
{
    return job->result ? job->result : job->source->text;
}

static int check(const options_t *o, const job_t *job)
{
    const source_t *expected = source_read(o->check_file);
    if (!expected) {
        diag_plain(SEVERITY_ERROR, "cannot read '%s': %s", o->check_file, strerror(errno));
        diag_plain(SEVERITY_NOTE, "kmmcc --emit-source=%s %s writes it", o->check_file, job->path);
        return 1;
    }
    const char *label = arena_printf("%s (rewritten)", job->path);
    if (!diff_print((version_t){o->check_file, expected->text}, (version_t){label, text_of(job)}))
        return 0;
    diag_plain(SEVERITY_ERROR, "the rewritten '%s' is not what '%s' says", job->path,
               o->check_file);
    diag_plain(SEVERITY_NOTE, "if the difference is right: kmmcc --emit-source=%s %s",
               o->check_file, job->path);
    return 1;
}

static void show_difference(const char *path, const char *before, const char *after)
{
    diff_print((version_t){path, before}, (version_t){arena_printf("%s (rewritten)", path), after});
}

static int show(const options_t *o, const job_t *job)
{
    if (o->explain) /* said when it was transformed */
        return 0;
    if (o->check_file)
        return check(o, job);
    if (o->emit_source && *o->emit_source)
        return write_text(o->emit_source, text_of(job)) ||
               write_headers(job, path_folder(o->emit_source));
    if (o->emit_source)
        return fputs(text_of(job), stdout) == EOF ? fail_to_write("the standard output") : 0;
    show_difference(job->path, job->source->text, text_of(job));
    for (const header_t *h = job->headers; h; h = h->next) {
        const source_t *original = source_read(h->path);
        if (original)
            show_difference(h->path, original->text, h->text);
    }
    return 0;
}

static int show_all(plan_t *p)
{
    const options_t *o = p->o;
    bool one_file = o->check_file || (o->emit_source && *o->emit_source);
    int count = 0, status = 0;
    for (int k = 0; k < p->job_count; k++)
        count += p->jobs[k].source != NULL;
    if (count == 0 || (one_file && count > 1)) {
        diag_plain(SEVERITY_ERROR,
                   count ? "one file at a time can be compared with, or written to, one file"
                         : "no C, C++, CUDA or HIP source file to look at");
        return 1;
    }
    if (!transform_all(p))
        return 1;
    for (int k = 0; k < p->job_count; k++)
        if (p->jobs[k].source)
            status |= show(o, &p->jobs[k]);
    return status;
}

/* ---- Commands ---- */

static bool is_colour(const char *text)
{
    return strcmp(text, "-fcolor-diagnostics") == 0 || strcmp(text, "-fno-color-diagnostics") == 0;
}

/* About messages, and nothing to nvcc. */
static bool is_unknown_to_nvcc(const char *text)
{
    return is_colour(text) || strcmp(text, "-fdiagnostics-parseable-fixits") == 0;
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

static bool is_dropped(const options_t *o, int index)
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

static bool takes_hip_options(const options_t *o, compiler_t compiler)
{
    return compiler.family == FAMILY_HIPCC ||
           (compiler.family == FAMILY_CLANG && o->hip_target == TARGET_HIP);
}

/* One argument as the compiler wants it. -f[no-]color-diagnostics is clang's. */
static void add_argument(const options_t *o, int index, compiler_t compiler, list_t *command)
{
    const char *text = o->arguments[index].text;
    if (is_dropped(o, index))
        return;
    if (o->arguments[index].hip_only && !takes_hip_options(o, compiler))
        add_hip_option(text, compiler, command);
    else if (is_colour(text) && compiler.family == FAMILY_GNU)
        list_add(command,
                 text[2] == 'n' ? "-fdiagnostics-color=never" : "-fdiagnostics-color=always");
    else if (is_unknown_to_nvcc(text) && compiler.family == FAMILY_NVCC)
        return;
    else if (compiler.family == FAMILY_NVCC)
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

/* A flag of gcc and clang, with its value if it has one, through nvcc too. */
static void add_host_flag(const compiler_t *compiler, list_t *command, const char *flag,
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

/* What a transformed copy needs: quote includes as beside the original, our headers, and the
 * original's name wherever the compiler records one. */
static void add_copy_flags(const job_t *job, list_t *command)
{
    add_host_flag(&job->compiler, command, "-iquote", path_folder(job->path));
    const char *slash = strrchr(job->path, '/');
    const char *prefix = slash ? arena_printf("%s/", path_folder(job->path)) : "";
    add_host_flag(&job->compiler, command,
                  arena_printf("-ffile-prefix-map=%s/=%s", job->folder, prefix), NULL);
}

/* What of ours a file needs: an untouched file asked for kmm.h or _KMM, or CUDA source is compiled
 * for the CPU. Like nvcc, .cu files see cuda_runtime.h without asking. */
enum {
    NEEDS_KMM = 1,
    NEEDS_CUDA = 2,
    NEEDS_INCLUDE = 4,
    NEEDS_MACRO = 8,
    NEEDS_HIP = 16,
    NEEDS_AMD = 32,
    NEEDS_NVIDIA = 64
};

static unsigned headers_of(const plan_t *p, const job_t *job)
{
    bool hip = job->lang == LANG_HIP && job->target != TARGET_HIP; /* by our own headers */
    bool hosted = is_device_lang(job->lang) && job->target == TARGET_HOST;
    bool uses_cuda = (job->uses & USES_CUDA) && p->o->target == TARGET_HOST;
    return (job->transforms || (job->uses & USES_KMM) ? NEEDS_KMM : 0) |
           (hosted || uses_cuda ? NEEDS_CUDA : 0) | (hosted ? NEEDS_INCLUDE : 0) |
           (hip ? NEEDS_HIP | (hosted ? NEEDS_AMD : NEEDS_NVIDIA) : 0) |
           (!p->o->ignores_pragmas && (job->transforms || (job->uses & USES_MACRO)) ? NEEDS_MACRO
                                                                                    : 0);
}

static void add_headers(const options_t *o, unsigned needs, list_t *command)
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
    if ((needs & NEEDS_INCLUDE) && o->random)
        list_add(command, "-DKMM_HOST_RANDOM=1");
    if (needs & NEEDS_INCLUDE) {
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

/* Where the compiler's dependencies of a copy go until they are mended. */
static const char *dep_place(const plan_t *p, const job_t *job, bool create)
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

/* Text that is preprocessed is mended before it is shown, so that the same source gives the same
 * text each time; NULL: the compiler's output needs no change. */
static const char *preprocessed_place(const plan_t *p, const job_t *job, bool create)
{
    const options_t *o = p->o;
    if (!job->transforms || !o->preprocess_only || o->deps_only)
        return NULL;
    return o->output ? o->output
           : create  ? process_file(job->folder, "preprocessed")
                     : arena_printf("%s/preprocessed", job->folder);
}

static list_t compile_command(const plan_t *p, const job_t *job, const char *copy, const char *deps)
{
    const options_t *o = p->o;
    list_t command = {0};
    list_add(&command, job->compiler.path);
    if (job->transforms)
        add_copy_flags(job, &command);
    add_headers(p->o, headers_of(p, job), &command);
    for (int k = 0; k < o->argument_count; k++) {
        if (k == job->index)
            add_source(p, job, copy, &command);
        else if (is_for_compiling(o->arguments[k].role))
            add_argument(o, k, job->compiler, &command);
    }
    add_dep_flags(p, job, deps, &command);
    if (!o->compile_only)
        list_add(&command, "-c");
    const char *text = preprocessed_place(p, job, !o->dry_run);
    const char *output = job->object ? job->object : o->deps_only ? NULL : text ? text : o->output;
    if (output) {
        list_add(&command, "-o");
        list_add(&command, output);
    }
    return command;
}

/* What clang needs to read the transformed copy as the compiler does. */
static list_t reading_flags(const plan_t *p, const job_t *job)
{
    const options_t *o = p->o;
    list_t flags = {0};
    list_add(&flags, "-xc++");
    list_add(&flags, "-w");
    list_add(&flags, "-iquote");
    list_add(&flags, path_folder(job->path));
    add_headers(o, headers_of(p, job), &flags);
    for (int k = 0; k < o->parse_flag_count; k++)
        list_add(&flags, o->parse_flags[k]);
    return flags;
}

static bool has_colour(const list_t *command)
{
    for (int k = 0; k < command->count; k++)
        if (is_colour(command->item[k]) || strstr(command->item[k], "diagnostics-color"))
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
    if (status && !verify_file(job->source, copy, &flags) && !p->o->verbose)
        return status;
    if (messages.length)
        fwrite(messages.data, 1, messages.length, stderr);
    return status;
}

static int run(const options_t *o, const list_t *command)
{
    if (o->dry_run || o->verbose)
        process_print(command);
    return o->dry_run ? 0 : process_run(command);
}

/* What names the temporary copies names the originals. */
static int mend(const plan_t *p, const job_t *job, const char *copy, const char *deps)
{
    const char *text = preprocessed_place(p, job, true);
    bool good = !deps || depend_mend(deps, copy, job->path);
    good = good && (!text || depend_mend_lines(text, copy, job->path));
    for (const header_t *h = job->headers; h && good; h = h->next) {
        const char *header = arena_printf("%s/%s", job->folder, h->name);
        good = (!deps || depend_mend(deps, header, h->path)) &&
               (!text || depend_mend_lines(text, header, h->path));
    }
    const source_t *shown = good && text && !p->o->output ? source_read(text) : NULL;
    if (shown && fwrite(shown->text, 1, shown->length, stdout) != shown->length)
        return fail_to_write("the standard output");
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
    return fputs(deps->text, stdout) == EOF ? fail_to_write("the standard output") : 0;
}

static int compile(const plan_t *p, job_t *job, int number)
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
    const char *deps = dep_place(p, job, create);
    list_t command = compile_command(p, job, copy, deps);
    bool hosted = job->transforms && job->target == TARGET_HOST && is_device_lang(job->lang);
    int status = hosted && !o->dry_run ? run_hosted(p, job, copy, &command) : run(o, &command);
    if (status || o->dry_run)
        return status;
    if (mend(p, job, copy, deps))
        return 1;
    return deps && o->deps_only && !o->dep_file ? print_deps(o, deps) : 0;
}

/* ---- Linking ---- */

static bool any_pragma(const plan_t *p)
{
    for (int k = 0; k < p->job_count; k++)
        if (p->jobs[k].has_pragma)
            return true;
    return p->objects & OBJECT_MANAGED;
}

static bool any_transformed(const plan_t *p)
{
    for (int k = 0; k < p->job_count; k++)
        if (p->jobs[k].transforms)
            return true;
    return false;
}

/* Libraries whose calls use device memory. In a program without a pragma nothing calls them in a
 * `task`. */
static void warn_of_libraries(const options_t *o)
{
    static const char *const names[] = {"cublas",    "cublasLt", "cufft",  "cusparse",  "cusolver",
                                        "cudnn",     "curand",   "nccl",   "cutensor",  "rocblas",
                                        "hipblas",   "hipfft",   "rocfft", "hipsparse", "rocsparse",
                                        "hipsolver", "MIOpen",   "rccl"};
    for (int k = 0; k < o->argument_count; k++) {
        const char *word = o->arguments[k].text;
        const char *name = !strcmp(word, "-l") && k + 1 < o->argument_count
                               ? o->arguments[k + 1].text
                           : strncmp(word, "-l", 2) ? NULL
                                                    : word + 2;
        for (size_t n = 0; name && n < sizeof(names) / sizeof(*names); n++)
            if (strcmp(name, names[n]) == 0)
                diag_plain(
                    SEVERITY_WARNING,
                    "the kernels of library '%s' fault on managed memory unless it is called under "
                    "'#pragma kmm task' [-Wkmm-library]",
                    name);
    }
    diag_flush();
}

static void add_link_flags(const plan_t *p, list_t *command)
{
    const options_t *o = p->o;
    bool links_hip =
        p->linker.family == FAMILY_HIPCC || (p->objects & OBJECT_HIP) || any_job(p, FAMILY_HIPCC);
    bool links_cuda = p->linker.family == FAMILY_NVCC ||
                      (o->target == TARGET_CUDA && p->linker.family == FAMILY_CLANG);
    bool managed = o->manage == MANAGE_ALL || (o->manage == MANAGE_AUTO && any_pragma(p));
    link_kind_t kind = {
        .needs_kmm = any_transformed(p) || (p->objects & OBJECT_KMM) || o->manage == MANAGE_ALL,
        .managed_cuda = links_cuda && managed,
        .managed_hip = links_hip && managed && !is_hosted(p),
        .hosted = is_hosted(p),
        .needs_cxx = has_cxx(p) && !strstr(path_base(p->linker.path), "++") &&
                     p->linker.family != FAMILY_NVCC && p->linker.family != FAMILY_HIPCC,
    };
    if ((kind.managed_cuda || kind.managed_hip) && !any_pragma(p))
        warn_of_libraries(o);
    if (o->makes_library && !kind.needs_kmm)
        return;
    if (o->is_static && !kind.needs_kmm)
        return;
    link_flags(kind, command);
}

static int link_objects(const plan_t *p)
{
    const options_t *o = p->o;
    list_t command = {0};
    list_add(&command, p->linker.path);
    int job = 0;
    for (int k = 0; k < o->argument_count; k++) {
        role_t role = o->arguments[k].role;
        if (role == ROLE_SOURCE)
            list_add(&command, p->jobs[job++].object);
        else if (role == ROLE_OPTION || role == ROLE_LINK || role == ROLE_OUTPUT)
            add_argument(o, k, p->linker, &command);
    }
    add_link_flags(p, &command);
    return run(o, &command);
}

static int compile_and_link(plan_t *p)
{
    if (p->o->compile_only && p->job_count > 1 && p->o->output && !p->o->deps_only) {
        diag_plain(SEVERITY_ERROR, "-o names one file, but %d files are compiled", p->job_count);
        diag_plain(SEVERITY_NOTE, "compile them one by one, or leave out -c to link them");
        return 1;
    }
    if (!p->o->dry_run && !transform_all(p))
        return 1;
    int status = 0;
    for (int k = 0; k < p->job_count; k++) {
        int result = compile(p, &p->jobs[k], k);
        status = status ? status : result;
    }
    return status || p->o->compile_only ? status : link_objects(p);
}

/* ---- Untouched ---- */

static bool same(compiler_t a, compiler_t b)
{
    return a.path && b.path && strcmp(a.path, b.path) == 0;
}

/* Whether one compiler can take the command line as it is. */
static bool is_one_command(const plan_t *p)
{
    if (any_transformed(p))
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
        drops |= is_dropped(o, k);
    drops |= o->has_hip_options && !takes_hip_options(o, compiler);
    if ((is_nvcc && !o->has_hip_options) || (!o->nvcc_only && !drops)) {
        for (int k = 0; k < o->original_count; k++)
            if (is_nvcc && is_unknown_to_nvcc(o->original[k]))
                continue;
            else if (!is_colour(o->original[k]) || compiler.family == FAMILY_CLANG)
                list_add(&command, o->original[k]);
            else
                list_add(&command, o->original[k][2] == 'n' ? "-fdiagnostics-color=never"
                                                            : "-fdiagnostics-color=always");
        return command;
    }
    for (int k = 0; k < o->argument_count; k++)
        add_argument(o, k, compiler, &command);
    return command;
}

static int run_original(const options_t *o, const list_t *command)
{
    if (o->dry_run || o->verbose)
        process_print(command);
    diag_summary();
    return o->dry_run ? 0 : process_replace(command);
}

static int compile_untouched(const plan_t *p)
{
    const options_t *o = p->o;
    compiler_t compiler = p->job_count ? p->jobs[0].compiler : p->linker;
    list_t command = original_command(o, compiler);
    unsigned needs = 0;
    for (int k = 0; k < p->job_count; k++)
        needs |= headers_of(p, &p->jobs[k]);
    add_headers(o, needs, &command);
    if (!o->compile_only)
        add_link_flags(p, &command);
    return run_original(o, &command);
}

/* ---- Command lines that name no files ---- */

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Those are questions to a compiler; which one, the question tells. */
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
        return hip_compiler();
    return o->target == TARGET_CUDA && !c ? cuda_compiler() : c_compiler(o);
}

static int pass_question(const options_t *o)
{
    compiler_t compiler = asked_compiler(o);
    if (!compiler.path)
        return 1;
    list_t command = {0};
    list_add(&command, compiler.path);
    for (int k = 0; k < o->original_count; k++)
        list_add(&command, o->original[k]);
    return run_original(o, &command);
}

static int print_version(const options_t *o)
{
    compiler_t compiler = asked_compiler(o);
    printf("kmmcc %s (libclang %s)\n", KMM_VERSION, KMM_LLVM_VERSION);
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

static int print_link_flags(const options_t *o)
{
    bool cuda = o->target == TARGET_CUDA, hip = o->target == TARGET_HIP,
         managed = o->manage != MANAGE_NONE;
    list_t flags = {0};
    link_flags((link_kind_t){.needs_kmm = true,
                             .managed_cuda = cuda && managed,
                             .managed_hip = hip && managed,
                             .hosted = !cuda && !hip,
                             .needs_cxx = !cuda && !hip},
               &flags);
    for (int k = 0; k < flags.count; k++)
        printf("%s%s", k ? " " : "", flags.item[k]);
    printf("\n");
    return 0;
}

/* ---- The whole ---- */

static int compile_files(const options_t *o)
{
    plan_t *p = make_plan(o);
    if (diag_error_count())
        return 1;
    if (o->emit_source || o->check_file || o->diff || o->explain)
        return show_all(p);
    choose_compilers(p);
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
        return diag_warnings_list(), 0;
    if (o->action == ACTION_COMPILE && o->argument_count == 0) {
        diag_plain(SEVERITY_ERROR, "no files were named");
        diag_plain(SEVERITY_NOTE, "'kmmcc --help' tells what can be done with files");
        return 1;
    }
    resolve_target(o);
    if (diag_error_count())
        return 1;
    if (o->action == ACTION_VERSION && !asked_of_compiler)
        return print_version(o);
    if (o->action == ACTION_LINK_FLAGS)
        return print_link_flags(o);
    if (!o->has_input || asked_of_compiler)
        return pass_question(o);
    return compile_files(o);
}
