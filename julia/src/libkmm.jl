# SPDX-License-Identifier: Apache-2.0
# The functions of kmm.h, kmm/launch.h and kmm/resource.h. Each has its C name, and arguments of the
# types that C has: handles and texts are pointers, which the caller keeps alive (GC.@preserve).
# tests/julia compares each signature with tests/abi/libkmm.abi.

libkmm::String = "libkmm.so.0"
__init__() = global libkmm = get(ENV, "KMM_LIBRARY", "libkmm.so.0")

# A call that may wait for functions of Julia that libkmm runs on other threads. While it waits, the
# thread does not hold up the garbage collector of these threads. The arguments are numbers and
# pointers, so nothing of Julia is touched meanwhile.
macro waiting(call)
    quote
        local state = @ccall jl_gc_safe_enter()::Int8
        local result = $(esc(call))
        @ccall jl_gc_safe_leave(state::Int8)::Cvoid
        result
    end
end

const Handle = Ptr{Cvoid}
const Out = Ptr{Ptr{Cvoid}}
const Text = Ptr{UInt8}
const Stream = Ptr{Cvoid}

kmm_error_string(code) = @ccall libkmm.kmm_error_string(code::Cint)::Text
kmm_error_text(rt) = @ccall libkmm.kmm_error_text(rt::Handle)::Text
kmm_create_version(version, bytes, out, config) = @ccall libkmm.kmm_create_version(
    version::Cint, bytes::Csize_t, out::Out, config::Ptr{kmm_config})::Cint
kmm_destroy(rt) = @waiting @ccall libkmm.kmm_destroy(rt::Handle)::Cint
kmm_default() = @ccall libkmm.kmm_default()::Handle
kmm_use(rt) = @ccall libkmm.kmm_use(rt::Handle)::Cvoid
kmm_wait(rt) = @waiting @ccall libkmm.kmm_wait(rt::Handle)::Cint
kmm_array_create(rt, shape, out) = @waiting @ccall libkmm.kmm_array_create(
    rt::Handle, shape::Ptr{kmm_shape}, out::Out)::Cint
kmm_array_destroy(rt, base) = @waiting @ccall libkmm.kmm_array_destroy(
    rt::Handle, base::Ptr{Cvoid})::Cint
kmm_copy_in(rt, array, src, bytes) = @waiting @ccall libkmm.kmm_copy_in(
    rt::Handle, array::Ptr{Cvoid}, src::Ptr{Cvoid}, bytes::Csize_t)::Cint
kmm_copy_out(rt, dst, array, bytes) = @waiting @ccall libkmm.kmm_copy_out(
    rt::Handle, dst::Ptr{Cvoid}, array::Ptr{Cvoid}, bytes::Csize_t)::Cint
kmm_fill(rt, array, value, bytes) = @waiting @ccall libkmm.kmm_fill(
    rt::Handle, array::Ptr{Cvoid}, value::Cint, bytes::Csize_t)::Cint
kmm_wait_array(rt, address) = @waiting @ccall libkmm.kmm_wait_array(
    rt::Handle, address::Ptr{Cvoid})::Cint
kmm_device_count(rt) = @ccall libkmm.kmm_device_count(rt::Handle)::Cint
kmm_device_get_sized(bytes, rt, device, out) = @ccall libkmm.kmm_device_get_sized(
    bytes::Csize_t, rt::Handle, device::Cint, out::Ptr{kmm_device_info})::Cint

kmm_launch_begin_version(version, name, file, line) = @ccall libkmm.kmm_launch_begin_version(
    version::UInt32, name::Text, file::Text, line::Cint)::Handle
kmm_launch_await(l) = @ccall libkmm.kmm_launch_await(l::Handle)::Cvoid
kmm_launch_axis(l, name, source, lower, length) = @ccall libkmm.kmm_launch_axis(
    l::Handle, name::Text, source::Cint, lower::Int64, length::Int64)::Cvoid
kmm_launch_chunk(l, source, size) = @ccall libkmm.kmm_launch_chunk(
    l::Handle, source::Cint, size::Int64)::Cvoid
kmm_launch_access(l, mode, text, base, bytes) = @ccall libkmm.kmm_launch_access(
    l::Handle, mode::Cint, text::Text, base::Ptr{Cvoid}, bytes::Csize_t)::Cvoid
kmm_launch_reduce(l, op, type, text, base) = @ccall libkmm.kmm_launch_reduce(
    l::Handle, op::Cint, type::Cint, text::Text, base::Ptr{Cvoid})::Cvoid
kmm_launch_extent(l, extent) = @ccall libkmm.kmm_launch_extent(l::Handle, extent::Int64)::Cvoid
kmm_launch_index(l, lower, length) = @ccall libkmm.kmm_launch_index(
    l::Handle, lower::Int64, length::Int64)::Cvoid
kmm_launch_coef(l, axis, lower, length) = @ccall libkmm.kmm_launch_coef(
    l::Handle, axis::Cuint, lower::Int64, length::Int64)::Cvoid
kmm_launch_offsets(l, offsets, type, count) = @ccall libkmm.kmm_launch_offsets(
    l::Handle, offsets::Ptr{Cvoid}, type::Cint, count::Int64)::Cvoid
kmm_launch_call(l, f, args, bytes) = @waiting @ccall libkmm.kmm_launch_call(
    l::Handle, f::Ptr{Cvoid}, args::Ptr{Cvoid}, bytes::Csize_t)::Cint

kmm_resource_allocate(r, bytes, alignment, stream, out) = @ccall libkmm.kmm_resource_allocate(
    r::Handle, bytes::Csize_t, alignment::Csize_t, stream::Stream, out::Out)::Cint
