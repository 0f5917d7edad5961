/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between the runtime and a kind of device: one struct of functions, which
 * backend/cuda, backend/hip (both over backend/gpu) and backend/host fill in. No file outside of
 * backend/ knows which. README.md says how to add one.
 *
 * Rules that hold for every function:
 *  1. It returns 0 or a negative KMM_E_ error, unless it says otherwise. `error_text` is the text
 * of a thread's last error. No function aborts or prints, and none keeps a pointer that it was
 *     given, unless it says so.
 *  2. It may be called from any thread, by several at once. One stream is used by one thread at a
 *     time.
 *  3. Addresses of device memory are kmm__addr_t. Host memory is named by its pointer. Sizes are in
 *     bytes.
 *  4. Work on one stream runs in the order in which it was enqueued. Only events order work on
 *     different streams.
 *  5. An error that happens while work runs, such as a kernel's fault, is the status of the next
 *     notification on the stream.
 *  6. What a function creates belongs to the caller, who destroys it with the function beside it
 *     before the device is closed.
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
    bool whole; /* memory cannot be mapped into address space: an array has one frame or none, and
                   the frame's handle is its address. Windows and frame_map are not used */
    bool away;  /* frame_create_away works: a frame may be of the host's memory */
    uint32_t compute_streams; /* streams of kernels that are worth having: 1 for a GPU, the number
                       of threads for a CPU */
    kmm__pci_t pci;
} kmm__gpu_info_t;

/* A copy of `rows` rows of `width` bytes. Pitches, in bytes, are ignored when rows is 1. dst_gpu
 * and src_gpu say whose the addresses are; NULL is the host. At least one of them is the stream's
 * device, or both are NULL. */
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
    /* The chunks that it runs, `task_count` of them, for messages about faults (base/running.h):
     * until their end they are there, and so is the list, if it is longer than one. NULL, 0: none.
     */
    const struct kmm__task *const *tasks;
    uint32_t task_count;
} kmm__run_t;

struct kmm__backend {
    const char *name; /* "cuda" */
    kmm_kind_t kind;

    /* ---- The driver ---- */
    /* How many devices there are; a negative error when the driver failed. */
    int (*count)(kmm__backend_t *b);
    int (*open)(kmm__backend_t *b, int ordinal, kmm__gpu_t **out); /* ordinal: below count */
    void (*close)(kmm__gpu_t *gpu); /* all streams, windows and frames have been released */
    void (*info)(kmm__gpu_t *gpu, kmm__gpu_info_t *out);
    const char *(*error_text)(
        kmm__backend_t *b); /* of this thread's last failed call; never NULL */
    void (*unload)(kmm__backend_t *b);

    /* ---- Address space and physical memory ---- */
    int (*window_reserve)(kmm__gpu_t *gpu, size_t bytes, kmm__addr_t *out);
    void (*window_release)(kmm__gpu_t *gpu, kmm__addr_t window,
                           size_t bytes); /* nothing is mapped in it */
    /* A frame is physical memory without an address. KMM_E_MEMORY: the device has no more. */
    int (*frame_create)(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out);
    /* A frame of the host's memory, which the device reaches slowly. KMM_E_UNSUPPORTED: it cannot
     * reach it. */
    int (*frame_create_away)(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out);
    void (*frame_destroy)(kmm__gpu_t *gpu, kmm__frame_handle_t frame,
                          size_t bytes); /* not mapped */
    /* Maps a frame for its own device. Contents are undefined. */
    int (*frame_map)(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes);
    /* The same in two steps. frame_place maps without access; frames_allow then gives the device
     * access to any number of placed frames that lie side by side. Giving access costs a GPU as
     * much for many frames as for one, and more while it copies. */
    int (*frame_place)(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes);
    int (*frames_allow)(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes);
    /* All work that may touch the frame has finished. */
    int (*frame_unmap)(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes);
    /* Lets `peer` too read and write mapped frames that lie side by side. KMM_E_UNSUPPORTED: copies
     * between the two devices must go through the host. */
    int (*frame_share)(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, kmm__gpu_t *peer);

    /* Page-locks host memory, which makes copies from and to it fast. KMM_E_UNSUPPORTED: that means
     * nothing to the device. KMM_E_STATE: somebody else has page-locked some of it. */
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
    /* Makes work that is put on the program's stream `native` later wait, on the device, for all
     * that is on s now. NULL: not possible. */
    int (*precede)(kmm__stream_t *s, void *native);
    /* The opposite: s waits for all that is on `native` now. The device is current. */
    int (*succeed)(kmm__stream_t *s, void *native);
    int (*finish)(
        kmm__gpu_t *gpu); /* waits for all that is on the device now, whoever put it there */
    /* The kernel of that handle is unloaded; another may have the handle later. Its work has ended.
     */
    void (*kernel_forget)(kmm__gpu_t *gpu, const void *handle);
    void (*flush)(kmm__stream_t *s); /* waits for the stream; what kernels of the device have
                                        printed by then is printed */

    /* Runs some work that is ready on the calling thread, which would only sleep otherwise. False:
     * none is ready, or this thread may not run it. No lock is held. NULL for GPUs. */
    bool (*assist)(kmm__backend_t *b);

    /* ---- Work ---- */
    /* A copy between two devices is fast if the source's frames are shared with the stream's
     * device (frame_share). */
    int (*copy)(kmm__stream_t *s, const kmm__copy_t *copy);
    int (*fill)(kmm__stream_t *s, kmm__addr_t dst, int value,
                size_t bytes); /* device memory, bytes of one value */
    int (*launch)(kmm__stream_t *s, const kmm__run_t *run);
    /* Calls fn(arg, status) once all work that is on the stream now has finished. Notifications of
     * a stream are in order; they come from a thread of the backend's, or one that assists. status
     * is 0, or the first error of the work since the stream's previous notification; on a GPU such
     * an error is final. fn may enqueue work; it must not block for long, and must not call the
     * backend's blocking functions. Fails only if there is no host memory. */
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
