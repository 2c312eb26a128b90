# broadcasting: `sin.(x)`, `x .+ y`, `f.(x, y)`: an operation for each dot, fused by the library, not by Julia.
#
# Julia makes of `a .+ b` the call broadcasted(style, +, a, b); for values that appends the operation at once. A
# function that is not a primitive is traced on scalars, and mapped over the elements by vmap. Shapes fit as in Julia:
# dimension 1 to dimension 1, sizes of 1 grow. A number takes the element type of the values beside it.

"Of every expression with dots that has a value in it."
struct ValueStyle <: Base.Broadcast.BroadcastStyle end
Base.Broadcast.BroadcastStyle(::Type{Value}) = ValueStyle()
# Not for every BroadcastStyle: that would be ambiguous with Base's rules for equal styles and for Unknown.
Base.Broadcast.BroadcastStyle(::ValueStyle, ::Base.Broadcast.AbstractArrayStyle) = ValueStyle()
Base.Broadcast.broadcastable(v::Value) = v

const PRIMITIVES = Dict{Any,String}(
    (+) => "add", (-) => "sub", (*) => "mul", (/) => "div", (^) => "pow", rem => "rem", (%) => "rem", max => "max",
    min => "min", (==) => "eq", (!=) => "ne", (<) => "lt", (<=) => "le", (>) => "gt", (>=) => "ge", (&) => "and",
    (|) => "or", xor => "xor", (!) => "not", (~) => "not", atan => "atan", sin => "sin", cos => "cos", tan => "tan",
    asin => "asin", acos => "acos", sinh => "sinh", cosh => "cosh", tanh => "tanh", asinh => "asinh",
    acosh => "acosh", atanh => "atanh", exp => "exp", exp2 => "exp2", expm1 => "expm1", log => "log",
    log1p => "log1p", sqrt => "sqrt", cbrt => "cbrt", abs => "abs", sign => "sign", floor => "floor", ceil => "ceil",
    isfinite => "is_finite", conj => "conj", real => "real", imag => "imag", complex => "complex")

# The functions above of values without dimensions; of others they need dots, as in Julia.
for f in (:sin, :cos, :tan, :asin, :acos, :atan, :sinh, :cosh, :tanh, :asinh, :acosh, :atanh, :exp, :exp2, :expm1,
          :log, :log1p, :sqrt, :cbrt, :abs, :sign, :floor, :ceil, :isfinite, :conj, :real, :imag, :round, :abs2, :!)
    @eval function Base.$f(v::Value)
        ndims(v) == 0 || throw(Failure($(string(f)) * ": " * string(v.type) * " is not a scalar; use a dot for its elements"))
        return broadcast($f, v)
    end
end
for f in (:max, :min, :rem, :atan, :(==), :!=, :<, :<=, :>, :>=, :&, :|)
    @eval Base.$f(a::Value, b::Value) = scalars($f, $(string(f)), a, b)
    @eval Base.$f(a::Value, b::Number) = scalars($f, $(string(f)), a, b)
    @eval Base.$f(a::Number, b::Value) = scalars($f, $(string(f)), a, b)
end
function scalars(f, name::String, a, b)
    ndims(a) == 0 && ndims(b) == 0 ||
        throw(Failure("$name: $(array_type(a)) and $(array_type(b)) are not both scalars; use a dot for elements"))
    return broadcast(f, a, b)
end

"What stands beside a value under dots: numbers and arrays become constants, expressions of numbers are computed."
plain(x::Value) = x
plain(x::Number) = x
plain(x::AbstractArray) = x
plain(x::Base.RefValue) = x[]
plain(x::Base.Broadcast.Broadcasted) = Base.Broadcast.materialize(x)
plain(x) = throw(Failure("a $(typeof(x)) stands beside a value under dots; numbers, arrays and values may"))

"Values of one shape; numbers have the element type of the first value."
function fitted(name, arguments)
    known = Value[x for x in arguments if x isa Value]
    builder, like = innermost(known), first(known).type.dtype
    scalar = ArrayType(like, Int64[])
    values = Value[x isa Number ? splat(builder, scalar, x) : constant(builder, x) for x in arguments]
    dims = common_dims(name, values)
    return Value[broadcast_to(v, dims) for v in values]
