/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine that the fake drivers drive: devices over host memory, asynchronous, and strict where
 * real ones are lenient. libcuda.c and libamdhip64.c are its two faces. Each library has a machine
 * of its own. Results are the numbers that both real drivers use.
 */
#ifndef FAKE_H
#define FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fake_gpu.h"

enum {
    FAKE_OK = 0,
    FAKE_INVALID_VALUE = 1,
    FAKE_NO_MEMORY = 2,
    FAKE_NOT_INITIALIZED = 3,
    FAKE_NO_DEVICE = 100,
    FAKE_INVALID_DEVICE = 101,
    FAKE_INVALID_CONTEXT = 201,
    FAKE_ALREADY_MAPPED = 208,
    FAKE_INVALID_HANDLE = 400,
    FAKE_NOT_FOUND = 500,
    FAKE_NOT_READY = 600,
    FAKE_ILLEGAL_ADDRESS = 700,
    FAKE_ALREADY_REGISTERED = 712,
    FAKE_LAUNCH_FAILED = 719,
    FAKE_CAPTURE_UNSUPPORTED = 900,
    FAKE_CAPTURE_INVALIDATED = 901,
    FAKE_UNKNOWN = 999,

    FAKE_MAX_DEVICES = 32,
    FAKE_PITCH_LIMIT = 1 << 20,
    FAKE_MOST_SHARED = 227 << 10
};

/* Where KMM_FAKE_FAIL can strike. */
typedef enum fake_point {
    FAKE_ALLOC,
    FAKE_RESERVE,
    FAKE_MAP,
    FAKE_UNMAP, /* what was mapped stays mapped */
    FAKE_REGISTER,
    FAKE_STREAM,
    FAKE_EVENT,
    FAKE_RECORD,
    FAKE_WAIT,
    FAKE_COPY,
    FAKE_LAUNCH, /* the call fails, and nothing is enqueued */
    FAKE_COPYING,
    FAKE_RUNNING, /* it fails when it runs, and the device is lost */
    FAKE_LOST,    /* the device is lost when this piece of work is enqueued */
    FAKE_POINTS
} fake_point_t;

#define FAKE_EXPORT __attribute__((visibility("default")))

/* One lock guards the machine; it is not held while an operation works on memory. */
extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_changed;
extern fake_counts_t fake_live;
extern const char *fake_driver; /* "cuda" or "hip" */

typedef struct fake_device {
    int references; /* of a CUDA context */
    int lost;       /* the result that every call gives from now on; 0: none */
    int running;    /* pieces of work that are being done now, */
    int copying;    /* and those of them that are copies from or to the host */
    size_t used;
} fake_device_t;
extern fake_device_t fake_devices[FAKE_MAX_DEVICES];

/* ---- device.c ---- */
_Noreturn void fake_broken(const char *what);
/* Reads the environment; FAKE_NO_DEVICE when it says 0 devices. */
int fake_start(void);
int fake_count(void); /* of devices; negative before fake_start */
bool fake_is_device(int device);
size_t fake_memory(void); /* bytes of each device */
size_t fake_granule(void);
bool fake_have_peers(void); /* devices can access each other's memory */
uint32_t fake_lanes(void);  /* of a warp: 32 or 64 */
/* Where the environment says that the device is on the PCI bus: domain, bus, device, function.
 * False: it does not. */
bool fake_pci(int device, unsigned out[4]);
/* The environment's KMM_FAKE_<driver>_<name>, or else KMM_FAKE_<name>. */
const char *fake_setting(const char *name);
bool fake_strikes(fake_point_t point); /* locked; counts */
/* Locks, when what was running on a device that is lost is over: so whoever is told of the loss may
 * take memory back. */
void fake_enter(void);
/* The same for a call that allocates or asks: 0, or FAKE_CAPTURE_UNSUPPORTED where a capture
 * forbids it, which is spoiled. */
int fake_enter_unsafe(void);
/* Not locked: as slow as the environment says; a copy at `rate` bytes a second at most, unless that
 * is 0. */
void fake_take_time(uint64_t *busy_until, uint64_t bytes, bool kernel, uint64_t rate);
/* Locked: a copy from or to the host begins on the device; the rate that is left for it, or 0. Ends
 * the program where too many devices copy. */
uint64_t fake_link_begin(fake_device_t *d);
void fake_take_mapping(
    void); /* not locked: what a call takes that makes a frame or gives access to it */
/* Locked. The last release ends the context, and with it what it was lost with. */
void fake_release(int device);

