/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on a GPU: loading them once for each device, and launching them. */
#include "backend/gpu/kernel.h"

#include <stdlib.h>

#include "backend/gpu/device.h"
#include "backend/gpu/stream.h"

/* Bytes of dynamic shared memory that every kernel may have. */
enum { PLAIN_SHARED_BYTES = 48 << 10 };

/* Finds the function of a kernel on this device. Loads the kernel at its first launch, because lazy
 * loading by the driver may synchronize. Allows it the dynamic shared memory of this launch. */
static int load(kmm__gpu_t *gpu, void *kernel, size_t shared_bytes, void **out)
{
    kmm__loaded_kernel_t *l = NULL;
    for (int k = 0; k < gpu->loaded_count && !l; k++)
        if (gpu->loaded[k].kernel == kernel)
            l = &gpu->loaded[k];
    if (!l) {
        kmm__loaded_kernel_t *grown =
            realloc(gpu->loaded, ((size_t)gpu->loaded_count + 1) * sizeof(*grown));
        if (!grown)
            return KMM_E_MEMORY;
        gpu->loaded = grown;
        l = &grown[gpu->loaded_count];
        *l = (kmm__loaded_kernel_t){kernel, NULL, PLAIN_SHARED_BYTES};
        int mode = kmm__gpu_relax(gpu), error = gpu->driver->kernel_load(kernel, &l->function);
        kmm__gpu_restore(gpu, mode);
        if (error)
            return error;
        gpu->loaded_count++;
    }
    if (shared_bytes > l->shared_bytes) {
        int mode = kmm__gpu_relax(gpu),
            error = gpu->driver->kernel_allow_shared(kernel, shared_bytes, &gpu->device);
        kmm__gpu_restore(gpu, mode);
        if (error)
            return error;
        l->shared_bytes = shared_bytes;
    }
    *out = l->function;
    return 0;
}

void kmm__gpu_kernel_forget(kmm__gpu_t *gpu, const void *handle)
{
    pthread_mutex_lock(&gpu->load_lock);
    for (int k = 0; k < gpu->loaded_count; k++)
        if (gpu->loaded[k].kernel == handle)
            gpu->loaded[k--] = gpu->loaded[--gpu->loaded_count];
    pthread_mutex_unlock(&gpu->load_lock);
}

int kmm__gpu_launch(kmm__stream_t *s, const kmm__run_t *r)
{
    const kmm__gpu_driver_t *driver = s->gpu->driver;
    void *function;
    if (!r->kernel || r->kernel->kind != driver->kind)
        return kmm__gpu_fail(KMM_E_INVALID, "%s was not built for %s",
                             r->kernel ? r->kernel->name : "a plain function", driver->product);
    bool entered = kmm__gpu_enter(s->gpu);
    pthread_mutex_lock(&s->gpu->load_lock);
    int error = load(s->gpu, r->kernel->handle, r->geometry.shared_bytes, &function);
    pthread_mutex_unlock(&s->gpu->load_lock);
    if (!error)
        error = driver->kernel_launch(function, r->count, r->geometry.block,
                                      r->geometry.shared_bytes, s->handle, r->args);
    kmm__gpu_leave(s->gpu, entered);
    return error;
}
