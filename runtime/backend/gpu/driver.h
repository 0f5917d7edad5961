/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU's driver as a table of its calls. Most calls of CUDA's driver and of HIP are alike: same
 * parameters, same numbers, other names. The files of backend/gpu implement a backend over such a
 * table. backend/cuda and backend/hip fill in the tables, and the functions in which the drivers
 * differ. */
#ifndef KMM__BACKEND_GPU_DRIVER_H
#define KMM__BACKEND_GPU_DRIVER_H

#include "backend/backend.h"

/* Results of calls. Both drivers use the same numbers. */
enum {
    KMM__GPU_SUCCESS = 0,
    KMM__GPU_OUT_OF_MEMORY = 2,
    KMM__GPU_NO_DEVICE = 100,
    KMM__GPU_NOT_READY = 600,
    KMM__GPU_PEER_ALREADY_ENABLED = 704,
    KMM__GPU_ALREADY_REGISTERED = 712,
    KMM__GPU_NOT_SUPPORTED = 801
};

/* Other constants that both drivers share. */
enum {
    KMM__GPU_STREAM_NON_BLOCKING = 1,
    KMM__GPU_EVENT_TIMED = 0,
    KMM__GPU_EVENT_DISABLE_TIMING = 2,
    KMM__GPU_REGISTER_PORTABLE = 1,
    KMM__GPU_ALLOCATION_PINNED = 1,
    KMM__GPU_LOCATION_DEVICE = 1,
    KMM__GPU_LOCATION_HOST_NODE = 3,
    KMM__GPU_ACCESS_READ_WRITE = 3,
    KMM__GPU_GRANULARITY_MINIMUM = 0,
    KMM__GPU_CAPTURE_RELAXED = 2,
    KMM__GPU_MAX_DYNAMIC_SHARED = 8
};

typedef struct kmm__gpu_location {
    int type, id;
} kmm__gpu_location_t;
typedef struct kmm__gpu_access {
    kmm__gpu_location_t location;
    int flags;
} kmm__gpu_access_t;

/* CUmemAllocationProp; hipMemAllocationProp is laid out alike. */
typedef struct kmm__gpu_allocation {
    int type, handle_types;
    kmm__gpu_location_t location;
    void *win32_metadata;
    unsigned char flags[8];
} kmm__gpu_allocation_t;

/* X(member, parameters): calls that both drivers have. Streams, events and contexts are pointers.
 * Addresses and frames are 64 bits. */
#define KMM__GPU_CALLS(X)                                                                          \
    X(Init, (unsigned))                                                                            \
    X(DeviceGetCount, (int *))                                                                     \
    X(DeviceGetName, (char *, int, int))                                                           \
    X(DeviceCanAccessPeer, (int *, int, int))                                                      \
    X(MemGetInfo, (size_t *, size_t *))                                                            \
    X(MemAlloc, (kmm__addr_t *, size_t))                                                           \
    X(MemFree, (kmm__addr_t))                                                                      \
    X(HostRegister, (void *, size_t, unsigned))                                                    \
    X(HostUnregister, (void *))                                                                    \
    X(StreamCreate, (void **, unsigned))                                                           \
    X(StreamDestroy, (void *))                                                                     \
    X(StreamQuery, (void *))                                                                       \
    X(StreamSynchronize, (void *))                                                                 \
    X(StreamWaitEvent, (void *, void *, unsigned))                                                 \
    X(EventCreate, (void **, unsigned))                                                            \
    X(EventDestroy, (void *))                                                                      \
    X(EventRecord, (void *, void *))                                                               \
    X(EventQuery, (void *))                                                                        \
    X(EventElapsedTime, (float *, void *, void *))                                                 \
    X(ThreadExchangeStreamCaptureMode, (int *))                                                    \
    X(Synchronize, (void))                                                                         \
    X(MemcpyHtoD, (kmm__addr_t, const void *, size_t, void *))                                     \
    X(MemcpyDtoH, (void *, kmm__addr_t, size_t, void *))                                           \
    X(MemcpyDtoD, (kmm__addr_t, kmm__addr_t, size_t, void *))                                      \
    X(MemsetD8, (kmm__addr_t, unsigned char, size_t, void *))

/* X(member, parameters): calls that map memory into address space. A driver has all of them or, if
 * it is old, none. */
#define KMM__GPU_MAP_CALLS(X)                                                                      \
    X(MemGetAllocationGranularity, (size_t *, const kmm__gpu_allocation_t *, int))                 \
    X(MemAddressReserve, (kmm__addr_t *, size_t, size_t, kmm__addr_t, unsigned long long))         \
    X(MemAddressFree, (kmm__addr_t, size_t))                                                       \
    X(MemCreate,                                                                                   \
      (kmm__frame_handle_t *, size_t, const kmm__gpu_allocation_t *, unsigned long long))          \
    X(MemRelease, (kmm__frame_handle_t))                                                           \
    X(MemMap, (kmm__addr_t, size_t, size_t, kmm__frame_handle_t, unsigned long long))              \
    X(MemUnmap, (kmm__addr_t, size_t))                                                             \
    X(MemSetAccess, (kmm__addr_t, size_t, const kmm__gpu_access_t *, size_t))

