/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory resources: where memory comes from, in pieces that compose.
 *
 *     kmm_resource_t *device, *pool;
 *     kmm_device_resource_create(0, &device);
 *     kmm_pool_resource_create(device, NULL, &pool);
 *     kmm_resource_allocate(pool, bytes, 0, stream, &p);
 *     ... work on stream ...
 *     kmm_resource_deallocate(pool, p, bytes, stream);
 *
 * Rules that hold for every resource:
 *  1. Allocation is stream-ordered: memory may be used by work enqueued on `stream` after the call.
 *     Deallocation likewise: work enqueued on `stream` before the call may still use it. Work on
 * other streams must have been ordered before `stream` by the caller (an event and a wait).
 *  2. Every function may be called from any thread; a pointer may be freed by another thread or on
 *     another stream than it was allocated.
 *  3. Addresses are multiples of 256, or of `alignment` where that is more.
 *  4. Zero bytes give NULL and are no error; freeing NULL, of 0 or KMM_SIZE_RECORDED bytes, is none
 * either.
 *  5. Wrong sizes (KMM_E_INVALID), and double frees and foreign pointers (KMM_E_ADDRESS) are
 * reported and change nothing. Memory that has run out is KMM_E_MEMORY. kmm_resource_error_text
 * says more.
 *  6. A resource borrows the resources it is built on: they must outlive it.
 * kmm_owning_resource_create makes one that destroys them.
 *  7. Before a stream is destroyed, kmm_resource_stream_end must be told: pools record events on
 *     streams later than the deallocation that needs them. A thread's own default stream ends with
 * the thread.
 *  8. Streams are those of the resource's device.
 */
#ifndef KMM_RESOURCE_H
#define KMM_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kmm_resource kmm_resource_t;

/* The driver's handle: a cudaStream_t, CUstream or hipStream_t. NULL is the default stream. Host
 * memory ignores it. */
typedef void *kmm_stream_t;

#define KMM_RESOURCE_ALIGNMENT ((size_t)256)
/* In place of a size at deallocation: whatever the resource has recorded. */
#define KMM_SIZE_RECORDED SIZE_MAX

typedef enum kmm_memory_kind {
    KMM_MEMORY_HOST,
    KMM_MEMORY_PINNED,
    KMM_MEMORY_MANAGED,
    KMM_MEMORY_DEVICE
} kmm_memory_kind_t;

/* ---- Every resource ---- */

/* `alignment` is 0 or a power of two. *out is NULL on failure. */
int kmm_resource_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                          void **out);
/* `bytes` is what was asked for, or KMM_SIZE_RECORDED. */
int kmm_resource_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream);
/* The bytes asked for when `p` was allocated. */
int kmm_resource_size(kmm_resource_t *r, const void *p, size_t *bytes);

/* Bytes that could still be allocated, and in all; an estimate where others use the same memory. */
int kmm_resource_memory_info(kmm_resource_t *r, size_t *available, size_t *total);
/* Gives unused memory back to what the resource is built on until at most `keep` bytes are held, or
 * no more can be given. May wait for work that still uses freed memory. */
int kmm_resource_trim(kmm_resource_t *r, size_t keep);
/* Lets kernels and copies of another device reach the memory: what there is, and what there will
 * be. Of `device` memory that is all the device has, as with cudaDeviceEnablePeerAccess; pinned and
 * managed memory every device reaches anyway. KMM_E_UNSUPPORTED when the device cannot reach it,
 * and for memory of the host that is not pinned. */
int kmm_resource_allow(kmm_resource_t *r, int device);
/* `stream` is about to be destroyed: nothing will be recorded on it any more. */
int kmm_resource_stream_end(kmm_resource_t *r, kmm_stream_t stream);

typedef struct kmm_resource_usage {
    size_t live_bytes; /* asked for and not freed */
    size_t live_count;
    size_t held_bytes;   /* taken from upstream */
    size_t regions;      /* in so many pieces */
    size_t extent_bytes; /* highest end of a block in use so far, added over the regions; less what
                            has been gathered from them */
    size_t waits;        /* times a stream was made to wait for another */
    size_t events;       /* events recorded */
} kmm_resource_usage_t;
/* KMM_E_UNSUPPORTED from a resource that holds no memory of its own. */
int kmm_resource_usage(kmm_resource_t *r, kmm_resource_usage_t *out);

