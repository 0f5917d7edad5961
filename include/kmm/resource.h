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
 *  9. The structs keep their layout, as docs/abi.md says.
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

/* The driver's handle of a stream: a cudaStream_t, CUstream or hipStream_t. NULL is the default
 * stream. Resources of host memory ignore it. */
typedef void *kmm_stream_t;

#define KMM_RESOURCE_ALIGNMENT ((size_t)256)
/* Given instead of a size at deallocation: the size that the resource has recorded. */
#define KMM_SIZE_RECORDED SIZE_MAX

typedef enum kmm_memory_kind {
    KMM_MEMORY_HOST,
    KMM_MEMORY_PINNED,
    KMM_MEMORY_MANAGED,
    KMM_MEMORY_DEVICE
} kmm_memory_kind_t;

/* ---- Every resource ---- */

/* Allocates `bytes`. `alignment` is 0 or a power of two. On failure *out is NULL. */
int kmm_resource_allocate(kmm_resource_t *r, size_t bytes, size_t alignment, kmm_stream_t stream,
                          void **out);
/* Frees p. `bytes` is the size of the request, or KMM_SIZE_RECORDED. */
int kmm_resource_deallocate(kmm_resource_t *r, void *p, size_t bytes, kmm_stream_t stream);
/* Returns in *bytes the size of the request for p. */
int kmm_resource_size(kmm_resource_t *r, const void *p, size_t *bytes);

/* Returns the bytes that can still be allocated, and all bytes that there are. This is an estimate
 * if others use the same memory. */
int kmm_resource_memory_info(kmm_resource_t *r, size_t *available, size_t *total);
/* Gives unused memory back upstream until at most `keep` bytes are held, or no more can be given
 * back. May wait for work that still uses freed memory. */
int kmm_resource_trim(kmm_resource_t *r, size_t keep);
/* Gives another device access to the resource's memory, present and future. For a `device` resource
 * that is all memory of its device, as with cudaDeviceEnablePeerAccess. Every device has access to
 * pinned and managed memory. KMM_E_UNSUPPORTED: the device cannot access the memory, or it is host
 * memory that is not pinned. */
int kmm_resource_allow(kmm_resource_t *r, int device);
/* To be called before `stream` is destroyed. Nothing is recorded on it afterwards. */
int kmm_resource_stream_end(kmm_resource_t *r, kmm_stream_t stream);

typedef struct kmm_resource_usage {
    size_t live_bytes; /* bytes of requests that are not freed */
    size_t live_count;
    size_t held_bytes;   /* bytes taken from upstream */
    size_t regions;      /* number of pieces in which they were taken */
    size_t extent_bytes; /* sum over these pieces of the highest end of a block so far, less the
                            bytes that were gathered from them */
    size_t waits;        /* number of times that a stream was made to wait for another */
    size_t events;       /* number of events recorded */
} kmm_resource_usage_t;
/* Returns what a resource holds. KMM_E_UNSUPPORTED: it holds no memory of its own. */
int kmm_resource_usage(kmm_resource_t *r, kmm_resource_usage_t *out);

/* True if memory of one can be freed through the other. */
bool kmm_resource_equal(const kmm_resource_t *a, const kmm_resource_t *b);
const char *kmm_resource_name(const kmm_resource_t *r); /* "pool(device 0)"; lives as long as r */
kmm_memory_kind_t kmm_resource_kind(const kmm_resource_t *r);
int kmm_resource_device(const kmm_resource_t *r); /* number of the device; -1: host memory */

/* Destroys the resource and gives what it holds back upstream. No work may use its memory any more.
 * NULL is allowed. KMM_E_STATE: there were live allocations, which is an error of the program; they
 * are freed too. An adaptor does not free them: what was allocated through it belongs to upstream.
 */
int kmm_resource_destroy(kmm_resource_t *r);

/* Returns the text of this thread's last failed call. Never NULL; valid until the next failure. */
const char *kmm_resource_error_text(void);

/* ---- Current resources ---- */

/* Returns the current resource of a device; -1 is the host. Until one is set it is device memory or
 * host memory. NULL: there is no such device. The caller does not own it. */
kmm_resource_t *kmm_resource_of_device(int device);
/* Sets the current resource of a device. NULL restores the initial one. If old is not NULL, *old
 * receives the resource that was current before. */
int kmm_resource_set_of_device(int device, kmm_resource_t *r, kmm_resource_t **old);
/* Returns the current resource of this thread's device: that of its current context, 0 if it has
 * none yet, or the host if there is no device. */
kmm_resource_t *kmm_resource_current(void);
int kmm_resource_set_current(kmm_resource_t *r, kmm_resource_t **old);

/* ---- Sources ---- */

