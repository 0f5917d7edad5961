/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A source of device memory in frames of the driver's granularity, mapped into address space. An
 * allocation is an area: contiguous addresses with a frame behind each.
 *
 * A pool on this source can gather unused frames into a new area instead of taking more memory. The
 * frames are then mapped at both addresses, so that no thread has to wait: earlier work may still
 * use the old addresses, and later work uses the new ones. The old mapping is removed after the
 * earlier work. A frame's home is the mapping to which it was moved last.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resource/driver.h"
#include "resource/source.h"

typedef struct frame {
    CUmemGenericAllocationHandle handle;
    uint32_t refs; /* number of its mappings; guarded by `lock` */
    bool homed;    /* its home still exists; guarded by `lock` */
} frame_t;

typedef struct mapping {
    frame_t *frame; /* NULL: nothing is mapped at this address */
    bool left;      /* the frame has moved: its home is another mapping */
} mapping_t;

/* One allocation. The thread that has the memory allocated writes the mappings, with `access` held
 * for reading. */
typedef struct area {
    uintptr_t at;
    size_t count;
    mapping_t mappings[];
} area_t;

typedef struct mapped {
    kmm__source_t source;
    kmm__mapper_t mapper;
    size_t most; /* bytes of the device's memory; a larger request fails without a call of the
                    driver */
    kmm__table_t areas; /* address -> area_t */
    pthread_mutex_t lock;
    /* Held for reading while frames are mapped or unmapped. Held for writing while another device
     * gets access to all areas. */
    pthread_rwlock_t access;
    uint64_t allowed; /* one bit for each other device that has access; guarded by `access` */
} mapped_t;

enum {
    FRAMES_AT_ONCE = 64
}; /* an area with so many new frames or more is not begun if the device has too little memory */

static size_t frame_bytes(const mapped_t *m)
{
    return m->mapper.frame_bytes;
}

static int check(const mapped_t *m, CUresult result, const char *call)
{
    return kmm__driver_check(result, call, m->source.head.device);
}

static CUmemAllocationProp properties_of(const mapped_t *m)
{
    return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, m->source.head.device}};
}

/* ---- Frames and mappings; the device is entered ---- */

static int frame_new(mapped_t *m, frame_t **out)
{
    const CUmemAllocationProp properties = properties_of(m);
    frame_t *f = calloc(1, sizeof(*f));
    if (!f)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for a frame",
                                  m->source.head.name);
    int status = check(m, kmm__driver()->MemCreate(&f->handle, frame_bytes(m), &properties, 0),
                       "cuMemCreate");
    if (status) {
        free(f);
        return status;
    }
    *out = f;
    return 0;
}

static int frame_free(mapped_t *m, frame_t *f)
{
    int status = check(m, kmm__driver()->MemRelease(f->handle), "cuMemRelease");
    free(f);
    return status;
}

static int mapping_make(mapped_t *m, uintptr_t at, mapping_t *mapping, frame_t *f)
{
    int status = check(m, kmm__driver()->MemMap(at, frame_bytes(m), 0, f->handle, 0), "cuMemMap");
    if (status)
        return status;
    mapping->frame = f;
    pthread_mutex_lock(&m->lock);
    f->refs++;
    pthread_mutex_unlock(&m->lock);
    return 0;
}

/* Unmaps one frame. The frame goes back to the driver if it has no other mapping and its home is
 * gone. */
static int mapping_clear(mapped_t *m, uintptr_t at, mapping_t *mapping)
{
    frame_t *f = mapping->frame;
    if (!f)
        return 0;
    int status = check(m, kmm__driver()->MemUnmap(at, frame_bytes(m)), "cuMemUnmap");
    pthread_mutex_lock(&m->lock);
    f->homed = f->homed && mapping->left;
    bool last = --f->refs == 0 && !f->homed;
    pthread_mutex_unlock(&m->lock);
    mapping->frame = NULL;
    int freed = last ? frame_free(m, f) : 0;
    return status ? status : freed;
}

/* ---- Areas; the device is entered ---- */

static int area_clear(mapped_t *m, uintptr_t at, area_t *a)
{
    int status = 0;
    for (size_t i = 0; i < a->count; i++) {
        int one = mapping_clear(m, at + i * frame_bytes(m), &a->mappings[i]);
        status = status ? status : one;
    }
    int one =
        check(m, kmm__driver()->MemAddressFree(at, a->count * frame_bytes(m)), "cuMemAddressFree");
    free(a);
    return status ? status : one;
}

/* Returns the mapping of the i-th frame of the pieces, counted through all of them. NULL: the
 * pieces have fewer frames. */
