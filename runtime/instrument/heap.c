/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that allocate memory. libkmm hears which memory a chunk allocates, also by the
 * functions of libraries such as operator new: a program's definition of these functions goes
 * before that of the C library, whose functions these call. A program that defines them itself
 * keeps its own.
 */
#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "execute/exact.h"
#include "execute/exact_global.h"

#define WEAK __attribute__((weak, visibility("default")))

/* glibc's own names. Used if dlsym itself allocates. */
WEAK void *__libc_malloc(size_t bytes);
WEAK void *__libc_calloc(size_t count, size_t bytes);
WEAK void __libc_free(void *block);

typedef void *malloc_t(size_t bytes);
typedef void *calloc_t(size_t count, size_t bytes);
typedef void *realloc_t(void *block, size_t bytes);
typedef void *aligned_t(size_t alignment, size_t bytes);
typedef int posix_t(void **out, size_t alignment, size_t bytes);
typedef void free_t(void *block);

/* The functions that stand behind these. Threads that look at once find the same. All are found by
 * the first call, which allocates. A first call of free may come from dlsym, and dlsym would then
 * free the same block again. */
static struct {
    int are_found;
    malloc_t *malloc, *valloc;
    calloc_t *calloc;
    realloc_t *realloc;
    aligned_t *aligned_alloc, *memalign;
    posix_t *posix_memalign;
    free_t *free;
} next;

/* This thread is in dlsym, which may call the functions below. It is volatile because dlsym is
 * declared as a function that calls nothing of this file. */
static __thread volatile int looking;

static void find(void *at, const char *name)
{
    looking++;
    void *found = dlsym(RTLD_NEXT, name);
    looking--;
    memcpy(at, &found, sizeof(found));
}

static void find_all(void)
{
    find(&next.malloc, "malloc");
    find(&next.valloc, "valloc");
    find(&next.calloc, "calloc");
    find(&next.realloc, "realloc");
    find(&next.aligned_alloc, "aligned_alloc");
    find(&next.memalign, "memalign");
    find(&next.posix_memalign, "posix_memalign");
    find(&next.free, "free");
    __atomic_store_n(&next.are_found, 1, __ATOMIC_RELEASE);
}

#define NEXT(name)                                                                                 \
    *(__atomic_load_n(&next.are_found, __ATOMIC_ACQUIRE) ? &next.name : (find_all(), &next.name))

static void *took(void *block)
{
    if (block && !looking)
        kmm__exact_took(block, malloc_usable_size(block));
    return block;
}

static void leaves(void *block, const void *pc)
{
    if (!block || looking)
        return;
    kmm__exact_host_free(block, malloc_usable_size(block), pc);
    kmm__exact_leaves(block, malloc_usable_size(block));
}

WEAK void *malloc(size_t bytes)
{
    if (looking)
        return __libc_malloc(bytes);
    return took((NEXT(malloc))(bytes));
}

WEAK void *calloc(size_t count, size_t bytes)
{
    if (looking)
        return __libc_calloc(count, bytes);
    return took((NEXT(calloc))(count, bytes));
}

WEAK void free(void *block)
{
    if (looking) {
        __libc_free(block);
        return;
    }
    leaves(block, __builtin_return_address(0));
    (NEXT(free))(block);
}

WEAK void *realloc(void *block, size_t bytes)
{
    leaves(block, __builtin_return_address(0));
    void *moved = (NEXT(realloc))(block, bytes);
    if (!moved && bytes)
        took(block);
    return took(moved);
}

WEAK void *aligned_alloc(size_t alignment, size_t bytes)
{
    return took((NEXT(aligned_alloc))(alignment, bytes));
}

WEAK void *memalign(size_t alignment, size_t bytes)
{
    return took((NEXT(memalign))(alignment, bytes));
}

WEAK void *valloc(size_t bytes)
{
    return took((NEXT(valloc))(bytes));
}

WEAK int posix_memalign(void **out, size_t alignment, size_t bytes)
{
    int error = (NEXT(posix_memalign))(out, alignment, bytes);
    if (!error)
        took(*out);
    return error;
}

/* ---- Mappings: calls of the program only (kmmcc's driver/link.c) ---- */

void *__real_mmap(void *at, size_t bytes, int may, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int may, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int may, int flags, int file, off_t offset)
{
    void *block = __real_mmap(at, bytes, may, flags, file, offset);
    if (block != MAP_FAILED && (flags & MAP_PRIVATE))
        kmm__exact_took(block, bytes);
    return block;
}

int __real_munmap(void *block, size_t bytes);
int __wrap_munmap(void *block, size_t bytes);
int __wrap_munmap(void *block, size_t bytes)
{
    kmm__exact_host_free(block, bytes, __builtin_return_address(0));
    kmm__exact_leaves(block, bytes);
    return __real_munmap(block, bytes);
}

/* Tells libkmm if the program's allocations come here. They do not where a library is loaded that
 * has these functions and the program has not. */
__attribute__((constructor(102))) static void begin(void)
{
    void *(*volatile allocate)(size_t) = dlsym(RTLD_DEFAULT, "malloc");
    void (*volatile release)(void *) = dlsym(RTLD_DEFAULT, "free");
    kmm__exact_heap_begin(allocate == malloc && release == free);
}

void kmm__check_heap(void);
void kmm__check_heap(void) {}
