/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libkmm: arrays larger than a device's memory, and kernels that run over them in chunks.
 *
 * Programs that use pragmas need none of this. It is the same system as a C interface:
 *
 *     kmm_runtime_t *rt;
 *     kmm_create(&rt, NULL);
 *     float *x;
 *     kmm_array_create(rt, &(kmm_shape_t){ .dims = 1, .extent = { n }, .element_bytes = 4 }, (void
 * **)&x); kmm_copy_in(rt, x, source, n * 4);
 *     ... launches, as kmm/launch.h describes ...
 *     kmm_copy_out(rt, result, x, n * 4);
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

#define KMM_VERSION_MAJOR 0
#define KMM_VERSION_MINOR 1
#define KMM_VERSION_PATCH 0

/* ---- Runtimes ---- */

/* Zero or NULL in a field means: the environment's value, and failing that the default. */
typedef struct kmm_config {
    /* Which devices to use (environment: KMM_DEVICES). A list of "cuda", "cuda:N" (the first N),
     * "hip", "hip:N", "host" (this CPU, sharing memory with the program), "host:N" (N pretend
     * devices with memory of their own, each driven by this CPU). ",mem=64M" limits each device's
     * memory. Default: all GPUs, and the host if there is none. */
    const char *devices;
    uint64_t device_mem;  /* bytes managed on each device (KMM_DEVICE_MEM); default: what is free,
                             less a reserve */
    uint64_t frame_bytes; /* size of a frame of large arrays (KMM_FRAME); default 128 MiB */
    uint32_t threads; /* threads of the host device (KMM_THREADS); default: the cores it may use */
    /* Bytes of host memory that arrays may take (KMM_HOST_MEM); what does not fit goes to disk.
     * Memory that is mapped is the program's and not counted. Default: no limit, and no disk. */
    uint64_t host_mem;
    const char *spill_dir; /* the folder it goes to (KMM_SPILL_DIR); default: TMPDIR, or /var/tmp */
    /* Bytes of what is free on each device at the start that are left to other users of it, as
     * libraries in the same process (KMM_DEVICE_KEEP_FREE), also where device_mem allows more.
     * Default: 1/32, unless device_mem is given. */
    uint64_t device_keep_free;
    /* Bytes of host memory of arrays, or mapped, that may be page-locked at a time, so that copies
     * are fast (KMM_PINNED_MEM, where 0 is none); the rest is copied through buffers. What arrays
     * that are gone had is kept for those to come, up to an eighth of this. Default: three quarters
     * of the machine's memory. */
    uint64_t pinned_mem;
} kmm_config_t;

/* Creates a runtime. Several may exist at once; each owns its arrays. */
int kmm_create(kmm_runtime_t **out, const kmm_config_t *config);

/* Waits for all work and frees everything. Returns the error that kmm_wait would have. NULL is
 * allowed. */
int kmm_destroy(kmm_runtime_t *rt);

/* The process's runtime, which pragmas use: made at first use from the environment. At exit its
 * work is waited for, and it goes with the process. NULL when it could not be made; the reason has
 * been printed. A forked process has one of its own, unless this one's has GPUs. */
kmm_runtime_t *kmm_default(void);

/* Makes `rt` current for this thread: kmm_launch_begin uses it. NULL: the default runtime. */
void kmm_use(kmm_runtime_t *rt);

/* Waits until everything submitted before has finished. Functions of the program that libkmm runs
 * may submit work, which this does not wait for when they do so meanwhile; they must not wait
 * themselves (KMM_E_STATE). Returns the first error since the last call that returned one, whose
 * text kmm_error_text gives. */
int kmm_wait(kmm_runtime_t *rt);

/* The text of the error that a call with this runtime last returned on this thread: source line,
 * kernel, chunk and argument where it has them. Never NULL; valid until this thread's next call. */
const char *kmm_error_text(kmm_runtime_t *rt);

/* ---- Arrays ---- */

