/* SPDX-License-Identifier: Apache-2.0 */
/* Wrappers for memory, symbols, streams, events and errors of managed programs (wrap.h). */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "managed/wrap.h"

int internal(not_supported)(const char *call)
{
    kmm_cuda_say_error("%s is not supported on memory that kmm manages", call);
    return KMM_CUDA_NOT_SUPPORTED;
}

/* ---- Devices ---- */

__attribute__((constructor)) static void wrap_start(void)
{
    kmm_cuda_wrap();
}

/* ---- Variables of the device, by their addresses ---- */

/* A variable of the device whose address the program has asked for. What the program copies to or
 * sets at the address goes to all devices, as a copy by the symbol does. Never freed. */
typedef struct variable {
    const char *at;
    size_t bytes;
    const void *symbol;
    struct variable *next;
} variable_t;
static _Atomic(variable_t *) variables;

/* Returns the variable that contains [p, p + n), if other devices have a variable of the same name.
 * NULL: none. */
static const variable_t *variable_at(const void *p, size_t n)
{
    const variable_t *v = atomic_load(&variables);
    while (v && ((const char *)p < v->at || (const char *)p + n > v->at + v->bytes))
        v = v->next;
    return v;
}

int api(GetSymbolSize)(size_t *bytes, const void *symbol);
int wrap(GetSymbolAddress)(void **out, const void *symbol)
{
    size_t bytes = 0;
    bool is_native = kmm_cuda_native_enter(KIND);
    int error = real(GetSymbolAddress)(out, symbol);
    if (is_native) {
        internal(symbol_set)(symbol);
        kmm_cuda_native_leave();
    }
    if (error || internal(device_count)() < 2 || variable_at(*out, 1))
        return error;
    error = api(GetSymbolSize)(&bytes, symbol);
    variable_t *v = error ? NULL : malloc(sizeof(*v));
    if (!v)
        return error ? error : KMM_CUDA_MEMORY_ALLOCATION;
    *v = (variable_t){*out, bytes, symbol, atomic_load(&variables)};
    while (!atomic_compare_exchange_weak(&variables, &v->next, v)) {
    }
    return 0;
}

/* Copies to a variable after the work that is on the stream. Returns the result, or -1 if dst is in
 * no variable. */
static int copy_to_variable(void *dst, const void *src, size_t n, int kind, stream_t s)
{
    const variable_t *v = kmm_task_active() ? NULL : variable_at(dst, n);
    if (!v)
        return -1;
    internal(await_others)(s);
    return wrap(MemcpyToSymbol)(v->symbol, src, n, (size_t)((const char *)dst - v->at), kind);
}

static int set_variable(void *dst, int value, size_t n, stream_t s)
{
    if (kmm_task_active() || !variable_at(dst, n))
        return -1;
    void *values = malloc(n + 1);
    if (!values)
        return KMM_CUDA_MEMORY_ALLOCATION;
    memset(values, value, n);
    int error = copy_to_variable(dst, values, n, HOST_TO_DEVICE, s);
    free(values);
    return error;
}

static int any_managed(const void *a, const void *b)
{
    return kmm_cuda_is_managed(a) || kmm_cuda_is_managed(b);
}

/* Copies. Work of other code on the stream may fill or read the ordinary memory, so a managed copy
 * waits for it. An error of that work is reported by that code's own calls. The other way round,
 * kernels of libkmm may use memory that is not managed, so copies and sets of such memory wait for
 * managed work (beside.c). */
int wrap(Memcpy)(void *dst, const void *src, size_t n, int kind)
{
    int to, from;
    if (kmm_cuda_native_between(dst, src, &to, &from))
        NATIVE(MemcpyPeer, (dst, to, src, from, n));
    NATIVE(Memcpy, (dst, src, n, kind));
    int variable = copy_to_variable(dst, src, n, kind, NULL);
    if (variable >= 0)
        return variable;
    if (any_managed(dst, src)) {
        internal(await_others)(NULL);
        return internal(copy)(dst, src, n, kind, NULL);
    }
    stream_t own = internal(task_default)();
    if (own)
        return internal(wait_for)(own, real(MemcpyAsync)(dst, src, n, kind, own));
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : real(Memcpy)(dst, src, n, kind);
}

