/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the real compilers that compile the files, and the one that links. */
#include "driver/compiler.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "driver/object.h"
#include "pragma/includes.h"

/* ---- Which compiler ---- */

static compiler_t compiler_found(compiler_t compiler, const char *kind, const char *remedy)
{
    if (!compiler.path && !diag_error_count()) {
        diag_plain(SEVERITY_ERROR, "no %s compiler was found", kind);
        diag_plain(SEVERITY_NOTE, "%s", remedy);
    }
    return compiler;
}

compiler_t compiler_of_c(const options_t *o)
{
    return o->host_compiler
               ? toolchain_named(o->host_compiler)
               : compiler_found(toolchain_c(), "C",
                                "install gcc or clang, or name a compiler by --compiler=");
}

static compiler_t compiler_of_cxx(const options_t *o)
{
    return o->host_compiler
               ? toolchain_named(o->host_compiler)
               : compiler_found(toolchain_cxx(), "C++",
                                "install g++ or clang, or name a compiler by --compiler=");
}

compiler_t compiler_of_cuda(void)
{
    return compiler_found(
        toolchain_nvcc(), "CUDA",
        "put nvcc in PATH or set CUDA_HOME or KMM_CUDA_PATH; --target=host compiles CUDA "
        "source for the CPU");
}

compiler_t compiler_of_hip(void)
{
    return compiler_found(
        toolchain_hipcc(), "HIP",
        "put hipcc in PATH or set ROCM_PATH; --target=host compiles HIP source for the CPU");
}

static target_t target_of(family_t family)
{
    return family == FAMILY_NVCC ? TARGET_CUDA : family == FAMILY_HIPCC ? TARGET_HIP : TARGET_HOST;
}

/* True if HIP source is for NVIDIA's GPUs: by the variable that hipcc obeys, or the macro that it
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

/* True if a command that only links has objects for NVIDIA's GPUs. */
static bool links_cuda(const options_t *o)
{
    unsigned objects = o->source_count || !o->has_input ? 0 : plan_scan_objects(o);
    return (objects & OBJECT_CUDA) && !(objects & OBJECT_HOSTED);
}

void compiler_resolve_target(options_t *o)
{
    bool is_auto = o->target == TARGET_AUTO;
    o->hip_target = o->target;
    if (is_auto && o->compiler && toolchain_named(o->compiler).family == FAMILY_GNU &&
        links_cuda(o))
        o->target = TARGET_CUDA, o->hip_target = TARGET_HOST;
    else if (is_auto && o->compiler)
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
        return compiler_of_cuda();
    if ((job->uses & USES_HIP) && toolchain_hipcc().path)
        return toolchain_hipcc();
    return job->lang == LANG_CXX ? compiler_of_cxx(o) : compiler_of_c(o);
}

compiler_t compiler_of(const options_t *o, const job_t *job)
{
    bool is_device = is_device_lang(job->lang);
    bool translates =
        job->lang == LANG_HIP && job->target == TARGET_CUDA; /* hipcc would only call nvcc */
    if (o->compiler && !(translates && toolchain_named(o->compiler).family == FAMILY_HIPCC))
        return toolchain_named(o->compiler);
    if (is_device && job->target == TARGET_CUDA)
        return compiler_of_cuda();
    if (is_device)
        return job->target == TARGET_HIP ? compiler_of_hip() : compiler_of_cxx(o);
    return compiler_of_plain(o, job);
}

/* True if the command line is that of a C or C++ compiler which links CUDA's objects: it names the
 * CUDA runtime, which nvcc adds by itself. */
static bool names_cuda_runtime(const options_t *o)
{
    for (int k = 0; k < o->argument_count; k++)
        if (strcmp(o->arguments[k].text, "-lcudart") == 0 ||
            strcmp(o->arguments[k].text, "-lcudart_static") == 0)
            return !o->nvcc_only;
    return false;
}

static compiler_t compiler_for_link(const plan_t *p)
{
    const options_t *o = p->o;
    bool cuda = plan_has_family(p, FAMILY_NVCC) || (p->objects & OBJECT_CUDA) || o->nvcc_only;
    bool hip = plan_has_family(p, FAMILY_HIPCC) || (p->objects & OBJECT_HIP);
    if (o->links_devices && (p->objects & OBJECT_CUDA) && !plan_is_hosted(p) &&
        !(o->compiler && toolchain_named(o->compiler).family == FAMILY_NVCC))
        return compiler_of_cuda();
    if (o->compiler &&
        !(plan_has_family(p, FAMILY_NVCC) && toolchain_named(o->compiler).family == FAMILY_HIPCC))
        return toolchain_named(o->compiler);
    if (!p->job_count && names_cuda_runtime(o) && !plan_is_hosted(p))
        return compiler_of_cxx(o);
    if ((o->target == TARGET_CUDA || plan_has_family(p, FAMILY_NVCC)) && cuda && !plan_is_hosted(p))
        return compiler_of_cuda();
    if (hip && toolchain_hipcc().path && !plan_is_hosted(p))
        return toolchain_hipcc();
    return plan_has_cxx(p) || o->stdin_lang == LANG_CXX ? compiler_of_cxx(o) : compiler_of_c(o);
}

/* ---- All files ---- */

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

void compiler_choose(plan_t *p)
{
    refuse_per_thread(p);
    for (int k = 0; k < p->job_count; k++)
        p->jobs[k].compiler = compiler_of(p->o, &p->jobs[k]);
    if (p->o->compile_only && p->job_count)
        return;
    p->objects = plan_scan_objects(p->o);
    p->linker = compiler_for_link(p);
}