int kmm_host_resource_create(kmm_resource_t **out);
/* Host memory on one NUMA node. KMM_E_NO_DEVICE: there is no such node. */
int kmm_numa_resource_create(int node, kmm_resource_t **out);
int kmm_device_resource_create(int device, kmm_resource_t **out);
/* Device memory in frames of 2 MiB that can be mapped to other addresses. A pool on it can move
 * unused frames to where a request needs them, and can give every frame back; so fragmentation
 * loses no memory. An allocation takes whole frames, so use it through a pool. Only its own device
 * has access, and devices that kmm_resource_allow adds. It cannot be shared with other processes.
 * KMM_E_UNSUPPORTED: the device cannot map memory. */
int kmm_mapped_resource_create(int device, kmm_resource_t **out);
int kmm_managed_resource_create(int device, kmm_resource_t **out);
/* Page-locked host memory, to which every device has access. */
int kmm_pinned_resource_create(int device, kmm_resource_t **out);

/* The driver's own stream-ordered pool. */
typedef struct kmm_async_options {
    void *pool; /* a CUmemPool or cudaMemPool_t to use; the program keeps it. NULL: a new one is
                   created */
    size_t
        initial_bytes; /* allocated and freed at creation, so that the driver's pool holds them */
    size_t release_threshold; /* bytes that the driver's pool keeps when a stream is synchronized;
                                 0: all */
    size_t maximum_bytes;     /* 0: no limit */
    kmm_memory_kind_t kind;   /* kind of the pool's memory: KMM_MEMORY_DEVICE (0 means it, too), or
                                 KMM_MEMORY_MANAGED with CUDA 13 */
} kmm_async_options_t;
/* Creates it. KMM_E_UNSUPPORTED: the driver has no pools of that kind. */
int kmm_async_resource_create(int device, const kmm_async_options_t *options, kmm_resource_t **out);

/* How streams wait for each other, for memory that is used asynchronously. Functions return 0 or a
 * negative error; event_query returns 1 if the event is done and 0 if not. They are called from any
 * thread, and for one event by one thread at a time. */
typedef struct kmm_stream_order {
    void *context;
    int (*event_create)(void *context, void **event);
    void (*event_destroy)(void *context, void *event);
    int (*event_record)(void *context, void *event, kmm_stream_t stream);
    int (*stream_wait)(void *context, kmm_stream_t stream, void *event);
    int (*event_query)(void *context, void *event);
    int (*event_wait)(void *context, void *event); /* blocks the calling thread */
} kmm_stream_order_t;

/* A source made of functions of the program. `deallocate` gets what `allocate` returned. */
typedef struct kmm_callback_options {
    void *context;
    int (*allocate)(void *context, size_t bytes, kmm_stream_t stream, void **out);
    int (*deallocate)(void *context, void *p, size_t bytes, kmm_stream_t stream);
    int (*memory_info)(void *context, size_t *available, size_t *total); /* may be NULL */
    size_t alignment; /* alignment of what `allocate` returns; 0 means 256 */
    kmm_memory_kind_t kind;
    int device;                      /* -1: none */
    const kmm_stream_order_t *order; /* copied; NULL: memory is used synchronously */
} kmm_callback_options_t;
int kmm_callback_resource_create(const kmm_callback_options_t *options, kmm_resource_t **out);

/* ---- Pools ---- */

/* On memory that can be mapped, a pool gathers unused frames before it does either, and grows by
 * 1/16. */
typedef enum kmm_pool_reuse {
    KMM_REUSE_GROW_FIRST, /* takes more memory before it makes one stream wait for another, so
                             streams stay independent; on memory that can be mapped, only while the
                             extent stays below 9/8 of the peak */
    KMM_REUSE_WAIT_FIRST /* makes a stream wait for another before it takes more memory, so the pool
                            stays small */
} kmm_pool_reuse_t;

/* A field that is 0 has its default. */
typedef struct kmm_pool_options {
    size_t initial_bytes; /* bytes taken from upstream at creation; default 0 */
    size_t maximum_bytes; /* maximum bytes taken from upstream; default: no limit */
    size_t growth_bytes;  /* minimum bytes by which the pool grows; default: as much as it holds, at
                             most 1 GiB, and at least 1/512 of all memory */
    size_t cache_bytes; /* maximum bytes that a stream caches without merging them; default 1/32 of
                           the extent; SIZE_MAX: no cache */
    kmm_pool_reuse_t reuse;
} kmm_pool_options_t;

/* A pool that merges free blocks and grows. A freed block goes to a cache of its stream first,
 * which has a lock of its own, and from there to the pool. The pool finds a fit and merges blocks
 * in constant time. A block that was freed on one stream is used on another only after an event
 * that was recorded on the first one since the free: it is done, or the other stream waits for it.
 */
int kmm_pool_resource_create(kmm_resource_t *upstream, const kmm_pool_options_t *options,
                             kmm_resource_t **out);

