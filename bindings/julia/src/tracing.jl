# tracing: programs under construction, the values in them, and equations with the location of the caller.
#
# A function that is traced gets values; what it does with them is appended to the innermost program that is open. A
# nested program (a body, a branch) may use values of the programs around it: they become parameters after its own, and
# the program that nests it passes them as operands. Mistakes are exceptions at the line that makes them; the programs
# that are open then are abandoned.

abstract type Tracer end

"""
    Value

An array of a program under construction: it holds no numbers. `size`, `ndims`, `length` and `eltype` are known;
operations, also with dots, add equations. It belongs to one trace and one task.
"""
struct Value
    builder::Tracer
    id::UInt64
    type::ArrayType
end

"A program under construction. One task uses it at a time."
mutable struct Builder <: Tracer
    raw::Ptr{sys.ricci_builder} # C_NULL once it is finished or given back
    context::Context
    outer::Union{Nothing,Builder}
    is_lent::Bool # by the library, for a rule: neither finished nor abandoned here
    captured::Vector{Pair{Value,UInt64}} # values of outer programs, and the parameters that stand for them
    locations::Dict{Any,Union{Nothing,Tuple{String,Int}}} # of addresses of code, since looking them up takes long
end
function Builder(raw, context, outer, is_lent::Bool)
    return Builder(raw, context, outer, is_lent, Pair{Value,UInt64}[], Dict{Any,Union{Nothing,Tuple{String,Int}}}())
end

"A new program, nested in `outer` if there is one, and the values of its parameters."
function new_program(context::Context, outer::Union{Nothing,Builder}, name::String, params::Vector{ArrayType})
    ids, vals = sys.ricci_type[type_id(context, t) for t in params], zeros(UInt64, length(params))
    out = Ref(Ptr{sys.ricci_builder}(C_NULL))
    GC.@preserve context outer begin
        if outer === nothing
            check(sys.ricci_builder_create(context.raw, name, sizeof(name), ids, length(ids), out, vals))
        else
            check(sys.ricci_builder_nest(outer.raw, name, sizeof(name), ids, length(ids), out, vals))
        end
    end
    b = Builder(out[], context, outer, false)
    return b, Value[Value(b, vals[i], params[i]) for i in eachindex(vals)]
end

function abandon!(b::Builder)
    b.is_lent || b.raw == C_NULL || sys.ricci_builder_abandon(b.raw)
    b.raw = C_NULL
    return nothing
end

"The programs that this task is building, the innermost last."
open_programs() = get!(() -> Builder[], task_local_storage(), :ricci_open_programs)::Vector{Builder}

"Runs `f()`, whose operations go into `b`. After an exception `b` is abandoned."
function building(f, b::Builder)
    push!(open_programs(), b)
    try
        return f()
    catch
        abandon!(b)
        rethrow()
    finally
        pop!(open_programs())
    end
end

"Ends a program with these results."
function finish!(b::Builder, results::Vector{Value})
    ids = UInt64[own(b, v) for v in results]
    f = made(out -> sys.ricci_builder_finish(b.raw, ids, length(ids), out), b.context)
    b.raw = C_NULL # consumed
    return f
end

function is_inside(b::Builder, of::Builder)
    while b.outer !== nothing
        b = b.outer::Builder
        b === of && return true
    end
    return false
end

"Where an operation on these values goes: into the program that is open, if it is inside of theirs, else into theirs."
function innermost(values)
    isempty(values) && return isempty(open_programs()) ? no_trace() : last(open_programs())
    best = first(values).builder
    for v in values
        is_inside(v.builder, best) && (best = v.builder)
    end
    open = open_programs()
    return !isempty(open) && is_inside(last(open), best) ? last(open) : best
end
no_trace() = throw(Failure("there is no value, so no trace to add an operation to; pass one as an argument"))

"The id that a value has in `b`: its own, or that of a parameter that stands for a value of an outer program."
function own(b::Builder, v::Value)
    b.raw == C_NULL && throw(Failure("a value is used after its trace has ended; return it from the function instead"))
    v.builder === b && return v.id
    for (captured, id) in b.captured
        captured.builder === v.builder && captured.id == v.id && return id
    end
    is_inside(b, v.builder) ||
        throw(Failure("a value is used in a trace that it does not belong to; pass it as an argument"))
    id = Ref(UInt64(0))
    check(sys.ricci_builder_param(b.raw, type_id(b.context, v.type), id))
    push!(b.captured, v => id[])
    return id[]
end

# ---- the location of the caller ----

const SOURCES = @__DIR__

"Whether code is of this package or of Julia itself, whose files have no folder or `./`; `REPL[1]` is the user's."
is_ours(file) = startswith(file, SOURCES) || (!isabspath(file) && endswith(file, ".jl"))

"File and line of the code at an address, if it is the user's."
function location_of(address)
    for frame in Base.StackTraces.lookup(address)
        file = String(frame.file)
        frame.from_c || is_ours(file) || return (file, Int(frame.line))
    end
    return nothing
end

"Says where the equations that follow come from. Those of a rule keep the location of the operation that it is for."
function set_location!(b::Builder)
    b.is_lent && return nothing
    for address in backtrace()
        location = get!(() -> location_of(address), b.locations, address)
        location === nothing && continue
        sys.ricci_builder_set_location(b.raw, location[1], location[2], C_NULL)
        return nothing
    end
    return sys.ricci_builder_set_location(b.raw, C_NULL, 0, C_NULL)