/* Whether memory of one can be freed through the other. */
bool kmm_resource_equal(const kmm_resource_t *a, const kmm_resource_t *b);
const char *kmm_resource_name(const kmm_resource_t *r); /* "pool(device 0)"; lives as long as r */
kmm_memory_kind_t kmm_resource_kind(const kmm_resource_t *r);
int kmm_resource_device(
    const kmm_resource_t *r); /* the device's number; -1 for the host's memory */

/* Frees the resource and what it holds upstream; no work uses its memory any more. NULL is allowed.
 * KMM_E_STATE when allocations were outstanding: they are freed too, which is the program's error.
 * An adaptor frees none: what was allocated through it is upstream's. */
int kmm_resource_destroy(kmm_resource_t *r);

/* What the last failing call of this thread had to say. Never NULL; valid until the next failure.
 */
const char *kmm_resource_error_text(void);

/* ---- Current resources ---- */

/* The resource of a device; -1 is the host. Until set: device memory, or the host's. NULL when
 * there is no such device. Not owned by the caller. */
kmm_resource_t *kmm_resource_of_device(int device);
/* NULL restores the first. The old resource is given back in *old unless old is NULL. */
int kmm_resource_set_of_device(int device, kmm_resource_t *r, kmm_resource_t **old);
/* The same for this thread's device as CUDA's runtime counts: that of its current context, or 0
 * where it has none yet; the host where there is no device. */
kmm_resource_t *kmm_resource_current(void);
int kmm_resource_set_current(kmm_resource_t *r, kmm_resource_t **old);

/* ---- Sources ---- */

int kmm_host_resource_create(kmm_resource_t **out);
/* Host memory on one NUMA node; KMM_E_NO_DEVICE when there is no such node. */
int kmm_numa_resource_create(int node, kmm_resource_t **out);
int kmm_device_resource_create(int device, kmm_resource_t **out);
/* Device memory in frames of 2 MiB that can be mapped to other addresses: a pool on it moves frames
 * that nothing uses to where a request needs them, and gives back every frame, so that memory in
 * pieces is no memory lost. What is allocated takes whole frames, so use it through a pool. Only
 * its own device reaches it, and what kmm_resource_allow adds; other processes cannot be given it.
 * KMM_E_UNSUPPORTED when the device cannot map memory. */
int kmm_mapped_resource_create(int device, kmm_resource_t **out);
int kmm_managed_resource_create(int device, kmm_resource_t **out);
/* Page-locked memory of the host that every device can reach. */
int kmm_pinned_resource_create(int device, kmm_resource_t **out);

/* The driver's own stream-ordered pool. */
typedef struct kmm_async_options {
    void *pool;               /* a CUmemPool or cudaMemPool_t to use and not own; NULL makes one */
    size_t initial_bytes;     /* allocated and freed at once, so that the pool has them */
    size_t release_threshold; /* bytes the driver's pool keeps at synchronization; 0: all of them */
    size_t maximum_bytes;     /* 0: no limit */
    kmm_memory_kind_t kind;   /* of the pool's memory: KMM_MEMORY_MANAGED (CUDA 13), or
                                 KMM_MEMORY_DEVICE, which 0 is too */
} kmm_async_options_t;
/* KMM_E_UNSUPPORTED when the driver has no pools of the kind. */
int kmm_async_resource_create(int device, const kmm_async_options_t *options, kmm_resource_t **out);

/* How streams are ordered where memory is used asynchronously. Functions return 0 or a negative
 * error; event_query 1 when done and 0 when not. Called from any thread, one call per event at a
 * time. */
typedef struct kmm_stream_order {
    void *context;
    int (*event_create)(void *context, void **event);
    void (*event_destroy)(void *context, void *event);
    int (*event_record)(void *context, void *event, kmm_stream_t stream);
    int (*stream_wait)(void *context, kmm_stream_t stream, void *event);
    int (*event_query)(void *context, void *event);
    int (*event_wait)(void *context, void *event); /* blocks the calling thread */
} kmm_stream_order_t;

