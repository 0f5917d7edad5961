/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers, vectors and scalars: typed memory of a resource with a stream. */
#include <string.h>

#include "resource/copy.h"

KMM__API int kmm_buffer_init(kmm_buffer_t *b, size_t bytes, kmm_stream_t stream,
                             kmm_resource_t *resource)
{
    if (!b)
        return kmm__resource_fail(KMM_E_INVALID, "buffer: there is none");
    *b = (kmm_buffer_t){.stream = stream, .resource = resource ? resource : kmm_resource_current()};
    if (!b->resource)
        return KMM_E_NO_DEVICE;
    int status = kmm_resource_allocate(b->resource, bytes, 0, stream, &b->data);
    if (status == 0)
        b->bytes = b->capacity = bytes;
    return status;
}

KMM__API int kmm_buffer_init_copy(kmm_buffer_t *b, const void *src, size_t bytes,
                                  kmm_stream_t stream, kmm_resource_t *resource)
{
    int status = kmm_buffer_init(b, src ? bytes : 0, stream, resource);
    if (status == 0 && !src && bytes)
        return kmm__resource_fail(KMM_E_INVALID, "buffer: nothing to copy from");
    if (status)
        return status;
    status = kmm__copy(b->resource, b->data, src, bytes, stream);
    if (status)
        kmm_buffer_deinit(b);
    return status;
}

KMM__API int kmm_buffer_deinit(kmm_buffer_t *b)
{
    if (!b || !b->data)
        return 0;
    int status = kmm_resource_deallocate(b->resource, b->data, b->capacity, b->stream);
    b->data = NULL;
    b->bytes = b->capacity = 0;
    return status;
}

/* Moves the contents to new memory with the given capacity, which is at least b->bytes. */
static int move(kmm_buffer_t *b, size_t capacity, kmm_stream_t stream)
{
    void *data;
    int status = kmm_resource_allocate(b->resource, capacity, 0, stream, &data);
    if (status)
        return status;
    status = kmm__copy(b->resource, data, b->data, b->bytes, stream);
    if (status) {
        kmm_resource_deallocate(b->resource, data, capacity, stream);
        return status;
    }
    void *before = b->data;
    size_t before_capacity = b->capacity;
    b->data = data;
    b->capacity = capacity;
    return kmm_resource_deallocate(b->resource, before, before_capacity, stream);
}

static int check_buffer(const kmm_buffer_t *b)
{
    return b && b->resource ? 0 : kmm__resource_fail(KMM_E_INVALID, "buffer: it has not been made");
}

KMM__API int kmm_buffer_reserve(kmm_buffer_t *b, size_t capacity, kmm_stream_t stream)
{
    int status = check_buffer(b);
    if (status == 0 && capacity > b->capacity)
        status = move(b, capacity, stream);
    if (status == 0)
        b->stream = stream;
    return status;
}

KMM__API int kmm_buffer_resize(kmm_buffer_t *b, size_t bytes, kmm_stream_t stream)
{
    int status = kmm_buffer_reserve(b, bytes, stream);
    if (status == 0)
        b->bytes = bytes;
    return status;
}

KMM__API int kmm_buffer_shrink(kmm_buffer_t *b, kmm_stream_t stream)
{
    int status = check_buffer(b);
    if (status == 0 && b->capacity > b->bytes)
        status = move(b, b->bytes, stream);
    if (status == 0)
        b->stream = stream;
    return status;
}

static int check_range(const kmm_buffer_t *b, size_t offset, size_t bytes, const void *other)
{
    int status = check_buffer(b);
    if (status)
        return status;
    if (!other && bytes)
        return kmm__resource_fail(KMM_E_INVALID, "buffer: nothing to copy from or to");
    if (offset > b->bytes || bytes > b->bytes - offset)
        return kmm__resource_fail(KMM_E_RANGE, "buffer: bytes %zu to %zu of %zu", offset,
                                  offset + bytes, b->bytes);
    return 0;
}

KMM__API int kmm_buffer_write(kmm_buffer_t *b, size_t offset, const void *src, size_t bytes)
{
    int status = check_range(b, offset, bytes, src);
    if (status || bytes == 0)
        return status;
    return kmm__copy(b->resource, (char *)b->data + offset, src, bytes, b->stream);
}

