/* SPDX-License-Identifier: Apache-2.0 */
/* Launches of managed programs (wrap.h): finds the kernel of a host function and the kernel's
 * clone, and passes both to libkmm. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "managed/wrap.h"

/* ---- Kernels ---- */

typedef struct entry {
    const void *handle; /* a CUkernel, or a HIP kernel's host function */
    kmm_kernel_t kernel;
    _Atomic(struct entry *) clone; /* the kernel that runs if a launch of this one is divided into
                                      chunks; NULL: none is registered */
    const void *function;          /* the host function; NULL: not looked for yet, or not known */
    atomic_uint looked; /* number of clones that were registered when `clone` was last looked for */
} entry_t;

enum { TABLE_BITS = 14, TABLE = 1 << TABLE_BITS };

/* Hash table with open addressing. Entries are only added, under the lock, and are read without it.
 */
static _Atomic(entry_t *) entries[TABLE];
static uint32_t entry_count;
static pthread_mutex_t entries_lock = PTHREAD_MUTEX_INITIALIZER;

typedef struct clone {
    const void *clone, *original;
    struct clone *next;
} clone_t;
static clone_t
    *clones; /* written under the lock, by static initializers and by launches of templates */
static atomic_uint clone_count;

int REGISTER_CLONE(const void *clone, const void *original)
{
    clone_t *c = malloc(sizeof(*c));
    if (!c)
        return 0;
    pthread_mutex_lock(&entries_lock);
    *c = (clone_t){clone, original, clones};
    clones = c;
    atomic_fetch_add(&clone_count, 1);
    pthread_mutex_unlock(&entries_lock);
    return 1;
}

static size_t home_of(const void *handle)
{
    return ((uintptr_t)handle >> 4) * 0x9E3779B97F4A7C15u >> (64 - TABLE_BITS);
}

static entry_t *entry_find(const void *handle)
{
    for (size_t k = home_of(handle);; k = (k + 1) % TABLE) {
        entry_t *e = atomic_load_explicit(&entries[k], memory_order_acquire);
        if (!e || e->handle == handle)
            return e;
    }
}

/* Returns the kernel from which a registered clone was made. NULL: the kernel is no registered
 * clone. */
static const void *original_of(const void *handle)
{
    void *h;
    for (const clone_t *c = clones; c; c = c->next)
        if (internal(kernel)(&h, c->clone) == 0 && h == handle &&
            internal(kernel)(&h, c->original) == 0)
            return h;
    return NULL;
}

static const void *clone_of(const void *handle)
{
    void *h;
    for (const clone_t *c = clones; c; c = c->next)
        if (internal(kernel)(&h, c->original) == 0 && h == handle &&
            internal(kernel)(&h, c->clone) == 0)
            return h;
    return NULL;
}

/* 1 if the kernel's mangled name says that its first parameter is a kmm_blocks_t, or a
 * kmm_partials, or that of a file that was compiled with -fkmm-check. Clones that are instances of
 * templates are recognized by that, because nothing registers them. */
static uint32_t has_blocks(const char *name)
{
    return strncmp(name, "_Z", 2) == 0 &&
           (strstr(name, "10kmm_blocks") || strstr(name, "18kmm_checked_blocks") ||
            strstr(name, "12kmm_partialsILj"));
}

/* What is_clone of a clone says that moves pointers, which the type of its first parameter tells in
 * its mangled name: kmm_partials<MOVED, COUNT>. 0: other kernels. */
static uint32_t moved_of(const kmm_kernel_t *k)
{
    static const char type[] = "12kmm_partialsILj";
    const char *at = strstr(k->name, type);
    char *end;
    if (!at || k->param_count == 0)
        return 0;
    const uint32_t moved = (uint32_t)strtoul(at + strlen(type), &end, 10);
    const uint64_t bytes =
        sizeof(kmm_partials_head_t) + (uint32_t)__builtin_popcount(moved) * sizeof(uint64_t);
    return *end == 'E' && k->param_bytes[0] == bytes ? moved | 1 : 0;
}