int wrap(MemcpyAsync)(void *dst, const void *src, size_t n, int kind, stream_t s)
{
    int to, from;
    if (kmm_cuda_native_between(dst, src, &to, &from))
        NATIVE(MemcpyPeerAsync, (dst, to, src, from, n, s));
    NATIVE(MemcpyAsync, (dst, src, n, kind, s));
    int variable = copy_to_variable(dst, src, n, kind, s);
    if (variable >= 0)
        return variable;
    if (any_managed(dst, src)) {
        internal(await_others)(s);
        return internal(copy)(dst, src, n, kind, s);
    }
    s = internal(stream)(s);
    return real(MemcpyAsync)(dst, src, n, kind, s);
}

int wrap(Memcpy2D)(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h, int kind)
{
    NATIVE(Memcpy2D, (dst, dp, src, sp, w, h, kind));
    if (any_managed(dst, src)) {
        internal(await_others)(NULL);
        return internal(copy_2d)(dst, dp, src, sp, w, h, kind, NULL);
    }
    stream_t own = internal(task_default)();
    if (own)
        return internal(wait_for)(own, real(Memcpy2DAsync)(dst, dp, src, sp, w, h, kind, own));
    int error = kmm_cuda_stream_settle(NULL);
    return error ? error : real(Memcpy2D)(dst, dp, src, sp, w, h, kind);
}

int wrap(Memcpy2DAsync)(void *dst, size_t dp, const void *src, size_t sp, size_t w, size_t h,
                        int kind, stream_t s)
{
    NATIVE(Memcpy2DAsync, (dst, dp, src, sp, w, h, kind, s));
    if (any_managed(dst, src)) {
        internal(await_others)(s);
        return internal(copy_2d)(dst, dp, src, sp, w, h, kind, s);
    }
    s = internal(stream)(s);
    return real(Memcpy2DAsync)(dst, dp, src, sp, w, h, kind, s);
}

int wrap(Memset)(void *dst, int value, size_t n)
{
    NATIVE(Memset, (dst, value, n));
    int variable = set_variable(dst, value, n, NULL);
    if (variable >= 0)
        return variable;
    if (kmm_cuda_is_managed(dst))
        return kmm_cuda_memset(dst, value, n);
    stream_t own = internal(stream)(NULL);
    return own ? real(MemsetAsync)(dst, value, n, own) : real(Memset)(dst, value, n);
}

int wrap(MemsetAsync)(void *dst, int value, size_t n, stream_t s)
{
    NATIVE(MemsetAsync, (dst, value, n, s));
    int variable = set_variable(dst, value, n, s);
    if (variable >= 0)
        return variable;
    if (kmm_cuda_is_managed(dst))
        return kmm_cuda_memset_async(dst, value, n, s);
    s = internal(stream)(s);
    return real(MemsetAsync)(dst, value, n, s);
}

int wrap(Memset2D)(void *dst, size_t pitch, int value, size_t w, size_t h)
{
    NATIVE(Memset2D, (dst, pitch, value, w, h));
    int error = 0;
    if (!kmm_cuda_is_managed(dst)) {
        stream_t own = internal(stream)(NULL);
        return own ? real(Memset2DAsync)(dst, pitch, value, w, h, own)
                   : real(Memset2D)(dst, pitch, value, w, h);
    }
    for (size_t row = 0; row < h && !error; row++)
        error = kmm_cuda_memset((char *)dst + row * pitch, value, w);
    return error;
}

int wrap(PointerGetAttributes)(void *attributes, const void *p)
{
    NATIVE_ONLY(PointerGetAttributes, (attributes, p));
    return kmm_cuda_is_managed(p) ? internal(not_supported)(RUNTIME "PointerGetAttributes")
                                  : real(PointerGetAttributes)(attributes, p);
}

/* ---- Symbols ---- */

/* NATIVE for a call that sets a variable of the current device. */
#define NATIVE_SYMBOL(name, arguments)                                                             \
    do {                                                                                           \
        if (kmm_cuda_native_enter(KIND)) {                                                         \
            internal(symbol_set)(symbol);                                                          \
            int native_result = real(name) arguments;                                              \
            kmm_cuda_native_leave();                                                               \
            return native_result;                                                                  \
        }                                                                                          \
    } while (0)

/* Makes the real call on each device of the runtime's kind, after earlier work, which may still
 * read the symbol. */
static int on_each_device(const void *symbol, const void *src, size_t n, size_t offset, int kind)
{
    kmm_runtime_t *rt = kmm_default();
    kmm_device_info_t info;
    if (internal(is_absent)())
        return real(MemcpyToSymbol)(symbol, src, n, offset, kind);
    int current = 0, error = kmm_cuda_device_synchronize(), count = kmm_device_count(rt);
    api(GetDevice)(&current);
    for (int k = 0; k < count && !error; k++) {
        if (kmm_device_get(rt, k, &info) || info.kind != KIND)
            continue;
        error = real(SetDevice)(info.ordinal);
        if (!error)
            error = real(MemcpyToSymbol)(symbol, src, n, offset, kind);
        if (!error)
            error = real(StreamSynchronize)(NULL); /* the call may return before the value is there,
                                                      and libkmm's streams do not wait for it */
    }
    real(SetDevice)(current);
    return error;
}

