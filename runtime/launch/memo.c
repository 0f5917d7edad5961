/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memos: the checks of a launch run once for its place in the source and the values that it has.
 *
 * Memos lie in a table. A hash of a launch gives the slots that its memo may have. The launch takes
 * the one of them that was used least recently. A memo counts as long as no array is made, freed,
 * mapped or unmapped: memory->index_changes is what it was. What the hash leaves out is compared in
 * full. A slot gets a memo when the same launch comes the second time, so that launches which come
 * once cost no more.
 */
#include "launch/memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "launch/meaning.h"
#include "launch/state.h"
#include "memory/array.h"

enum {
    MOST_MISSES = 8, /* of launches with one hash, before no more memos are made of them */
    NEAR = 1 << 20,  /* kmm__arguments_check and kmm__array_near look no farther from an array, */
                     /* or as far as the array is long */
    HEAD = offsetof(kmm_launch_t, kernel),
    HEAD_BYTES = offsetof(kmm_launch_t, axis) - HEAD,
    ITEM_HEAD = offsetof(kmm__item_t, mode),
    ITEM_HEAD_BYTES = offsetof(kmm__item_t, extent) - ITEM_HEAD
};

struct kmm__memo {
    uint64_t hash, index_changes;
    uint32_t pins; /* submissions that use it; it is freed only if there are none */

    /* The launch: */
    const kmm_kernel_t *kernel;
    kmm_function_t *function;
    bool annotated;
    uint32_t grid[3], block[3];
    unsigned char head[HEAD_BYTES];
    kmm__axis_t axis[KMM_MAX_AXES];
    uint32_t axis_count, item_count;
    kmm__item_t *items;
    uint32_t args_bytes, arg_count, word_count;
    uint32_t *words;      /* as in kmm__work_t */
    kmm__words_t meaning; /* of these; they have places if they are arguments of a kernel */
    uint32_t device_count;
    kmm__device_t *device[KMM__MAX_DEVICES];
    uint64_t limit[KMM__MAX_DEVICES]; /* of the memory of each device of the runtime */

    /* What its checks found: */
    kmm__partition_t part;
    kmm__pointer_t *pointers; /* without references */
    uint32_t pointer_count;
    bool is_direct, has_mapped; /* has_mapped: an item is in mapped host memory */
    /* Of a launch with one task: */
    bool is_planned, exact;
    kmm__access_t *accesses; /* without references; their layouts that are not flat: `layouts` */
    kmm__layout_t *layouts;
    uint32_t access_count;
    /* In native standing: */
    bool is_native; /* it is made as it stands, or, if `chunks` is not NULL, as that says */
    kmm__native_chunks_t *chunks; /* a reference */
};

static void memo_free(kmm__memo_t *m)
{
    if (!m)
        return;
    free(m->items);
    free(m->words);
    free(m->meaning.values);
    free(m->meaning.places);
    free(m->pointers);
    free(m->accesses);
    free(m->layouts);
    kmm__native_chunks_unref(m->chunks);
    free(m);
}

void kmm__memos_free(kmm_runtime_t *rt)
{
    for (uint32_t set = 0; set < KMM__MEMO_SETS; set++)
        for (uint32_t k = 0; k < KMM__MEMO_WAYS; k++)
            memo_free(rt->launches->memos[set][k].memo);
}

/* ---- Which launches have memos ---- */

static bool may_have_memo(const kmm__submission_t *s)
{
    const kmm_runtime_t *rt = s->rt;
    return !rt->checks_access && !rt->checks_result && !rt->launches->deferred &&
           (!s->reductions || s->is_native) && s->mapped_count == 0 && !s->l->has_offsets;
}

/* True if the array's map neither ends nor belongs to launches. Their maps end without a change of
 * the index. */
static bool lasts(const kmm__array_t *a)
{
    return !a->is_mapped || (a->map_end == UINT64_MAX && !a->is_deferred && !a->launch_maps);
}

/* ---- Hashing ---- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    return (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Hashes the packed arguments of a launch without items that may point into arrays. */
static uint64_t mix_arguments(const kmm__submission_t *s, uint64_t hash)
{
    const kmm__work_t *w = s->work;
    const struct kmm__memory *m = s->rt->memory;
    if (m->array_count == 0)
        return hash;
    uintptr_t low = (uintptr_t)m->arrays[0]->base;
    for (uint32_t k = 0; k < w->arg_count; k++) {
        uintptr_t word = 0;
        if (w->kernel->param_bytes[k] == sizeof(word))
            memcpy(&word, w->args + w->arg_offset[k], sizeof(word));
        hash = word >= low ? mix(hash, word) : hash;
    }
    return hash;
}

