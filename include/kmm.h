/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libkmm: arrays larger than a device's memory, and kernels that run over them in chunks.
 *
 * Programs that use pragmas need none of this. It is the same system as a C interface:
 *
 *     kmm_runtime_t *rt;
 *     kmm_create(&rt, NULL);
 *     float *x;
 *     kmm_shape_t shape = { .dims = 1, .extent = { n }, .element_bytes = sizeof(*x) };
 *     kmm_array_create(rt, &shape, (void **)&x);
 *     kmm_copy_in(rt, x, source, n * sizeof(*x));
 *     ... launches, as kmm/launch.h describes ...
 *     kmm_copy_out(rt, result, x, n * sizeof(*x));
 *     kmm_destroy(rt);
 *
 * An array is named by its base address. The address is a name only: nothing is mapped there,
 * and dereferencing it faults. Interior addresses name elements.
 *
 * Unless it says otherwise a function returns 0 or a negative error of kmm/error.h, may be called
 * from several threads, and acts as if all work submitted before had finished.
 */
#ifndef KMM_H
#define KMM_H

#include <stddef.h>
#include <stdint.h>

#include "kmm/error.h"
#include "kmm/launch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this header. It is also that of the project. */
#define KMM_VERSION_MAJOR 0
#define KMM_VERSION_MINOR 1
#define KMM_VERSION_PATCH 0
#define KMM_VERSION_NUMBER (KMM_VERSION_MAJOR * 10000 + KMM_VERSION_MINOR * 100 + KMM_VERSION_PATCH)

/* Returns KMM_VERSION_NUMBER of the libkmm that runs, which may be newer than this header. */
int kmm_version(void);
/* Returns the same as text, such as "0.1.0". Static. */
const char *kmm_version_string(void);

/* Layouts. docs/abi.md says how each struct may change. Those of the calls below with a size grow
 * at their end, so that a program and a newer libkmm fit. All others keep their layout. */

/* ---- Runtimes ---- */

/* Fields that are zero or NULL have the environment's value, or else the default. New fields are
 * added at the end, behind the old size. */
typedef struct kmm_config {
    /* The devices to use (environment: KMM_DEVICES). A list of "cuda", "cuda:N" (the first N),
     * "hip", "hip:N", "host" (this CPU, sharing memory with the program), "host:N" (N pretend
     * devices with memory of their own, each driven by this CPU). ",mem=64M" limits each device's
     * memory. Default: all GPUs, and the host if there is none. */
    const char *devices;
    uint64_t device_mem; /* bytes of each device that are used for arrays (KMM_DEVICE_MEM); default:
                            what is free at the start, less a reserve */
    uint64_t frame_bytes; /* maximum bytes of a frame (KMM_FRAME); default: 128 MiB */
    uint32_t threads; /* threads of the host device (KMM_THREADS); default: the number of cores that
                         the process may use */
    /* Bytes of host memory that arrays may take (KMM_HOST_MEM). Other contents of arrays go to
     * disk. Mapped memory belongs to the program and is not counted. Default: no limit, and no
     * disk. */
    uint64_t host_mem;
    const char
        *spill_dir; /* folder of the spill file (KMM_SPILL_DIR); default: TMPDIR, or /var/tmp */
    /* Bytes of each device's memory, free at the start, that are left to other users, such as
     * libraries in the same process (KMM_DEVICE_KEEP_FREE), even if device_mem allows more.
     * Default: 1/32 of the free memory, unless device_mem is given. */
    uint64_t device_keep_free;
    /* Bytes of host memory that may be page-locked at a time, of arrays and of mapped memory, so
     * that copies are fast (KMM_PINNED_MEM, where 0 means none). Other memory is copied through
     * staging buffers. Up to an eighth of this is kept locked for new arrays when arrays are freed.
     * Default: three quarters of the machine's memory. */
    uint64_t pinned_mem;
} kmm_config_t;

/* Creates a runtime. Several may exist at once; each has arrays of its own. config may be NULL.
 * The macro below tells libkmm the caller's version of this header and its size of kmm_config_t.
 * KMM_E_UNSUPPORTED: the header is newer than libkmm, or has another major version. The function
 * itself, which other languages may call by its name, takes kmm_config_t as version 0.1 had it. */
