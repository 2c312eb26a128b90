# rows: primitives written in Julia: their types and what they are made of; derivatives, batches and code follow.
#
# The library calls the functions of this file through pointers. They are top-level functions, not closures: a closure as
# @cfunction needs a trampoline, which not every platform has. `self` is the address of the row, so a row is mutable (its
# address is fixed) and stays in ROOTS for the life of the process, as plugins do: a drop_self could be called from a
# finalizer, where taking a lock to unroot it may deadlock. Rules run on threads that trace, transform or compile;
# a thread that Julia does not know is adopted by Julia 1.9 and later.

"""
    Primitive(types, decompose; name, doc, examples, attributes)

`types(operands, attributes)` gives the `ArrayType`s of the results, or throws what is wrong; `decompose(operands,
attributes)` gives the results as a vector of values. `name` is `vendor.op`; `doc` is `z = vendor.op(x, y): what it
computes`; `examples` are operations on which the laws are checked, `(f64[3] in 0.3..3)`; `attributes` are pairs such
as `"steps" => Int` (also `Float64`, `Bool`, `String`, `Vector{Int64}`, `Vector{Float64}`).
"""
mutable struct Primitive
    types::Any
    decompose::Any
    name::String
    doc::String
    examples::String
    attributes::Vector{Pair{String,DataType}}
end
function Primitive(types, decompose; name, doc, examples = "", attributes = Pair{String,DataType}[])
    return Primitive(types, decompose, name, doc, examples, attributes)
end

"What a plugin registers, and the structs that the library reads while it does."
mutable struct Rows
    name::String
    version::String
    primitives::Vector{Primitive}
    plugin::Base.RefValue{sys.ricci_plugin}
end

const ROOTS = Any[]
const ROOTS_LOCK = ReentrantLock()
const QUERIED = Ref{Any}(nothing) # the rows whose plugin query_rows gives; set while ROOTS_LOCK is held

const KINDS = Dict{DataType,UInt32}(
    Int => sys.RICCI_ATTR_INT, Float64 => sys.RICCI_ATTR_FLOAT, Bool => sys.RICCI_ATTR_BOOL,
    String => sys.RICCI_ATTR_STRING, Vector{Int64} => sys.RICCI_ATTR_INTS, Vector{Float64} => sys.RICCI_ATTR_FLOATS)

"The attributes of an operation, by name."
function attributes_of(op::sys.ricci_op)
    found = Dict{String,Any}()
    for i in 1:Int(op.n_attrs)
        a = unsafe_load(op.attrs, i)
        found[text(a.name)] = attribute_value(a)
    end
    return found
end
function attribute_value(a::sys.ricci_attr)
    list(T) = T[unsafe_load(Ptr{T}(a.data), i) for i in 1:Int(a.count)] # copied: it is borrowed for the call
    a.kind == sys.RICCI_ATTR_FLOAT && return a.f
    a.kind == sys.RICCI_ATTR_BOOL && return a.i != 0
    a.kind == sys.RICCI_ATTR_STRING && return String(list(UInt8))
    a.kind == sys.RICCI_ATTR_INTS && return list(Int64)
    a.kind == sys.RICCI_ATTR_FLOATS && return list(Float64)
    return a.i
end

"The context of an operation, with a reference of its own."
borrowed_context(c::Ptr{sys.ricci_ctx}) = Context(sys.ricci_context_retain(c))

# ---- the rules, as the library calls them ----

function types_rule(self::Ptr{Cvoid}, b::Ptr{sys.ricci_builder}, operation::Ptr{sys.ricci_op})::Ptr{sys.ricci_status}
    return guarded() do
        row, op = unsafe_pointer_to_objref(self)::Primitive, unsafe_load(operation)
        context = borrowed_context(op.ctx)
        operands = ArrayType[type_of(context, unsafe_load(op.in_types, i)) for i in 1:Int(op.n_in)]
        results = row.types(operands, attributes_of(op))
        ids = sys.ricci_type[type_id(context, t) for t in results]
        check(sys.ricci_builder_set_out_types(b, ids, length(ids)))
    end
end

function decompose_rule(self::Ptr{Cvoid}, b::Ptr{sys.ricci_builder}, operation::Ptr{sys.ricci_op},
                        given::Ptr{sys.ricci_val}, out::Ptr{sys.ricci_val})::Ptr{sys.ricci_status}
    return guarded() do
        row, op = unsafe_pointer_to_objref(self)::Primitive, unsafe_load(operation)
        builder = Builder(b, borrowed_context(op.ctx), nothing, true)
        operands = Value[value_of(builder, unsafe_load(given, i)) for i in 1:Int(op.n_in)]
        results = building(() -> row.decompose(operands, attributes_of(op)), builder)
        length(results) == op.n_out ||
            throw(Failure("decompose gives $(length(results)) results, types gives $(op.n_out)"))
        for (i, x) in enumerate(results)
            unsafe_store!(out, own(builder, constant(builder, x)), i)
        end
        abandon!(builder) # what is kept of it beyond the rule is refused
    end
