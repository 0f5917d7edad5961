# SPDX-License-Identifier: Apache-2.0
# Runtimes, and arrays: names of memory that libkmm keeps where it is used.

"""
    Runtime(; devices = "", host_mem = 0)

Arrays belong to a runtime. Without arguments it has what the environment says (`KMM_DEVICES`).
`close` waits for all work, frees everything, and throws what has failed.
"""
mutable struct Runtime
    handle::Handle

    function Runtime(; devices::AbstractString = "", host_mem::Integer = 0)
        text = String(devices)
        out = Ref{Handle}(C_NULL)
        GC.@preserve text out begin
            name = isempty(text) ? Text(C_NULL) : terminated(text)
            config = Ref(kmm_config(name, 0, 0, 0, host_mem, Text(C_NULL), 0, 0))
            GC.@preserve config begin
                status = kmm_create_version(
                    KMM_VERSION_NUMBER, sizeof(kmm_config), address(out), address(config))
            end
        end
        rt = new(out[])
        check(status, rt)
        return rt
    end
end

"Where a Ref's value is; the caller preserves the Ref."
address(r::Ref{T}) where {T} = Base.unsafe_convert(Ptr{T}, r)

"The bytes of a String end with 0, unless it has one inside."
function terminated(text::String)
    '\0' in text && throw(ArgumentError("a text for libkmm has no character 0"))
    return Text(pointer(text))
end

function check(status::Integer, rt::Runtime)
    status >= 0 && return nothing
    text = rt.handle == C_NULL ? kmm_error_string(status) : kmm_error_text(rt.handle)
    throw(KmmError(status, unsafe_string(text)))
end

function Base.close(rt::Runtime)
    rt.handle == C_NULL && return nothing
    handle, rt.handle = rt.handle, C_NULL
    status = kmm_destroy(handle)
    status < 0 && throw(KmmError(status, unsafe_string(kmm_error_string(status))))
    return nothing
end

Base.isopen(rt::Runtime) = rt.handle != C_NULL

"Waits for all work. Throws the first error since the last call that threw one."
wait_all(rt::Runtime) = check(kmm_wait(rt.handle), rt)

"The devices of a runtime: their names, memory, and what they have done."
function devices(rt::Runtime)
    return map(0:(kmm_device_count(rt.handle) - 1)) do k
        info = Ref{kmm_device_info}()
        GC.@preserve info begin
            status = kmm_device_get_sized(sizeof(kmm_device_info), rt.handle, k, address(info))
        end
        check(status, rt)
        d = info[]
        bytes = collect(Iterators.takewhile(!iszero, d.name))
        (name = String(bytes), memory_bytes = d.memory_bytes, chunks = d.chunks,
         bytes_in = d.bytes_in, bytes_out = d.bytes_out)
    end
end

"""
    KmmArray{T}(rt, dims...)
    KmmArray(rt, values)

An array of 1 to 6 dimensions. T is a type of plain bits. `copyto!` and `Array` copy its elements;
`fill!` sets them to 0. Indexing makes regions for launches and does not access elements.
"""
mutable struct KmmArray{T,N}
    rt::Runtime
    base::Ptr{T}
    dims::NTuple{N,Int}

    function KmmArray{T}(rt::Runtime, dims::Vararg{Integer,N}) where {T,N}
        isbitstype(T) || throw(ArgumentError("elements of $T are not plain bits"))
        1 <= N <= KMM_MAX_DIMS || throw(ArgumentError("an array has 1 to 6 dimensions"))
        out = Ref{Ptr{Cvoid}}(C_NULL)
        if prod(dims) > 0
            # libkmm's first dimension is the outermost one; Julia's is the innermost.
            extent = ntuple(k -> k <= N ? Int64(dims[N + 1 - k]) : Int64(0), KMM_MAX_DIMS)
            shape = Ref(kmm_shape(N, extent, sizeof(T), Text(C_NULL)))
            GC.@preserve out shape begin
                status = kmm_array_create(rt.handle, address(shape), address(out))
            end
            check(status, rt)
        end
        return finalizer(free, new{T,N}(rt, Ptr{T}(out[]), Int.(dims)))
    end
end

# Freeing does not wait for work; the array goes when its work is done.
function free(a::KmmArray)
    if a.base != C_NULL && isopen(a.rt)
        kmm_array_destroy(a.rt.handle, Ptr{Cvoid}(a.base))
    end
    a.base = C_NULL
    return nothing
end

function KmmArray(rt::Runtime, values::Array{T}) where {T}
    return copyto!(KmmArray{T}(rt, size(values)...), values)
end

Base.eltype(::Type{<:KmmArray{T}}) where {T} = T
Base.ndims(::KmmArray{T,N}) where {T,N} = N
Base.size(a::KmmArray) = a.dims
Base.size(a::KmmArray, k::Integer) = a.dims[k]
Base.length(a::KmmArray) = prod(a.dims)
Base.show(io::IO, a::KmmArray{T}) where {T} = print(io, join(a.dims, "×"), " KmmArray{", T, "}")

"The address that stands for the array in functions that kmmcc has compiled. Nothing is there."
Base.pointer(a::KmmArray) = a.base

bytes(a::KmmArray{T}) where {T} = length(a) * sizeof(T)

function same_size(a, b)
    size(a) == size(b) || throw(DimensionMismatch("sizes $(size(a)) and $(size(b))"))
    return nothing
end

function Base.copyto!(to::KmmArray{T}, from::Array{T}) where {T}
    same_size(to, from)
    isempty(from) && return to
    GC.@preserve from begin
        status = kmm_copy_in(
            to.rt.handle, Ptr{Cvoid}(to.base), Ptr{Cvoid}(pointer(from)), bytes(to))
    end
    check(status, to.rt)
    return to
end

function Base.copyto!(to::Array{T}, from::KmmArray{T}) where {T}
    same_size(to, from)
    isempty(to) && return to
    GC.@preserve to from begin
        status = kmm_copy_out(
            from.rt.handle, Ptr{Cvoid}(pointer(to)), Ptr{Cvoid}(from.base), bytes(from))
    end
    check(status, from.rt)
    return to
end

Base.Array(a::KmmArray{T,N}) where {T,N} = copyto!(Array{T,N}(undef, a.dims), a)

function Base.fill!(a::KmmArray{T}, value) where {T}
    iszero(value) || return copyto!(a, fill(T(value), a.dims))
    length(a) == 0 && return a
    check(kmm_fill(a.rt.handle, Ptr{Cvoid}(a.base), 0, bytes(a)), a.rt)
    return a
end

"Waits for the work on an array, and for no other."
Base.wait(a::KmmArray) = check(kmm_wait_array(a.rt.handle, Ptr{Cvoid}(a.base)), a.rt)