typedef struct kmm_shape {
    uint32_t dims;                /* 1 to KMM_MAX_DIMS */
    int64_t extent[KMM_MAX_DIMS]; /* elements, outermost dimension first */
    size_t element_bytes;
    const char *label; /* for messages; may be NULL; copied */
} kmm_shape_t;

int kmm_array_create(kmm_runtime_t *rt, const kmm_shape_t *shape, void **out);

/* Ends an array when the work that uses it is done; returns without waiting for it. `base` must be
 * the address that kmm_array_create gave. */
int kmm_array_destroy(kmm_runtime_t *rt, void *base);

/* `bytes` of managed memory of the default runtime, NULL and a printed reason when there is none;
 * 0 bytes give a unique address. Freed by kmm_free; NULL is allowed there. */
void *kmm_malloc(size_t bytes);
void kmm_free(void *base);

/* Whether an address lies in an array of this runtime; if so and out is not NULL: its base and
 * size. */
typedef struct kmm_extent {
    void *base;
    size_t bytes;
} kmm_extent_t;
int kmm_array_find(kmm_runtime_t *rt, const void *address, kmm_extent_t *out);

/* Copies between ordinary memory and an array, or between arrays. A copy in returns when `src` may
 * be changed, a copy out when `dst` is filled. Regions must lie in one array. */
int kmm_copy_in(kmm_runtime_t *rt, void *array, const void *src, size_t bytes);
int kmm_copy_out(kmm_runtime_t *rt, void *dst, const void *array, size_t bytes);
int kmm_copy(kmm_runtime_t *rt, void *dst_array, const void *src_array, size_t bytes);

/* Sets `bytes` bytes of an array to `value`. */
int kmm_fill(kmm_runtime_t *rt, void *array, int value, size_t bytes);

/* Makes host memory an array until kmm_unmap: launches may use it, and the host must not touch it.
 * Maps of the same range nest. Ranges that partly overlap another are KMM_E_INVALID. */
int kmm_map(kmm_runtime_t *rt, kmm_map_t map, void *base, size_t bytes);
/* Ends a map; at the outermost one, waits until the elements that launches wrote are in place. */
int kmm_unmap(kmm_runtime_t *rt, void *base);

/* Of mapped memory, which begins somewhere at or before `base`: after kmm_update_from, the host may
 * read these bytes, and write them if it then calls kmm_update_to, which says that the host's are
 * the newest. KMM_ALL_BYTES: the whole map. */
#define KMM_ALL_BYTES SIZE_MAX
int kmm_update_from(kmm_runtime_t *rt, const void *base, size_t bytes);
int kmm_update_to(kmm_runtime_t *rt, const void *base, size_t bytes);

/* Waits for the work on the array in which the address lies, and no other; there is none on an
 * address in no array. Host memory that launches with nowait left mapped is the program's again. */
int kmm_wait_array(kmm_runtime_t *rt, const void *address);

/* ---- Devices ---- */

typedef struct kmm_device_info {
    char name[64];
    kmm_kind_t kind;
    int ordinal;           /* the driver's number */
    uint64_t memory_bytes; /* managed at most; 0: shares the host's memory */
    uint64_t used_bytes;   /* frames held now */
    uint64_t bytes_in, bytes_out,
        bytes_peer;    /* copied so far: from host, to host, from other devices */
    uint64_t chunks;   /* chunks completed */
    uint64_t launches; /* and how many launches that took: chunks that are ready together and meet
                          are launched as one */
    int whole_arrays; /* 1: its driver cannot map memory in parts, so an array is there whole or not
                         at all */
} kmm_device_info_t;

int kmm_device_count(kmm_runtime_t *rt);
int kmm_device_get(kmm_runtime_t *rt, int device, kmm_device_info_t *out);
/* Of the host's memory, the node (as the system numbers them) nearest to the device; negative: all
 * are alike, or it is not known. */
int kmm_device_node(kmm_runtime_t *rt, int device);

#ifdef __cplusplus
}
#endif
#endif
