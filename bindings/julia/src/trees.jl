# trees: tuples, named tuples and vectors of arrays, as arguments and results of functions that are traced.
#
# A leaf is a value, a number, an array, or the type of one: `Float32 => (3, 4)`.

const Leaf = Union{Value,Number,AbstractArray{<:Number},ArrayType,Pair{<:Type,<:Tuple}}

"`f` of every leaf, from left to right, in the same structure."
mapleaves(f, x::Tuple) = Tuple(Any[mapleaves(f, part) for part in x])
mapleaves(f, x::NamedTuple) = NamedTuple{keys(x)}(mapleaves(f, values(x)))
mapleaves(f, x::AbstractVector) = Any[mapleaves(f, part) for part in x]
mapleaves(f, x::AbstractVector{<:Number}) = f(x)
mapleaves(f, x::Leaf) = f(x)
mapleaves(f, x) = throw(Failure("a $(typeof(x)) is neither an array or number nor a tuple, named tuple or vector of them"))

"The leaves, from left to right."
function leaves(tree)
    found = Any[]
    mapleaves(x -> push!(found, x), tree)
    return found
end

"The same structure with these leaves."
function rebuilt(tree, parts)
    left = Any[parts...]
    return mapleaves(_ -> popfirst!(left), tree)
end

"What stands for a leaf in a structure."
struct Hole end
mapleaves(f, x::Hole) = f(x)
"The structure alone, which can be compared."
structure(tree) = mapleaves(_ -> Hole(), tree)

array_type(t::ArrayType) = t
array_type(v::Value) = v.type
array_type(x::Number) = ArrayType(dtype_of(typeof(x)), Int64[])
array_type(x::AbstractArray) = ArrayType(dtype_of(eltype(x)), collect(Int64, size(x)))
array_type(p::Pair{<:Type,<:Tuple}) = ArrayType(dtype_of(p.first), collect(Int64, p.second))

types_of(values) = ArrayType[array_type(v) for v in values]
has_value(tree) = any(x -> x isa Value, leaves(tree))

"""
    trace(f, arguments...; context, name)

The program of `f`, which is called once, with values of the types of these arguments: arrays, numbers, types such as
`Float32 => (3, 4)`, or trees of them. Its results are the leaves of what `f` returns.
"""
function trace(f, arguments...; context::Context = default_context(), name::AbstractString = "f")
    return first(trace_tree(f, arguments, context, String(name)))
end

"The program, and what `f` returned."
function trace_tree(f, arguments::Tuple, context::Context, name::String)
    b, params = new_program(context, nothing, name, types_of(leaves(arguments)))
    out = building(() -> f(rebuilt(arguments, params)...), b)
    return building(b) do
        results = Value[constant(b, x) for x in leaves(out)]
        return finish!(b, results), out
    end
end

# ---- nested programs ----

"A nested program, whose parameters after its own are the captured values, and what its function returned."
struct Nested
    program::Program
    captures::Vector{Value}
    out::Any
end

"`f(params)` as a program within `outer`."
function nested(f, outer::Builder, name::String, types::Vector{ArrayType})
    b, params = new_program(outer.context, outer, name, types)
    out = building(() -> f(params), b)
    program = building(() -> finish!(b, Value[constant(b, x) for x in leaves(out)]), b)
    return Nested(program, Value[first(c) for c in b.captured], out)
end

"A program with parameters of these `types`, of which `pick(params)` are those of `f`."
function reparametrized(pick, outer::Builder, name::String, f::Program, types::Vector{ArrayType})
    b, params = new_program(outer.context, outer, name, types)
    return building(() -> finish!(b, inline(f, pick(params), b)), b)
end

"The program of `n` with its captured values before its other parameters, of these types."
function captured_first(outer::Builder, name::String, n::Nested, types::Vector{ArrayType})
    isempty(n.captures) && return n.program
    k = length(n.captures)
    all_types = ArrayType[types_of(n.captures); types]
    return reparametrized(p -> Value[p[k+1:end]; p[1:k]], outer, name, n.program, all_types)
end
