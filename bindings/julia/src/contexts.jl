# contexts: the root of all objects, element types, and array types in the order of Julia's dimensions.

"""
    Context(; plugins = [], options...)

The built-in primitives with the backends `cpu` and `ref`. `plugins` are paths of shared objects to load too; `options`
those of `ricci_context_config`, such as `threads = 2`. Most programs need one only, `default_context()`.

Any thread may use it, except while plugins or primitives are added. It goes when nothing made from it is left.
"""
mutable struct Context
    raw::Ptr{sys.ricci_ctx}
    # Finalizers may run on any thread, which the library allows for release; they do nothing else.
    function Context(raw::Ptr{sys.ricci_ctx})
        return finalizer(c -> sys.ricci_context_release(c.raw), new(raw))
    end
end

function Context(; plugins = String[], options...)
    made = Ref(Ptr{sys.ricci_ctx}(C_NULL))
    check(sys.ricci_context_create(C_NULL, made))
    c = Context(made[])
    check(sys.ricci_context_add_plugin(c.raw, sys.ricci_plugin_query_lax()))
    check(sys.ricci_context_add_plugin(c.raw, sys.ricci_plugin_query_nn()))
    for (key, value) in options
        config!(c, String(key), value)
    end
    load_plugin!(c, find_library(CPU_PLUGIN))
    for path in plugins
        load_plugin!(c, path)
    end
    return c
end

"Loads a shared object and registers it; it is never unloaded. No other thread may use the context meanwhile."
function load_plugin!(c::Context, path::AbstractString)
    file = String(path)
    GC.@preserve c check(sys.ricci_context_load_plugin(c.raw, file, sizeof(file)))
    return c
end

"Sets an option, such as `\"threads\"`; unknown ones are a `Failure` that lists the known ones."
function config!(c::Context, key::AbstractString, value)
    name, given = String(key), string(value)
    GC.@preserve c check(sys.ricci_context_config(c.raw, name, sizeof(name), given, sizeof(given)))
    return c
end

const DEFAULT = Ref{Union{Nothing,Context}}(nothing)
const DEFAULT_LOCK = ReentrantLock()

"The context that functions use unless another one is given; made when it is first needed."
function default_context()
    return lock(DEFAULT_LOCK) do
        DEFAULT[] === nothing && (DEFAULT[] = Context())
        return DEFAULT[]::Context
    end
end

"The best device, or the first of a kind: `cpu`, `ref`, `cuda`."
function device(c::Context, kind::AbstractString = "")
    name = String(kind)
    found = GC.@preserve c begin
        isempty(name) ? sys.ricci_device_get(c.raw, 0) : sys.ricci_device_find(c.raw, name, sizeof(name))
    end
    found == C_NULL && throw(Failure("no device `$name`; load the plugin that has it with load_plugin!"))
    return found
end

"Whether the memory of a device is that of the host, so that arrays of Julia can be bound."
function has_host_memory(d::Ptr{sys.ricci_device})
    info = Ref(sys.sized(sys.ricci_device_desc))
    sys.ricci_device_info(d, info)
    return info[].host_memory != 0
end

const ELEMENT_TYPES = Dict{DataType,UInt32}(
    Bool => sys.RICCI_BOOL, Int8 => sys.RICCI_I8, Int16 => sys.RICCI_I16, Int32 => sys.RICCI_I32,
    Int64 => sys.RICCI_I64, UInt8 => sys.RICCI_U8, UInt16 => sys.RICCI_U16, UInt32 => sys.RICCI_U32,
    UInt64 => sys.RICCI_U64, Float16 => sys.RICCI_F16, Float32 => sys.RICCI_F32, Float64 => sys.RICCI_F64,
    ComplexF32 => sys.RICCI_C64, ComplexF64 => sys.RICCI_C128)
const OF_DTYPE = Dict{UInt32,DataType}(dtype => T for (T, dtype) in ELEMENT_TYPES)

"The number of an element type."
function dtype_of(T::Type)
    return get(() -> throw(Failure("elements of type $T are not known; known: $(join(keys(ELEMENT_TYPES), ", "))")),
               ELEMENT_TYPES, T)
end

"The element type of Julia for a dtype; bf16 and the 8- and 4-bit floats have none."
function element_type(dtype::UInt32)
    get(OF_DTYPE, dtype, nothing) === nothing || return OF_DTYPE[dtype]
    name = Ref(NO_TEXT)
    sys.ricci_dtype_name(dtype, name)
    throw(Failure("Julia has no element type for $(text(name[])); convert with astype(x, Float32)"))
end

"An array type: element type by number, and sizes in the order in which the program has its dimensions."
struct ArrayType
    dtype::UInt32
    dims::Vector{Int64}
end
Base.:(==)(a::ArrayType, b::ArrayType) = a.dtype == b.dtype && a.dims == b.dims
Base.hash(t::ArrayType, h::UInt) = hash(t.dims, hash(t.dtype, h))
Base.length(t::ArrayType) = prod(t.dims; init = 1)

function Base.show(io::IO, t::ArrayType)
    name = Ref(NO_TEXT)
    sys.ricci_dtype_name(t.dtype, name)
    print(io, text(name[]), "[", join(t.dims, ","), "]")
end

"The id of a type in a context."
function type_id(c::Context, t::ArrayType)
    dims, id = t.dims, Ref(sys.ricci_type(0))
    GC.@preserve c dims begin
        desc = Ref(sys.sized(sys.ricci_type_desc; dtype = t.dtype, rank = length(dims), dims = pointer(dims)))
        check(sys.ricci_type_make(c.raw, desc, id))
    end
    return id[]
end

"The type with an id."
function type_of(c::Context, id::UInt32)
    desc = Ref(sys.sized(sys.ricci_type_desc))
    GC.@preserve c check(sys.ricci_type_get(c.raw, id, desc))
    rank = Int(desc[].rank)
    return ArrayType(desc[].dtype, [unsafe_load(desc[].dims, i) for i in 1:rank]) # they live as long as the context
end