/* A new pool on a pinned resource. */
int kmm_pinned_pool_resource_create(int device, const kmm_pool_options_t *options,
                                    kmm_resource_t **out);

typedef enum kmm_arena_key { KMM_ARENA_PER_STREAM, KMM_ARENA_PER_THREAD } kmm_arena_key_t;
typedef struct kmm_arena_options {
    kmm_arena_key_t key;
    size_t arena_bytes;   /* bytes of the pieces in which an arena takes memory; default 8 MiB */
    size_t initial_bytes; /* bytes taken at creation, for all arenas together */
    size_t maximum_bytes;
} kmm_arena_options_t;
/* One pool for each stream or thread, all on one shared pool. It has the least contention and needs
 * more memory. */
int kmm_arena_resource_create(kmm_resource_t *upstream, const kmm_arena_options_t *options,
                              kmm_resource_t **out);

typedef struct kmm_fixed_size_options {
    size_t block_bytes;      /* bytes of a block; default 1 MiB; rounded up to a multiple of 256 */
    size_t blocks_per_chunk; /* blocks taken from upstream at once; default 128 */
    size_t initial_chunks;   /* chunks taken at creation; default 1; SIZE_MAX: none */
} kmm_fixed_size_options_t;
/* Blocks of one size; a larger request is KMM_E_MEMORY. A chunk without live blocks goes back
 * upstream when the resource is trimmed, or when memory has run out elsewhere. */
int kmm_fixed_size_resource_create(kmm_resource_t *upstream,
                                   const kmm_fixed_size_options_t *options, kmm_resource_t **out);

/* Sends requests to resources by size: up to the size of a bin to that bin's resource, larger ones
 * upstream. */
int kmm_binning_resource_create(kmm_resource_t *upstream, kmm_resource_t **out);
/* Adds a bin. If `bin` is NULL, it is a new fixed_size resource on upstream, which is destroyed
 * with the binning resource. Sizes may come in any order. KMM_E_INVALID: there is a bin of that
 * size, or `bin` is of another device than upstream, or has other streams or none. */
int kmm_binning_add(kmm_resource_t *binning, size_t bytes, kmm_resource_t *bin);

/* ---- Adaptors ----
 * Limiting, logging, statistics and tracking know what has been allocated through them: other
 * memory of upstream is KMM_E_ADDRESS. */

/* Allows at most `limit` bytes at a time. Each request counts as a multiple of 256. */
int kmm_limiting_resource_create(kmm_resource_t *upstream, size_t limit, kmm_resource_t **out);
/* Aligns requests of at least `threshold` bytes to `alignment`. */
int kmm_aligned_resource_create(kmm_resource_t *upstream, size_t alignment, size_t threshold,
                                kmm_resource_t **out);
/* Writes a line of CSV for each call to a file: Thread,Time,Action,Pointer,Size,Stream. The file is
 * flushed at destruction and by kmm_logging_flush. */
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
/* Push begins a nested scope that counts from zero. Pop ends it, returns its counts, and adds them
 * to those of the outer scope. */
int kmm_statistics_push(kmm_resource_t *statistics);
int kmm_statistics_pop(kmm_resource_t *statistics, kmm_statistics_t *out);

/* Records live allocations. With KMM_TRACK_STACKS also where they were made. */
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
/* Stores at most `capacity` of the live allocations, oldest first. Returns how many there are. */
int64_t kmm_tracking_outstanding(kmm_resource_t *tracking, kmm_tracked_t *out, size_t capacity);
/* Prints the live allocations, with symbols, to a file descriptor. */
int kmm_tracking_print(kmm_resource_t *tracking, int fd);

/* Called when upstream fails with KMM_E_MEMORY. True: upstream is tried again. */
typedef bool (*kmm_failure_fn)(void *context, size_t bytes);
int kmm_failure_resource_create(kmm_resource_t *upstream, kmm_failure_fn fn, void *context,
                                kmm_resource_t **out);

/* Moves managed memory to its device when it is allocated. Other memory passes through. */
int kmm_prefetch_resource_create(kmm_resource_t *upstream, kmm_resource_t **out);
/* Lets one thread at a time call upstream, for callback sources that need that. */
int kmm_thread_safe_resource_create(kmm_resource_t *upstream, kmm_resource_t **out);
/* Passes all calls to `inner`. When it is destroyed it destroys `inner`, then owned[0], owned[1]
 * and so on. */
int kmm_owning_resource_create(kmm_resource_t *inner, kmm_resource_t *const *owned, size_t count,
                               kmm_resource_t **out);

/* ---- Buffers ---- */

/* Untyped memory that knows its resource and its stream. The program may read the fields; only the
 * functions write them. */
typedef struct kmm_buffer {
    void *data;
    size_t bytes, capacity;
    kmm_stream_t stream; /* the stream of the next reallocation, and of deinit */
    kmm_resource_t *resource;
} kmm_buffer_t;