/* ---- memory.c ---- */
typedef struct fake_frame fake_frame_t;
typedef struct fake_pool fake_pool_t;
int fake_reserve(size_t bytes, char **out);
int fake_unreserve(char *at, size_t bytes);
int fake_frame_create(int device, size_t bytes, fake_frame_t **out);
int fake_frame_create_host_backed(
    size_t bytes, fake_frame_t **out); /* of the host's memory; is lost with device 0 */
int fake_frame_release(fake_frame_t *f);
int fake_map(char *at, size_t bytes, fake_frame_t *f);
int fake_allow(char *at, size_t bytes, const int *devices, size_t count);
int fake_unmap(char *at, size_t bytes);
int fake_register(void *base, size_t bytes);
int fake_unregister(void *base);
int fake_allocate(int device, size_t bytes, fake_pool_t *pool, void **out);
int fake_free(void *p);
size_t fake_allocated(int device);                     /* locked */
bool fake_is_continuous(const char *at, size_t bytes); /* locked: all of this is devices' memory */
bool fake_is_devices(const void *at); /* it is a device's memory, mapped or allocated */
bool fake_is_allocated(const void *at, size_t bytes);
bool fake_is_absent(const void *at,
                    size_t bytes); /* some of it was mapped by a call that mapped nothing */
bool fake_is_one(const void *at, size_t bytes); /* it lies in one mapping or one allocation */
bool fake_is_accessible(const char *at, size_t bytes, int device); /* locked; device memory */
int fake_pool_create(int device, size_t most, fake_pool_t **out);
int fake_pool_destroy(fake_pool_t *pool);
int fake_pool_allow(fake_pool_t *pool, int device);
uint64_t *fake_pool_threshold(fake_pool_t *pool);
uint64_t fake_pool_used(fake_pool_t *pool);

/* ---- stream.c ---- */
typedef struct fake_stream fake_stream_t;
typedef struct fake_event fake_event_t;
typedef struct fake_copy {
    const void *dst, *src;
    bool to_device, from_device;
    int dst_device,
        src_device; /* who must have access; both the stream's unless it is a copy between peers */
    size_t width, rows, dst_pitch, src_pitch;
} fake_copy_t;
int fake_stream_create(int device, bool blocking,
                       fake_stream_t **out); /* blocking: the default stream waits for it */
int fake_stream_destroy(fake_stream_t *s);
int fake_stream_query(fake_stream_t *s);
int fake_stream_synchronize(
    fake_stream_t *s);  /* NULL: the default stream, whose work is done at once */
void fake_settle(void); /* waits until no stream has work, as freeing memory does */
int fake_stream_wait(fake_stream_t *s, fake_event_t *e);
int fake_event_create(int device, bool is_timed, fake_event_t **out);
int fake_event_destroy(fake_event_t *e);
int fake_event_record(fake_event_t *e, fake_stream_t *s);
int fake_event_query(fake_event_t *e);
/* Milliseconds from one timed event to another one, both of which are done. */
int fake_event_elapsed(float *ms, fake_event_t *from, fake_event_t *to);
int fake_event_synchronize(fake_event_t *e);
/* What is enqueued on the stream from now on becomes a graph. While the mode is 0, global, threads
 * whose own mode is not 2, relaxed, are forbidden calls that allocate or ask. */
typedef struct fake_graph fake_graph_t;
int fake_capture_begin(fake_stream_t *s, int mode);
int fake_capture_end(fake_stream_t *s, fake_graph_t **out);
int fake_capture_status(const fake_stream_t *s,
                        int *out);    /* 1: is being captured; the default stream never is */
int fake_capture_exchange(int *mode); /* of the calling thread */
bool fake_capture_forbids(void);      /* locked */
fake_graph_t *fake_graph_keep(fake_graph_t *g); /* for one more owner */
int fake_graph_destroy(fake_graph_t *g);
int fake_graph_launch(fake_graph_t *g, fake_stream_t *s);
/* `device`: the caller's current one, which must be the stream's. */
int fake_enqueue_copy(int device, fake_stream_t *s, const fake_copy_t *c);
int fake_enqueue_fill(int device, fake_stream_t *s, void *dst, int value, size_t bytes);
int fake_enqueue_kernel(int device, fake_stream_t *s, fake_kernel_t *k, const uint32_t grid[3],
                        const uint32_t block[3], unsigned shared, void **args);
/* Locked: ends the program when an enqueued copy or fill uses the memory. What kernels use cannot
 * be seen: they are given more addresses than they use, and one that uses memory which is gone
 * faults there. */
void fake_check_unused(const char *at, size_t bytes, const char *what);
/* Locked: ends the program when the device has streams. */
void fake_check_no_streams(int device);

#endif