/* A source made of the program's functions. `deallocate` gets what `allocate` returned. */
typedef struct kmm_callback_options {
    void *context;
    int (*allocate)(void *context, size_t bytes, kmm_stream_t stream, void **out);
    int (*deallocate)(void *context, void *p, size_t bytes, kmm_stream_t stream);
    int (*memory_info)(void *context, size_t *available, size_t *total); /* may be NULL */
    size_t alignment; /* of what allocate returns; 0 means 256 */
    kmm_memory_kind_t kind;
    int device;                      /* -1: none */
    const kmm_stream_order_t *order; /* copied; NULL: memory is used synchronously */
} kmm_callback_options_t;
int kmm_callback_resource_create(const kmm_callback_options_t *options, kmm_resource_t **out);

/* ---- Pools ---- */

/* On memory that can be mapped elsewhere a pool gathers frames before it takes more memory, and
 * grows by 1/16. */
typedef enum kmm_pool_reuse {
    KMM_REUSE_GROW_FIRST, /* streams stay independent: take more memory before making one wait for
                             another */
    KMM_REUSE_WAIT_FIRST /* memory stays small: make a stream wait for another before taking more */
} kmm_pool_reuse_t;

/* Zero in a field means the default. */
typedef struct kmm_pool_options {
    size_t initial_bytes; /* taken from upstream at creation; default 0 */
    size_t maximum_bytes; /* never more than this from upstream; default unlimited */
    size_t growth_bytes; /* least growth; default: as much as is held, up to 1 GiB, and 1/512 of all
                            memory at least */
    size_t cache_bytes; /* kept per stream without coalescing; default 1/32 of the extent; SIZE_MAX:
                           no cache */
    kmm_pool_reuse_t reuse;
} kmm_pool_options_t;

/* Coalescing, growing pool. Blocks go first to a cache of their stream, which has its own lock,
 * then to the pool, whose fit and coalescing take constant time. A block freed on one stream goes
 * to another only after an event recorded on the first since the free: it has passed, or the other
 * waits for it. */
int kmm_pool_resource_create(kmm_resource_t *upstream, const kmm_pool_options_t *options,
                             kmm_resource_t **out);

/* A pool of its own on pinned memory. */
int kmm_pinned_pool_resource_create(int device, const kmm_pool_options_t *options,
                                    kmm_resource_t **out);

typedef enum kmm_arena_key { KMM_ARENA_PER_STREAM, KMM_ARENA_PER_THREAD } kmm_arena_key_t;
typedef struct kmm_arena_options {
    kmm_arena_key_t key;
    size_t arena_bytes;   /* an arena takes memory in pieces of this; default 8 MiB */
    size_t initial_bytes; /* of all arenas together, at creation */
    size_t maximum_bytes;
} kmm_arena_options_t;
/* A pool for each stream or thread, all over one: least contention, more memory. */
int kmm_arena_resource_create(kmm_resource_t *upstream, const kmm_arena_options_t *options,
                              kmm_resource_t **out);

typedef struct kmm_fixed_size_options {
    size_t block_bytes;      /* default 1 MiB; rounded up to 256 */
    size_t blocks_per_chunk; /* taken from upstream at once; default 128 */
    size_t initial_chunks;   /* default 1; SIZE_MAX: none */
} kmm_fixed_size_options_t;
/* Blocks of one size; larger requests are KMM_E_MEMORY. Chunks without a live block go back
 * upstream when the resource is trimmed, or memory has run out elsewhere. */
int kmm_fixed_size_resource_create(kmm_resource_t *upstream,
                                   const kmm_fixed_size_options_t *options, kmm_resource_t **out);

/* Requests up to a bin's size go to its resource, all others to upstream. */
int kmm_binning_resource_create(kmm_resource_t *upstream, kmm_resource_t **out);
/* With `bin` NULL: a new fixed_size resource on upstream, destroyed with the binning resource.
 * Sizes may come in any order; one that is there already is KMM_E_INVALID, and so is a bin of
 * another device than upstream, or one whose streams are others or none. */
int kmm_binning_add(kmm_resource_t *binning, size_t bytes, kmm_resource_t *bin);

/* ---- Adaptors ----
 * Limiting, logging, statistics and tracking know what has been allocated through them: other
 * memory of upstream is KMM_E_ADDRESS. */

/* At most `limit` bytes at a time, each request counted in multiples of 256. */
int kmm_limiting_resource_create(kmm_resource_t *upstream, size_t limit, kmm_resource_t **out);
/* Requests of at least `threshold` bytes are aligned to `alignment`. */
int kmm_aligned_resource_create(kmm_resource_t *upstream, size_t alignment, size_t threshold,
                                kmm_resource_t **out);