static mapping_t *gathered_mapping(mapped_t *m, const kmm__piece_t *pieces, size_t count, size_t i)
{
    for (size_t k = 0; k < count; i -= pieces[k++].frames)
        if (i < pieces[k].frames) {
            area_t *a = kmm__table_find(&m->areas, (void *)pieces[k].area);
            return &a->mappings[(pieces[k].address - pieces[k].area) / frame_bytes(m) + i];
        }
    return NULL;
}

/* Gives one device access to contiguous addresses with frames. */
static int allow_row(mapped_t *m, uintptr_t at, size_t frames, int device)
{
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, device},
                                    CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return check(m, kmm__driver()->MemSetAccess(at, frames * frame_bytes(m), &access, 1),
                 "cuMemSetAccess");
}

/* Gives access to the device itself and to all devices that have been allowed. */
static int allow_all(mapped_t *m, uintptr_t at, size_t frames)
{
    int status = allow_row(m, at, frames, m->source.head.device);
    for (int device = 0; device < KMM__MAX_DEVICES && status == 0; device++)
        if (m->allowed >> device & 1)
            status = allow_row(m, at, frames, device);
    return status;
}

/* Maps the frames of the pieces into the area, and new frames after them. */
static int area_fill(mapped_t *m, uintptr_t at, area_t *a, const kmm__piece_t *pieces, size_t count)
{
    for (size_t i = 0; i < a->count; i++) {
        const mapping_t *from = gathered_mapping(m, pieces, count, i);
        frame_t *f = from ? from->frame : NULL;
        int status = f ? 0 : frame_new(m, &f);
        if (status)
            return status;
        status = mapping_make(m, at + i * frame_bytes(m), &a->mappings[i], f);
        if (status && !from)
            frame_free(m, f);
        if (status)
            return status;
        a->mappings[i].left =
            from != NULL; /* if a later step fails, the frame stays at home in its old mapping */
    }
    return allow_all(m, at, a->count);
}

/* Makes the new area the home of its frames. */
static void area_settle(mapped_t *m, area_t *a, const kmm__piece_t *pieces, size_t count)
{
    pthread_mutex_lock(&m->lock);
    for (size_t i = 0; i < a->count; i++) {
        mapping_t *from = gathered_mapping(m, pieces, count, i);
        if (from)
            from->left = true;
        a->mappings[i].left = false;
        a->mappings[i].frame->homed = true;
    }
    pthread_mutex_unlock(&m->lock);
}

/* Checks that the device has memory for the new frames. They are created one by one, so a lack
 * would be noticed only after most of them have been created. */
static int check_memory(mapped_t *m, const kmm__piece_t *pieces, size_t count, size_t frames)
{
    size_t available, total, fresh = frames;
    for (size_t k = 0; k < count; k++)
        fresh -= pieces[k].frames;
    if (fresh < FRAMES_AT_ONCE || kmm__driver()->MemGetInfo(&available, &total) ||
        fresh <= available / frame_bytes(m))
        return 0;
    return kmm__resource_fail(KMM_E_MEMORY, "%s: no %zu bytes: the device has %zu left",
                              m->source.head.name, fresh * frame_bytes(m), available);
}

static int area_make(mapped_t *m, const kmm__piece_t *pieces, size_t count, size_t frames,
                     void **out)
{
    CUdeviceptr at = 0;
    const int lacks = check_memory(m, pieces, count, frames);
    if (lacks)
        return lacks;
    area_t *a = calloc(1, sizeof(*a) + frames * sizeof(a->mappings[0]));
    if (!a)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: no host memory for an area",
                                  m->source.head.name);
    a->count = frames;
    int status = check(m, kmm__driver()->MemAddressReserve(&at, frames * frame_bytes(m), 0, 0, 0),
                       "cuMemAddressReserve");
    if (status) {
        free(a);
        return status;
    }
    a->at = at;
    status = area_fill(m, at, a, pieces, count);
    if (status == 0)
        status = kmm__table_put(&m->areas, (void *)(uintptr_t)at, a);
    if (status) {
        area_clear(m, at, a);
        return status;
    }
    area_settle(m, a, pieces, count);
    *out = (void *)(uintptr_t)at;
    return 0;
}

static int area_new(mapped_t *m, const kmm__piece_t *pieces, size_t count, size_t frames,
                    void **out)
{
    pthread_rwlock_rdlock(&m->access);
    int status = area_make(m, pieces, count, frames, out);
    pthread_rwlock_unlock(&m->access);
    return status;
}

