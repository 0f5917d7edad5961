/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments with which clang parses a file: kmm's own headers or those of a toolkit, what the
 * real compiler would define, and what the command line says. */
#include "clang/flags.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "base/install.h"
#include "base/options.h"
#include "base/toolchain.h"
#include "clang/asked.h"

/* Also for the host's side: the names of Thrust's templates have it. */
static const char architecture[] = "--cuda-gpu-arch=sm_90";

void flags_add(flags_t *f, const char *flag)
{
    f->flag[f->count++] = flag;
}

bool flags_has_toolkit(const unit_t *u)
{
    if (u->lang == LANG_HIP && u->target == TARGET_HIP)
        return toolchain_rocm();
    return is_device_lang(u->lang) && u->target != TARGET_HOST && toolchain_cuda();
}

static bool is_nvcc(const unit_t *u)
{
    return u->target == TARGET_CUDA && toolchain_cuda();
}

/* Adds the macros that HIP's compilers define. HIP's headers over CUDA's are kmm's own. */
static void add_hip_macros(const unit_t *u, flags_t *f)
{
    flags_add(f, "-D__HIP__=1");
    flags_add(f, "-D__HIPCC__=1");
    flags_add(f, u->target == TARGET_CUDA ? "-D__HIP_PLATFORM_NVIDIA__=1"
                                          : "-D__HIP_PLATFORM_AMD__=1");
    flags_add(f, u->target == TARGET_CUDA ? "-D__HIP_PLATFORM_NVCC__=1" : "-U__CUDA__");
    flags_add(f, arena_printf("-isystem%s", install_path("include/kmm/hip")));
    flags_add(f, "-includehip/hip_runtime.h");
}

/* CUDA without a toolkit, by kmm's own headers. `side` of the source: a flag of clang. */
static void add_own_headers(flags_t *f, const char *side)
{
    flags_add(f, "-xcuda");
    flags_add(f, side);
    flags_add(f, "-nocudainc");
    flags_add(f, "-nocudalib");
    flags_add(f, architecture);
    flags_add(f, "-DKMM_HOST_PARSE=1");
    flags_add(f, arena_printf("-isystem%s", install_path("include/kmm/host")));
    flags_add(f, "-includekmm_parse.h");
    flags_add(f, "-includecuda_runtime.h");
}

static void add_own_flags(const unit_t *u, headers_t headers, const char *side, flags_t *f)
{
    static const char *const of_nvcc[] = {"-D__CUDACC__=1", "-D__NVCC__=1",
                                          "-D__CUDACC_VER_MAJOR__=13", "-D__CUDACC_VER_MINOR__=0"};
    if (headers == HEADERS_LIGHT)
        flags_add(f, "-DKMM_PARSE_LIGHT=1");
    for (size_t k = 0; is_nvcc(u) && k < sizeof(of_nvcc) / sizeof(*of_nvcc); k++)
        flags_add(f, of_nvcc[k]);
    if (u->target == TARGET_HOST)
        flags_add(f, "-D_KMM_HOST=1");
    add_own_headers(f, side);
    if (u->lang == LANG_HIP)
        add_hip_macros(u, f);
}

/* HIP's own headers, as clang includes them by itself. */
static void add_rocm_flags(flags_t *f)
{
    flags_add(f, "-xhip");
    flags_add(f, "--cuda-host-only");
    flags_add(f, "-nogpulib");
    flags_add(f, "-D__HIP_PLATFORM_AMD__=1");
    flags_add(f, "-D__HIP_PLATFORM_HCC__=1");
    flags_add(f, "-D__AMDGCN_WAVEFRONT_SIZE=64"); /* ROCm's headers before 7 ask it, and newer
                                                    clangs do not say */
    flags_add(
        f, "-D__llvm_amdgcn_rcp_f16(x)=(x)"); /* which these headers call and hipcc's clang knows */
    flags_add(f, "-D__llvm_amdgcn_rcp_2f16(x)=(x)");
    flags_add(f, arena_printf("--rocm-path=%s", toolchain_rocm()));
    if (strcmp(toolchain_rocm(), "/usr") != 0) /* is looked in anyway, behind the C++ library's */
        flags_add(f, arena_printf("-isystem%s/include", toolchain_rocm()));
}

