/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract between the runtime and a kind of device. It is one struct of functions.
 * backend/cuda, backend/hip (both over backend/gpu) and backend/host each fill one in. No file
 * outside of backend/ knows which it has. README.md says how to add a backend.
 *
 * Rules for every function:
 *  1. It returns 0 or a negative KMM_E_ error, unless its comment says otherwise. `error_text`
 *     returns the text of a thread's last error. No function aborts or prints, except where the
 *     host has no memory for what is enqueued (base/alloc.h). None keeps a pointer that it was
 *     given, unless its comment says so.
 *  2. Any thread may call it, and several at once. One stream is used by one thread at a time.
 *  3. Addresses of device memory are kmm__addr_t; addresses of host memory are pointers. Sizes
 *     are in bytes.
 *  4. Work on one stream runs in the order in which it was enqueued. Only events order work on
 *     different streams.
 *  5. An error of running work, such as a kernel's fault, is the status of the stream's next
 *     notification.
 *  6. What a function creates is owned by the caller. The caller destroys it, with the function
 *     that stands next to it, before the device is closed.
 */
#ifndef KMM__BACKEND_H
#define KMM__BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kmm.h>

/* An address of device memory. */
typedef uint64_t kmm__addr_t;

typedef struct kmm__backend kmm__backend_t; /* a loaded driver */
typedef struct kmm__gpu kmm__gpu_t;         /* an opened device; each backend defines the struct */
typedef struct kmm__stream kmm__stream_t;
typedef struct kmm__event kmm__event_t;
typedef uint64_t kmm__frame_handle_t; /* a frame: physical memory without an address */

/* A device's address on the PCI bus. */
typedef struct kmm__pci {
    bool known; /* false: the driver does not tell it, or the device is on no PCI bus */
    unsigned domain, bus, device, function;
} kmm__pci_t;

/* Facts about an opened device. */
typedef struct kmm__gpu_info {
    char name[64];
    /* bytes; a total of 0: the device works in host memory and has no windows or frames */
    uint64_t memory_total, memory_free;
    /* bytes, a power of two; sizes and addresses of frames are multiples of it */
    uint64_t granularity;
    /* The driver cannot map memory into address space. An array then has one frame or none on the
     * device, and the frame's handle is its address. Windows, frame_map and its like are not used.
     */
    bool whole;
    bool host_backed; /* frame_create_host_backed works */
    /* number of streams for kernels: 1 for a GPU, the number of threads for a CPU */
    uint32_t compute_streams;
    kmm__pci_t pci;
    int compute_major, compute_minor, multiprocessors; /* 0: the driver does not tell them */
} kmm__gpu_info_t;

/* A copy of `rows` rows of `width` bytes. Pitches, in bytes, are ignored if rows is 1. dst_gpu and
 * src_gpu are the devices whose addresses dst and src are; NULL: the host. One of them is the
 * stream's device, or both are NULL. */
typedef struct kmm__copy {
    kmm__gpu_t *dst_gpu, *src_gpu;
    kmm__addr_t dst, src;
    int64_t dst_pitch, src_pitch;
    int64_t width, rows;
} kmm__copy_t;

/* A kernel or function to run. If the kernel is a clone, args[0] points to the kmm_blocks_t of this
 * chunk. */
typedef struct kmm__run {
    const kmm_kernel_t *kernel;   /* NULL: run `function` */
    kmm_geometry_t geometry;      /* of the whole launch; its stream is not used */
    uint32_t offset[3], count[3]; /* blocks of this chunk */
    void **args;                  /* copied, as kernel->param_bytes says, before `launch` returns */
    /* Of a plain function, on the CPU only. The args_bytes bytes at args_block are copied before
     * `launch` returns. */
    kmm_function_t *function;
    kmm_chunk_t chunk;
    const void *args_block;
    size_t args_bytes;
    /* The `task_count` tasks that this runs, which messages about faults name (base/running.h).
     * They live until they are done. So does the list if it has more than one task. NULL and 0:
     * none. */
    const struct kmm__task *const *tasks;
    uint32_t task_count;
} kmm__run_t;

struct kmm__backend {
    const char *name; /* "cuda" */
    kmm_kind_t kind;

