/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between the runtime and a kind of device. One struct of functions, implemented by
 * host.c, cuda.c and hip.c; nothing above this file knows which.
 *
 * Rules that hold for every function:
 *  1. Returns 0 or a negative KMM_E_ error unless it says otherwise; the text of the last error of
 * a thread is `error_text`. No function aborts, prints, or keeps a pointer it was given beyond what
 * it says.
 *  2. May be called from any thread, several at once; one stream is used by one thread at a time.
 *  3. Addresses are device addresses (kmm__addr_t); host memory is addressed by its pointer.
 *  4. Work on one stream runs in the order it was enqueued. Work on different streams is ordered
 *     by events only, and a backend may run it in any order that they allow.
 *  5. Errors that happen while work runs (a kernel fault) are reported by the next `notify` on the
 *     stream, as its status.
 */
#ifndef KMM__BACKEND_H
#define KMM__BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kmm.h>

typedef uint64_t kmm__addr_t;

typedef struct kmm__backend kmm__backend_t; /* a loaded driver */
typedef struct kmm__gpu kmm__gpu_t; /* an opened device; each backend defines its own struct */
typedef struct kmm__stream kmm__stream_t;
typedef struct kmm__event kmm__event_t;
typedef uint64_t kmm__frame_handle_t; /* physical memory */

/* Where a device is on the host's PCI bus. */
typedef struct kmm__pci {
    bool known; /* false: the driver does not say, or it is on none */
    unsigned domain, bus, device, function;
} kmm__pci_t;

typedef struct kmm__gpu_info {
    char name[64];
    uint64_t memory_total, memory_free; /* bytes; 0: the device uses the host's memory as its own */
    uint64_t granularity; /* sizes and addresses of frames are multiples of this; a power of two */
    bool whole; /* memory cannot be mapped: an array is in one frame, whose handle is its address,
                   or in none; windows are not reserved, frames not mapped */
    bool away;  /* frames may be of the host's memory: frame_create_away */
    uint32_t compute_streams; /* how many streams of kernels are worth having: 1 for a GPU, the
                       threads for a CPU */
    kmm__pci_t pci;
} kmm__gpu_info_t;

/* `rows` rows of `width` bytes. Pitches are ignored when rows is 1. dst_gpu and src_gpu say where
 * the addresses belong: NULL is the host. At least one is the stream's device or both are NULL. */
typedef struct kmm__copy {
    kmm__gpu_t *dst_gpu, *src_gpu;
    kmm__addr_t dst, src;
    int64_t dst_pitch, src_pitch;
    int64_t width, rows;
} kmm__copy_t;

/* A kernel or function to run. For a clone, args[0] points to the kmm_blocks_t of this chunk. */
typedef struct kmm__run {
    const kmm_kernel_t *kernel;   /* NULL: `function` */
    kmm_geometry_t geometry;      /* the whole grid and block; stream unused */
    uint32_t offset[3], count[3]; /* the chunk's blocks */
    void **args;                  /* copied before `launch` returns, as kernel->param_bytes says */
    /* A plain function, on a host device only. `args_block` is copied too. */
    kmm_function_t *function;
    kmm_chunk_t chunk;
    const void *args_block;
    size_t args_bytes;
} kmm__run_t;

struct kmm__backend {
    const char *name; /* "cuda" */
    kmm_kind_t kind;

    /* ---- The driver ---- */
    /* How many devices there are; negative when the driver failed. */
    int (*count)(kmm__backend_t *b);
    int (*open)(kmm__backend_t *b, int ordinal, kmm__gpu_t **out);
    void (*close)(kmm__gpu_t *gpu); /* all streams, windows and frames have been released */
    void (*info)(kmm__gpu_t *gpu, kmm__gpu_info_t *out);
    const char *(*error_text)(
        kmm__backend_t *b); /* of this thread's last failed call; never NULL */
    void (*unload)(kmm__backend_t *b);

    /* ---- Address space and physical memory ---- */
    int (*window_reserve)(kmm__gpu_t *gpu, size_t bytes, kmm__addr_t *out);
    void (*window_release)(kmm__gpu_t *gpu, kmm__addr_t window,
                           size_t bytes); /* nothing is mapped in it */
    /* KMM_E_MEMORY when the device has no more. */
    int (*frame_create)(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out);
    /* The same in the host's memory, where the device reaches it slowly. KMM_E_UNSUPPORTED where it
     * cannot. */
    int (*frame_create_away)(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out);
    void (*frame_destroy)(kmm__gpu_t *gpu, kmm__frame_handle_t frame,
                          size_t bytes); /* not mapped */
    /* Maps a frame for its own device. Contents are undefined. */
    int (*frame_map)(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes);
    /* The same in two steps: a frame is placed, then its device is given access to any number of
     * placed frames that lie side by side, which costs a GPU as much as for one, and much while it
     * copies. */
    int (*frame_place)(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes);
    int (*frames_allow)(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes);
    /* No work that may touch it is unfinished. */
    int (*frame_unmap)(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes);
    /* Lets `peer` read and write mapped frames that lie side by side too. KMM_E_UNSUPPORTED: copies
     * must go through the host. */
    int (*frame_share)(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, kmm__gpu_t *peer);

