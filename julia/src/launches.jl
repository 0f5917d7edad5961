# SPDX-License-Identifier: Apache-2.0
# Launches of functions of Julia: axes, regions that are affine in them, and calls for each chunk.

"""
    Axis(1:n)

The indices over which a launch runs. Sums of axes, numbers, and axes times numbers are indices.
"""
struct Axis
    range::UnitRange{Int}
    id::Int
    Axis(range::AbstractUnitRange) = new(range, Threads.atomic_add!(axis_count, 1))
end

const axis_count = Threads.Atomic{Int}(1)

"A constant plus axes times numbers."
struct Affine
    constant::Int
    terms::Vector{Pair{Axis,Int}}
end

const Index = Union{Affine,Axis}

Affine(k::Integer) = Affine(k, Pair{Axis,Int}[])
Affine(a::Axis) = Affine(0, [a => 1])
Affine(a::Affine) = a

coefficient(a::Affine, axis::Axis) = sum((k for (x, k) in a.terms if x === axis); init = 0)

function Base.:+(a::Index, b::Union{Index,Integer})
    x, y = Affine(a), Affine(b)
    return Affine(x.constant + y.constant, vcat(x.terms, y.terms))
end
Base.:+(a::Integer, b::Index) = b + a
function Base.:*(k::Integer, a::Index)
    x = Affine(a)
    return Affine(k * x.constant, Pair{Axis,Int}[axis => k * n for (axis, n) in x.terms])
end
Base.:*(a::Index, k::Integer) = k * a
Base.:-(a::Index) = -1 * a
Base.:-(a::Index, b::Union{Index,Integer}) = a + (-1) * b
Base.:-(a::Integer, b::Index) = a + (-1) * b

"The indices from `first` to `last`, both included."
struct Section
    first::Affine
    last::Affine
end

for (A, B) in ((Axis, Axis), (Axis, Affine), (Affine, Axis), (Affine, Affine), (Index, Integer),
               (Integer, Index))
    @eval (::Colon)(a::$A, b::$B) = Section(Affine(a), Affine(b))
end

"The elements of parts: `numbers` says of which, and `offsets`, from 0 on, where they begin."
struct Parts
    offsets::Vector{Int64}
    numbers::Section
end

"Elements of an array: one Section, some Parts, or a Colon, for each dimension."
struct Region{T,N}
    array::KmmArray{T,N}
    sections::NTuple{N,Union{Section,Parts,Colon}}
end

section(k::Union{Index,Integer}) = Section(Affine(k), Affine(k))
section(r::AbstractUnitRange{<:Integer}) = Section(Affine(first(r)), Affine(last(r)))
section(s::Union{Section,Parts,Colon}) = s

"""
The elements from `offsets[i]` on, before `offsets[i + 1]`, as the rows of a matrix in CSR form:
`a[part(offsets, i)]`, or of several parts `a[part(offsets, i - 1:i + 1)]`. Offsets count from 1.
"""
part(offsets::AbstractVector{<:Integer}, numbers) =
    Parts(Int64[k - 1 for k in offsets], section(numbers))

Base.getindex(a::KmmArray{T,N}, indices::Vararg{Any,N}) where {T,N} =
    Region{T,N}(a, map(section, indices))

"What a function does with a region, as an argument of `parallel`."
struct Access{T,N}
    region::Region{T,N}
    mode::Int
    op::Int # of a reduction; else -1
end

whole(a::KmmArray{T,N}) where {T,N} = Region{T,N}(a, ntuple(_ -> Colon(), N))
whole(r::Region) = r

const Part = Union{KmmArray,Region}
Base.read(r::Part) = Access(whole(r), KMM_READ, -1)
"`write` means that the chunk sets every element of the region."
Base.write(r::Part) = Access(whole(r), KMM_WRITE, -1)
update(r::Part) = Access(whole(r), KMM_UPDATE, -1)

const operators = Dict{Any,Int}((+) => KMM_OP_ADD, (*) => KMM_OP_MUL, min => KMM_OP_MIN,
                                max => KMM_OP_MAX, (&) => KMM_OP_BAND, (|) => KMM_OP_BOR,
                                xor => KMM_OP_BXOR)