int kmm_create(kmm_runtime_t **out, const kmm_config_t *config);
int kmm_create_version(int version, size_t config_bytes, kmm_runtime_t **out,
                       const kmm_config_t *config);
#define kmm_create(...) kmm_create_version(KMM_VERSION_NUMBER, sizeof(kmm_config_t), __VA_ARGS__)

/* Waits for all work and frees everything. Returns the error that kmm_wait would return. NULL is
 * allowed. */
int kmm_destroy(kmm_runtime_t *rt);

/* Returns the process's runtime, which pragmas use. It is created from the environment at first
 * use. At exit its work is waited for. NULL: it could not be created, and the reason has been
 * printed. A forked process gets a runtime of its own, unless this one has GPUs. */
kmm_runtime_t *kmm_default(void);

/* Makes `rt` current for this thread: kmm_launch_begin uses it. NULL: the default runtime. */
void kmm_use(kmm_runtime_t *rt);

/* Waits until all work that was submitted before has finished. Functions of the program that libkmm
 * runs may submit work; work that they submit meanwhile is not waited for. They must not wait
 * themselves (KMM_E_STATE). Returns the first error since the last call that returned one;
 * kmm_error_text has its text. */
int kmm_wait(kmm_runtime_t *rt);

/* Returns the text of the last error that a call with this runtime returned on this thread, with
 * source line, kernel, chunk and argument if there are any. Never NULL; valid until this thread's
 * next call. */
const char *kmm_error_text(kmm_runtime_t *rt);

/* ---- Nodes ---- */

/* Begins a program of several processes, which a launcher such as mpirun has started (environment:
 * KMM_NODES). In the first of them it returns. The others serve it, and do not return: they exit
 * when it does. It returns at once where there is one process. `program` is any address in the
 * program; the processes compare their builds by it. Programs that kmmcc links call it after their
 * static initializers. */
void kmm_nodes_start(const void *program);

/* ---- Arrays ---- */

typedef struct kmm_shape {
    uint32_t dims;                /* 1 to KMM_MAX_DIMS */
    int64_t extent[KMM_MAX_DIMS]; /* elements, outermost dimension first */
    size_t element_bytes;
    const char *label; /* for messages; may be NULL; copied */
} kmm_shape_t;

int kmm_array_create(kmm_runtime_t *rt, const kmm_shape_t *shape, void **out);

/* Frees an array when the work that uses it is done. Returns without waiting for it. `base` must be
 * the address that kmm_array_create returned. */
int kmm_array_destroy(kmm_runtime_t *rt, void *base);

/* Allocates `bytes` of managed memory on the default runtime; 0 bytes get a unique address. NULL:
 * it failed, and the reason has been printed. kmm_free frees it; NULL is allowed there. */
void *kmm_malloc(size_t bytes);
void kmm_free(void *base);

/* Finds the array of this runtime that contains the address. *out, if out is not NULL, receives its
 * base and size. KMM_E_ADDRESS: no array contains the address. */
typedef struct kmm_extent {
    void *base;
    size_t bytes;
} kmm_extent_t;
int kmm_array_find(kmm_runtime_t *rt, const void *address, kmm_extent_t *out);

/* Copies between ordinary memory and an array, or between arrays. A copy in returns when `src` may
 * be changed, a copy out when `dst` is filled. Each range must be inside one array. */
int kmm_copy_in(kmm_runtime_t *rt, void *array, const void *src, size_t bytes);
int kmm_copy_out(kmm_runtime_t *rt, void *dst, const void *array, size_t bytes);
int kmm_copy(kmm_runtime_t *rt, void *dst_array, const void *src_array, size_t bytes);

/* Sets `bytes` bytes of an array to `value`. */
int kmm_fill(kmm_runtime_t *rt, void *array, int value, size_t bytes);

/* Makes host memory an array until kmm_unmap. Launches may use it, and the host must not access it.
 * Maps of the same range nest. A range that overlaps another one in part is KMM_E_INVALID. */
int kmm_map(kmm_runtime_t *rt, kmm_map_t map, void *base, size_t bytes);
/* Ends a map. At the outermost one, waits until host memory has what launches wrote. */
int kmm_unmap(kmm_runtime_t *rt, void *base);

/* Synchronize `bytes` bytes of mapped memory from `base` on; KMM_ALL_BYTES: the whole map that
 * contains `base`. After kmm_update_from the host may read these bytes. The host may also write
 * them, and then calls kmm_update_to: it makes the host's values the newest. */
