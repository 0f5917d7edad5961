# SPDX-License-Identifier: Apache-2.0
"""Finds libkmm, loads it, and gives its functions their types."""
import ctypes
import functools
import os
import re

# The types as tests/abi/libkmm.abi has them; tests/python compares both.
PROTOTYPES = """
int kmm_version(void)
const char *kmm_version_string(void)
const char *kmm_error_string(int)
const char *kmm_error_text(kmm_runtime_t *)
int kmm_create_version(int, size_t, kmm_runtime_t **, const kmm_config_t *)
int kmm_destroy(kmm_runtime_t *)
kmm_runtime_t *kmm_default(void)
void kmm_use(kmm_runtime_t *)
int kmm_wait(kmm_runtime_t *)
void kmm_wait_at_exit(void)
int kmm_array_create(kmm_runtime_t *, const kmm_shape_t *, void **)
int kmm_array_destroy(kmm_runtime_t *, void *)
int kmm_copy_in(kmm_runtime_t *, void *, const void *, size_t)
int kmm_copy_out(kmm_runtime_t *, void *, const void *, size_t)
int kmm_copy(kmm_runtime_t *, void *, const void *, size_t)
int kmm_fill(kmm_runtime_t *, void *, int, size_t)
int kmm_wait_array(kmm_runtime_t *, const void *)
int kmm_event_begin(kmm_runtime_t *, kmm_event_t **)
int kmm_event_end(kmm_event_t *)
int kmm_event_join(kmm_runtime_t *, kmm_event_t *const *, uint32_t, kmm_event_t **)
int kmm_event_test(kmm_event_t *)
int kmm_event_wait(kmm_event_t *, int64_t)
void kmm_event_destroy(kmm_event_t *)
int kmm_device_count(kmm_runtime_t *)
int kmm_device_get_sized(size_t, kmm_runtime_t *, int, kmm_device_info_t *)
kmm_launch_t *kmm_launch_begin_version(uint32_t, const char *, const char *, int)
void kmm_launch_label(kmm_launch_t *, const char *)
void kmm_launch_axis(kmm_launch_t *, const char *, kmm_source_t, int64_t, int64_t)
void kmm_launch_chunk(kmm_launch_t *, kmm_source_t, int64_t)
void kmm_launch_if(kmm_launch_t *, int)
void kmm_launch_schedule(kmm_launch_t *, kmm_schedule_t)
void kmm_launch_priority(kmm_launch_t *, int)
void kmm_launch_nowait(kmm_launch_t *)
void kmm_launch_await(kmm_launch_t *)
void kmm_launch_access(kmm_launch_t *, kmm_mode_t, const char *, const volatile void *, size_t)
void kmm_launch_reduce(kmm_launch_t *, kmm_op_t, kmm_type_t, const char *, const volatile void *)
void kmm_launch_extent(kmm_launch_t *, int64_t)
void kmm_launch_index(kmm_launch_t *, int64_t, int64_t)
void kmm_launch_coef(kmm_launch_t *, unsigned int, int64_t, int64_t)
void kmm_launch_offsets(kmm_launch_t *, const void *, kmm_type_t, int64_t)
int kmm_launch_call(kmm_launch_t *, kmm_function_t *, const void *, size_t)
int kmm_launch_threw(const kmm_chunk_t *)
int kmm_launch_thrown(const kmm_chunk_t *, const char *, const char *, const void *)
int kmm_resource_allocate(kmm_resource_t *, size_t, size_t, kmm_stream_t, void **)
int kmm_resource_deallocate(kmm_resource_t *, void *, size_t, kmm_stream_t)
int kmm_resource_size(kmm_resource_t *, const void *, size_t *)
int kmm_resource_memory_info(kmm_resource_t *, size_t *, size_t *)
int kmm_resource_trim(kmm_resource_t *, size_t)
int kmm_resource_allow(kmm_resource_t *, int)
int kmm_resource_stream_end(kmm_resource_t *, kmm_stream_t)
int kmm_resource_usage(kmm_resource_t *, kmm_resource_usage_t *)
_Bool kmm_resource_equal(const kmm_resource_t *, const kmm_resource_t *)
const char *kmm_resource_name(const kmm_resource_t *)
kmm_memory_kind_t kmm_resource_kind(const kmm_resource_t *)
int kmm_resource_device(const kmm_resource_t *)
int kmm_resource_destroy(kmm_resource_t *)
const char *kmm_resource_error_text(void)
kmm_resource_t *kmm_resource_of_device(int)
int kmm_resource_set_of_device(int, kmm_resource_t *, kmm_resource_t **)
kmm_resource_t *kmm_resource_current(void)
int kmm_host_resource_create(kmm_resource_t **)
int kmm_numa_resource_create(int, kmm_resource_t **)
int kmm_device_resource_create(int, kmm_resource_t **)
int kmm_mapped_resource_create(int, kmm_resource_t **)
int kmm_managed_resource_create(int, kmm_resource_t **)
int kmm_pinned_resource_create(int, kmm_resource_t **)
int kmm_async_resource_create(int, const kmm_async_options_t *, kmm_resource_t **)
int kmm_callback_resource_create(const kmm_callback_options_t *, kmm_resource_t **)
int kmm_pool_resource_create(kmm_resource_t *, const kmm_pool_options_t *, kmm_resource_t **)
int kmm_pinned_pool_resource_create(int, const kmm_pool_options_t *, kmm_resource_t **)
int kmm_arena_resource_create(kmm_resource_t *, const kmm_arena_options_t *, kmm_resource_t **)
int kmm_fixed_size_resource_create(kmm_resource_t *, const kmm_fixed_size_options_t *,
    kmm_resource_t **)
int kmm_binning_resource_create(kmm_resource_t *, kmm_resource_t **)
int kmm_binning_add(kmm_resource_t *, size_t, kmm_resource_t *)
int kmm_limiting_resource_create(kmm_resource_t *, size_t, kmm_resource_t **)
int kmm_aligned_resource_create(kmm_resource_t *, size_t, size_t, kmm_resource_t **)
int kmm_logging_resource_create(kmm_resource_t *, const char *, kmm_resource_t **)
int kmm_logging_flush(kmm_resource_t *)
int kmm_statistics_resource_create(kmm_resource_t *, kmm_resource_t **)
int kmm_statistics_get(kmm_resource_t *, kmm_statistics_t *)
int kmm_statistics_push(kmm_resource_t *)
int kmm_statistics_pop(kmm_resource_t *, kmm_statistics_t *)
int kmm_tracking_resource_create(kmm_resource_t *, kmm_track_t, kmm_resource_t **)
int64_t kmm_tracking_outstanding(kmm_resource_t *, kmm_tracked_t *, size_t)
int kmm_tracking_print(kmm_resource_t *, int)
int kmm_failure_resource_create(kmm_resource_t *, kmm_failure_fn, void *, kmm_resource_t **)
int kmm_prefetch_resource_create(kmm_resource_t *, kmm_resource_t **)
int kmm_thread_safe_resource_create(kmm_resource_t *, kmm_resource_t **)
int kmm_buffer_init(kmm_buffer_t *, size_t, kmm_stream_t, kmm_resource_t *)
int kmm_buffer_deinit(kmm_buffer_t *)
int kmm_buffer_resize(kmm_buffer_t *, size_t, kmm_stream_t)
int kmm_buffer_reserve(kmm_buffer_t *, size_t, kmm_stream_t)
int kmm_buffer_shrink(kmm_buffer_t *, kmm_stream_t)
int kmm_buffer_write(kmm_buffer_t *, size_t, const void *, size_t)
int kmm_buffer_read(const kmm_buffer_t *, size_t, void *, size_t)
int kmm_buffer_fill(kmm_buffer_t *, size_t, int, size_t)
void kmm_buffer_set_stream(kmm_buffer_t *, kmm_stream_t)
int kmm_stream_pool_create(int, size_t, kmm_stream_pool_t **)
void kmm_stream_pool_destroy(kmm_stream_pool_t *)
size_t kmm_stream_pool_count(const kmm_stream_pool_t *)
int kmm_stream_pool_get(kmm_stream_pool_t *, size_t, kmm_stream_t *)
void kmm_torch_empty_cache(void)
void kmm_torch_on_failure(void (*)(int, int, size_t, const char *))
void *kmm_torch_alloc(ptrdiff_t, int, kmm_stream_t)
int kmm_torch_pool_begin(int, const uint64_t *, _Bool (*)(void *, kmm_stream_t), void *)
void *kmm_torch_pool_end(int, const uint64_t *)
void kmm_torch_pool_release(int, const uint64_t *)
void kmm_torch_free(void *, ptrdiff_t, int, kmm_stream_t)
void kmm_torch_record_stream(void *, kmm_stream_t)
void *kmm_cupy_alloc(void *, size_t, int)
void kmm_cupy_free(void *, void *, int)
void kmm_cupy_stream(kmm_stream_t)
int kmm_cupy_failure(void)
void kmm_cupy_stream_end(kmm_stream_t, int)
"""

