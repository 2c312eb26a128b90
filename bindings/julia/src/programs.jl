# programs: immutable typed functions, their text, and functions from program to program.
#
# These take and give programs; functions.jl has the same for functions of Julia.

"A typed function of arrays, which never changes. Any number of threads may use it."
mutable struct Program
    raw::Ptr{sys.ricci_program}
    context::Context
    function Program(raw::Ptr{sys.ricci_program}, context::Context)
        return finalizer(f -> sys.ricci_program_release(f.raw), new(raw, context))
    end
end

"Runs `make(out)`, which returns a status, and gives the program that it wrote there."
function made(make, context::Context)
    out = Ref(Ptr{sys.ricci_program}(C_NULL))
    check(make(out))
    return Program(out[], context)
end

"""
    Program(text; context, origin)

The program that a text describes; `origin` names the file in messages.
"""
function Program(source::AbstractString; context::Context = default_context(), origin::AbstractString = "")
    s, o = String(source), String(origin)
    return made(context) do out
        GC.@preserve context sys.ricci_program_parse(context.raw, s, sizeof(s), o, sizeof(o), out)
    end
end

"The types of the parameters and of the results of a program."
function signature(f::Program)
    n_params, n_results = Ref(UInt32(0)), Ref(UInt32(0))
    params, results = Ref(Ptr{sys.ricci_type}(C_NULL)), Ref(Ptr{sys.ricci_type}(C_NULL))
    GC.@preserve f begin
        sys.ricci_program_signature(f.raw, n_params, params, n_results, results)
        list(p, n) = ArrayType[type_of(f.context, unsafe_load(p, i)) for i in 1:Int(n)]
        return list(params[], n_params[]), list(results[], n_results[])
    end
end

# A sink is a Vector{UInt8} that the caller keeps alive. A function at top level, because closures as callbacks need
# code that is made at run time, which not every platform allows.
function write_to_sink(sink::Ptr{Cvoid}, start::Ptr{UInt8}, n::Csize_t)::Cvoid
    append!(unsafe_pointer_to_objref(sink)::Vector{UInt8}, unsafe_wrap(Vector{UInt8}, start, Int(n)))
    return nothing
end

"What `give(sink, write)`, which returns a status, writes."
function printed(give)
    bytes = UInt8[]
    write = @cfunction(write_to_sink, Cvoid, (Ptr{Cvoid}, Ptr{UInt8}, Csize_t))
    GC.@preserve bytes check(give(pointer_from_objref(bytes), write))
    return String(bytes)
end

function Base.string(f::Program)
    return printed((sink, write) -> GC.@preserve f sys.ricci_program_print(f.raw, sink, write))
end
Base.show(io::IO, f::Program) = print(io, string(f))
function Base.:(==)(a::Program, b::Program)
    return GC.@preserve a b sys.ricci_program_equal(a.raw, b.raw) != 0
end

function Base.hash(f::Program, h::UInt)
    return GC.@preserve f hash(sys.ricci_program_hash(f.raw), h)
end

"Gradients of result 0, a floating scalar, by the parameters `argnums`, from 1; `with_value`: the results first."
function program_grad(f::Program, argnums::Vector{Int}, with_value::Bool)
    numbers = UInt32[n - 1 for n in argnums]
    return made(f.context) do out
        GC.@preserve f sys.ricci_grad(f.raw, numbers, length(numbers), with_value, out)
    end
end

"Parameters, then a tangent for each active one; results, then a tangent for each floating one."
function program_jvp(f::Program, active::Vector{Bool})
    flags = UInt8[a for a in active]
    return made(f.context) do out
        GC.@preserve f sys.ricci_jvp(f.raw, flags, length(flags), out)
    end
end

"`f` on a batch of `n`: dimension `in_dims[i]`, from 1, of parameter i, or 0 for none; likewise of the results."
function program_vmap(f::Program, in_dims::Vector{Int}, out_dims::Vector{Int}, n::Integer)
    given, results = Int32[d - 1 for d in in_dims], Int32[d - 1 for d in out_dims]
    return made(f.context) do out
        GC.@preserve f sys.ricci_vmap(f.raw, given, length(given), results, length(results), n, C_NULL, out)
    end
end