/* resource NULL means kmm_resource_current(). On failure the buffer is empty. */
int kmm_buffer_init(kmm_buffer_t *b, size_t bytes, kmm_stream_t stream, kmm_resource_t *resource);
int kmm_buffer_init_copy(kmm_buffer_t *b, const void *src, size_t bytes, kmm_stream_t stream,
                         kmm_resource_t *resource);
int kmm_buffer_deinit(kmm_buffer_t *b);
/* Keeps the contents up to the smaller size. Never reduces the capacity. On failure nothing
 * changes. */
int kmm_buffer_resize(kmm_buffer_t *b, size_t bytes, kmm_stream_t stream);
int kmm_buffer_reserve(kmm_buffer_t *b, size_t capacity, kmm_stream_t stream);
int kmm_buffer_shrink(kmm_buffer_t *b, kmm_stream_t stream);
/* Copies between the buffer and host memory, or memory of any resource. The copy is ordered on the
 * buffer's stream. It returns when host memory that is not pinned may be used again. */
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
/* `value` has the size of an element. Get waits for the stream. Set may return before the copy is
 * done. */
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

/* Non-blocking streams that are created once and handed out in turn. */
typedef struct kmm_stream_pool kmm_stream_pool_t;
int kmm_stream_pool_create(int device, size_t count, kmm_stream_pool_t **out); /* count 0: 16 */
/* Waits for the streams' work, then destroys them. NULL is allowed. */
void kmm_stream_pool_destroy(kmm_stream_pool_t *pool);
size_t kmm_stream_pool_count(const kmm_stream_pool_t *pool);
kmm_stream_t kmm_stream_pool_next(kmm_stream_pool_t *pool);
int kmm_stream_pool_get(kmm_stream_pool_t *pool, size_t index, kmm_stream_t *out);

/* ---- Frameworks ---- */

/* PyTorch's pluggable allocator. It allocates from kmm_resource_of_device(device). Unless the
 * program has set a resource, that becomes a pool: on mapped memory if CUDA's driver can map and
 * all devices of the process can access each other's memory, else on plain memory. Devices with
 * such pools get access to each other's. A failure returns NULL after a call of the function that
 * kmm_torch_on_failure has set. That function may throw, because PyTorch does not check the result.
 */
void *kmm_torch_alloc(ptrdiff_t bytes, int device, kmm_stream_t stream);
void kmm_torch_free(void *p, ptrdiff_t bytes, int device, kmm_stream_t stream);
/* Notes that memory is used on `stream` too. Freeing it waits for the work that is on that stream
 * by then. */
void kmm_torch_record_stream(void *p, kmm_stream_t stream);
/* Gives back what is not in use on any device. torch.cuda.empty_cache() calls it. */
void kmm_torch_empty_cache(void);
/* PyTorch's graphs, and its MemPool. From kmm_torch_pool_begin on, memory for streams of which
 * fits(filter, stream) is true comes from a pool of the device of its own, which `id` names;
 * kmm_torch_pool_end, with the same device and id, ends that. `fits` may be called by any thread
 * meanwhile. The pool takes its memory from kmm_resource_of_device(device), and gives nothing back
 * before kmm_torch_pool_release has been called once for each beginning and all of its memory has
 * been freed; then the device is waited for. kmm_torch_pool_begin returns 0, or a negative error.
 * kmm_torch_pool_end returns the filter, which belongs to the caller again; NULL: nothing had
 * begun. */
int kmm_torch_pool_begin(int device, const uint64_t id[2],
                         bool (*fits)(void *filter, kmm_stream_t stream), void *filter);
void *kmm_torch_pool_end(int device, const uint64_t id[2]);
void kmm_torch_pool_release(int device, const uint64_t id[2]);
/* `status` is KMM_E_MEMORY if memory has run out, and KMM_E_STATE if the stream is being captured
 * into a graph for which no kmm_torch_pool_begin was called. */
void kmm_torch_on_failure(void (*fn)(int status, int device, size_t bytes, const char *text));

/* CuPy's CFunctionAllocator. It allocates on the stream that this thread gave kmm_cupy_stream last
 * (initially the default stream). Memory is freed on the stream on which it was allocated. */
void *kmm_cupy_alloc(void *param, size_t bytes, int device);
void kmm_cupy_free(void *param, void *p, int device);
void kmm_cupy_stream(kmm_stream_t stream);
/* Returns the error of this thread's last kmm_cupy_alloc; 0: it succeeded, or 0 bytes were
 * requested. */
int kmm_cupy_failure(void);
/* To be called before `stream` of a device is destroyed. Memory that was allocated on it may live
 * longer; freeing such memory waits for the device. */
void kmm_cupy_stream_end(kmm_stream_t stream, int device);

#ifdef __cplusplus
}
#endif
#endif