static int area_end(mapped_t *m, void *at)
{
    pthread_rwlock_rdlock(&m->access);
    int status = area_clear(m, (uintptr_t)at, kmm__table_take(&m->areas, at));
    pthread_rwlock_unlock(&m->access);
    return status;
}

/* ---- As a source ---- */

static int mapped_get(kmm__source_t *s, size_t bytes, kmm_stream_t stream, void **out)
{
    mapped_t *m = (mapped_t *)s;
    (void)stream;
    if (bytes > m->most)
        return kmm__resource_fail(KMM_E_MEMORY, "%s: %zu bytes are more than there ever are",
                                  s->head.name, bytes);
    int status = kmm__driver_enter(s->head.device);
    if (status)
        return status;
    status = area_new(m, NULL, 0, (bytes + frame_bytes(m) - 1) / frame_bytes(m), out);
    kmm__driver_leave();
    return status;
}

/* Waits for the stream before it unmaps the memory. All work that uses the memory has been ordered
 * before the stream's position. */
static int mapped_put(kmm__source_t *s, void *p, size_t bytes, kmm_stream_t stream)
{
    mapped_t *m = (mapped_t *)s;
    (void)bytes;
    int status = kmm__driver_enter(s->head.device);
    if (status)
        return status;
    status = check(m, kmm__driver()->StreamSynchronize(stream), "cuStreamSynchronize");
    int one = area_end(m, p);
    kmm__driver_leave();
    return status ? status : one;
}

static int mapped_info(kmm__source_t *s, size_t *available, size_t *total)
{
    int status = kmm__driver_enter(s->head.device);
    if (status)
        return status;
    status = check((mapped_t *)s, kmm__driver()->MemGetInfo(available, total), "cuMemGetInfo");
    kmm__driver_leave();
    return status;
}

static void mapped_close(kmm__source_t *s)
{
    kmm__table_deinit(&((mapped_t *)s)->areas);
    pthread_mutex_destroy(&((mapped_t *)s)->lock);
    pthread_rwlock_destroy(&((mapped_t *)s)->access);
}

/* ---- For a pool ---- */

static int mapped_gather(kmm_resource_t *r, const kmm__piece_t *pieces, size_t count, size_t frames,
                         void **out)
{
    mapped_t *m = (mapped_t *)r;
    int status = kmm__driver_enter(r->device);
    if (status)
        return status;
    status = area_new(m, pieces, count, frames, out);
    kmm__driver_leave();
    /* If this fails, the frames stay at home in their old mappings, which keep them. */
    return status ? status : kmm__source_adopt(&m->source, *out, frames * frame_bytes(m));
}

static int mapped_forget(kmm_resource_t *r, const kmm__piece_t *piece)
{
    mapped_t *m = (mapped_t *)r;
    area_t *a = kmm__table_find(&m->areas, (void *)piece->area);
    int status = kmm__driver_enter(r->device);
    if (status)
        return status;
    pthread_rwlock_rdlock(&m->access);
    for (size_t i = 0; i < piece->frames; i++) {
        uintptr_t at = piece->address + i * frame_bytes(m);
        int one = mapping_clear(m, at, &a->mappings[(at - piece->area) / frame_bytes(m)]);
        status = status ? status : one;
    }
    pthread_rwlock_unlock(&m->access);
    kmm__driver_leave();
    return status;
}

/* ---- Access of other devices ---- */

typedef struct newcomer {
    mapped_t *m;
    int device, status;
} newcomer_t;

/* Gives a device access to one area. A call of the driver covers a run of mapped frames; parts
 * without frames are left out. */
static void allow_area(void *context, void *value)
{
    newcomer_t *n = context;
    const area_t *a = value;
    for (size_t i = 0, end; i < a->count && n->status == 0; i = end) {
        for (end = i + 1; end < a->count && !a->mappings[end].frame == !a->mappings[i].frame; end++)
            ;
        if (a->mappings[i].frame)
            n->status = allow_row(n->m, a->at + i * frame_bytes(n->m), end - i, n->device);
    }
}

/* Gives another device access to all areas. The caller holds `access` for writing. On failure the
 * device has access to some of them, and to no later ones. */
static int allow_newcomer(mapped_t *m, int device)
{
    newcomer_t n = {m, device, 0};
    if (m->allowed >> device & 1)
        return 0;
    kmm__table_each(&m->areas, allow_area, &n);
    m->allowed |= n.status ? 0 : (uint64_t)1 << device;
    return n.status;
}