    /* ---- The driver ---- */
    /* Returns the number of devices, or a negative error. */
    int (*count)(kmm__backend_t *b);
    int (*open)(kmm__backend_t *b, int ordinal, kmm__gpu_t **out); /* 0 <= ordinal < count */
    void (*close)(kmm__gpu_t *gpu); /* all its streams, windows and frames are released */
    void (*info)(kmm__gpu_t *gpu, kmm__gpu_info_t *out);
    const char *(*error_text)(kmm__backend_t *b); /* text of this thread's last error; never NULL */
    void (*unload)(kmm__backend_t *b);

    /* ---- Address space and physical memory ---- */
    /* Reserves address space for a window, with nothing mapped in it. */
    int (*window_reserve)(kmm__gpu_t *gpu, size_t bytes, kmm__addr_t *out);
    void (*window_release)(kmm__gpu_t *gpu, kmm__addr_t window,
                           size_t bytes); /* nothing is mapped in it */
    /* Allocates a frame of the device's memory. KMM_E_MEMORY: the device has no more. */
    int (*frame_create)(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out);
    /* Allocates a host-backed frame: host memory that the device reaches slowly. KMM_E_UNSUPPORTED:
     * the device cannot reach it. */
    int (*frame_create_host_backed)(kmm__gpu_t *gpu, size_t bytes, kmm__frame_handle_t *out);
    void (*frame_destroy)(kmm__gpu_t *gpu, kmm__frame_handle_t frame,
                          size_t bytes); /* the frame is not mapped */
    /* Maps a frame at an address of a window and gives its device access. Contents are undefined.
     */
    int (*frame_map)(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame, size_t bytes);
    /* The same in two steps. frame_map_without_access maps one frame. frames_allow gives the device
     * access to any number of neighbouring frames. Access for many frames costs a GPU as much time
     * as for one, and more while it copies. */
    int (*frame_map_without_access)(kmm__gpu_t *gpu, kmm__addr_t at, kmm__frame_handle_t frame,
                                    size_t bytes);
    int (*frames_allow)(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes);
    /* Unmaps a frame. All work that may touch it has finished. */
    int (*frame_unmap)(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes);
    /* Gives device `peer` access to neighbouring mapped frames, too. KMM_E_UNSUPPORTED: copies
     * between the two devices must go through the host. */
    int (*frame_share)(kmm__gpu_t *gpu, kmm__addr_t at, size_t bytes, kmm__gpu_t *peer);

    /* Page-locks host memory, so that copies from and to it are fast. KMM_E_UNSUPPORTED:
     * page-locking has no meaning for the device. KMM_E_STATE: some of the memory is page-locked
     * already. */
    int (*host_register)(kmm__backend_t *b, void *base, size_t bytes);
    int (*host_unregister)(kmm__backend_t *b, void *base);

    /* ---- Streams and events ---- */
    int (*stream_create)(kmm__gpu_t *gpu, kmm__stream_t **out);
    void (*stream_destroy)(kmm__stream_t *s); /* all its work has finished */
    int (*event_create)(kmm__gpu_t *gpu, kmm__event_t **out);
    void (*event_destroy)(kmm__event_t *e);
    /* Records the event: it is done when all work that is on the stream now is done. Recording an
     * event again makes it stand for the later work. */
    int (*event_record)(kmm__event_t *e, kmm__stream_t *s);
    /* Makes later work on the stream wait until the event, as recorded last, is done. The event may
     * be of another device of the same backend, and never of another backend. */
    int (*stream_wait)(kmm__stream_t *s, kmm__event_t *e);
    /* Returns 1 if the event is done, 0 if not yet, or a negative error. */
    int (*event_query)(kmm__event_t *e);