/* Creates the entry of a kernel. It is not in the table yet. The caller holds the lock. */
static int entry_make(const void *handle, entry_t **out)
{
    entry_t *e = entry_count < TABLE / 2 ? calloc(1, sizeof(*e)) : NULL;
    if (!e)
        return KMM_CUDA_MEMORY_ALLOCATION;
    e->handle = handle;
    e->kernel = (kmm_kernel_t){.version = KMM_LAUNCH_VERSION,
                               .kind = KIND,
                               .name = "kernel",
                               .handle = (void *)(uintptr_t)handle};
    int error = internal(kernel_read)(&e->kernel);
    if (error) {
        free(e);
        return error;
    }
    e->kernel.is_clone = has_blocks(e->kernel.name) | moved_of(&e->kernel);
    *out = e;
    return 0;
}

/* Puts an entry into the table, where other threads see it. The caller holds the lock. */
static void entry_publish(entry_t *e)
{
    size_t k = home_of(e->handle);
    while (atomic_load_explicit(&entries[k], memory_order_relaxed))
        k = (k + 1) % TABLE;
    atomic_store_explicit(&entries[k], e, memory_order_release);
    entry_count++;
}

/* Connects the entries of a clone and of its original. The caller holds the lock. */
static int entry_pair(entry_t *e)
{
    const void *original = original_of(e->handle), *clone = original ? NULL : clone_of(e->handle);
    const void *handle = original ? original : clone;
    entry_t *other = handle ? entry_find(handle) : NULL;
    bool is_new = handle && !other;
    int error = is_new ? entry_make(handle, &other) : 0;
    atomic_store(&e->looked, atomic_load(&clone_count));
    if (error || !handle)
        return error;
    entry_t *whole = original ? other : e, *split = original ? e : other;
    split->kernel.is_clone |= 1;
    split->kernel.whole = &whole->kernel;
    atomic_store_explicit(&whole->clone, split, memory_order_release);
    if (is_new)
        entry_publish(other);
    return 0;
}

/* Finds or creates the entry of a kernel. The caller holds the lock. */
static int entry_get(const void *handle, entry_t **out)
{
    *out = entry_find(handle);
    bool is_new = !*out;
    int error = is_new ? entry_make(handle, out) : 0;
    if (!error)
        error = entry_pair(*out);
    if (!error && is_new)
        entry_publish(*out);
    return error;
}

static bool is_native(int result)
{
    return result == KMM_CUDA_NATIVELY || result == KMM_CUDA_IN_CHUNKS;
}

/* Launches a kernel as the program has written it. A clone gets the whole grid as its blocks: the
 * program launches the clones of templates itself, and leaves their first argument to libkmm. */
static int launch_natively(int how, kmm_cuda_order_t *last, const entry_t *e,
                           const kmm_geometry_t *g, void **args)
{
    const kmm_kernel_t *k = &e->kernel;
    if (!k->is_clone)
        return internal(launch_natively)(how, last, e->handle, g, args);
    const kmm_blocks_t blocks = {0, 0, 0, g->grid[0], g->grid[1], g->grid[2]};
    unsigned char first[k->param_bytes[0]];
    void *all[k->param_count];
    memset(first, 0, sizeof(first));
    memcpy(first, &blocks, sizeof(blocks));
    memcpy(all, args, sizeof(all));
    all[0] = first;
    return internal(launch_natively)(how, last, e->handle, g, all);
}

bool internal(launch_again)(const void *handle, const kmm_geometry_t *g, void **args, int *result)
{
    const entry_t *e = handle ? entry_find(handle) : NULL;
    if (!e)
        return false;
    const entry_t *clone = atomic_load_explicit(&e->clone, memory_order_acquire);
    const kmm_kernel_t *k = clone ? &clone->kernel : &e->kernel;
    kmm_cuda_order_t *last;
    const int device = kmm_cuda_launch_again(k, g, args, clone != NULL, &last);
    if (device < 0)
        return false;
    *result = clone ? internal(launch_natively)(device, last, handle, g, args)
                    : launch_natively(device, last, e, g, args);
    return true;
}

static pthread_once_t once = PTHREAD_ONCE_INIT; /* internal(open) */