_TYPES = {"void": None, "_Bool": ctypes.c_bool, "size_t": ctypes.c_size_t,
          "ptrdiff_t": ctypes.c_ssize_t, "int64_t": ctypes.c_int64, "uint32_t": ctypes.c_uint32,
          "unsigned int": ctypes.c_uint32, "kmm_stream_t": ctypes.c_void_p,
          "const char *": ctypes.c_char_p}
_NUMBERS = {"int", "kmm_mode_t", "kmm_op_t", "kmm_type_t", "kmm_source_t", "kmm_schedule_t",
            "kmm_track_t", "kmm_memory_kind_t"}


def _type(text):
    if text in _TYPES:
        return _TYPES[text]
    if text in _NUMBERS:
        return ctypes.c_int
    if text.endswith("*") or text.endswith("_fn") or "(*)" in text:
        return ctypes.c_void_p
    raise TypeError("no type of ctypes for " + text)


def prototypes():
    """(result, name, arguments) of each function that is called, as texts."""
    for line in re.sub(r",\n\s*", ", ", PROTOTYPES).strip().split("\n"):
        result, name, arguments = re.fullmatch(r"(.*?) ?(kmm_\w+)\((.*)\)", line).groups()
        found = re.findall(r"(?:[^,(]|\([^()]*\))+", arguments)
        yield result, name, [] if arguments == "void" else [text.strip() for text in found]


def path():
    """KMM_LIBRARY, or libkmm in the package, or beside an installation or a build tree, or what
    the loader finds."""
    if os.environ.get("KMM_LIBRARY"):
        return os.environ["KMM_LIBRARY"]
    here = os.path.dirname(os.path.abspath(__file__))
    for folder in ("native/lib", "../../../../lib", "../../../../lib64", "../../build/release/lib"):
        found = os.path.join(here, folder, "libkmm.so.0")
        if os.path.exists(found):
            return os.path.normpath(found)
    return "libkmm.so.0"


@functools.lru_cache(maxsize=None)
def load():
    """libkmm, with the types of its functions."""
    library = ctypes.CDLL(path())
    for result, name, arguments in prototypes():
        function = getattr(library, name)
        function.restype, function.argtypes = _type(result), [_type(text) for text in arguments]
    return library


def address(function):
    """The address of a function, for other libraries to call."""
    return ctypes.cast(function, ctypes.c_void_p).value
