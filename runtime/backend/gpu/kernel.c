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

int kmm__gpu_launch_on(kmm__gpu_t *gpu, void *native, const kmm__run_t *r)
{
    const kmm__gpu_driver_t *driver = gpu->driver;
    void *function;
    if (!r->kernel || r->kernel->kind != driver->kind)
        return kmm__gpu_fail(KMM_E_INVALID, "%s was not built for %s",
                             r->kernel ? r->kernel->name : "a plain function", driver->product);
    bool entered = kmm__gpu_enter(gpu);
    pthread_mutex_lock(&gpu->load_lock);
    int error = load(gpu, r->kernel->handle, r->geometry.shared_bytes, &function);
    pthread_mutex_unlock(&gpu->load_lock);
    if (!error)
        error = driver->kernel_launch(function, r->count, r->geometry.block,
                                      r->geometry.shared_bytes, native, r->args);
    kmm__gpu_leave(gpu, entered);
    return error;
}

int kmm__gpu_launch(kmm__stream_t *s, const kmm__run_t *r)
{
    return kmm__gpu_launch_on(s->gpu, s->handle, r);
}

int kmm__gpu_code_load(kmm__gpu_t *gpu, const char *code, const char *const *names, uint32_t count,
                       void **handles)
{
    if (!gpu->driver->code_load)
        return kmm__gpu_fail(KMM_E_UNSUPPORTED, "%s takes no PTX code", gpu->driver->product);
    kmm__gpu_scope_t scope = kmm__gpu_scope_enter(gpu);
    int error = gpu->driver->code_load(code, names, count, handles);
    /* Drivers translate the code now, and not at a first launch, where it would be too late to
     * fail.
     */
    for (uint32_t k = 0; k < count && !error; k++) {
        void *function;
        error = gpu->driver->kernel_load(handles[k], &function);
    }
    kmm__gpu_scope_leave(gpu, scope);
    return error;
}
