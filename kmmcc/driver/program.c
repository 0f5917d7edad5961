/* SPDX-License-Identifier: Apache-2.0 */
/* The command that links a program. */
#include "driver/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/diag.h"
#include "base/options.h"
#include "base/path.h"
#include "base/toolchain.h"
#include "driver/command.h"
#include "driver/link.h"
#include "driver/object.h"
#include "driver/run.h"

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

void program_add_flags(const plan_t *p, list_t *command)
{
    const options_t *o = p->o;
    if (o->makes_archive || o->links_devices)
        return;
    bool links_hip = p->linker.family == FAMILY_HIPCC || (p->objects & OBJECT_HIP) ||
                     plan_has_family(p, FAMILY_HIPCC);
    bool links_cuda = p->linker.family == FAMILY_NVCC ||
                      (p->objects & OBJECT_CUDA && !plan_is_hosted(p)) ||
                      (o->target == TARGET_CUDA && p->linker.family == FAMILY_CLANG);
    bool managed = o->manage == MANAGE_ALL || (o->manage == MANAGE_AUTO && plan_has_pragma(p));
    link_kind_t kind = {
        .needs_kmm = plan_has_transformed(p) || (p->objects & OBJECT_KMM) ||
                     o->manage == MANAGE_ALL || o->checks,
        .managed_cuda = links_cuda && managed,
        .managed_hip = links_hip && managed && !plan_is_hosted(p),
        .hosted = plan_is_hosted(p),
        .checks = o->checks,
        .is_program = !o->makes_library,
        .needs_cxx = plan_has_cxx(p) && !strstr(path_base(p->linker.path), "++") &&
                     p->linker.family != FAMILY_NVCC && p->linker.family != FAMILY_HIPCC,
    };
    if ((kind.managed_cuda || kind.managed_hip) && !plan_has_pragma(p))
        warn_of_libraries(o);
    if (o->makes_library && !kind.needs_kmm)
        return;
    if (o->is_static && !kind.needs_kmm)
        return;
    link_flags(kind, command);
}

bool program_links_for_nvcc(const plan_t *p)
{
    return (p->o->makes_archive || p->o->links_devices) && p->linker.family != FAMILY_NVCC;
}

/* Does what nvcc does for -lib. */
static int pack(const plan_t *p)
{
    const options_t *o = p->o;
    const char *ar = toolchain_named("ar").path;
    if (!ar)
        return 1;
    list_t command = {0};
    list_add(&command, ar);
    list_add(&command, "cr");
    list_add(&command, o->output ? o->output : "a.a");
    int job = 0;
    for (int k = 0; k < o->argument_count; k++) {
        const argument_t *a = &o->arguments[k];
        if (a->role == ROLE_SOURCE)
            list_add(&command, p->jobs[job++].object);
        else if (a->role == ROLE_LINK && !a->is_value && a->text[0] != '-')
            list_add(&command, a->text);
    }
    return run_command(o, &command);
}

/* Makes the object of -dlink: it is empty, because no object has code of devices. */
static int link_no_devices(const plan_t *p)
{
    const char *output = p->o->output ? p->o->output : "a_dlink.o";
    const char *words[] = {p->linker.path, "-x", "c", "-c", "/dev/null", "-o", output};
    list_t command = {0};
    for (size_t k = 0; k < sizeof(words) / sizeof(*words); k++)
        list_add(&command, words[k]);
    return run_command(p->o, &command);
}

int program_link(const plan_t *p)
{
    const options_t *o = p->o;
    if (program_links_for_nvcc(p))
        return o->makes_archive ? pack(p) : link_no_devices(p);
    list_t command = {0};
    list_add(&command, p->linker.path);
    int job = 0;
    for (int k = 0; k < o->argument_count; k++) {
        role_t role = o->arguments[k].role;
        if (role == ROLE_SOURCE)
            list_add(&command, p->jobs[job++].object);
        else if (role == ROLE_OPTION || role == ROLE_LINK || role == ROLE_OUTPUT)
            command_add_argument(o, k, p->linker, &command);
    }
    program_add_flags(p, &command);
    return run_command(o, &command);
}
