/* SPDX-License-Identifier: Apache-2.0 */
/* Passes all calls to another resource, and destroys that one together with what it is built on. */
#include <stdlib.h>
#include <string.h>

#include "resource/adaptor.h"

typedef struct owning {
    kmm_resource_t head; /* its upstream is the inner resource */
    size_t count;
    kmm_resource_t *owned[];
} owning_t;

static bool owning_equal(const kmm_resource_t *a, const kmm_resource_t *b)
{
    return kmm_resource_equal(a->upstream, b->upstream);
}

static int owning_destroy(kmm_resource_t *r)
{
    owning_t *o = (owning_t *)r;
    int status = kmm_resource_destroy(r->upstream);
    for (size_t i = 0; i < o->count; i++) {
        int one = kmm_resource_destroy(o->owned[i]);
        status = status ? status : one;
    }
    free(o);
    return status;
}

static const kmm__resource_ops_t owning_ops = {
    .allocate = kmm__pass_allocate,
    .deallocate = kmm__pass_deallocate,
    .size = kmm__pass_size,
    .usage = kmm__pass_usage,
    .equal = owning_equal,
    .destroy = owning_destroy,
};

KMM__API int kmm_owning_resource_create(kmm_resource_t *inner, kmm_resource_t *const *owned,
                                        size_t count, kmm_resource_t **out)
{
    if (!inner || !out || (count && !owned) || count > PTRDIFF_MAX / sizeof(*owned) - 1)
        return kmm__resource_fail(KMM_E_INVALID, "owning: no resource, or nowhere to put one");
    const size_t bytes = sizeof(owning_t) + count * sizeof(*owned);
    int status = kmm__adaptor_create(&owning_ops, "owning", bytes, inner, out);
    if (status)
        return status;
    owning_t *o = (owning_t *)*out;
    memcpy(o->head.name, inner->name, sizeof(o->head.name));
    o->count = count;
    for (size_t i = 0; i < count; i++)
        o->owned[i] = owned[i];
    return 0;
}
