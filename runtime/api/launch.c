/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of kmm/launch.h that need the current runtime. */
#include <kmm/launch.h>

#include "api/runtime.h"
#include "base/error.h"
#include "execute/statements.h"
#include "launch/placement.h"
#include "launch/submit.h"
#include "task/inside.h"

KMM__API kmm_launch_t *kmm_launch_begin(const char *kernel, const char *file, int line)
{
    return kmm__launch_create(kmm__current(), kernel, file, line);
}

/* A launch without a pragma. It may change variables of the device that is current. */
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
    if (!kernel || kernel->version != KMM_LAUNCH_VERSION || !geometry) {
        if (l)
            kmm__launch_free(l);
        return kmm__error_set(KMM_E_INVALID,
                              "no kernel, or one that was built for another version of libkmm");
    }
    if (!l && kmm__inside_task())
        return kmm__statements_launch(kmm__inside_task(), kernel, geometry, args);
    return kmm__submit_kernel(l ? l : describe_whole(kernel), annotated, kernel, geometry, args);
}