#define KMM_X(member, parameters) int(*member) parameters;
typedef struct kmm__gpu_calls {
    KMM__GPU_CALLS(KMM_X) KMM__GPU_MAP_CALLS(KMM_X)
} kmm__gpu_calls_t;
#undef KMM_X
#define KMM_X(member, parameters) const char *member;
typedef struct kmm__gpu_names {
    KMM__GPU_CALLS(KMM_X) KMM__GPU_MAP_CALLS(KMM_X)
} kmm__gpu_names_t;
#undef KMM_X

/* A device, as the driver's functions see it. */
typedef struct kmm__gpu_device {
    int ordinal;
    void *context;     /* CUDA's primary context; NULL: HIP, which has none */
    int64_t max_pitch; /* bytes, of copies of rows */
    int host_node;     /* NUMA node whose memory can be mapped for the device; -1: none can */
    kmm__pci_t pci;
    int compute_major, compute_minor, multiprocessors; /* 0: not known */
    bool
        /* memory can be mapped into address space; false: a frame is an allocation with an address
         */
        maps;
} kmm__gpu_device_t;

/* A folder that may have a driver's library and that the dynamic linker does not search. `folder`
 * is relative to the path in environment variable `variable`; variable NULL: it is absolute. */
typedef struct kmm__gpu_folder {
    const char *variable, *folder;
} kmm__gpu_folder_t;

/* One driver. Its functions return 0 or a KMM_E_ error with its text, unless they say otherwise. */
typedef struct kmm__gpu_driver {
    const char *name, *product; /* "cuda", "CUDA" */
    kmm_kind_t kind;
    const char *const *libraries; /* names, tried in this order; NULL ends them */
    /* tried for each library that the linker does not find; a NULL folder ends them; NULL: none */
    const kmm__gpu_folder_t *folders;
    const char *absent;   /* message if there is no library */
    const char *needed;   /* oldest version that has every call that is needed */
    bool must_map;        /* the calls that map memory are needed, too */
    bool rows_in_a_frame; /* copies of rows must lie in one frame */
    const kmm__gpu_names_t *names;
    /* written under a lock before the first backend is returned; constant from then on */
    kmm__gpu_calls_t calls;
    /* looks up the calls that only this driver has; returns the name of a missing one, or NULL */
    const char *(*load)(void *library);
    void (*describe)(int result, const char **name, const char **text);
    /* clears this thread's last error, which the program must not find; NULL: the driver keeps none
     */
    void (*forget)(void);
    /* Fills in *d but for the ordinal, which is set. d->maps: mapping may be tried. */
    int (*open)(kmm__gpu_device_t *d);
    void (*close)(kmm__gpu_device_t *d);
    /* Makes the device current for this thread. False: it is already. */
    bool (*enter)(const kmm__gpu_device_t *d);
    void (*leave)(bool entered);
    int (*current)(void); /* ordinal of this thread's current device; 0: none is */
    /* Gives `peer` access to memory that is allocated, not mapped, on the device. */
    int (*allow_peer)(const kmm__gpu_device_t *d, const kmm__gpu_device_t *peer);
    /* Enqueues a copy of `bytes` bytes from one device to another. */
    int (*copy_peer)(void *stream, kmm__addr_t dst, const kmm__gpu_device_t *dst_device,
                     kmm__addr_t src, const kmm__gpu_device_t *src_device, size_t bytes);
    /* Enqueues a copy of rows with pitches. A device is NULL for the host. */
    int (*copy_rows)(void *stream, const kmm__copy_t *c, const kmm__gpu_device_t *dst,
                     const kmm__gpu_device_t *src);
    /* Loads a kernel for the current device: from the program's handle to what kernel_launch takes.
     */
    int (*kernel_load)(void *handle, void **function);
    /* Allows launches of the kernel `bytes` bytes of dynamic shared memory. */
    int (*kernel_allow_shared)(void *handle, size_t bytes, const kmm__gpu_device_t *d);
    /* Loads kernels with these names from PTX code. NULL: the driver takes none. */
    int (*code_load)(const char *code, const char *const *names, uint32_t count, void **handles);
    /* True if a graph captures what is enqueued on the stream. NULL: the driver cannot tell. */
    bool (*is_capturing)(void *stream);
    int (*kernel_launch)(void *function, const uint32_t grid[3], const uint32_t block[3],
                         size_t shared_bytes, void *stream, void **args);
} kmm__gpu_driver_t;

/* Opens the driver's library, looks up its calls, and counts its devices. Returns KMM_E_NO_DEVICE,
 * and sets *reason to a text, if there is no library, if it is too old, or if it has no device. */
int kmm__gpu_driver_load(kmm__gpu_driver_t *d, int *count, const char **reason);

/* Returns the KMM_E_ error for a driver's result; 0: success. Sets the thread's error text, such as
 * "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (out of memory)". */
int kmm__gpu_result(const kmm__gpu_driver_t *driver, int result, const char *call);

/* Sets the thread's error text. Returns `code`. */
int kmm__gpu_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Returns the thread's error text; never NULL. */
const char *kmm__gpu_error_text(void);

#endif