static uint64_t hash_description(const kmm_launch_t *l, uintptr_t code, const uint32_t grid[3])
{
    uint64_t hash = mix((uint64_t)l->line, (uintptr_t)l->file);
    hash = mix(hash, code);
    hash = mix(hash, grid[0] | (uint64_t)grid[1] << 32);
    for (uint32_t k = 0; k < l->axis_count; k++)
        hash = mix(hash, (uint64_t)l->axis[k].lower ^ (uint64_t)l->axis[k].length << 20);
    for (uint32_t k = 0; k < l->item_count; k++) {
        const kmm__item_t *item = &l->items[k];
        hash = mix(hash, (uintptr_t)item->base);
        if (item->section_count)
            hash = mix(hash, (uint64_t)item->section[0].constant.lower);
    }
    return hash;
}

static uint64_t hash_end(uint64_t hash)
{
    return hash ^ hash >> 29;
}

static uint64_t hash_of(const kmm__submission_t *s)
{
    const kmm_kernel_t *kernel = s->work->kernel;
    uint64_t hash =
        hash_description(s->l, (uintptr_t)kernel ^ (uintptr_t)s->function, s->geometry.grid);
    if (s->l->item_count == 0 && kernel)
        hash = mix_arguments(s, hash);
    return hash_end(hash);
}

/* Returns the launch's slot, or the one that it may take from another launch. */
static struct kmm__memo_slot *slot_of(const kmm_runtime_t *rt, uint64_t hash)
{
    struct kmm__memo_slot *way = rt->launches->memos[hash >> 32 & (KMM__MEMO_SETS - 1)];
    struct kmm__memo_slot *oldest = way;
    for (uint32_t k = 0; k < KMM__MEMO_WAYS; k++) {
        if (way[k].memo_hash == hash || way[k].hash == hash)
            return &way[k];
        oldest = way[k].used < oldest->used ? &way[k] : oldest;
    }
    return oldest;
}

/* ---- Comparing ---- */

static bool is_same_axis(const kmm__axis_t *a, const kmm__axis_t *b)
{
    return a->source == b->source && a->lower == b->lower && a->length == b->length;
}

static bool is_same_section(const kmm__section_t *a, const kmm__section_t *b, uint32_t axis_count)
{
    if (a->constant.lower != b->constant.lower || a->constant.length != b->constant.length ||
        a->whole != b->whole)
        return false;
    for (uint32_t k = 0; k < axis_count; k++)
        if (a->coef[k].lower != b->coef[k].lower || a->coef[k].length != b->coef[k].length)
            return false;
    return true;
}

static bool is_same_item(const kmm__item_t *a, const kmm__item_t *b, uint32_t axis_count)
{
    if (memcmp((const char *)a + ITEM_HEAD, (const char *)b + ITEM_HEAD, ITEM_HEAD_BYTES))
        return false;
    for (uint32_t k = 0; k < a->dims; k++)
        if (a->extent[k] != b->extent[k])
            return false;
    for (uint32_t k = 0; k < a->section_count; k++)
        if (!is_same_section(&a->section[k], &b->section[k], axis_count))
            return false;
    return true;
}

static bool is_same_description(const kmm__memo_t *m, const kmm_launch_t *l)
{
    if (memcmp((const char *)l + HEAD, m->head, HEAD_BYTES))
        return false; /* with it the numbers of axes and items */
    for (uint32_t k = 0; k < l->axis_count; k++)
        if (!is_same_axis(&l->axis[k], &m->axis[k]))
            return false;
    for (uint32_t k = 0; k < l->item_count; k++)
        if (!is_same_item(&l->items[k], &m->items[k], l->axis_count))
            return false;
    return true;
}

static bool may_mean(const kmm__words_t *w, const char *word)
{
    return w->low <= (uintptr_t)word && (uintptr_t)word < w->high;
}