end

# ---- equations ----

"A dtype as an attribute, which is not the same as its number."
struct DType
    number::UInt32
end

"An attribute as the library has it. What it points to goes into `kept`, which the caller keeps alive."
function attribute(kept::Vector{Any}, name::String, x)
    push!(kept, name, x)
    text = sys.ricci_str(pointer(name), sizeof(name))
    none = Ptr{Cvoid}(C_NULL)
    x isa Bool && return sys.ricci_attr(text, sys.RICCI_ATTR_BOOL, 1, x, 0.0, none)
    x isa Integer && return sys.ricci_attr(text, sys.RICCI_ATTR_INT, 1, x, 0.0, none)
    x isa AbstractFloat && return sys.ricci_attr(text, sys.RICCI_ATTR_FLOAT, 1, 0, x, none)
    x isa DType && return sys.ricci_attr(text, sys.RICCI_ATTR_DTYPE, 1, x.number, 0.0, none)
    list(kind) = sys.ricci_attr(text, kind, x isa String ? sizeof(x) : length(x), 0, 0.0, pointer(x))
    x isa String && return list(sys.RICCI_ATTR_STRING)
    x isa Vector{Int64} && return list(sys.RICCI_ATTR_INTS)
    x isa Vector{Float64} && return list(sys.RICCI_ATTR_FLOATS)
    programs = x isa Program ? [x] : x
    programs isa Vector{Program} || throw(Failure("attribute $name: a $(typeof(x)) is not an attribute; use Bool, Int, " *
        "Float64, String, Vector{Int64}, Vector{Float64}, DType, Program or Vector{Program}"))
    handles = [f.raw for f in programs]
    push!(kept, handles)
    kind = x isa Program ? sys.RICCI_ATTR_PROGRAM : sys.RICCI_ATTR_PROGRAMS
    return sys.ricci_attr(text, kind, length(handles), 0, 0.0, pointer(handles))
end

"""
    emit(operation, operands, n_out, attributes...; builder)

Appends any primitive, also of a plugin: its results. Attributes are pairs such as `"axes" => [0, 1]`; names, numbers of
dimensions (from 0) and meaning are those of plugins/lax/PRIMITIVES.md.
"""
function emit(operation::String, operands::Vector{Value}, n_out::Integer, attributes::Pair...;
              builder::Builder = innermost(operands))
    ids, kept, out = UInt64[own(builder, v) for v in operands], Any[], zeros(UInt64, n_out)
    set_location!(builder)
    prim = Ref(sys.ricci_prim(0))
    GC.@preserve builder kept begin
        attrs = sys.ricci_attr[attribute(kept, String(name), x) for (name, x) in attributes]
        check(sys.ricci_prim_find(builder.context.raw, operation, sizeof(operation), prim))
        check(sys.ricci_builder_emit(builder.raw, prim[], attrs, length(attrs), ids, length(ids), out, n_out))
    end
    return Value[value_of(builder, id) for id in out]
end

"The value with an id in a builder, with its type."
function value_of(b::Builder, id::UInt64)
    return Value(b, id, type_of(b.context, sys.ricci_builder_type(b.raw, id)))
end

"Appends the equations of a program: its results for these operands."
function inline(f::Program, operands::Vector{Value}, builder::Builder = innermost(operands))
    ids, out = UInt64[own(builder, v) for v in operands], zeros(UInt64, length(signature(f)[2]))
    set_location!(builder)
    GC.@preserve f builder begin
        check(sys.ricci_builder_inline(builder.raw, f.raw, ids, length(ids), out, length(out)))
    end
    return Value[value_of(builder, id) for id in out]
end

(f::Program)(operands::Value...) = inline(f, Value[operands...])

# ---- constants ----

"A value of type `t` whose elements are all `x`."
function splat(builder::Builder, t::ArrayType, x::Number)
    T = element_type(t.dtype)
    x isa Complex && !(T <: Complex) && throw(Failure("the complex number $x beside a value $t; convert one of them"))
    T <: Integer && !isinteger(x) && throw(Failure("the number $x beside a value $t; convert one with astype"))
    element, id = Ref{T}(x), Ref(UInt64(0))
    GC.@preserve builder element begin
        start = Base.unsafe_convert(Ptr{T}, element)
        check(sys.ricci_builder_const(builder.raw, type_id(builder.context, t), start, sizeof(T), id))
    end
    return Value(builder, id[], t)
end

"A constant with the elements of an array."
function constant(builder::Builder, x::AbstractArray{T,N}) where {T,N}
    data, id = x isa Array ? x : collect(x), Ref(UInt64(0))
    stored = ArrayType(dtype_of(T), reverse(collect(Int64, size(data))))
    GC.@preserve builder data begin
        check(sys.ricci_builder_const(builder.raw, type_id(builder.context, stored), pointer(data), sizeof(data), id))
    end
    return reversed(Value(builder, id[], stored))
end
constant(builder::Builder, x::Number) = splat(builder, ArrayType(dtype_of(typeof(x)), Int64[]), x)
constant(::Builder, x::Value) = x

"With its dimensions in the opposite order, as memory by columns is seen by a library that counts by rows."
function reversed(v::Value)
    n = length(v.type.dims)
    n < 2 && return v
    return only(emit("transpose", [v], 1, "permutation" => collect(Int64, n-1:-1:0)))
end