const types = Dict{DataType,Int}(
    Int8 => KMM_INT8, Int16 => KMM_INT16, Int32 => KMM_INT32, Int64 => KMM_INT64,
    UInt8 => KMM_UINT8, UInt16 => KMM_UINT16, UInt32 => KMM_UINT32, UInt64 => KMM_UINT64,
    Float32 => KMM_FLOAT, Float64 => KMM_DOUBLE, ComplexF32 => KMM_COMPLEX_FLOAT,
    ComplexF64 => KMM_COMPLEX_DOUBLE)

function Base.reduce(op::Function, r::Part)
    haskey(operators, op) || throw(ArgumentError("libkmm does not reduce with $op"))
    type = eltype(typeof(whole(r).array))
    haskey(types, type) || throw(ArgumentError("libkmm does not reduce $type"))
    return Access(whole(r), 0, operators[op])
end

"""
What a function gets for a region. It is indexed as the whole array is; elements that the chunk did
not name are not there. It is valid until the function returns.
"""
struct View{T,N}
    base::Ptr{T}
    dims::NTuple{N,Int}
end

@inline function offset(v::View{T,N}, indices::NTuple{N,Int}) where {T,N}
    at, stride = 0, 1
    for k in 1:N
        @boundscheck 1 <= indices[k] <= v.dims[k] || throw(BoundsError(v, indices))
        at += (indices[k] - 1) * stride
        stride *= v.dims[k]
    end
    return at + 1
end

Base.size(v::View) = v.dims
Base.@propagate_inbounds Base.getindex(v::View{T,N}, i::Vararg{Int,N}) where {T,N} =
    unsafe_load(v.base, offset(v, i))
Base.@propagate_inbounds Base.setindex!(v::View{T,N}, x, i::Vararg{Int,N}) where {T,N} =
    (unsafe_store!(v.base, convert(T, x), offset(v, i)); x)

"The indices of one chunk: `chunk[k]` is the range of axis k."
struct Chunk{N}
    ranges::NTuple{N,UnitRange{Int}}
end

Base.getindex(c::Chunk, k::Integer) = c.ranges[k]
Base.CartesianIndices(c::Chunk) = CartesianIndices(c.ranges)

# ---- A launch while its chunks run ----

mutable struct Record
    call::Function # of a kmm_chunk and the addresses of its arrays
    lock::Threads.SpinLock
    thrown::Any # what a chunk has thrown first, with its stack
end

const records = Dict{UInt64,Record}()
const records_lock = Threads.SpinLock()
const record_count = Threads.Atomic{UInt64}(1)

# libkmm calls this for each chunk, on threads of its own, which Julia adopts. Nothing is thrown
# from here. The block is the record's number, and an address for each array.
function run_chunk(chunk::Ptr{kmm_chunk}, block::Ptr{UInt64})::Cvoid
    record = lock(() -> records[unsafe_load(block)], records_lock)
    try
        Base.invokelatest(record.call, unsafe_load(chunk), block + sizeof(UInt64))
    catch e
        thrown = CapturedException(e, catch_backtrace())
        lock(record.lock) do
            record.thrown === nothing && (record.thrown = thrown)
        end
    end
    return nothing
end

# libkmm keeps the addresses of texts.
const texts = Dict{String,Vector{UInt8}}()
const texts_lock = Threads.SpinLock() # does not yield: a launch stays on its thread
function kept(text::String)
    lock(texts_lock) do
        Text(pointer(get!(() -> vcat(codeunits(text), 0x00), texts, text)))
    end
end

function describe_section(l, ::Colon, axes)
    kmm_launch_index(l, 0, KMM_WHOLE)
    return nothing
end

# libkmm counts elements from 0, and axes as Julia does.
function describe_section(l, s::Section, axes)
    length = s.last - s.first + 1
    kmm_launch_index(l, s.first.constant - 1, length.constant)
    for (k, axis) in enumerate(axes)
        a, b = coefficient(s.first, axis), coefficient(length, axis)
        (a, b) == (0, 0) || kmm_launch_coef(l, k - 1, a, b)
    end
    return nothing
end

function describe_section(l, s::Parts, axes)
    describe_section(l, s.numbers, axes)
    kmm_launch_offsets(l, pointer(s.offsets), KMM_INT64, length(s.offsets))
    return nothing
