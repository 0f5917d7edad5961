/* SPDX-License-Identifier: Apache-2.0 */
/* Which memory chunks share. */
#include "execute/exact_memory.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "execute/exact_heap.h"

/* True if allocations of chunks are known. */
static atomic_bool has_heap;

static void add_range(kmm__ranges_t *r, uintptr_t begin, uintptr_t end)
{
    r->at = kmm__grow(r->at, r->count, &r->capacity, sizeof(*r->at));
    r->at[r->count++] = (kmm__range_t){begin, end};
}

static int compare_ranges(const void *a, const void *b)
{
    const kmm__range_t *p = a, *q = b;
    return p->begin < q->begin ? -1 : p->begin > q->begin;
}

/* Adds the segments of an object that can be written, and its variables of this thread. libkmm's
 * own are none of the program's. */
static int add_object(struct dl_phdr_info *info, size_t size, void *arg)
{
    static const char own;
    kmm__reachable_t *m = arg;
    uint32_t first = m->variables.count;
    bool is_own = false;
    for (int k = 0; k < info->dlpi_phnum; k++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[k];
        uintptr_t begin = info->dlpi_addr + p->p_vaddr, end = begin + p->p_memsz;
        uintptr_t tls = size >= sizeof(*info) ? (uintptr_t)info->dlpi_tls_data : 0;
        if (p->p_type == PT_TLS && tls)
            add_range(&m->own, tls, tls + p->p_memsz);
        if (p->p_type != PT_LOAD)
            continue;
        is_own |= (uintptr_t)&own >= begin && (uintptr_t)&own < end;
        if (p->p_flags & PF_W)
            add_range(&m->variables, begin, end);
    }
    if (is_own) {
        for (uint32_t k = first; k < m->variables.count; k++)
            add_range(&m->own, m->variables.at[k].begin, m->variables.at[k].end);
        m->variables.count = first;
    }
    return 0;
}

static void add_stack(kmm__reachable_t *m)
{
    pthread_attr_t attributes;
    void *low;
    size_t bytes;
    if (pthread_getattr_np(pthread_self(), &attributes))
        return;
    if (!pthread_attr_getstack(&attributes, &low, &bytes))
        add_range(&m->own, (uintptr_t)low, (uintptr_t)low + bytes);
    pthread_attr_destroy(&attributes);
    stack_t other;
    if (!sigaltstack(NULL, &other) && !(other.ss_flags & SS_DISABLE))
        add_range(&m->own, (uintptr_t)other.ss_sp, (uintptr_t)other.ss_sp + other.ss_size);
}

/* Streams of the C library, which inline functions such as putc_unlocked store to. */
static bool is_stream(uintptr_t address)
{
    const FILE *const stream[] = {stdin, stdout, stderr};
    for (size_t k = 0; k < sizeof(stream) / sizeof(*stream); k++)
        if (address - (uintptr_t)stream[k] < sizeof(FILE))
            return true;
    return false;
}

bool kmm__reachable_is_variable(const kmm__reachable_t *m, uintptr_t address)
{
    uint32_t low = 0, high = m->variables.count; /* the answer is before `high` */
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (m->variables.at[middle].begin <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low && address < m->variables.at[low - 1].end;
}

void kmm__reachable_know_heap(void)
{
    atomic_store(&has_heap, true);
}

bool kmm__reachable_has_heap(void)
{
    return atomic_load_explicit(&has_heap, memory_order_relaxed);
}

bool kmm__reachable_is_shared(const kmm__reachable_t *m, uintptr_t address)
{
    for (uint32_t k = 0; k < m->own.count; k++)
        if (address - m->own.at[k].begin < m->own.at[k].end - m->own.at[k].begin)
            return false;
    if (!kmm__reachable_has_heap())
        return kmm__reachable_is_variable(m, address) && !is_stream(address);
    return kmm__exact_heap_owner(address) != kmm__exact_heap_self() && !is_stream(address);
}

void kmm__reachable_open(kmm__reachable_t *m)
{
    add_stack(m);
    m->stack_count = m->own.count;
    dl_iterate_phdr(add_object, m);
    qsort(m->variables.at, m->variables.count, sizeof(kmm__range_t), compare_ranges);
}

void kmm__reachable_close(kmm__reachable_t *m)
{
    free(m->variables.at);
    free(m->own.at);
}

/* ---- Messages ---- */

static bool is_on_main_stack(uintptr_t address)
{
    char line[256];
    unsigned long long begin, end;
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && !found && fgets(line, sizeof(line), maps))
        found = strstr(line, "[stack]") && sscanf(line, "%llx-%llx", &begin, &end) == 2 &&
                address >= begin && address < end;
    if (maps)
        fclose(maps);
    return found;
}

void kmm__reachable_text(uintptr_t address, char *out, size_t size)
{
    uint16_t owner = kmm__exact_heap_owner(address);
    snprintf(out, size, "memory that no clause names, at %p, %s", (void *)address,
             owner != KMM__HEAP_NOBODY && owner != KMM__HEAP_USED
                 ? "which another chunk has allocated"
             : is_on_main_stack(address) ? "on the stack of the main thread"
                                         : "allocated before the launch or by another thread");
}
