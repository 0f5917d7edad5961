/* SPDX-License-Identifier: Apache-2.0 */
/* A runtime that a test's launches use, from its making to its end, and arrays. After cmocka's
 * headers. */
#ifndef WITH_RUNTIME_H
#define WITH_RUNTIME_H

#include <kmm.h>

static inline kmm_runtime_t *runtime_open(const kmm_config_t *config)
{
    kmm_runtime_t *rt = NULL;
    if (kmm_create(&rt, config))
        fail_msg("%s: %s", config->devices ? config->devices : "", kmm_error_text(NULL));
    kmm_use(rt);
    return rt;
}

static inline void runtime_close(kmm_runtime_t *rt)
{
    kmm_use(NULL);
    if (kmm_destroy(rt))
        fail_msg("%s", kmm_error_text(NULL));
}

/* An array of n elements, with these values; NULL: never written. */
static inline int32_t *array_of(kmm_runtime_t *rt, int64_t n, const int32_t *values)
{
    int32_t *base;
    kmm_shape_t shape = {.dims = 1, .extent = {n}, .element_bytes = sizeof(*base)};
    assert_int_equal(kmm_array_create(rt, &shape, (void **)&base), 0);
    if (values)
        assert_int_equal(kmm_copy_in(rt, base, values, (size_t)n * sizeof(*base)), 0);
    return base;
}

#endif