end

function describe_access(l, number, access::Access{T,N}, axes) where {T,N}
    array = access.region.array
    array.base == C_NULL && return nothing
    text, base = kept("argument $number"), Ptr{Cvoid}(array.base)
    if access.op >= 0
        kmm_launch_reduce(l, access.op, types[T], text, base)
    else
        kmm_launch_access(l, access.mode, text, base, sizeof(T))
    end
    foreach(n -> kmm_launch_extent(l, n), reverse(array.dims))
    foreach(s -> describe_section(l, s, axes), reverse(access.region.sections))
    return nothing
end

function check_arguments(rt, axes, accesses)
    1 <= length(axes) <= KMM_MAX_SPLIT || throw(ArgumentError("a launch has 1 to 3 axes"))
    for a in accesses, s in a.region.sections
        a.region.array.rt === rt || throw(ArgumentError("an array of another runtime"))
        numbers = s isa Parts ? s.numbers : s
        numbers isa Section || continue
        all(t -> first(t) in axes, vcat(numbers.first.terms, numbers.last.terms)) ||
            throw(ArgumentError("a region has an axis that the launch has not"))
    end
    return nothing
end

view_of(a::Access{T}, address) where {T} = View(Ptr{T}(address), a.region.array.dims)

# Returns the function that a chunk runs.
function caller(f, arguments, count)
    return function (chunk::kmm_chunk, addresses::Ptr{UInt64})
        k = 0
        values = map(arguments) do a
            a isa Access ? view_of(a, unsafe_load(addresses, k += 1)) : a
        end
        f(Chunk(ntuple(i -> Int(chunk.begin_[i]):Int(chunk.end_[i] - 1), count)), values...)
        return nothing
    end
end

function describe(axes, chunk, accesses)
    l = kmm_launch_begin_version(KMM_LAUNCH_VERSION, kept("Kmm.parallel"), kept("Julia"), 0)
    kmm_launch_await(l)
    for (k, axis) in enumerate(axes)
        kmm_launch_axis(l, kept("axis $k"), KMM_RANGE_0 + k - 1, first(axis.range),
                        length(axis.range))
    end
    for (k, n) in enumerate(chunk)
        kmm_launch_chunk(l, KMM_RANGE_0 + k - 1, n)
    end
    for (k, a) in enumerate(accesses)
        describe_access(l, k, a, axes)
    end
    return l
end

"""
    parallel(f, rt, axes, arguments...; chunk = ())

Calls `f(chunk, arguments...)` for each chunk of the axes (an `Axis`, or a tuple of up to 3), side
by side on threads of kmm. An argument `read(a[i])`, `write(...)`, `update(...)` or
`reduce(+, ...)` is a `View`; the others are handed on. `chunk` has a number of indices for each
axis. Returns when the chunks have run, and throws what one of them has thrown, as a
`CapturedException`.
"""
function parallel(f, rt::Runtime, axes::Tuple{Vararg{Axis}}, arguments...; chunk = ())
    accesses = Access[a for a in arguments if a isa Access]
    check_arguments(rt, axes, accesses)
    any(a -> isempty(a.range), axes) && return nothing
    record = Record(caller(f, arguments, length(axes)), Threads.SpinLock(), nothing)
    number = Threads.atomic_add!(record_count, UInt64(1))
    block = UInt64[number; [UInt64(UInt(a.region.array.base)) for a in accesses]]
    lock(() -> records[number] = record, records_lock)
    local status
    try
        GC.@preserve block accesses status = begin
            kmm_use(rt.handle)
            l = describe(axes, chunk, accesses)
            run = @cfunction(run_chunk, Cvoid, (Ptr{kmm_chunk}, Ptr{UInt64}))
            kmm_launch_call(l, run, Ptr{Cvoid}(pointer(block)), sizeof(block))
        end
    finally
        kmm_use(C_NULL)
        lock(() -> delete!(records, number), records_lock)
    end
    record.thrown === nothing || throw(record.thrown)
    return check(status, rt)
end

parallel(f, rt::Runtime, axis::Axis, arguments...; options...) =
    parallel(f, rt, (axis,), arguments...; options...)