static int mapped_allow(kmm__source_t *s, int device)
{
    mapped_t *m = (mapped_t *)s;
    int status = device == s->head.device ? 0 : kmm__driver_can_reach(device, s->head.device);
    if (status || device == s->head.device)
        return status;
    status = kmm__driver_enter(s->head.device);
    if (status)
        return status;
    pthread_rwlock_wrlock(&m->access);
    status = allow_newcomer(m, device);
    pthread_rwlock_unlock(&m->access);
    kmm__driver_leave();
    return status;
}

/* ---- Creation ---- */

/* True if bytes that are written to the address can be read back. */
static bool keeps(CUdeviceptr at)
{
    const kmm__driver_t *d = kmm__driver();
    unsigned char there[64], back[64] = {0};
    CUstream stream;
    if (d->StreamCreate(&stream, CU_STREAM_NON_BLOCKING))
        return false;
    for (size_t i = 0; i < sizeof(there); i++)
        there[i] = (unsigned char)(7 * i + 1);
    CUresult result = d->MemcpyAsync(at, (CUdeviceptr)(uintptr_t)there, sizeof(there), stream);
    if (!result)
        result = d->MemcpyAsync((CUdeviceptr)(uintptr_t)back, at, sizeof(back), stream);
    CUresult end = d->StreamSynchronize(stream);
    d->StreamDestroy(stream);
    return !result && !end && !memcmp(there, back, sizeof(there));
}

/* Maps two frames in a row and writes across their border. It is not enough that the calls exist:
 * some releases of ROCm report success, and map only the first frame. */
static int try_frames(mapped_t *m)
{
    const CUmemAllocationProp properties = properties_of(m);
    const kmm__driver_t *d = kmm__driver();
    void *at;
    CUdeviceptr reserved;
    if (d->MemGetAllocationGranularity(&m->mapper.frame_bytes, &properties,
                                       CU_MEM_ALLOC_GRANULARITY_MINIMUM) ||
        frame_bytes(m) == 0 || d->MemAddressReserve(&reserved, frame_bytes(m), 0, 0, 0))
        return kmm__resource_fail(KMM_E_UNSUPPORTED, "mapped: device %d cannot map memory",
                                  m->source.head.device);
    d->MemAddressFree(reserved, frame_bytes(m));
    int status = area_new(m, NULL, 0, 2, &at);
    if (status)
        return status;
    const bool kept = keeps((uintptr_t)at + frame_bytes(m) - 32);
    status = area_end(m, at);
    return kept ? status
                : kmm__resource_fail(
                      KMM_E_UNSUPPORTED,
                      "mapped: device %d does not keep what is written to mapped memory",
                      m->source.head.device);
}

/* Completes a resource whose source is ready: finds the device's memory and its granularity. */
static int mapped_open(mapped_t *m, int device)
{
    CUdevice d;
    int status = kmm__driver_enter(device);
    if (status)
        return status;
    CUresult result = kmm__driver()->DeviceGet(&d, device);
    status =
        check(m, result ? result : kmm__driver()->DeviceTotalMem(&m->most, d), "cuDeviceTotalMem");
    if (status == 0)
        status = kmm__driver()->maps
                     ? try_frames(m)
                     : kmm__resource_fail(KMM_E_UNSUPPORTED, "mapped: the driver is too old");
    kmm__driver_leave();
    return status;
}

KMM__API int kmm_mapped_resource_create(int device, kmm_resource_t **out)
{
    if (!out)
        return kmm__resource_fail(KMM_E_INVALID, "mapped: nowhere to put the resource");
    mapped_t *m = aligned_alloc(64, kmm__round_up(sizeof(*m), 64));
    if (!m)
        return kmm__resource_fail(KMM_E_MEMORY, "mapped: no host memory for the resource");
    kmm_resource_t *head = &m->source.head;
    kmm__source_init(&m->source, "mapped");
    kmm__table_init(&m->areas);
    pthread_mutex_init(&m->lock, NULL);
    pthread_rwlock_init(&m->access, NULL);
    m->allowed = 0;
    m->mapper = (kmm__mapper_t){0, mapped_gather, mapped_forget};
    m->source.close = mapped_close;
    head->kind = KMM_MEMORY_DEVICE;
    head->device = device;
    int status = mapped_open(m, device);
    if (status) {
        kmm_resource_destroy(head);
        return status;
    }
    snprintf(head->name, sizeof(head->name), "mapped %d", device);
    head->order = kmm__driver_order(device);
    head->mapper = &m->mapper;
    m->source.alignment = frame_bytes(m);
    m->source.get = mapped_get;
    m->source.put = mapped_put;
    m->source.info = mapped_info;
    m->source.allow = mapped_allow;
    *out = head;
    return 0;
}