/* Writes each call to a file as CSV: Thread,Time,Action,Pointer,Size,Stream. Flushed at destruction
 * and by kmm_logging_flush. */
int kmm_logging_resource_create(kmm_resource_t *upstream, const char *path, kmm_resource_t **out);
int kmm_logging_flush(kmm_resource_t *logging);

typedef struct kmm_counter {
    int64_t current, peak, total;
} kmm_counter_t;
typedef struct kmm_statistics {
    kmm_counter_t bytes, count;
} kmm_statistics_t;
int kmm_statistics_resource_create(kmm_resource_t *upstream, kmm_resource_t **out);
int kmm_statistics_get(kmm_resource_t *statistics, kmm_statistics_t *out);
/* Starts counting from zero in a nested scope; pop returns the scope's figures and adds them to the
 * outer one's. */
int kmm_statistics_push(kmm_resource_t *statistics);
int kmm_statistics_pop(kmm_resource_t *statistics, kmm_statistics_t *out);

/* Remembers outstanding allocations, and where they were made when `stacks` is KMM_TRACK_STACKS. */
typedef enum kmm_track { KMM_TRACK_POINTERS, KMM_TRACK_STACKS } kmm_track_t;
enum { KMM_TRACK_DEPTH = 24 };
typedef struct kmm_tracked {
    void *p;
    size_t bytes;
    kmm_stream_t stream;
    void *stack[KMM_TRACK_DEPTH]; /* return addresses, innermost first */
    int depth;
} kmm_tracked_t;
int kmm_tracking_resource_create(kmm_resource_t *upstream, kmm_track_t track, kmm_resource_t **out);
/* Fills at most `capacity` of the outstanding allocations, oldest first; returns how many there
 * are. */
int64_t kmm_tracking_outstanding(kmm_resource_t *tracking, kmm_tracked_t *out, size_t capacity);
/* Prints them with symbols to a file descriptor. */
int kmm_tracking_print(kmm_resource_t *tracking, int fd);

/* Called when upstream fails with KMM_E_MEMORY; nonzero: try again. */
typedef bool (*kmm_failure_fn)(void *context, size_t bytes);
int kmm_failure_resource_create(kmm_resource_t *upstream, kmm_failure_fn fn, void *context,
                                kmm_resource_t **out);

/* Managed memory is moved to its device when allocated. Other memory passes through. */
int kmm_prefetch_resource_create(kmm_resource_t *upstream, kmm_resource_t **out);
/* One call to upstream at a time, for callback sources that need it. */
int kmm_thread_safe_resource_create(kmm_resource_t *upstream, kmm_resource_t **out);
/* Behaves as `inner`; destroying it destroys `inner`, then owned[0], owned[1] and so on. */
int kmm_owning_resource_create(kmm_resource_t *inner, kmm_resource_t *const *owned, size_t count,
                               kmm_resource_t **out);

/* ---- Buffers ---- */

/* Untyped memory that knows its resource and stream. Fields are read freely, written by the
 * functions. */
typedef struct kmm_buffer {
    void *data;
    size_t bytes, capacity;
    kmm_stream_t stream; /* of the next reallocation, and of deinit */
    kmm_resource_t *resource;
} kmm_buffer_t;

/* resource NULL: kmm_resource_current(). On failure the buffer is empty. */
int kmm_buffer_init(kmm_buffer_t *b, size_t bytes, kmm_stream_t stream, kmm_resource_t *resource);
int kmm_buffer_init_copy(kmm_buffer_t *b, const void *src, size_t bytes, kmm_stream_t stream,
                         kmm_resource_t *resource);
int kmm_buffer_deinit(kmm_buffer_t *b);
/* Contents up to the smaller size are kept; capacity never shrinks here. On failure nothing
 * changes. */
int kmm_buffer_resize(kmm_buffer_t *b, size_t bytes, kmm_stream_t stream);
int kmm_buffer_reserve(kmm_buffer_t *b, size_t capacity, kmm_stream_t stream);
int kmm_buffer_shrink(kmm_buffer_t *b, kmm_stream_t stream);
/* Copies between the buffer and ordinary memory of the host or memory of any resource. Ordered on
 * the buffer's stream; returns when host memory that is not pinned may be used again. */