end

function query_rows(::Ptr{sys.ricci_host_info}, out::Ptr{Ptr{sys.ricci_plugin}})::Ptr{sys.ricci_status}
    return guarded() do
        rows = QUERIED[]::Rows
        unsafe_store!(out, Base.unsafe_convert(Ptr{sys.ricci_plugin}, rows.plugin)) # in ROOTS, so it stays
    end
end

function attach_rows(self::Ptr{Cvoid}, c::Ptr{sys.ricci_ctx})::Ptr{sys.ricci_status}
    return guarded() do
        foreach(row -> register(c, row), (unsafe_pointer_to_objref(self)::Rows).primitives)
    end
end

# ---- registration ----

view_of(s::String) = sys.ricci_str(pointer(s), sizeof(s))

"Registers one row; the library copies all but the row itself. An exception is a status of the attach."
function register(c::Ptr{sys.ricci_ctx}, row::Primitive)
    everywhere = "*"
    names = String[name for (name, _) in row.attributes]
    name, doc, examples = row.name, row.doc, row.examples
    decompose = @cfunction(decompose_rule, Ptr{sys.ricci_status},
                           (Ptr{Cvoid}, Ptr{sys.ricci_builder}, Ptr{sys.ricci_op}, Ptr{sys.ricci_val}, Ptr{sys.ricci_val}))
    types = @cfunction(types_rule, Ptr{sys.ricci_status}, (Ptr{Cvoid}, Ptr{sys.ricci_builder}, Ptr{sys.ricci_op}))
    GC.@preserve row everywhere names name doc examples begin
        kinds = [kind_of(name, T) for (name, T) in row.attributes]
        specs = sys.ricci_attr_spec[sys.ricci_attr_spec(view_of(names[i]), kinds[i], 0, NO_TEXT) for i in eachindex(names)]
        header = sys.ricci_hdr(sizeof(sys.ricci_lowering), sys.RICCI_LOWERING_TRANSFORMABLE, C_NULL)
        lowering = Ref(sys.sized(sys.ricci_lowering; hdr = header, kind = sys.RICCI_LOWER_DECOMPOSE,
                                 target = view_of(everywhere), decompose = decompose))
        GC.@preserve specs lowering begin
            lowerings = [Base.unsafe_convert(Ptr{sys.ricci_lowering}, lowering)]
            GC.@preserve lowerings begin
                def = Ref(sys.sized(sys.ricci_prim_def; name = view_of(name), self = pointer_from_objref(row),
                                    attr_specs = pointer(specs), n_attr_specs = length(specs),
                                    attr_spec_size = sizeof(sys.ricci_attr_spec), abstract_eval = types,
                                    lowerings = pointer(lowerings), n_lowerings = 1, examples = view_of(examples),
                                    doc = view_of(doc)))
                check(sys.ricci_prim_register(c, def, C_NULL))
            end
        end
    end
    return nothing
end

function kind_of(name::String, T::DataType)
    return get(() -> throw(Failure("attribute $name: $T is not a kind; use $(join(keys(KINDS), ", "))")), KINDS, T)
end

"""
    add_primitives!(context, name, primitives; version)

Adds primitives as a plugin of that name. No other thread may use the context meanwhile. They stay for the life of the
process.
"""
function add_primitives!(context::Context, name::AbstractString, primitives; version::AbstractString = "0.1.0")
    rows = Rows(String(name), String(version), collect(Primitive, primitives), Ref(sys.sized(sys.ricci_plugin)))
    attach = @cfunction(attach_rows, Ptr{sys.ricci_status}, (Ptr{Cvoid}, Ptr{sys.ricci_ctx}))
    query = @cfunction(query_rows, Ptr{sys.ricci_status}, (Ptr{sys.ricci_host_info}, Ptr{Ptr{sys.ricci_plugin}}))
    rows.plugin[] = sys.sized(sys.ricci_plugin; abi_major = sys.RICCI_ABI_MAJOR, abi_minor = sys.RICCI_ABI_MINOR,
                              name = view_of(rows.name), version = view_of(rows.version),
                              self = pointer_from_objref(rows), attach = attach)
    lock(ROOTS_LOCK) do
        push!(ROOTS, rows) # with its primitives, before the library holds their addresses
        QUERIED[] = rows
        GC.@preserve context check(sys.ricci_context_add_plugin(context.raw, query))
    end
    return context
end
