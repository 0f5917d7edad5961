# SPDX-License-Identifier: Apache-2.0
# Memory resources, and memory that goes with its object.

"""
A resource of `kmm/resource.h`. It lives until `close`, which throws while other resources or
buffers stand on it. No work may use its memory then.
"""
mutable struct Resource
    handle::Handle
    upstream::Vector{Resource}
    users::Threads.Atomic{Int} # resources and buffers that stand on it

    function Resource(create, upstream::Resource...)
        out = Ref{Handle}(C_NULL)
        GC.@preserve out upstream check_resource(create(address(out)))
        foreach(r -> Threads.atomic_add!(r.users, 1), upstream)
        return new(out[], collect(Resource, upstream), Threads.Atomic{Int}(0))
    end
end

function check_resource(status::Integer)
    status >= 0 && return nothing
    throw(KmmError(status, unsafe_string(kmm_resource_error_text())))
end

function Base.close(r::Resource)
    r.handle == C_NULL && return nothing
    r.users[] == 0 || throw(ArgumentError("$(r.users[]) resources or buffers stand on $r"))
    handle, r.handle = r.handle, C_NULL
    foreach(u -> Threads.atomic_sub!(u.users, 1), r.upstream)
    return check_resource(kmm_resource_destroy(handle))
end

host_resource() = Resource(kmm_host_resource_create)
numa_resource(node) = Resource(out -> kmm_numa_resource_create(node, out))
device_resource(device = 0) = Resource(out -> kmm_device_resource_create(device, out))
mapped_resource(device = 0) = Resource(out -> kmm_mapped_resource_create(device, out))
managed_resource(device = 0) = Resource(out -> kmm_managed_resource_create(device, out))
pinned_resource(device = 0) = Resource(out -> kmm_pinned_resource_create(device, out))

# Options are copied.
function with_options(call, options)
    r = Ref(options)
    GC.@preserve r call(address(r))
end

async_resource(device = 0; initial_bytes = 0, release_threshold = 0, maximum_bytes = 0) =
    Resource() do out
        o = kmm_async_options(C_NULL, initial_bytes, release_threshold, maximum_bytes,
                              KMM_MEMORY_DEVICE)
        with_options(p -> kmm_async_resource_create(device, p, out), o)
    end

pool_resource(r::Resource; initial_bytes = 0, maximum_bytes = 0) =
    Resource(r) do out
        o = kmm_pool_options(initial_bytes, maximum_bytes, 0, 0, 0)
        with_options(p -> kmm_pool_resource_create(r.handle, p, out), o)
    end

arena_resource(r::Resource; initial_bytes = 0, maximum_bytes = 0) =
    Resource(r) do out
        o = kmm_arena_options(0, 0, initial_bytes, maximum_bytes)
        with_options(p -> kmm_arena_resource_create(r.handle, p, out), o)
    end

fixed_size_resource(r::Resource; block_bytes = 0, blocks_per_chunk = 0) =
    Resource(r) do out
        o = kmm_fixed_size_options(block_bytes, blocks_per_chunk, 0)
        with_options(p -> kmm_fixed_size_resource_create(r.handle, p, out), o)
    end

limiting_resource(r::Resource, limit) =
    Resource(out -> kmm_limiting_resource_create(r.handle, limit, out), r)
aligned_resource(r::Resource, alignment, threshold = 0) =
    Resource(out -> kmm_aligned_resource_create(r.handle, alignment, threshold, out), r)
prefetch_resource(r::Resource) = Resource(out -> kmm_prefetch_resource_create(r.handle, out), r)
statistics_resource(r::Resource) =
    Resource(out -> kmm_statistics_resource_create(r.handle, out), r)
logging_resource(r::Resource, path::String) =
    Resource(out -> GC.@preserve(path,
             kmm_logging_resource_create(r.handle, terminated(path), out)), r)

"Returns the address of `bytes` new bytes, for work that is enqueued on `stream` from now on."
function allocate(r::Resource, bytes; alignment = 0, stream = C_NULL)
    out = Ref{Ptr{Cvoid}}(C_NULL)
    GC.@preserve out check_resource(
        kmm_resource_allocate(r.handle, bytes, alignment, stream, address(out)))
    return out[]