int kmm_buffer_write(kmm_buffer_t *b, size_t offset, const void *src, size_t bytes);
int kmm_buffer_read(const kmm_buffer_t *b, size_t offset, void *dst, size_t bytes);
int kmm_buffer_fill(kmm_buffer_t *b, size_t offset, int value, size_t bytes);
void kmm_buffer_set_stream(kmm_buffer_t *b, kmm_stream_t stream);

/* Elements of one size. A vector of one element is a scalar. */
typedef struct kmm_vector {
    kmm_buffer_t buffer;
    size_t element_bytes, count;
} kmm_vector_t;
int kmm_vector_init(kmm_vector_t *v, size_t element_bytes, size_t count, kmm_stream_t stream,
                    kmm_resource_t *resource);
int kmm_vector_deinit(kmm_vector_t *v);
int kmm_vector_resize(kmm_vector_t *v, size_t count, kmm_stream_t stream);
/* A new value is as many bytes as an element. Get waits for the stream; set may return before. */
int kmm_vector_get(const kmm_vector_t *v, size_t index, void *value);
int kmm_vector_set(kmm_vector_t *v, size_t index, const void *value);

typedef struct kmm_scalar {
    kmm_vector_t vector;
} kmm_scalar_t;
int kmm_scalar_init(kmm_scalar_t *s, const void *value, size_t bytes, kmm_stream_t stream,
                    kmm_resource_t *resource);
int kmm_scalar_deinit(kmm_scalar_t *s);
int kmm_scalar_get(const kmm_scalar_t *s, void *value);
int kmm_scalar_set(kmm_scalar_t *s, const void *value);

/* ---- Stream pools ---- */

/* Non-blocking streams, made once and handed out in turn. */
typedef struct kmm_stream_pool kmm_stream_pool_t;
int kmm_stream_pool_create(int device, size_t count, kmm_stream_pool_t **out); /* count 0: 16 */
/* Waits for the streams' work. NULL is allowed. */
void kmm_stream_pool_destroy(kmm_stream_pool_t *pool);
size_t kmm_stream_pool_count(const kmm_stream_pool_t *pool);
kmm_stream_t kmm_stream_pool_next(kmm_stream_pool_t *pool);
int kmm_stream_pool_get(kmm_stream_pool_t *pool, size_t index, kmm_stream_t *out);

/* ---- Frameworks ---- */

/* PyTorch's pluggable allocator, over kmm_resource_of_device(device), which becomes a pool unless
 * the program has set a resource: of mapped memory where CUDA's driver can map it and all devices
 * of the process can reach each other, else of plain memory. Devices that have such pools reach
 * each other's. A failure returns NULL after calling the function set by kmm_torch_on_failure,
 * which may throw: PyTorch itself trusts what it gets. */
void *kmm_torch_alloc(ptrdiff_t bytes, int device, kmm_stream_t stream);
void kmm_torch_free(void *p, ptrdiff_t bytes, int device, kmm_stream_t stream);
/* Memory is used on `stream` too: freeing it waits for what that stream has been given by then. */
void kmm_torch_record_stream(void *p, kmm_stream_t stream);
/* Gives back what none of the devices' programs use: what torch.cuda.empty_cache() calls. */
void kmm_torch_empty_cache(void);
/* `status` is KMM_E_MEMORY where memory has run out, and KMM_E_STATE where the stream is being
 * captured into a graph. */
void kmm_torch_on_failure(void (*fn)(int status, int device, size_t bytes, const char *text));

/* CuPy's CFunctionAllocator, on the stream that this thread last gave kmm_cupy_stream (the default
 * one). Memory is freed on the stream it was allocated on. */
void *kmm_cupy_alloc(void *param, size_t bytes, int device);
void kmm_cupy_free(void *param, void *p, int device);
void kmm_cupy_stream(kmm_stream_t stream);
/* Why this thread's last kmm_cupy_alloc returned NULL; 0 where it did not, or was asked for 0
 * bytes. */
int kmm_cupy_failure(void);
/* `stream` of a device is about to be destroyed; memory that was allocated on it may live on, and
 * waits for the device when freed. */
void kmm_cupy_stream_end(kmm_stream_t stream, int device);

#ifdef __cplusplus
}
#endif
#endif
