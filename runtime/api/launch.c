/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of kmm/launch.h that need the current runtime. */
#include <kmm/launch.h>

#include "api/block.h"
#include "api/runtime.h"
#include "base/error.h"
#include "execute/exact_host.h"
#include "execute/statements.h"
#include "launch/keep.h"
#include "launch/natively.h"
#include "launch/placement.h"
#include "launch/submit.h"
#include "memory/residency/native.h"
#include "task/inside.h"

/* Returns KMM_E_INVALID if the caller was compiled with another version of kmm/launch.h. */
static int version_check(uint32_t version)
{
    if (version == KMM_LAUNCH_VERSION)
        return 0;
    return kmm__error_set(
        KMM_E_INVALID,
        "this was compiled for version %u of kmm/launch.h, and libkmm has version %u: %s", version,
        KMM_LAUNCH_VERSION,
        version < KMM_LAUNCH_VERSION
            ? "compile the program again, with the kmmcc that belongs to this libkmm"
            : "run the program with the libkmm that belongs to the kmmcc which compiled it");
}

KMM__API kmm_launch_t *kmm_launch_begin_version(uint32_t version, const char *kernel,
                                                const char *file, int line)
{
    kmm__blocks_check(__builtin_frame_address(0));
    kmm_launch_t *l = kmm__launch_create(kmm__current(), kernel, file, line);
    int error = version_check(version);
    kmm__exact_host_launch();
    if (error) {
        kmm__launch_mistake(l, error, "%s", kmm__error_get());
        kmm_directive_check(error, file, line);
    }
    return l;
}

KMM__API kmm_launch_t *kmm_launch_again(kmm_site_t *site, const kmm_value_t *values, unsigned count)
{
    kmm__blocks_check(__builtin_frame_address(0));
    kmm_launch_t *l = kmm__kept_arm(kmm__current(), site, values, count);
    if (l)
        kmm__exact_host_launch();
    return l;
}

/* Describes a launch without a pragma. The kernel may change variables of the current device. */
static kmm_launch_t *describe_whole(const kmm_kernel_t *kernel)
{
    kmm_launch_t *l = kmm__launch_create(kmm__current(), kernel->name, NULL, 0);
    int chosen = kmm__device_chosen(l->runtime);
    if (kernel->kind == KMM_KIND_HOST && chosen >= 0)
        kmm_launch_device(l, KMM_ON_DEVICE, chosen);
    l->on_current = true;
    return l;
}

KMM__API int kmm_launch_kernel(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                               void **args)
{
    kmm_launch_t *l = kmm__launch_take_armed();
    bool annotated = l != NULL;
    int error = kernel && geometry
                    ? version_check(kernel->version)
                    : kmm__error_set(KMM_E_INVALID, "a launch without a kernel or a geometry");
    if (l && !error) {
        const int how = kmm__submit_again(l, kernel, geometry, args);
        if (how)
            return how;
    }
    if (error) {
        if (l)
            kmm__launch_free(l);
        return error;
    }
    if (!l && kmm__inside_task())
        return kmm__statements_launch(kmm__inside_task(), kernel, geometry, args);
    error = kmm__submit_kernel(l ? l : describe_whole(kernel), annotated, kernel, geometry, args);
    if (error != KMM__NOT_HELD)
        return error;
    return kmm__native_enter(kernel->kind)
               ? KMM__LAUNCH_NATIVELY
               : kmm__submit_kernel(describe_whole(kernel), false, kernel, geometry, args);
}