end

deallocate(r::Resource, p::Ptr, bytes = KMM_SIZE_RECORDED; stream = C_NULL) =
    check_resource(kmm_resource_deallocate(r.handle, Ptr{Cvoid}(p), bytes, stream))

trim(r::Resource, keep = 0) = check_resource(kmm_resource_trim(r.handle, keep))
allow(r::Resource, device) = check_resource(kmm_resource_allow(r.handle, device))
"To be called before a stream is destroyed."
stream_end(r::Resource, stream) = check_resource(kmm_resource_stream_end(r.handle, stream))
device(r::Resource) = Int(kmm_resource_device(r.handle))
Base.show(io::IO, r::Resource) = print(io, "Resource ", unsafe_string(kmm_resource_name(r.handle)))

function memory_info(r::Resource)
    available, total = Ref{Csize_t}(0), Ref{Csize_t}(0)
    GC.@preserve available total check_resource(
        kmm_resource_memory_info(r.handle, address(available), address(total)))
    return (available = Int(available[]), total = Int(total[]))
end

# Returns the struct that a call fills.
function filled(call, ::Type{T}) where {T}
    out = Ref{T}()
    GC.@preserve out check_resource(call(address(out)))
    return out[]
end

usage(r::Resource) = filled(out -> kmm_resource_usage_(r.handle, out), kmm_resource_usage)
statistics(r::Resource) = filled(out -> kmm_statistics_get(r.handle, out), kmm_statistics)

# What was current lives until the process ends, since others may have memory of it.
const current = Resource[]
function set_current(r::Resource)
    check_resource(kmm_resource_set_current(r.handle, Out(C_NULL)))
    push!(current, r)
    return nothing
end

"""
    DeviceBuffer(bytes, r; stream = C_NULL)
    DeviceBuffer(values, r; stream = C_NULL)

Memory of a resource that is freed, on its stream, when nothing refers to the object.
`pointer(b)` is its address, for CUDA.jl: `unsafe_wrap(CuArray, CuPtr{T}(UInt(pointer(b))), n)`.
"""
mutable struct DeviceBuffer
    c::Base.RefValue{kmm_buffer}
    resource::Union{Resource,Nothing} # nothing: the buffer is closed

    function DeviceBuffer(bytes::Integer, r::Resource; stream = C_NULL)
        c = Ref{kmm_buffer}()
        GC.@preserve c check_resource(kmm_buffer_init(address(c), bytes, stream, r.handle))
        Threads.atomic_add!(r.users, 1)
        return finalizer(close, new(c, r))
    end
end

function DeviceBuffer(values::Array, r::Resource; stream = C_NULL)
    isbitstype(eltype(values)) || throw(ArgumentError("elements are not plain bits"))
    return copyto!(DeviceBuffer(sizeof(values), r; stream), values)
end

function Base.close(b::DeviceBuffer)
    c, r = b.c, b.resource
    r === nothing && return nothing
    b.resource = nothing
    GC.@preserve c kmm_buffer_deinit(address(c))
    Threads.atomic_sub!(r.users, 1)
    return nothing
end

Base.pointer(b::DeviceBuffer) = b.c[].data
Base.sizeof(b::DeviceBuffer) = Int(b.c[].bytes)

function Base.resize!(b::DeviceBuffer, bytes::Integer; stream = b.c[].stream)
    c = b.c
    GC.@preserve c check_resource(kmm_buffer_resize(address(c), bytes, stream))
    return b
end

function Base.copyto!(b::DeviceBuffer, from::Array)
    c = b.c
    GC.@preserve c from check_resource(
        kmm_buffer_write(address(c), 0, Ptr{Cvoid}(pointer(from)), sizeof(from)))
    return b
end

function Base.copyto!(to::Array, b::DeviceBuffer)
    c = b.c
    GC.@preserve c to check_resource(
        kmm_buffer_read(address(c), 0, Ptr{Cvoid}(pointer(to)), sizeof(to)))
    return to
end

function Base.fill!(b::DeviceBuffer, byte::Integer)
    c = b.c
    GC.@preserve c check_resource(kmm_buffer_fill(address(c), 0, byte, sizeof(b)))
    return b
end