kmm_resource_deallocate(r, p, bytes, stream) = @ccall libkmm.kmm_resource_deallocate(
    r::Handle, p::Ptr{Cvoid}, bytes::Csize_t, stream::Stream)::Cint
kmm_resource_memory_info(r, available, total) = @ccall libkmm.kmm_resource_memory_info(
    r::Handle, available::Ptr{Csize_t}, total::Ptr{Csize_t})::Cint
kmm_resource_trim(r, keep) = @ccall libkmm.kmm_resource_trim(r::Handle, keep::Csize_t)::Cint
kmm_resource_allow(r, device) = @ccall libkmm.kmm_resource_allow(r::Handle, device::Cint)::Cint
kmm_resource_stream_end(r, stream) = @ccall libkmm.kmm_resource_stream_end(
    r::Handle, stream::Stream)::Cint
kmm_resource_usage_(r, out) = @ccall libkmm.kmm_resource_usage(
    r::Handle, out::Ptr{kmm_resource_usage})::Cint
kmm_resource_name(r) = @ccall libkmm.kmm_resource_name(r::Handle)::Text
kmm_resource_kind(r) = @ccall libkmm.kmm_resource_kind(r::Handle)::Cint
kmm_resource_device(r) = @ccall libkmm.kmm_resource_device(r::Handle)::Cint
kmm_resource_destroy(r) = @ccall libkmm.kmm_resource_destroy(r::Handle)::Cint
kmm_resource_error_text() = @ccall libkmm.kmm_resource_error_text()::Text
kmm_resource_current() = @ccall libkmm.kmm_resource_current()::Handle
kmm_resource_set_current(r, old) = @ccall libkmm.kmm_resource_set_current(
    r::Handle, old::Out)::Cint
kmm_host_resource_create(out) = @ccall libkmm.kmm_host_resource_create(out::Out)::Cint
kmm_numa_resource_create(node, out) = @ccall libkmm.kmm_numa_resource_create(
    node::Cint, out::Out)::Cint
kmm_device_resource_create(device, out) = @ccall libkmm.kmm_device_resource_create(
    device::Cint, out::Out)::Cint
kmm_mapped_resource_create(device, out) = @ccall libkmm.kmm_mapped_resource_create(
    device::Cint, out::Out)::Cint
kmm_managed_resource_create(device, out) = @ccall libkmm.kmm_managed_resource_create(
    device::Cint, out::Out)::Cint
kmm_pinned_resource_create(device, out) = @ccall libkmm.kmm_pinned_resource_create(
    device::Cint, out::Out)::Cint
kmm_async_resource_create(device, options, out) = @ccall libkmm.kmm_async_resource_create(
    device::Cint, options::Ptr{kmm_async_options}, out::Out)::Cint
kmm_pool_resource_create(r, options, out) = @ccall libkmm.kmm_pool_resource_create(
    r::Handle, options::Ptr{kmm_pool_options}, out::Out)::Cint
kmm_arena_resource_create(r, options, out) = @ccall libkmm.kmm_arena_resource_create(
    r::Handle, options::Ptr{kmm_arena_options}, out::Out)::Cint
kmm_fixed_size_resource_create(r, options, out) = @ccall libkmm.kmm_fixed_size_resource_create(
    r::Handle, options::Ptr{kmm_fixed_size_options}, out::Out)::Cint
kmm_limiting_resource_create(r, limit, out) = @ccall libkmm.kmm_limiting_resource_create(
    r::Handle, limit::Csize_t, out::Out)::Cint
kmm_aligned_resource_create(r, alignment, threshold, out) =
    @ccall libkmm.kmm_aligned_resource_create(
        r::Handle, alignment::Csize_t, threshold::Csize_t, out::Out)::Cint
kmm_logging_resource_create(r, path, out) = @ccall libkmm.kmm_logging_resource_create(
    r::Handle, path::Text, out::Out)::Cint
kmm_statistics_resource_create(r, out) = @ccall libkmm.kmm_statistics_resource_create(
    r::Handle, out::Out)::Cint
kmm_statistics_get(r, out) = @ccall libkmm.kmm_statistics_get(
    r::Handle, out::Ptr{kmm_statistics})::Cint
kmm_prefetch_resource_create(r, out) = @ccall libkmm.kmm_prefetch_resource_create(
    r::Handle, out::Out)::Cint
kmm_buffer_init(b, bytes, stream, r) = @ccall libkmm.kmm_buffer_init(
    b::Ptr{kmm_buffer}, bytes::Csize_t, stream::Stream, r::Handle)::Cint
kmm_buffer_deinit(b) = @ccall libkmm.kmm_buffer_deinit(b::Ptr{kmm_buffer})::Cint
kmm_buffer_resize(b, bytes, stream) = @ccall libkmm.kmm_buffer_resize(
    b::Ptr{kmm_buffer}, bytes::Csize_t, stream::Stream)::Cint
kmm_buffer_write(b, offset, src, bytes) = @ccall libkmm.kmm_buffer_write(
    b::Ptr{kmm_buffer}, offset::Csize_t, src::Ptr{Cvoid}, bytes::Csize_t)::Cint
kmm_buffer_read(b, offset, dst, bytes) = @ccall libkmm.kmm_buffer_read(
    b::Ptr{kmm_buffer}, offset::Csize_t, dst::Ptr{Cvoid}, bytes::Csize_t)::Cint
kmm_buffer_fill(b, offset, value, bytes) = @ccall libkmm.kmm_buffer_fill(
    b::Ptr{kmm_buffer}, offset::Csize_t, value::Cint, bytes::Csize_t)::Cint