    /* ---- The program's own use of a device. The functions are NULL for the CPU. ---- */
    /* Returns the ordinal of the device that is current for this thread; 0 if none is. */
    int (*current)(kmm__backend_t *b);
    void *(*native)(kmm__stream_t *s); /* the driver's handle of the stream */
    /* Makes the device current for this thread. False: it is current already, and `leave` does
     * nothing. */
    bool (*enter)(kmm__gpu_t *gpu);
    /* Undoes `enter`, whose result it gets. */
    void (*leave)(bool entered);
    /* Follows a stream of the program, given by the driver's handle; NULL: the default stream.
     * Returns 1 if work is on the stream now: fn is called, as by `notify`, when that work is done.
     * Returns 0 if none is; then fn is not called. Returns a negative error otherwise. With fn NULL
     * it only asks. */
    int (*follow)(kmm__gpu_t *gpu, void *native, void (*fn)(void *arg, int status), void *arg);
    /* Makes work that the program enqueues later on its stream `native` wait, on the device, for
     * all that is on s now. The member is NULL if the driver cannot do that. */
    int (*precede)(kmm__stream_t *s, void *native);
    /* Makes later work on s wait for all that is on `native` now. The device is current. */
    int (*succeed)(kmm__stream_t *s, void *native);
    int (*finish)(kmm__gpu_t *gpu); /* Waits for all work on the device, whoever enqueued it. */
    /* True if what the program enqueues on its stream `native` is captured by a graph. */
    bool (*is_capturing)(kmm__gpu_t *gpu, void *native);
    /* Like `launch`, on the program's stream `native`. */
    int (*launch_on)(kmm__gpu_t *gpu, void *native, const kmm__run_t *run);
    /* Loads libkmm's own kernels with these names. `code` is PTX code, which stays in memory;
     * handles receives what kmm_kernel_t.handle takes. They stay loaded. KMM_E_UNSUPPORTED: the
     * driver takes no PTX code. */
    int (*code_load)(kmm__gpu_t *gpu, const char *code, const char *const *names, uint32_t count,
                     void **handles);
    /* Forgets the kernel with this handle, which is unloaded: another kernel may get the handle.
     * All work of the kernel has finished. */
    void (*kernel_forget)(kmm__gpu_t *gpu, const void *handle);
    /* Waits for the stream, and prints what kernels of the device have printed so far. */
    void (*flush)(kmm__stream_t *s);

    /* Runs some work that is ready on the calling thread, which would otherwise sleep. False: none
     * is ready, or this thread may not run it. Called without locks. NULL for GPUs. */
    bool (*assist)(kmm__backend_t *b);

    /* ---- Work ---- */
    /* Enqueues a copy. A copy between two devices is fast if the source's frames are shared with
     * the stream's device (frame_share). */
    int (*copy)(kmm__stream_t *s, const kmm__copy_t *copy);
    /* Enqueues a fill of device memory with `bytes` bytes of one value. */
    int (*fill)(kmm__stream_t *s, kmm__addr_t dst, int value, size_t bytes);
    /* Enqueues a kernel or a function. */
    int (*launch)(kmm__stream_t *s, const kmm__run_t *run);
    /* Notifies: calls fn(arg, status) once, when all work that is on the stream now has finished.
     * Notifications of one stream come in order, on a thread of the backend or on one that assists.
     * status is 0 or the first error of work since the stream's previous notification; on a GPU,
     * every later status is an error, too. fn may enqueue work. It must not block for long, nor
     * call functions of the backend that block. */
    int (*notify)(kmm__stream_t *s, void (*fn)(void *arg, int status), void *arg);
    /* The same for all work before the event, which was recorded on the stream last. It is not
     * recorded again or destroyed before fn is called. NULL: the backend records no events. */
    int (*notify_event)(kmm__stream_t *s, const kmm__event_t *e, void (*fn)(void *arg, int status),
                        void *arg);
    /* Like notify. `time`: when the work was finished, by the device's own clock, as a time of
     * kmm__now; 0: not known. NULL: a notification comes when the work is finished. */
    int (*notify_timed)(kmm__stream_t *s, void (*fn)(void *arg, int status, uint64_t time),
                        void *arg);
};

/* Makes the backend of the CPU, with `threads` threads; 0: one for each core that the process may
 * use. pretend 0: the CPU is one device, which works in host memory. pretend N > 0: it plays N
 * pretend devices, each with `mem` bytes of memory of its own. */
int kmm__host_backend_create(uint32_t threads, uint32_t pretend, uint64_t mem,
                             kmm__backend_t **out);

/* Makes the backend of CUDA, through libcuda.so.1, which is opened with dlopen. Without a driver or
 * a device it returns KMM_E_NO_DEVICE, and sets *reason to a static or thread-local text. */
int kmm__cuda_backend_create(kmm__backend_t **out, const char **reason);
/* Makes the backend of HIP in the same way, through libamdhip64.so. */
int kmm__hip_backend_create(kmm__backend_t **out, const char **reason);

#endif