int wrap(MemcpyToSymbol)(const void *symbol, const void *src, size_t n, size_t offset, int kind)
{
    NATIVE_SYMBOL(MemcpyToSymbol, (symbol, src, n, offset, kind));
    if (!kmm_cuda_is_managed(src))
        return on_each_device(symbol, src, n, offset, kind);
    void *copy = malloc(n);
    int error = copy ? kmm_cuda_memcpy(copy, src, n, DEVICE_TO_HOST) : KMM_CUDA_MEMORY_ALLOCATION;
    if (!error)
        error = on_each_device(symbol, copy, n, offset, HOST_TO_DEVICE);
    free(copy);
    return error;
}

int wrap(MemcpyToSymbolAsync)(const void *symbol, const void *src, size_t n, size_t offset,
                              int kind, stream_t s)
{
    NATIVE_SYMBOL(MemcpyToSymbolAsync, (symbol, src, n, offset, kind, s));
    if (!kmm_task_active())
        internal(await_others)(s);
    return wrap(MemcpyToSymbol)(symbol, src, n, offset, kind);
}

int wrap(MemcpyFromSymbol)(void *dst, const void *symbol, size_t n, size_t offset, int kind)
{
    NATIVE(MemcpyFromSymbol, (dst, symbol, n, offset, kind));
    int error = kmm_cuda_device_synchronize();
    if (error || !kmm_cuda_is_managed(dst))
        return error ? error : real(MemcpyFromSymbol)(dst, symbol, n, offset, kind);
    void *copy = malloc(n);
    error = copy ? real(MemcpyFromSymbol)(copy, symbol, n, offset, DEVICE_TO_HOST)
                 : KMM_CUDA_MEMORY_ALLOCATION;
    if (!error)
        error = kmm_cuda_memcpy(dst, copy, n, HOST_TO_DEVICE);
    free(copy);
    return error;
}

/* Sets the limit on all devices. The program sets it for its current device, but its chunks run on
 * all. */
int wrap(DeviceSetLimit)(int limit, size_t value)
{
    kmm_runtime_t *rt = kmm_default();
    kmm_device_info_t info;
    int current = 0, error = real(DeviceSetLimit)(limit, value), count = kmm_device_count(rt);
    api(GetDevice)(&current);
    for (int k = 0; k < count && !error; k++) {
        if (kmm_device_get(rt, k, &info) || info.kind != KIND || info.ordinal == current)
            continue;
        error = real(SetDevice)(info.ordinal);
        error = error ? error : real(DeviceSetLimit)(limit, value);
    }
    real(SetDevice)(current);
    return error;
}

void SHARE_SYMBOL(const void *symbol, size_t bytes)
{
    if (kmm_cuda_native_enter(KIND)) {
        internal(symbol_set)(symbol);
        kmm_cuda_native_leave();
        return;
    }
    if (internal(device_count)() < 2)
        return;
    void *copy = malloc(bytes);
    int error = copy ? wrap(MemcpyFromSymbol)(copy, symbol, bytes, 0, DEVICE_TO_HOST)
                     : KMM_CUDA_MEMORY_ALLOCATION;
    if (!error)
        error = on_each_device(symbol, copy, bytes, 0, HOST_TO_DEVICE);
    free(copy);
    if (error)
        kmm_cuda_say_error("a variable of one device cannot be copied to the others: error %d "
                           "of " RUNTIME "'s runtime",
                           error);
}

/* ---- Streams, events, errors: managed work first, then the real call for other work ---- */

/* Returns the device's own error for a fault of a kernel: it says more (an assertion, an illegal
 * address) than libkmm's, which says only that a launch failed. */
static int fault(int error, int real)
{
    return error && (error != KMM_CUDA_LAUNCH_FAILURE || !real) ? error : real;
}

int wrap(DeviceSynchronize)(void)
{
    NATIVE_WAIT(DeviceSynchronize, ());
    int error = kmm_cuda_device_synchronize();
    return fault(error, error && error != KMM_CUDA_LAUNCH_FAILURE ? 0 : real(DeviceSynchronize)());
}

int wrap(DeviceReset)(void)
{
    /* Does not reset the device: its context is libkmm's too. What it holds is freed when the
     * program ends. */
    return wrap(DeviceSynchronize)();
}

