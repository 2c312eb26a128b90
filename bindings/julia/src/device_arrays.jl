# device_arrays: data that stays on a device between runs.

"""
    DeviceArray(array; context, device)

A copy of an array of Julia on a device; `Array(d)` copies it back. Functions of `jit` and compiled programs take and
give them. Its memory is that of the array, by columns. It goes when nothing uses it any more.
"""
mutable struct DeviceArray
    raw::Ptr{sys.ricci_array}
    context::Context
    type::ArrayType # in Julia's order
    function DeviceArray(raw::Ptr{sys.ricci_array}, context::Context, type::ArrayType)
        return finalizer(a -> sys.ricci_array_release(a.raw), new(raw, context, type))
    end
end

function DeviceArray(a::AbstractArray; context::Context = default_context(), device::AbstractString = "")
    return copied_to(Ricci.device(context, device), context, a)
end
DeviceArray(a::AbstractArray, x::Compiled) = copied_to(x.device, x.context, a)
DeviceArray(a::Number; options...) = DeviceArray(fill(a); options...)

function copied_to(d::Ptr{sys.ricci_device}, context::Context, a::AbstractArray)
    data, t, out = a isa Array ? a : collect(a), array_type(a), Ref(Ptr{sys.ricci_array}(C_NULL))
    id = type_id(context, ArrayType(t.dtype, reverse(t.dims)))
    GC.@preserve context data check(sys.ricci_array_from_host(d, id, pointer(data), C_NULL, out))
    return DeviceArray(out[], context, t)
end

array_type(a::DeviceArray) = a.type
mapleaves(f, x::DeviceArray) = f(x)
Base.size(a::DeviceArray) = Tuple(Int.(a.type.dims))
Base.ndims(a::DeviceArray) = length(a.type.dims)
Base.eltype(a::DeviceArray) = element_type(a.type.dtype)
Base.show(io::IO, a::DeviceArray) = print(io, "DeviceArray(", a.type, ")")

"A copy in memory of Julia. Waits for the run that writes it, and throws its failure."
function Base.Array(a::DeviceArray)
    out = uninitialized(a.type)
    GC.@preserve a out check(sys.ricci_array_copy_to_host(a.raw, pointer(out), sizeof(out)))
    return out
end
to_host(a::DeviceArray) = ndims(a) == 0 ? Array(a)[] : Array(a)

"Runs code on arrays of its device; the results stay there."
function run_on_device(x::Compiled, arguments::Vector{DeviceArray})
    length(arguments) == length(x.params) ||
        throw(Failure("$(length(arguments)) arguments for $(length(x.params)) parameters"))
    for (i, a) in enumerate(arguments)
        a.type == x.params[i] || throw(Failure("argument $i is $(a.type), the program takes $(x.params[i])"))
    end
    handles = Ptr{sys.ricci_array}[a.raw for a in arguments]
    out = fill(Ptr{sys.ricci_array}(C_NULL), length(x.results))
    GC.@preserve x arguments begin
        check(sys.ricci_executable_run(x.raw, handles, length(handles), out, length(out), C_NULL))
    end
    return DeviceArray[DeviceArray(out[i], x.context, x.results[i]) for i in eachindex(out)]
end