KMM__API int kmm_buffer_read(const kmm_buffer_t *b, size_t offset, void *dst, size_t bytes)
{
    int status = check_range(b, offset, bytes, dst);
    if (status || bytes == 0)
        return status;
    status = kmm__copy(b->resource, dst, (const char *)b->data + offset, bytes, b->stream);
    return status ? status : kmm__settle(b->resource, b->stream);
}

KMM__API int kmm_buffer_fill(kmm_buffer_t *b, size_t offset, int value, size_t bytes)
{
    int status = check_range(b, offset, bytes, b);
    if (status || bytes == 0)
        return status;
    return kmm__fill(b->resource, (char *)b->data + offset, value, bytes, b->stream);
}

KMM__API void kmm_buffer_set_stream(kmm_buffer_t *b, kmm_stream_t stream)
{
    if (b)
        b->stream = stream;
}

/* ---- Vectors ---- */

static int check_elements(size_t element_bytes, size_t count)
{
    if (element_bytes == 0)
        return kmm__resource_fail(KMM_E_INVALID, "vector: elements of no bytes");
    if (count > PTRDIFF_MAX / element_bytes)
        return kmm__resource_fail(KMM_E_MEMORY,
                                  "vector: %zu elements of %zu bytes can never be had", count,
                                  element_bytes);
    return 0;
}

KMM__API int kmm_vector_init(kmm_vector_t *v, size_t element_bytes, size_t count,
                             kmm_stream_t stream, kmm_resource_t *resource)
{
    if (!v)
        return kmm__resource_fail(KMM_E_INVALID, "vector: there is none");
    memset(v, 0, sizeof(*v));
    int status = check_elements(element_bytes, count);
    if (status == 0)
        status = kmm_buffer_init(&v->buffer, element_bytes * count, stream, resource);
    if (status)
        return status;
    v->element_bytes = element_bytes;
    v->count = count;
    return 0;
}

KMM__API int kmm_vector_deinit(kmm_vector_t *v)
{
    if (!v)
        return 0;
    v->count = 0;
    return kmm_buffer_deinit(&v->buffer);
}

KMM__API int kmm_vector_resize(kmm_vector_t *v, size_t count, kmm_stream_t stream)
{
    int status = v ? check_elements(v->element_bytes, count)
                   : kmm__resource_fail(KMM_E_INVALID, "vector: there is none");
    if (status == 0)
        status = kmm_buffer_resize(&v->buffer, v->element_bytes * count, stream);
    if (status == 0)
        v->count = count;
    return status;
}

static int check_index(const kmm_vector_t *v, size_t index, const void *value)
{
    if (!v || !value)
        return kmm__resource_fail(KMM_E_INVALID, "vector: there is none, or no value");
    if (index >= v->count)
        return kmm__resource_fail(KMM_E_RANGE, "vector: element %zu of %zu", index, v->count);
    return 0;
}

KMM__API int kmm_vector_get(const kmm_vector_t *v, size_t index, void *value)
{
    int status = check_index(v, index, value);
    return status ? status
                  : kmm_buffer_read(&v->buffer, index * v->element_bytes, value, v->element_bytes);
}

KMM__API int kmm_vector_set(kmm_vector_t *v, size_t index, const void *value)
{
    int status = check_index(v, index, value);
    return status ? status
                  : kmm_buffer_write(&v->buffer, index * v->element_bytes, value, v->element_bytes);
}

/* ---- Scalars ---- */

KMM__API int kmm_scalar_init(kmm_scalar_t *s, const void *value, size_t bytes, kmm_stream_t stream,
                             kmm_resource_t *resource)
{
    if (!s)
        return kmm__resource_fail(KMM_E_INVALID, "scalar: there is none");
    int status = kmm_vector_init(&s->vector, bytes, 1, stream, resource);
    if (status || !value)
        return status;
    status = kmm_vector_set(&s->vector, 0, value);
    if (status)
        kmm_vector_deinit(&s->vector);
    return status;
}

KMM__API int kmm_scalar_deinit(kmm_scalar_t *s)
{
    return s ? kmm_vector_deinit(&s->vector) : 0;
}
KMM__API int kmm_scalar_get(const kmm_scalar_t *s, void *value)
{
    return kmm_vector_get(s ? &s->vector : NULL, 0, value);
}
KMM__API int kmm_scalar_set(kmm_scalar_t *s, const void *value)
{
    return kmm_vector_set(s ? &s->vector : NULL, 0, value);
}