/* CUDA with a toolkit's headers. `side` of the source: a flag of clang. */
static void add_toolkit_flags(const char *cuda, headers_t headers, const char *side, flags_t *f)
{
    const char *own = install_path("include");
    flags_add(f, "-xcuda");
    flags_add(f, side);
    flags_add(f, arena_printf("--cuda-path=%s", cuda));
    flags_add(f, "-nocudalib");
    flags_add(f, architecture);
    flags_add(f, "-Wno-unknown-cuda-version");
    flags_add(f, arena_printf("-I%s/kmm/parse", own));
    flags_add(f, arena_printf("-include%s/kmm/parse/nvcc.h", own));
    flags_add(f, arena_printf("-isystem%s/include/cccl", cuda));
    if (headers == HEADERS_TEXTURES)
        flags_add(f, "-DKMM_PARSE_TEXTURES");
}

static void add_cuda_flags(const unit_t *u, headers_t headers, flags_t *f)
{
    if (headers <= HEADERS_OWN) {
        add_own_flags(u, headers, "--cuda-host-only", f);
        return;
    }
    if (u->lang == LANG_HIP && u->target == TARGET_HIP) {
        add_rocm_flags(f);
        return;
    }
    add_toolkit_flags(toolchain_cuda(), headers, "--cuda-host-only", f);
    if (u->lang == LANG_HIP)
        add_hip_macros(u, f);
}

/* libclang does not show what is in the statement of an OpenMP directive. So clang ignores these
 * directives, as it ignores ours; the real compiler obeys and checks them. */
static const char *without_openmp(const char *flag)
{
    return strcmp(flag, "-fopenmp") == 0 ? "-D_OPENMP=201511" : flag;
}

static flags_t flags_none(const unit_t *u)
{
    enum { ROOM = 80 };
    int more = u->options->parse_flag_count + u->main->includes->asked.count;
    return (flags_t){.flag = arena_alloc((ROOM + (size_t)more) * sizeof(char *))};
}

static void add_options(const unit_t *u, flags_t *f)
{
    for (int k = 0; k < u->options->parse_flag_count; k++)
        flags_add(f, without_openmp(u->options->parse_flags[k]));
    asked_add_flags(u, f);
}

flags_t flags_of_device(const unit_t *u, headers_t headers)
{
    flags_t f = flags_none(u);
    if (headers > HEADERS_OWN)
        add_toolkit_flags(toolchain_cuda(), headers, "--cuda-device-only", &f);
    else
        add_own_flags(u, headers, "--cuda-device-only", &f);
    flags_add(&f, "-DKMM_PARSE_DEVICE=1");
    add_options(u, &f);
    flags_add(&f, "-O1"); /* otherwise functions are marked as not to be looked into */
    flags_add(&f, "-fgpu-rdc");
    flags_add(&f, arena_printf("-I%s", install_path("include")));
    flags_add(&f, "-idirafter");
    flags_add(&f, install_path("include/kmm/parse/last"));
    return f;
}

flags_t flags_of(const unit_t *u, headers_t headers)
{
    flags_t f = flags_none(u);
    if (is_device_lang(u->lang))
        add_cuda_flags(u, headers, &f);
    else
        flags_add(&f, u->lang == LANG_C ? "-xc" : "-xc++");
    add_options(u, &f);
    flags_add(&f, "-w");
    flags_add(&f, "-Wno-register"); /* nvcc only warns of it */
    if (u->lang == LANG_CUDA || u->lang == LANG_HIP)
        flags_add(&f, "-fgpu-rdc"); /* without it clang rejects kernels that launch kernels */
    flags_add(&f, "-fspell-checking");
    if (!u->options->ignores_pragmas)
        flags_add(&f, "-D_KMM=1");
    flags_add(&f, arena_printf("-I%s", install_path("include")));
    flags_add(&f, "-idirafter");
    flags_add(&f, install_path("include/kmm/parse/last"));
    return f;
}

headers_t flags_last_headers(const unit_t *u)
{
    if (!flags_has_toolkit(u))
        return HEADERS_OWN;
    return u->target == TARGET_HIP ? HEADERS_TOOLKIT : HEADERS_TEXTURES;
}