#define KMM_ALL_BYTES SIZE_MAX
int kmm_update_from(kmm_runtime_t *rt, const void *base, size_t bytes);
int kmm_update_to(kmm_runtime_t *rt, const void *base, size_t bytes);

/* Waits for the work on the array that contains the address, and for no other. An address in no
 * array has no work. Host memory that launches with nowait left mapped belongs to the program
 * again. */
int kmm_wait_array(kmm_runtime_t *rt, const void *address);

/* ---- Events ---- */

/* What some launches have come to, for threads that wait for these and no others. An event belongs
 * to the runtime, and is destroyed at any time, also after it. */
typedef struct kmm_event kmm_event_t;

/* What the calls below return, beside 0 and errors, while work of the event is not done. */
enum { KMM_PENDING = 1 };

/* What this thread submits from here on belongs to the event: launches, also those of pragmas,
 * copies and fills. KMM_E_STATE: the thread has begun an event already. KMM_E_UNSUPPORTED: several
 * nodes run the program. */
int kmm_event_begin(kmm_runtime_t *rt, kmm_event_t **out);
/* Ends what belongs to the event. Called by the thread that began it, before the calls below. */
int kmm_event_end(kmm_event_t *event);
/* Makes an event to which all belongs that belongs to these events of `rt`. They stay as they are,
 * and may be destroyed. */
int kmm_event_join(kmm_runtime_t *rt, kmm_event_t *const *events, uint32_t count,
                   kmm_event_t **out);

/* Returns 0 if the event's work is done, KMM_PENDING if not, and the first error of work that has
 * failed once all is done. Does not wait. */
int kmm_event_test(kmm_event_t *event);
/* Waits for the event's work, at most `nanoseconds`; a negative number: without a limit. Returns
 * what kmm_event_test returns then. The same error comes from each call, and later from kmm_wait.
 * Host memory that launches with nowait left mapped then belongs to the program again, as after
 * kmm_wait_array; that waits for later launches that use the same memory. */
int kmm_event_wait(kmm_event_t *event, int64_t nanoseconds);

/* NULL is allowed. The event's work goes on. */
void kmm_event_destroy(kmm_event_t *event);

/* ---- Devices ---- */

/* New fields are added at the end, behind the old size. */
typedef struct kmm_device_info {
    char name[64];
    kmm_kind_t kind;
    int ordinal;           /* number of the device in its driver */
    uint64_t memory_bytes; /* maximum bytes that arrays may use; 0: the device shares the host's
                              memory */
    uint64_t used_bytes;   /* bytes of frames that are in use now */
    uint64_t bytes_in, bytes_out,
        bytes_peer;    /* bytes copied so far: from the host, to the host, from other devices */
    uint64_t chunks;   /* number of chunks that have completed */
    uint64_t launches; /* number of kernel launches for these chunks: neighbouring chunks that are
                          ready together are launched as one */
    int whole_arrays; /* 1: its driver cannot map memory in parts, so an array is on the device as a
                         whole or not at all */
    uint64_t total_bytes; /* the device's memory; 0: it has none of its own */
    /* CUDA: compute capability and number of multiprocessors. 0: not known. Of the CPU,
     * multiprocessors is the number of threads that run its chunks. */
    int compute_major, compute_minor, multiprocessors;
    int pci_domain, pci_bus, pci_device, pci_function; /* address on the PCI bus; -1: not known */
} kmm_device_info_t;

int kmm_device_count(kmm_runtime_t *rt);
/* The macro below tells libkmm the caller's size of kmm_device_info_t, so that libkmm writes no
 * further. The function itself writes the fields that version 0.1 had. */
int kmm_device_get(kmm_runtime_t *rt, int device, kmm_device_info_t *out);
int kmm_device_get_sized(size_t info_bytes, kmm_runtime_t *rt, int device, kmm_device_info_t *out);
#define kmm_device_get(...) kmm_device_get_sized(sizeof(kmm_device_info_t), __VA_ARGS__)
/* Returns the NUMA node (by the system's number) that is nearest to the device. Negative: all are
 * equally near, or it is not known. */
int kmm_device_node(kmm_runtime_t *rt, int device);

#ifdef __cplusplus
}
#endif
#endif