    /* Makes host memory fast to copy from and to (page-locks it). KMM_E_UNSUPPORTED where that
     * means nothing. */
    int (*host_register)(kmm__backend_t *b, void *base, size_t bytes);
    int (*host_unregister)(kmm__backend_t *b, void *base);

    /* ---- Streams and events ---- */
    int (*stream_create)(kmm__gpu_t *gpu, kmm__stream_t **out);
    void (*stream_destroy)(kmm__stream_t *s); /* its work has finished */
    int (*event_create)(kmm__gpu_t *gpu, kmm__event_t **out);
    void (*event_destroy)(kmm__event_t *e);
    /* The event is done when all work enqueued on the stream so far is. Recording again re-arms it.
     */
    int (*event_record)(kmm__event_t *e, kmm__stream_t *s);
    /* Later work on the stream waits until the event, as recorded last, is done; another device's
     * event of the same backend is fine. A recorded event of another backend is never passed. */
    int (*stream_wait)(kmm__stream_t *s, kmm__event_t *e);
    /* 1 done, 0 not yet, negative error. */
    int (*event_query)(kmm__event_t *e);

    /* ---- The program's own use of a device. All NULL for the CPU. ---- */
    int (*current)(kmm__backend_t *b); /* ordinal of the device that is current for this thread; 0
                                          when none is */
    void *(*native)(kmm__stream_t *s); /* the driver's stream */
    bool (*enter)(
        kmm__gpu_t *gpu); /* makes the device current; false: it is already, and must not be left */
    void (*leave)(bool entered);
    /* A stream of the program's, by the driver's handle (NULL: the default one). 1: fn will be
     * called, as by `notify`, when all that is on it now is done; 0: nothing is, and fn is not
     * called. Negative: an error. fn NULL: only asks. */
    int (*follow)(kmm__gpu_t *gpu, void *native, void (*fn)(void *arg, int status), void *arg);
    /* What is put on that stream later waits, on the device, for all that is on s now. NULL: it
     * cannot be told to. */
    int (*precede)(kmm__stream_t *s, void *native);
    /* The other way round: s waits for all that is on that stream now. The device is current. */
    int (*succeed)(kmm__stream_t *s, void *native);
    int (*finish)(
        kmm__gpu_t *gpu); /* waits for all that is on the device now, whoever put it there */
    /* The kernel of that handle is unloaded; another may have the handle later. Its work has ended.
     */
    void (*kernel_forget)(kmm__gpu_t *gpu, const void *handle);
    void (*flush)(kmm__stream_t *s); /* waits for the stream; what kernels of the device have
                                        printed by then is printed */

    /* Runs some of the work that is ready, on this thread, which would only sleep; false: there is
     * none to run, or not here. No lock is held. NULL for GPUs. */
    bool (*assist)(kmm__backend_t *b);

    /* ---- Work ---- */
    /* Between two devices it is fast where the source's frames have been shared with the stream's
     * device. */
    int (*copy)(kmm__stream_t *s, const kmm__copy_t *copy);
    int (*fill)(kmm__stream_t *s, kmm__addr_t dst, int value,
                size_t bytes); /* device memory, bytes of one value */
    int (*launch)(kmm__stream_t *s, const kmm__run_t *run);
    /* Calls fn(arg, status) once all work enqueued on the stream so far has finished, in order
     * among the stream's notifications, from a thread of the backend's or one that assists; status
     * is 0 or the first error of the work since the stream's previous notification; on a GPU such
     * an error is final. Fails only for want of host memory, so that whoever must know when work is
     * over does. fn must not block for long and must not call the backend's blocking functions; it
     * may enqueue work. */
    int (*notify)(kmm__stream_t *s, void (*fn)(void *arg, int status), void *arg);
};

/* The CPU as a device, on `threads` threads (0: all the cores this process may use).
 * pretend == 0: one device that uses the host's memory (memory_total 0); its frames and windows are
 * never asked for. pretend == N: N devices, each with `mem` bytes of memory of its own. */
int kmm__host_backend_create(uint32_t threads, uint32_t pretend, uint64_t mem,
                             kmm__backend_t **out);

/* CUDA through libcuda.so.1, opened with dlopen. KMM_E_NO_DEVICE, with *reason set to a static or
 * thread-local text, when there is no driver or no device. */
int kmm__cuda_backend_create(kmm__backend_t **out, const char **reason);
/* The same for HIP, through libamdhip64.so. */
int kmm__hip_backend_create(kmm__backend_t **out, const char **reason);

#endif