int wrap(StreamSynchronize)(stream_t s)
{
    NATIVE_WAIT(StreamSynchronize, (s));
    int error = kmm_cuda_stream_synchronize(s);
    return fault(error, error && error != KMM_CUDA_LAUNCH_FAILURE
                            ? 0
                            : real(StreamSynchronize)(kmm_task_stream(s)));
}

int wrap(StreamQuery)(stream_t s)
{
    NATIVE_WAIT(StreamQuery, (s));
    int error = kmm_cuda_stream_query(s);
    return error ? error : real(StreamQuery)(kmm_task_stream(s));
}

int wrap(StreamWaitEvent)(stream_t s, event_t e, unsigned flags)
{
    NATIVE(StreamWaitEvent, (s, e, flags));
    int error =
        kmm_task_active() ? kmm_cuda_stream_wait_event(s, e) : kmm_cuda_stream_await_event(s, e);
    return error ? error : real(StreamWaitEvent)(kmm_task_stream(s), e, flags);
}

int wrap(EventRecord)(event_t e, stream_t s)
{
    if (kmm_cuda_native_has_returned())
        kmm_cuda_event_forget(e); /* it may have been recorded in managed standing */
    NATIVE(EventRecord, (e, s));
    int error = real(EventRecord)(e, kmm_task_stream(s));
    if (kmm_task_active())
        kmm_cuda_event_forget(
            e); /* recorded inside a task, the event belongs to the real runtime alone */
    return error || kmm_task_active() ? error : kmm_cuda_event_record(e, s);
}

int wrap(EventQuery)(event_t e)
{
    NATIVE_WAIT(EventQuery, (e));
    int error = kmm_cuda_event_query(e);
    return error ? error : real(EventQuery)(e);
}

int wrap(EventSynchronize)(event_t e)
{
    NATIVE_WAIT(EventSynchronize, (e));
    int error = kmm_cuda_event_synchronize(e);
    return error ? error : real(EventSynchronize)(e);
}

int wrap(EventElapsedTime)(float *milliseconds, event_t start, event_t end)
{
    NATIVE_WAIT(EventElapsedTime, (milliseconds, start, end));
    /* The real runtime measures events of which one was recorded inside a task: it has recorded the
     * others too. */
    return kmm_cuda_event_is_recorded(start) && kmm_cuda_event_is_recorded(end)
               ? kmm_cuda_event_elapsed_time(milliseconds, start, end)
               : real(EventElapsedTime)(milliseconds, start, end);
}

int wrap(EventDestroy)(event_t e)
{
    kmm_cuda_event_forget(e);
    return real(EventDestroy)(e);
}

int wrap(GetLastError)(void)
{
    int error = kmm_cuda_get_last_error(), real = real(GetLastError)();
    return fault(error, real);
}

int wrap(PeekAtLastError)(void)
{
    return fault(kmm_cuda_peek_at_last_error(), real(PeekAtLastError)());
}

/* Both tell libkmm that the program has seen the error. */
const char *wrap(GetErrorName)(int error)
{
    kmm_cuda_get_error_name(error);
    return real(GetErrorName)(error);
}

const char *wrap(GetErrorString)(int error)
{
    kmm_cuda_get_error_string(error);
    return real(GetErrorString)(error);
}

/* ---- Graphs. Their kernels would run without libkmm's knowledge, so they are refused. Inside a
 * task libkmm has brought the data that they use. ---- */

static int no_graph(const char *call)
{
    kmm_cuda_say_error("%s is not supported outside of '#pragma kmm task': what a graph runs is "
                       "not seen",
                       call);
    return KMM_CUDA_NOT_SUPPORTED;
}

int wrap(StreamBeginCapture)(stream_t s, int mode)
{
    NATIVE_BIND(StreamBeginCapture, (s, mode));
    return kmm_task_active() ? real(StreamBeginCapture)(s, mode)
                             : no_graph(RUNTIME "StreamBeginCapture");
}

int wrap(GraphCreate)(void **graph, unsigned flags)
{
    NATIVE_BIND(GraphCreate, (graph, flags));
    if (kmm_task_active())
        return real(GraphCreate)(graph, flags);
    *graph = NULL;
    return no_graph(RUNTIME "GraphCreate");
}

int wrap(GraphLaunch)(void *graph, stream_t s)
{
    NATIVE(GraphLaunch, (graph, s));
    return kmm_task_active() ? real(GraphLaunch)(graph, kmm_task_stream(s))
                             : no_graph(RUNTIME "GraphLaunch");
}