/* True if both words mean nothing, or the same. */
static bool is_same_word(const kmm__words_t *w, uint32_t k, const char *word)
{
    return word == w->values[k] || (!may_mean(w, word) && !may_mean(w, w->values[k]));
}

/* True if the arguments have the same words, but for words that mean nothing. */
static bool is_same_arguments(const kmm__memo_t *m, const kmm__work_t *w)
{
    if (w->args_bytes != m->args_bytes || w->arg_count != m->arg_count)
        return false;
    for (uint32_t k = 0; k < m->word_count; k++) {
        char *word;
        memcpy(&word, w->args + m->words[k], sizeof(word));
        if (!is_same_word(&m->meaning, k, word))
            return false;
    }
    return true;
}

/* The same for arguments that are not packed. */
bool kmm__words_are_same(const kmm__words_t *w, void **args, uint32_t first)
{
    for (uint32_t k = 0; k < w->count; k++) {
        char *word;
        memcpy(&word, (const char *)args[w->places[k].number - first] + w->places[k].at,
               sizeof(word));
        if (!is_same_word(w, k, word))
            return false;
    }
    return true;
}

static bool is_same_memory(const kmm__memo_t *m, const kmm_runtime_t *rt)
{
    for (uint32_t k = 0; k < rt->device_count && rt->has_spaces; k++)
        if (rt->device[k]->memory->limit != m->limit[k])
            return false;
    return true;
}

static bool is_same_devices(const kmm__memo_t *m, const kmm__submission_t *s)
{
    if (s->placement.count != m->device_count)
        return false;
    for (uint32_t k = 0; k < m->device_count; k++)
        if (s->placement.device[k] != m->device[k])
            return false;
    return is_same_memory(m, s->rt);
}

static bool maps_last(const kmm__memo_t *m)
{
    bool last = true;
    for (uint32_t k = 0; k < m->item_count && m->has_mapped; k++)
        last &= !m->items[k].array || lasts(m->items[k].array);
    return last;
}