int internal(launch)(const void *handle, dim3_t grid, dim3_t block, void **args,
                     size_t shared_bytes, stream_t stream)
{
    const kmm_geometry_t geometry = *GEOMETRY(grid, block, shared_bytes, stream);
    entry_t *e = handle ? entry_find(handle) : NULL;
    int error = handle ? 0 : KMM_CUDA_NO_DEVICE;
    int absent = internal(is_absent)();
    if (absent)
        return kmm_cuda_launch_failed(absent);
    pthread_once(&once, internal(open));
    if (!error && (!e || atomic_load(&e->looked) != atomic_load(&clone_count))) {
        pthread_mutex_lock(&entries_lock);
        error = entry_get(handle, &e);
        pthread_mutex_unlock(&entries_lock);
    }
    if (error)
        return internal(kernel_failed)(error);
    const entry_t *clone = atomic_load_explicit(&e->clone, memory_order_acquire);
    if (!clone) {
        error = kmm_cuda_launch(&e->kernel, &geometry, args);
        return is_native(error) ? launch_natively(error, NULL, e, &geometry, args) : error;
    }
    void *all[clone->kernel.param_count]; /* the first argument is filled in by libkmm */
    all[0] = NULL;
    for (uint32_t k = 1; k < clone->kernel.param_count; k++)
        all[k] = args[k - 1];
    error = kmm_cuda_launch(&clone->kernel, &geometry, all);
    return is_native(error) ? internal(launch_natively)(error, NULL, handle, &geometry, args)
                            : error;
}

/* ---- Names of kernels ---- */

static const void *function_of(const kmm_kernel_t *k)
{
    entry_t *e = entry_find(k->handle);
    if (!e)
        return NULL;
    pthread_mutex_lock(&entries_lock);
    if (!e->function)
        e->function = internal(function)(k);
    const void *function = e->function;
    pthread_mutex_unlock(&entries_lock);
    return function;
}

static const kmm_kernel_t *kernel_of(const void *function)
{
    void *handle = NULL;
    entry_t *e = NULL;
    internal(use_own_gpu)();
    pthread_once(&once, internal(open));
    pthread_mutex_lock(&entries_lock);
    int error = internal(kernel)(&handle, function);
    if (!error)
        error = entry_get(handle, &e);
    pthread_mutex_unlock(&entries_lock);
    return error ? NULL : &e->kernel;
}

static int is_memory(const void *address)
{
    return internal(is_memory)(address);
}

/* Before libkmm's own constructor of the program, which may never return (start/start.c). */
__attribute__((constructor(101))) static void name_kernels(void)
{
    static const kmm_cuda_names_t names = {function_of, kernel_of, is_memory};
    kmm_cuda_name_kernels(KIND, &names);
}

/* Runs when the program ends, or when the library that contains this code is closed. */
__attribute__((destructor)) void internal(image_ends)(void)
{
    const void *handles[64];
    uint32_t count = 0;
    for (int k = 0; k < TABLE; k++) {
        const entry_t *e = atomic_load(&entries[k]);
        if (e)
            handles[count++] = e->handle;
        if (count == sizeof(handles) / sizeof(*handles) || k == TABLE - 1) {
            kmm_kernels_end(handles, count);
            count = 0;
        }
    }
}

int wrap(LaunchKernel)(const void *function, dim3_t grid, dim3_t block, void **args,
                       size_t shared_bytes, stream_t s)
{
    void *handle = NULL;
    NATIVE_LAUNCH(real(LaunchKernel)(function, grid, block, args, shared_bytes, s),
                  internal(kernel)(&handle, function) == 0 &&
                      internal(launch_again)(handle, GEOMETRY(grid, block, shared_bytes, s), args,
                                             &native_result));
    if (kmm_task_active())
        return real(LaunchKernel)(function, grid, block, args, shared_bytes, kmm_task_stream(s));
    int error = internal(kernel)(&handle, function);
    return error ? internal(kernel_failed)(error)
                 : internal(launch)(handle, grid, block, args, shared_bytes, s);
}

int wrap(LaunchCooperativeKernel)(const void *function, dim3_t grid, dim3_t block, void **args,
                                  size_t n, stream_t s)
{
    if (kmm_cuda_native_enter_launch(KIND) > 0) {
        kmm_cuda_native_stay();
        int error = real(LaunchCooperativeKernel)(function, grid, block, args, n, s);
        kmm_cuda_native_leave();
        return error;
    }
    return internal(not_supported)(RUNTIME "LaunchCooperativeKernel");
}
