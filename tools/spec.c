/* SPDX-License-Identifier: Apache-2.0 */
/* Makes resources from text, as spec.h describes it. */
#include "spec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LAYERS = 16 };

typedef struct arguments {
    size_t first, second;
    int number;
} arguments_t;

size_t kmm_spec_size(const char *text, const char **end)
{
    char *after;
    unsigned long long n = strtoull(text, &after, 10);
    if (after == text || *text == '-') {
        *end = text;
        return SIZE_MAX;
    }
    unsigned shift = *after == 'K' ? 10 : *after == 'M' ? 20 : *after == 'G' ? 30 : 0;
    *end = after + (shift != 0);
    return n > SIZE_MAX >> shift ? SIZE_MAX : (size_t)n << shift;
}

/* Reads what follows a name up to a slash or the end. */
static bool arguments_read(const char *text, arguments_t *a, const char **wrong)
{
    *a = (arguments_t){0};
    *wrong = text;
    if (*text == ':') {
        const char *end;
        a->first = kmm_spec_size(text + 1, &end);
        a->number = (int)a->first;
        if (end == text + 1)
            return false;
        text = end;
        if (*text == '-') {
            a->second = kmm_spec_size(text + 1, &end);
            if (end == text + 1)
                return false;
            text = end;
        }
    }
    *wrong = text;
    return *text == '\0' || *text == '/';
}

static bool is(const char *name, size_t length, const char *word)
{
    return strlen(word) == length && !strncmp(name, word, length);
}

static int make_source(const char *name, size_t length, arguments_t a, kmm_resource_t **out)
{
    if (is(name, length, "host"))
        return kmm_host_resource_create(out);
    if (is(name, length, "numa"))
        return kmm_numa_resource_create(a.number, out);
    if (is(name, length, "device"))
        return kmm_device_resource_create(a.number, out);
    if (is(name, length, "mapped"))
        return kmm_mapped_resource_create(a.number, out);
    if (is(name, length, "async"))
        return kmm_async_resource_create(a.number, NULL, out);
    if (is(name, length, "managed"))
        return kmm_managed_resource_create(a.number, out);
    if (is(name, length, "pinned_pool"))
        return kmm_pinned_pool_resource_create(a.number, NULL, out);
    if (is(name, length, "pinned"))
        return kmm_pinned_resource_create(a.number, out);
    return KMM_E_INVALID;
}

/* Bins of every power of two between two sizes. */
static int make_bins(size_t least, size_t most, kmm_resource_t *up, kmm_resource_t **out)
{
    if (least == 0 || most < least)
        return KMM_E_INVALID;
    int status = kmm_binning_resource_create(up, out);
    for (size_t bytes = least; status == 0 && bytes <= most && bytes <= SIZE_MAX / 4; bytes *= 2)
        if ((status = kmm_binning_add(*out, bytes, NULL)))
            kmm_resource_destroy(*out);
    return status;
}

static int make_layer(const char *name, size_t length, arguments_t a, kmm_resource_t *up,
                      kmm_resource_t **out)
{
    const kmm_pool_options_t pool = {.initial_bytes = a.first, .maximum_bytes = a.second};
    const kmm_arena_options_t arena = {.initial_bytes = a.first, .maximum_bytes = a.second};
    if (is(name, length, "pool"))
        return kmm_pool_resource_create(up, &pool, out);
    if (is(name, length, "arena"))
        return kmm_arena_resource_create(up, &arena, out);
    const kmm_arena_options_t threads = {
        .key = KMM_ARENA_PER_THREAD, .initial_bytes = a.first, .maximum_bytes = a.second};
    if (is(name, length, "thread_arena"))
        return kmm_arena_resource_create(up, &threads, out);
    if (is(name, length, "binning"))
        return make_bins(a.first, a.second, up, out);
    if (is(name, length, "aligned"))
        return kmm_aligned_resource_create(up, a.first, 0, out);
    if (is(name, length, "fixed_size"))
        return kmm_fixed_size_resource_create(
            up, &(kmm_fixed_size_options_t){.block_bytes = a.first}, out);
    if (is(name, length, "limiting"))
        return kmm_limiting_resource_create(up, a.first, out);
    if (is(name, length, "statistics"))
        return kmm_statistics_resource_create(up, out);
    if (is(name, length, "tracking"))
        return kmm_tracking_resource_create(up, KMM_TRACK_STACKS, out);
    if (is(name, length, "prefetch"))
        return kmm_prefetch_resource_create(up, out);
    if (is(name, length, "thread_safe"))
        return kmm_thread_safe_resource_create(up, out);
    return KMM_E_INVALID;
}

static int own(kmm_resource_t **parts, int count, kmm_resource_t **out)
{
    kmm_resource_t *below[MOST_LAYERS];
    for (int i = 1; i < count; i++)
        below[i - 1] = parts[count - 1 - i];
    return kmm_owning_resource_create(parts[count - 1], below, (size_t)count - 1, out);
}

int kmm_spec_create(const char *text, kmm_resource_t **out, const char **wrong)
{
    const char *names[MOST_LAYERS];
    kmm_resource_t *parts[MOST_LAYERS];
    int layers = 0, made = 0, status = 0;
    for (const char *at = text; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL) {
        if (layers == MOST_LAYERS)
            return *wrong = at, KMM_E_INVALID;
        names[layers++] = at;
    }
    for (int i = layers - 1; i >= 0 && status == 0; i--) {
        size_t length = strcspn(names[i], ":/");
        arguments_t a;
        if (!arguments_read(names[i] + length, &a, wrong)) {
            status = KMM_E_INVALID;
            break;
        }
        *wrong = names[i];
        status = made ? make_layer(names[i], length, a, parts[made - 1], &parts[made])
                      : make_source(names[i], length, a, &parts[0]);
        made += status == 0;
    }
    if (status == 0)
        status = own(parts, made, out);
    while (status && made > 0)
        kmm_resource_destroy(parts[--made]);
    return status;
}
