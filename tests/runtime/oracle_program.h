/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The oracle's random programs: their parts, as the files oracle_*.c make, run and print them. A
 * program has a script for each of its threads; a script has slots, which are its arrays, and
 * operations on them. Each slot has a model beside it, which says what the array should hold.
 */
#ifndef KMM_TEST_ORACLE_PROGRAM_H
#define KMM_TEST_ORACLE_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <kmm.h>
#include <kmm/resource.h>

#include "oracle.h"
#include "task/marker.h"

/* On a real GPU memory is mapped in pieces of 2 MiB, so arrays must be larger to spill, and the
 * grid is as large as it allows at most, where the last block has nothing to do. What is reduced is
 * few enough elements that sums of floats are exact. */
#ifdef KMM_TEST_DEVICE
enum {
    ON_DEVICE = 1,
    LARGEST = 600000,
    PIECE = 2 << 20,
    HOST_PIECE = 512 << 10,
    MOST_ROWS = 65534,
    LIMIT_S = 150
};
#else
enum {
    ON_DEVICE = 0,
    LARGEST = 20000,
    PIECE = 4096,
    HOST_PIECE = 4096,
    MOST_ROWS = 65534,
    LIMIT_S = 200
};
#endif
/* PAD: bytes before host memory that are in no array; FAR: elements that its pointers may lie
 * before it. */
enum {
    PAD = 512,
    FAR = PAD / 8,
    STREAMS = 3,
    DEPTH = 3,
    LOOSE_OPS = 24, /* operations of a program without a loop */
    OPS = 48,
    THREADS = 3,
    MOST_REDUCED = 20000
};

typedef enum kind {
    MANAGED,
    MAPPED,
    RAW
} kind_t; /* RAW: host memory that is mapped for each launch */

/* What goes wrong in a program of one thread, on purpose. STRAYS: a chunk stores to what it only
 * reads, and KMM_CHECK=access finds it. REFUSED, LOST: a launch on a fake GPU fails, or ends with
 * the GPU's loss. */
typedef enum fault { NO_FAULT, STRAYS, REFUSED, LOST } fault_t;

typedef struct slot {
    kind_t kind;
    bool pinned; /* memory of the host, which the program has allocated page-locked, by the driver
                    of the devices' */
    kmm_type_t type;
    kmm_map_t map; /* of what is MAPPED */
    int depth;     /* maps inside that one */
    int64_t n;
    void *base;  /* the array, or its host memory */
    void *model; /* what it should hold */
    /* After a fault: whether it may have lost elements, those that are left being right; and
     * whether the model is not to be trusted, since a call on it has failed. */
    bool is_tainted, is_uncertain;
} slot_t;

typedef struct script {
    /* slot_count arrays, of which the last SUMS are short targets of reductions; behind them those
     * of all threads, if there are any: one that is only read, and a sum that is only added to. */
    slot_t slot[SLOTS + SUMS + SHARED];
    op_t op[OPS];
    int op_count, slot_count, number;
    bool has_shared;
    bool may_leave; /* host memory to the next wait: no other thread waits in its runtime, and
                       learns of its errors */
    const kmm_kernel_t *gpu_kernel;
    kmm_runtime_t *rt;
    kmm__marker_t *mark; /* the last one made */
    int error;           /* the first that a call returned */
    bool wrong;
    fault_t fault;
    int told;               /* the first error of a fault that was not of its consequences only */
    bool has_lost;          /* elements of some array */
    kmm_resource_t *pinned; /* NULL: the driver has none */
} script_t;

typedef struct program {
    script_t script[THREADS];
    int script_count;
    bool apart; /* a runtime for each script */
    slot_t shared[SHARED];
    const kmm_kernel_t *gpu_kernel; /* for the kind of GPU among the devices, on which launches may
                                       run; NULL: none */
    int granule, jitter;            /* of its fake driver: bytes, us */
    int stagers;                    /* threads that copy mapped memory through buffers */
    bool locks;                     /* whether memory of the host is page-locked */
    const char *devices;            /* a format with the memory of a device */
    int64_t memory, most;
    int64_t host_memory; /* the limit, beyond which there is the disk; 0: none, and no disk */
    const char *disk;    /* how it is used */
    int64_t join; /* bytes that chunks are joined to, however few tasks that leaves; 0: as usual */
    uint32_t threads;
    bool checks;   /* with KMM_CHECK=access */
    bool compares; /* with KMM_CHECK=result */
    fault_t fault;
    int fault_at; /* which launch of a fake driver it hits, from 1 */
    kmm_resource_t *pinned;
    uint64_t seed;
} program_t;

/* ---- oracle_kernel.c: the kernels ---- */

/* A GPU that a program may have, and the kernel for it. `count`: how many of its kind there must
 * be. */
typedef struct gpus {
    const char *devices;
    const kmm_kernel_t *kernel;
    int count;
} gpus_t;

/* The arguments of the plain function. */
typedef struct arguments {
    manner_t manner;
    places_t places;
} arguments_t;

extern const gpus_t oracle_gpus[];
extern const int oracle_gpus_count;
extern const kmm_kernel_t oracle_host_kernel;
void oracle_chunk(const kmm_chunk_t *chunk, void *args);
/* In the process that launches kernels, before it does. */
int oracle_kernel_find(void);

/* ---- oracle_launch.c: one launch ---- */

void oracle_launch_model(script_t *s, const op_t *op);
int oracle_launch(script_t *s, const op_t *op);
/* Streams are names. */
void *oracle_stream(int k);

/* ---- oracle_fault.c: programs with a fault ---- */

/* What the fault of a script leaves right. */
void oracle_taint(script_t *s);
/* Takes note of an error that a call has returned. False: it is none that the fault explains. */
bool oracle_fault_explains(script_t *s, int error);
/* Compares what can be read at the end. */
void oracle_fault_check(script_t *s);
/* Whether the launch stores where it must not, wherever it runs. */
bool oracle_strays(const op_t *op);

/* ---- oracle_run.c ---- */

void oracle_complain(script_t *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Compares elements [begin, begin + count) of a slot with its model; `op`: after which. */
void oracle_compare(script_t *s, int op, int slot, const void *got, int64_t begin, int64_t count);
/* Ends all maps of a slot, or waits for what only a launch maps, and compares. */
int oracle_settle(script_t *s, int op, int slot);

/* Runs the program in this process. Returns whether all was right. */
bool oracle_run(program_t *p);

/* ---- oracle_make.c ---- */

void oracle_make(program_t *p, uint64_t seed, int gpu_count);

#endif
