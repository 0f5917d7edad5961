# SPDX-License-Identifier: Apache-2.0
# The structs and numbers of kmm.h, kmm/launch.h and kmm/resource.h, by their names.
# tests/julia compares them with tests/abi/libkmm.abi.

const KMM_VERSION_NUMBER = 100
const KMM_LAUNCH_VERSION = 2
const KMM_MAX_SPLIT = 3
const KMM_MAX_DIMS = 6
const KMM_WHOLE = typemin(Int64)
const KMM_RANGE_0 = 6
const KMM_READ = 1
const KMM_WRITE = 2
const KMM_UPDATE = 3
const KMM_OP_ADD = 0
const KMM_OP_MUL = 1
const KMM_OP_MIN = 2
const KMM_OP_MAX = 3
const KMM_OP_BAND = 4
const KMM_OP_BOR = 5
const KMM_OP_BXOR = 6
const KMM_INT8 = 0
const KMM_INT16 = 1
const KMM_INT32 = 2
const KMM_INT64 = 3
const KMM_UINT8 = 4
const KMM_UINT16 = 5
const KMM_UINT32 = 6
const KMM_UINT64 = 7
const KMM_FLOAT = 8
const KMM_DOUBLE = 9
const KMM_COMPLEX_FLOAT = 12
const KMM_COMPLEX_DOUBLE = 13
const KMM_MEMORY_HOST = 0
const KMM_MEMORY_PINNED = 1
const KMM_MEMORY_MANAGED = 2
const KMM_MEMORY_DEVICE = 3
const KMM_SIZE_RECORDED = typemax(Csize_t)

struct kmm_config
    devices::Ptr{UInt8}
    device_mem::UInt64
    frame_bytes::UInt64
    threads::UInt32
    host_mem::UInt64
    spill_dir::Ptr{UInt8}
    device_keep_free::UInt64
    pinned_mem::UInt64
end

struct kmm_shape
    dims::UInt32
    extent::NTuple{6,Int64}
    element_bytes::Csize_t
    label::Ptr{UInt8}
end

struct kmm_device_info
    name::NTuple{64,UInt8}
    kind::Cint
    ordinal::Cint
    memory_bytes::UInt64
    used_bytes::UInt64
    bytes_in::UInt64
    bytes_out::UInt64
    bytes_peer::UInt64
    chunks::UInt64
    launches::UInt64
    whole_arrays::Cint
    total_bytes::UInt64
    compute_major::Cint
    compute_minor::Cint
    multiprocessors::Cint
    pci_domain::Cint
    pci_bus::Cint
    pci_device::Cint
    pci_function::Cint
end

struct kmm_chunk
    begin_::NTuple{3,Int64}
    end_::NTuple{3,Int64}
    lower::NTuple{3,Int64}
    launch::Int64
    thread::Int64
end

struct kmm_resource_usage
    live_bytes::Csize_t
    live_count::Csize_t
    held_bytes::Csize_t
    regions::Csize_t
    extent_bytes::Csize_t
    waits::Csize_t
    events::Csize_t
end

struct kmm_async_options
    pool::Ptr{Cvoid}
    initial_bytes::Csize_t
    release_threshold::Csize_t
    maximum_bytes::Csize_t
    kind::Cint
end

struct kmm_pool_options
    initial_bytes::Csize_t
    maximum_bytes::Csize_t
    growth_bytes::Csize_t
    cache_bytes::Csize_t
    reuse::Cint
end

struct kmm_arena_options
    key::Cint
    arena_bytes::Csize_t
    initial_bytes::Csize_t
    maximum_bytes::Csize_t
end

struct kmm_fixed_size_options
    block_bytes::Csize_t
    blocks_per_chunk::Csize_t
    initial_chunks::Csize_t
end

struct kmm_counter
    current::Int64
    peak::Int64
    total::Int64
end

struct kmm_statistics
    bytes::kmm_counter
    count::kmm_counter
end

struct kmm_buffer
    data::Ptr{Cvoid}
    bytes::Csize_t
    capacity::Csize_t
    stream::Ptr{Cvoid}
    resource::Ptr{Cvoid}
end