static bool is_same_size(const uint32_t a[3], const uint32_t b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static bool is_same(const kmm__memo_t *m, const kmm__submission_t *s)
{
    return m->kernel == s->work->kernel && m->function == s->function &&
           m->annotated == s->annotated && is_same_size(m->grid, s->geometry.grid) &&
           is_same_size(m->block, s->geometry.block) && is_same_devices(m, s) &&
           is_same_description(m, s->l) && is_same_arguments(m, s->work) && maps_last(m);
}

/* ---- Using one ---- */

/* Records the pointers. Those of a direct launch become addresses of host memory. */
static void use_pointers(kmm__submission_t *s, const kmm__memo_t *m)
{
    kmm__work_t *w = s->work;
    if (m->pointer_count == 0)
        return;
    w->pointers = kmm__work_take(w, m->pointer_count * sizeof(*w->pointers));
    w->pointer_count = m->pointer_count;
    for (uint32_t k = 0; k < m->pointer_count; k++) {
        const kmm__pointer_t *p = &m->pointers[k];
        w->pointers[k] = *p;
        kmm__array_ref(p->array);
        char *address = p->array->host + p->offset;
        if (m->is_direct)
            memcpy(w->args + p->at, &address, sizeof(address));
    }
}

static void use(kmm__submission_t *s, kmm__memo_t *m)
{
    m->pins++;
    s->rt->launches->memos_used++;
    s->memo = m;
    s->part = m->part;
    s->is_direct = s->work->is_translated = m->is_direct;
    for (uint32_t k = 0; k < m->item_count; k++) {
        kmm__item_t *item = &s->l->items[k];
        item->array = m->items[k].array;
        item->region_begin = m->items[k].region_begin;
        item->region_end = m->items[k].region_end;
        item->is_entered = m->items[k].is_entered;
    }
    use_pointers(s, m);
}

bool kmm__memo_find(kmm__submission_t *s)
{
    if (!may_have_memo(s))
        return false;
    const uint64_t hash = hash_of(s), changes = s->rt->memory->index_changes;
    struct kmm__memo_slot *slot = slot_of(s->rt, hash);
    kmm__memo_t *m = slot->memo;
    slot->used = ++s->rt->launches->memos_looked_for;
    bool counts = m && m->hash == hash && m->index_changes == changes;
    if (counts && is_same(m, s)) {
        use(s, m);
        return true;
    }
    bool again = slot->hash == hash && slot->index_changes == changes;
    slot->misses = again ? slot->misses + counts : 0;
    slot->hash = hash;
    slot->index_changes = changes;
    s->keeps_memo = again && slot->misses < MOST_MISSES;
    s->memo_hash = hash;
    s->index_changes = changes;
    return false;
}

void kmm__memo_note_native(kmm__submission_t *s, kmm__native_chunks_t *chunks)
{
    kmm__memo_t *m = s->memo ? s->memo : s->new_memo;
    if (!m)
        return;
    if (chunks)
        kmm__native_chunks_ref(chunks);
    kmm__native_chunks_unref(m->chunks);
    m->is_native = true;
    m->chunks = chunks;
}

const kmm__words_t *kmm__memo_find_native(const kmm_launch_t *l, const kmm_kernel_t *kernel,
                                          const kmm_geometry_t *geometry, void **args,
                                          kmm__native_chunks_t **chunks)
{
    const kmm_runtime_t *rt = l->runtime;
    if (l->item_count == 0 || rt->launches->deferred)
        return NULL;
    const uint64_t hash = hash_end(hash_description(l, (uintptr_t)kernel, geometry->grid));
    struct kmm__memo_slot *slot = slot_of(rt, hash);
    const kmm__memo_t *m = slot->memo;
    if (!m || m->hash != hash || !m->is_native || m->kernel != kernel ||
        m->index_changes != rt->memory->index_changes || !is_same_size(m->grid, geometry->grid) ||
        !is_same_size(m->block, geometry->block) || !is_same_memory(m, rt) ||
        !is_same_description(m, l) || !kmm__words_are_same(&m->meaning, args, 0))
        return NULL;
    slot->used = ++rt->launches->memos_looked_for;
    rt->launches->memos_used++;
    *chunks = m->chunks;
    return &m->meaning;
}

bool kmm__memo_plan(kmm__submission_t *s, kmm__task_t *t)
{
    const kmm__memo_t *m = s->memo;
    if (!m || !m->is_planned || s->is_tight || s->part.count != 1 ||
        m->index_changes != s->rt->memory->index_changes)
        return false;
    t->part.exact = m->exact;
    t->access_count = m->access_count;
    for (uint32_t k = 0; k < m->access_count; k++) {
        kmm__access_t *a = &t->accesses[k];
        *a = m->accesses[k];
        if (a->layout != &a->array->flat)
            a->layout = kmm__work_layout(s->work, a->layout);
        kmm__array_ref(a->array);
    }
    return true;
}

/* ---- Making one ---- */

static void *copy_of(const void *data, size_t bytes)
{
    return bytes ? memcpy(kmm__alloc(bytes), data, bytes) : NULL;
}

static void widen(kmm__memo_t *m, uintptr_t low, uintptr_t high)
{
    m->meaning.low = low < m->meaning.low ? low : m->meaning.low;
    m->meaning.high = high > m->meaning.high ? high : m->meaning.high;
}

/* Widens what words may mean to the array and what is near it. */
static void widen_to(kmm__memo_t *m, const kmm__array_t *a)
{
    uintptr_t near = a->bytes > NEAR ? a->bytes : NEAR, base = (uintptr_t)a->base;
    widen(m, base > near ? base - near : 0, base + a->bytes + near + 1);
}

static void note_meaning(kmm__memo_t *m, const kmm_runtime_t *rt)
{
    const uint32_t count = rt->memory->array_count;
    m->meaning.low = UINTPTR_MAX;
    if (count) {
        widen_to(m, rt->memory->arrays[0]);
        widen_to(m, rt->memory->arrays[count - 1]);
    }
    for (uint32_t k = 0; k < m->item_count; k++) {
        const kmm__item_t *item = &m->items[k];
        widen(m, (uintptr_t)item->reach_begin, (uintptr_t)item->reach_end + 1);
        widen(m, (uintptr_t)item->region_begin, (uintptr_t)item->region_end + 1);
        if (item->array)
            widen_to(m, item->array);
    }
}

static kmm__place_t place_of(const kmm__work_t *w, uint32_t word)
{
    uint32_t number = 0;
    while (number + 1 < w->arg_count && w->arg_offset[number + 1] <= word)
        number++;
    return (kmm__place_t){number, word - w->arg_offset[number]};
}

static void note_arguments(kmm__memo_t *m, const kmm__work_t *w)
{
    m->args_bytes = w->args_bytes;
    m->arg_count = w->arg_count;
    m->word_count = w->word_count;
    m->meaning.count = w->kernel ? w->word_count : 0;
    m->words = copy_of(w->words, w->word_count * sizeof(*w->words));
    m->meaning.values = kmm__alloc(w->word_count * sizeof(*m->meaning.values) + 1);
    m->meaning.places = kmm__alloc(w->word_count * sizeof(*m->meaning.places) + 1);
    for (uint32_t k = 0; k < w->word_count; k++) {
        m->meaning.values[k] = kmm__argument_word(w, k);
        if (w->kernel)
            m->meaning.places[k] = place_of(w, w->words[k]);
    }
    m->pointer_count = w->pointer_count;
    m->pointers = copy_of(w->pointers, w->pointer_count * sizeof(*w->pointers));
}

static void note_description(kmm__memo_t *m, const kmm_launch_t *l)
{
    memcpy(m->head, (const char *)l + HEAD, HEAD_BYTES);
    memcpy(m->axis, l->axis, sizeof(m->axis));
    m->axis_count = l->axis_count;
    m->item_count = l->item_count;
    m->items = copy_of(l->items, l->item_count * sizeof(*l->items));
    for (uint32_t k = 0; k < m->item_count; k++)
        m->has_mapped |= m->items[k].array && m->items[k].array->is_mapped;
}

static void note_devices(kmm__memo_t *m, const kmm__submission_t *s)
{
    m->device_count = s->placement.count;
    memcpy(m->device, s->placement.device, m->device_count * sizeof(*m->device));
    for (uint32_t k = 0; k < s->rt->device_count; k++)
        m->limit[k] = s->rt->device[k]->memory->limit;
}

/* True if what the checks found holds as long as the index does not change. */
static bool holds(const kmm__submission_t *s)
{
    bool holds = s->keeps_memo && may_have_memo(s) && !s->is_tight &&
                 s->index_changes == s->rt->memory->index_changes;
    for (uint32_t k = 0; k < s->l->item_count && holds; k++) {
        const kmm__item_t *item = &s->l->items[k];
        /* the pointers in an item may be others the next time */
        holds = !item->holds_pointers && (!item->array || lasts(item->array));
    }
    return holds;
}

void kmm__memo_make(kmm__submission_t *s)
{
    if (!holds(s))
        return;
    kmm__memo_t *m = s->new_memo = kmm__alloc(sizeof(*m));
    m->hash = s->memo_hash;
    m->index_changes = s->index_changes;
    m->kernel = s->work->kernel;
    m->function = s->function;
    m->annotated = s->annotated;
    memcpy(m->grid, s->geometry.grid, sizeof(m->grid));
    memcpy(m->block, s->geometry.block, sizeof(m->block));
    m->part = s->part;
    note_description(m, s->l);
    note_arguments(m, s->work);
    note_meaning(m, s->rt);
    note_devices(m, s);
}

void kmm__memo_add_plan(kmm__submission_t *s, const kmm__task_t *t)
{
    kmm__memo_t *m = s->new_memo;
    if (!m || s->part.count != 1)
        return;
    m->is_planned = true;
    m->exact = t->part.exact;
    m->access_count = t->access_count;
    m->accesses = copy_of(t->accesses, t->access_count * sizeof(*t->accesses));
    m->layouts = kmm__alloc(t->access_count * sizeof(*m->layouts) + 1);
    for (uint32_t k = 0; k < m->access_count; k++) {
        kmm__access_t *a = &m->accesses[k];
        if (a->layout == &a->array->flat)
            continue;
        m->layouts[k] = *a->layout;
        a->layout = &m->layouts[k];
    }
}

void kmm__memo_end(kmm__submission_t *s, int error)
{
    kmm__memo_t *m = s->new_memo;
    if (s->memo)
        s->memo->pins--;
    s->memo = s->new_memo = NULL;
    if (!m)
        return;
    struct kmm__memo_slot *slot = slot_of(s->rt, m->hash);
    if (error || (slot->memo && slot->memo->pins)) {
        memo_free(m);
        return;
    }
    memo_free(slot->memo);
    m->is_direct = s->is_direct;
    slot->memo = m;
    slot->memo_hash = m->hash;
}
