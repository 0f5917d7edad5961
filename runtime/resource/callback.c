/* SPDX-License-Identifier: Apache-2.0 */
/* A source whose memory comes from functions of the program. */
#include <stdlib.h>

#include "resource/driver.h"
#include "resource/source.h"

typedef struct callback_source {
    kmm__source_t source;
    kmm_callback_options_t options;
    kmm_stream_order_t order;
} callback_source_t;

/* Converts the result of the program's function to 0 or a negative error. */
static int status_of(int returned)
{
    return returned > 0 ? KMM_E_DEVICE : returned;
}

static int callback_get(kmm__source_t *s, size_t bytes, kmm_stream_t stream, void **out)
{
    const kmm_callback_options_t *o = &((callback_source_t *)s)->options;
    *out = NULL; /* the program's function may leave it as it is */
    int status = status_of(o->allocate(o->context, bytes, stream, out));
    if (status)
        return kmm__resource_fail(status, "%s: %zu bytes: %s", s->head.name, bytes,
                                  kmm_error_string(status));
    if (*out && (uintptr_t)*out % s->alignment == 0)
        return 0;
    if (*out)
        o->deallocate(o->context, *out, bytes, stream);
    return kmm__resource_fail(KMM_E_DEVICE, "%s: the program's function gave %p", s->head.name,
                              *out);
}

static int callback_put(kmm__source_t *s, void *p, size_t bytes, kmm_stream_t stream)
{
    const kmm_callback_options_t *o = &((callback_source_t *)s)->options;
    const int status = status_of(o->deallocate(o->context, p, bytes, stream));
    return status
               ? kmm__resource_fail(status, "%s: %p: %s", s->head.name, p, kmm_error_string(status))
               : 0;
}

static int callback_info(kmm__source_t *s, size_t *available, size_t *total)
{
    const kmm_callback_options_t *o = &((callback_source_t *)s)->options;
    const int status = status_of(o->memory_info(o->context, available, total));
    return status ? kmm__resource_fail(status, "%s: memory_info: %s", s->head.name,
                                       kmm_error_string(status))
                  : 0;
}

static bool order_is_whole(const kmm_stream_order_t *o)
{
    return o->event_create && o->event_destroy && o->event_record && o->stream_wait &&
           o->event_query && o->event_wait;
}

KMM__API int kmm_callback_resource_create(const kmm_callback_options_t *options,
                                          kmm_resource_t **out)
{
    if (!out || !options || !options->allocate || !options->deallocate)
        return kmm__resource_fail(KMM_E_INVALID, "callback: a function is missing");
    if (options->alignment & (options->alignment - 1))
        return kmm__resource_fail(KMM_E_INVALID, "callback: alignment %zu is no power of two",
                                  options->alignment);
    if (options->kind < KMM_MEMORY_HOST || options->kind > KMM_MEMORY_DEVICE ||
        options->device < -1 || options->device >= KMM__MAX_DEVICES)
        return kmm__resource_fail(KMM_E_INVALID,
                                  "callback: there is no kind %d of memory, or no device %d",
                                  (int)options->kind, options->device);
    if (options->order && !order_is_whole(options->order))
        return kmm__resource_fail(KMM_E_INVALID, "callback: the stream order lacks a function");
    callback_source_t *c = aligned_alloc(64, kmm__round_up(sizeof(*c), 64));
    if (!c)
        return kmm__resource_fail(KMM_E_MEMORY, "callback: no memory for the resource");
    *c = (callback_source_t){.options = *options};
    kmm__source_init(&c->source, "callback");
    c->source.get = callback_get;
    c->source.put = callback_put;
    c->source.info = options->memory_info ? callback_info : NULL;
    if (options->alignment)
        c->source.alignment = options->alignment;
    c->source.head.kind = options->kind;
    c->source.head.device = options->device;
    if (options->order) {
        c->order = *options->order;
        c->source.head.order = &c->order;
        c->source.head.ordered = true;
    }
    *out = &c->source.head;
    return 0;
}
