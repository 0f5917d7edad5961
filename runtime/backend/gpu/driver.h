/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A GPU's driver as a table. CUDA's driver and HIP have most calls alike: the same parameters, the
 * same numbers, and other names. The files of backend/gpu are a backend over such a table.
 * backend/cuda and backend/hip fill in the tables, and the functions for which the drivers differ.
 */
#ifndef KMM__BACKEND_GPU_DRIVER_H
#define KMM__BACKEND_GPU_DRIVER_H

#include "backend/backend.h"

/* Results; both drivers number them alike. */
enum {
    KMM__GPU_SUCCESS = 0,
    KMM__GPU_OUT_OF_MEMORY = 2,
    KMM__GPU_NO_DEVICE = 100,
    KMM__GPU_NOT_READY = 600,
    KMM__GPU_PEER_ALREADY_ENABLED = 704,
    KMM__GPU_ALREADY_REGISTERED = 712,
    KMM__GPU_NOT_SUPPORTED = 801
};

/* Other numbers that both share. */
enum {
    KMM__GPU_STREAM_NON_BLOCKING = 1,
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

/* CUmemAllocationProp and hipMemAllocationProp. */
typedef struct kmm__gpu_allocation {
    int type, handle_types;
    kmm__gpu_location_t location;
    void *win32_metadata;
    unsigned char flags[8];
} kmm__gpu_allocation_t;

/* X(member, parameters): calls that are alike. Streams, events and contexts are pointers, addresses
 * and frames 64 bits. */
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
    X(ThreadExchangeStreamCaptureMode, (int *))                                                    \
    X(Synchronize, (void))                                                                         \
    X(MemcpyHtoD, (kmm__addr_t, const void *, size_t, void *))                                     \
    X(MemcpyDtoH, (void *, kmm__addr_t, size_t, void *))                                           \
    X(MemcpyDtoD, (kmm__addr_t, kmm__addr_t, size_t, void *))                                      \
    X(MemsetD8, (kmm__addr_t, unsigned char, size_t, void *))

/* The same for mapping memory into address space: a driver has all of them or, as older ones, none.
 */
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

/* A device, as the table sees it. */
typedef struct kmm__gpu_device {
    int ordinal;
    void *context;     /* NULL where there are none */
    int64_t max_pitch; /* of copies of rows */
    int host_node; /* of the host's memory, the node whose memory can be mapped for the device; -1:
                      none can */
    kmm__pci_t pci;
    bool
        maps; /* memory can be mapped into address space; otherwise windows are whole allocations */
} kmm__gpu_device_t;

/* Where a driver's library may be beside the places that the linker looks in: the folder, in that
 * which the variable of the environment says unless `variable` is NULL. */
typedef struct kmm__gpu_folder {
    const char *variable, *folder;
} kmm__gpu_folder_t;

/* One driver. Its functions return 0 or a KMM_E_ error, whose text is set, unless they say
 * otherwise. */
typedef struct kmm__gpu_driver {
    const char *name, *product; /* "cuda", "CUDA" */
    kmm_kind_t kind;
    const char *const *libraries;     /* tried in this order; NULL ends them */
    const kmm__gpu_folder_t *folders; /* tried for each of them that the linker does not find; a
                                         NULL folder ends them; NULL: none */
    const char *absent;               /* what is said when there is none */
    const char *needed;               /* the version that has every call that must be there */
    bool must_map;                    /* the calls for mapping are among those */
    bool rows_in_a_frame;             /* copies of rows are refused that do not lie in one frame */
    const kmm__gpu_names_t *names;
    kmm__gpu_calls_t calls; /* written once, under a lock, before the first backend is returned */
    const char *(*load)(
        void *library); /* looks up what is its own; the name of what is missing, or NULL */
    void (*describe)(int result, const char **name, const char **text);
    void (*forget)(void); /* this thread's last error, which the program must not find when it is
                             ours; NULL where the driver keeps none */
    int (*open)(kmm__gpu_device_t *d); /* fills in all but maps and the ordinal; maps is true where
                                          it may be tried */
    void (*close)(kmm__gpu_device_t *d);
    bool (*enter)(
        const kmm__gpu_device_t *d); /* makes it current for this thread; false: it is already */
    void (*leave)(bool entered);
    int (*current)(void); /* the ordinal of this thread's current device; 0 when none is */
    /* Lets `peer` use memory allocated, not mapped, on the device. */
    int (*allow_peer)(const kmm__gpu_device_t *d, const kmm__gpu_device_t *peer);
    int (*copy_peer)(void *stream, kmm__addr_t dst, const kmm__gpu_device_t *dst_device,
                     kmm__addr_t src, const kmm__gpu_device_t *src_device, size_t bytes);
    /* Rows with pitches; a device is NULL for the host. */
    int (*copy_rows)(void *stream, const kmm__copy_t *c, const kmm__gpu_device_t *dst,
                     const kmm__gpu_device_t *src);
    int (*kernel_load)(void *handle, void **function);
    int (*kernel_allow_shared)(void *handle, size_t bytes, const kmm__gpu_device_t *d);
    int (*kernel_launch)(void *function, const uint32_t grid[3], const uint32_t block[3],
                         size_t shared_bytes, void *stream, void **args);
} kmm__gpu_driver_t;

/* Opens the driver's library and looks up its calls, once; and counts its devices. KMM_E_NO_DEVICE,
 * with *reason set to a text, when there is no library, it is too old, or it has no device. */
int kmm__gpu_driver_load(kmm__gpu_driver_t *d, int *count, const char **reason);

/* The KMM_E_ error that a driver's result means; 0 for success. Sets the thread's error text:
 * "cuMemCreate: CUDA_ERROR_OUT_OF_MEMORY (out of memory)". */
int kmm__gpu_result(const kmm__gpu_driver_t *driver, int result, const char *call);

/* Sets the thread's error text and returns `code`. */
int kmm__gpu_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The thread's error text; never NULL. */
const char *kmm__gpu_error_text(void);

#endif
