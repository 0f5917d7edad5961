/* SPDX-License-Identifier: Apache-2.0 */
/* Stand-ins for libkmm in tests of the wrappers of managed programs. Nothing is managed, and every
 * call succeeds. Each function is weak: a test that needs more of it defines it. */
#include "managed_stand_ins.h"

#include <kmm.h>
#include <kmm/cuda_api.h>

#define STAND_IN __attribute__((weak))

STAND_IN int kmm_cuda_device_synchronize(void)
{
    return 0;
}
STAND_IN int kmm_cuda_event_is_recorded(void *event)
{
    (void)event;
    return 0;
}
STAND_IN int kmm_cuda_event_elapsed_time(float *milliseconds, void *start, void *end)
{
    (void)milliseconds, (void)start, (void)end;
    return 0;
}
STAND_IN void kmm_cuda_event_forget(void *event)
{
    (void)event;
}
STAND_IN int kmm_cuda_event_query(void *event)
{
    (void)event;
    return 0;
}
STAND_IN int kmm_cuda_event_record(void *event, void *stream)
{
    (void)event, (void)stream;
    return 0;
}
STAND_IN int kmm_cuda_event_synchronize(void *event)
{
    (void)event;
    return 0;
}
STAND_IN int kmm_cuda_free(void *base)
{
    (void)base;
    return 0;
}
STAND_IN const char *kmm_cuda_get_error_name(int error)
{
    (void)error;
    return "";
}
STAND_IN void kmm_cuda_say_error(const char *format, ...)
{
    (void)format;
}
STAND_IN const char *kmm_cuda_get_error_string(int error)
{
    (void)error;
    return "";
}
STAND_IN void kmm_cuda_wrap(void) {}
/* The standing is managed, unless a test says otherwise. */
int is_native;
int native_to, native_from;
void (*at_end)(void);
int kmm_cuda_native(int kind)
{
    return (void)kind, is_native;
}
int kmm_cuda_native_enter(int kind)
{
    return (void)kind, is_native;
}
STAND_IN void kmm_cuda_name_kernels(int kind, const kmm_cuda_names_t *names)
{
    (void)kind, (void)names;
}
again_t again = {.device = -1};
int kmm_cuda_native_enter_launch(int kind)
{
    return (void)kind, again.is_armed ? KMM_CUDA_ARMED_AGAIN : is_native;
}
int kmm_cuda_launch_again(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry, void **args,
                          unsigned first, kmm_cuda_order_t **order)
{
    again.handle = kernel->handle;
    again.grid_x = geometry->grid[0];
    again.args = args;
    again.first = first;
    again.begins++;
    *order = again.device >= 0 ? kmm_cuda_native_order() : NULL;
    return again.device;
}
void kmm_cuda_launch_again_end(void)
{
    again.ends++;
}
STAND_IN void kmm_cuda_native_leave(void) {}
STAND_IN int kmm_cuda_native_malloc(void **out, size_t bytes)
{
    (void)out, (void)bytes;
    return 0;
}
STAND_IN int kmm_cuda_native_free(void *base)
{
    (void)base;
    return 0;
}
int native_sample;
uint64_t measured_ns;
int kmm_cuda_native_sample(void)
{
    int sample = native_sample;
    native_sample = 0;
    return sample;
}
void kmm_cuda_native_measured(int sample, uint64_t ns)
{
    (void)sample;
    measured_ns = ns;
}
void kmm_cuda_native_device(int ordinal)
{
    (void)ordinal;
}
void kmm_cuda_native_several(int kind)
{
    (void)kind;
}
int kmm_cuda_native_between(const void *dst, const void *src, int *to, int *from)
{
    (void)dst, (void)src;
    *to = native_to;
    *from = native_from;
    return is_native && native_to != native_from;
}
void kmm_cuda_native_at_end(void (*call)(void))
{
    at_end = call;
}
void kmm_cuda_native_stay(void) {}
int kmm_cuda_native_return(int kind)
{
    return (void)kind, 0;
}
int kmm_cuda_native_has_returned(void)
{
    return 0;
}
int is_bound;
int kmm_cuda_native_is_bound(void)
{
    return is_bound;
}
STAND_IN int kmm_array_find(kmm_runtime_t *rt, const void *address, kmm_extent_t *out)
{
    (void)rt, (void)address, (void)out;
    return KMM_E_ADDRESS;
}
void kmm_cuda_native_bind(const char *call)
{
    (void)call;
}
int kmm_cuda_native_chunks(int error)
{
    return error;
}
kmm_cuda_order_t *kmm_cuda_native_order(void)
{
    static kmm_cuda_order_t order;
    return &order;
}
void kmm_cuda_native_order_end(void) {}
void kmm_cuda_native_stream_ends(void *stream)
{
    (void)stream;
}
int kmm_cuda_native_synced(int error)
{
    return error;
}
STAND_IN int kmm_cuda_launch_failed(int error)
{
    return error;
}
STAND_IN int kmm_cuda_launch(const kmm_kernel_t *kernel, const kmm_geometry_t *geometry,
                             void **args)
{
    (void)kernel, (void)geometry, (void)args;
    return 0;
}
STAND_IN int kmm_cuda_get_last_error(void)
{
    return 0;
}
STAND_IN int kmm_cuda_is_managed(const void *address)
{
    (void)address;
    return 0;
}
STAND_IN int kmm_cuda_malloc(void **out, size_t bytes)
{
    (void)out, (void)bytes;
    return 0;
}
STAND_IN int kmm_cuda_memcpy(void *dst, const void *src, size_t bytes, int kind)
{
    (void)dst, (void)src, (void)bytes, (void)kind;
    return 0;
}
STAND_IN int kmm_cuda_memcpy_2d(void *dst, size_t dp, const void *src, size_t sp, size_t w,
                                size_t h, int kind)
{
    (void)dst, (void)dp, (void)src, (void)sp, (void)w, (void)h, (void)kind;
    return 0;
}
STAND_IN int kmm_cuda_memcpy_async(void *dst, const void *src, size_t bytes, int kind, void *stream)
{
    (void)dst, (void)src, (void)bytes, (void)kind, (void)stream;
    return 0;
}
STAND_IN int kmm_cuda_memset(void *dst, int value, size_t bytes)
{
    (void)dst, (void)value, (void)bytes;
    return 0;
}
STAND_IN int kmm_cuda_memset_async(void *dst, int value, size_t bytes, void *stream)
{
    (void)dst, (void)value, (void)bytes, (void)stream;
    return 0;
}
STAND_IN int kmm_cuda_peek_at_last_error(void)
{
    return 0;
}
STAND_IN int kmm_cuda_stream_query(void *stream)
{
    (void)stream;
    return 0;
}
STAND_IN int kmm_cuda_stream_synchronize(void *stream)
{
    (void)stream;
    return 0;
}
STAND_IN int kmm_cuda_stream_wait_event(void *stream, void *event)
{
    (void)stream, (void)event;
    return 0;
}
STAND_IN int kmm_cuda_stream_await_event(void *stream, void *event)
{
    (void)stream, (void)event;
    return 0;
}
STAND_IN int kmm_cuda_stream_settle(void *stream)
{
    (void)stream;
    return 0;
}
STAND_IN void kmm_cuda_stream_catch_up(void *stream)
{
    (void)stream;
}
STAND_IN kmm_runtime_t *kmm_default(void)
{
    return NULL;
}
STAND_IN int kmm_device_count(kmm_runtime_t *rt)
{
    (void)rt;
    return 0;
}
STAND_IN int kmm_device_get_sized(size_t bytes, kmm_runtime_t *rt, int index,
                                  kmm_device_info_t *out)
{
    (void)bytes, (void)rt, (void)index, (void)out;
    return 0;
}
const void *ended[16];
uint32_t ended_count;
STAND_IN void kmm_kernels_end(const void *const *handles, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        ended[ended_count++ % 16] = handles[k];
}
STAND_IN void *kmm_task_stream(void *stream)
{
    return stream;
}
int in_task;
STAND_IN int kmm_task_active(void)
{
    return in_task;
}
