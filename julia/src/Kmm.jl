# SPDX-License-Identifier: Apache-2.0
"""
Arrays larger than a device's memory, functions that run over them in chunks, and memory resources:
libkmm, by `kmm.h`, `kmm/launch.h` and `kmm/resource.h`.
"""
module Kmm

export Runtime, KmmArray, Axis, parallel, part, update, wait_all, devices
export Resource, DeviceBuffer

include("structs.jl")
include("libkmm.jl")

"""What libkmm reports: `code` is a number of `kmm/error.h`."""
struct KmmError <: Exception
    code::Int
    text::String
end

Base.showerror(io::IO, e::KmmError) = print(io, "kmm: ", e.text)

include("arrays.jl")
include("launches.jl")
include("resources.jl")

end