end

function common_dims(name, values::Vector{Value})
    dims = ones(Int64, maximum(ndims, values))
    for v in values, (d, n) in enumerate(v.type.dims)
        n == dims[d] || n == 1 || dims[d] == 1 ||
            throw(Failure("$name: $(join((x.type for x in values), " and ")) do not fit: dimension $d has $(dims[d]) and $n"))
        n == 1 || (dims[d] = n)
    end
    return dims
end

# One method for each number of arguments would not say more: Julia passes all of them.
function Base.Broadcast.broadcasted(::ValueStyle, f, arguments...)
    return elementwise(f, map(plain, arguments)...)
end
# `x .^ 2` comes as a call of literal_pow with the number as a type.
function Base.Broadcast.broadcasted(::ValueStyle, ::typeof(Base.literal_pow), f, x, power)
    return integer_power(plain(x), plain(power))
end
integer_power(x::Value, ::Val{N}) where {N} = N == 2 ? one_result("square", [x]) :
    one_result("integer_pow", [x], "y" => Int64(N))
Base.broadcast(f, v::Value, rest::Union{Value,Number,AbstractArray}...) = elementwise(f, v, rest...)
Base.broadcast(f, x::Number, v::Value) = elementwise(f, x, v)

"`f` of the elements."
function elementwise(f, arguments...)
    name = get(PRIMITIVES, f, "")
    isempty(name) && return mapped(f, fitted(string(f), arguments))
    name == "pow" && last(arguments) isa Integer && return one_result("integer_pow", [first(arguments)], "y" => last(arguments))
    length(arguments) == 1 && f === (-) && return one_result("neg", arguments)
    length(arguments) == 1 && f === (+) && return first(arguments)
    length(arguments) == 2 && f === atan && return one_result("atan2", fitted("atan", arguments))
    return folded(name, fitted(name, arguments))
end

"`a .+ b .+ c` may come as one call of three."
function folded(name::String, values::Vector{Value})
    length(values) <= 2 && return one_result(name, values)
    return foldl((a, b) -> one_result(name, [a, b]), values)
end

elementwise(::typeof(identity), x) = x
elementwise(::typeof(abs2), x::Value) = eltype(x) <: Complex ? elementwise(real, x .* conj.(x)) : one_result("square", [x])
elementwise(::typeof(round), x::Value) = one_result("round", [x], "rounding_method" => 1)
elementwise(::typeof(ifelse), c::Value, a, b) = selected(c, a, b)

function selected(c::Value, a, b)
    known = [x for x in (a, b) if !(x isa Number)]
    isempty(known) && throw(Failure("ifelse: the cases $a and $b are numbers; make one a value, as in a .+ zero"))
    a, b = fitted("ifelse", Value[x isa Value ? x : constant(innermost([c]), x) for x in (
        a isa Number ? beside(a, first(known)) : a, b isa Number ? beside(b, first(known)) : b)])
    dims = common_dims("ifelse", Value[c, a])
    return one_result("select_n", [broadcast_to(c, dims), broadcast_to(b, dims), broadcast_to(a, dims)])
end
beside(x::Number, v::Value) = splat(innermost([v]), ArrayType(v.type.dtype, Int64[]), x)
beside(x::Number, a::AbstractArray) = convert(eltype(a), x)

"A function of scalars on the elements of values of one shape: traced once, mapped over each dimension."
function mapped(f, values::Vector{Value})
    builder = innermost(values)
    n = nested(p -> f(p...), builder, "element", ArrayType[ArrayType(v.type.dtype, Int64[]) for v in values])
    length(leaves(n.out)) == 1 || throw(Failure("a function under dots gives one result, not $(length(leaves(n.out)))"))
    program, k = n.program, length(n.captures)
    # The innermost map is that of the first dimension, so that dimension d is the d-th of what it is mapped to.
    for size in first(values).type.dims
        rank = length(first(signature(program)[2]).dims)
        program = program_vmap(program, [fill(rank + 1, length(values)); zeros(Int, k)], [rank + 1], size)
    end
    return only(inline(program, Value[values; n.captures], builder))
end
