# operations: what values can do without dots: sums, products of matrices, parts, shapes, operators.
#
# Functions mean what they mean for arrays in Julia: `x * y` of matrices is their product, `sin(x)` is only for a value
# without dimensions (`sin.(x)` for others), dimensions count from 1, and what has been reduced by `dims` stays, of size 1.

Base.size(v::Value) = Tuple(Int.(v.type.dims))
Base.size(v::Value, d::Integer) = d > length(v.type.dims) ? 1 : Int(v.type.dims[d])
Base.ndims(v::Value) = length(v.type.dims)
Base.length(v::Value) = Int(length(v.type))
Base.eltype(v::Value) = element_type(v.type.dtype)
Base.axes(v::Value) = map(Base.OneTo, size(v))
Base.axes(v::Value, d::Integer) = Base.OneTo(size(v, d))
Base.firstindex(::Value) = 1
Base.lastindex(v::Value) = length(v)
Base.firstindex(::Value, ::Integer) = 1
Base.lastindex(v::Value, d::Integer) = size(v, d)
Base.show(io::IO, v::Value) = print(io, "Value(", v.type, ")")

one_result(operation::String, operands, attributes::Pair...) = only(emit(operation, Value[operands...], 1, attributes...))

"With elements of another type of Julia."
astype(v::Value, T::Type) = one_result("convert_element_type", [v], "new_dtype" => DType(dtype_of(T)))

# Within the library a reshape counts by rows; sizes of 1 may come and go in both orders alike.
reshaped_by_rows(v::Value, dims::Vector{Int64}) =
    v.type.dims == dims ? v : one_result("reshape", [v], "new_sizes" => dims)

"The same elements, counted by columns, in another shape. One size may be `:`."
function Base.reshape(v::Value, dims::Union{Integer,Colon}...)
    given = prod(Int[d for d in dims if d isa Integer]; init = 1)
    sizes = Int64[d isa Colon ? length(v) ÷ max(given, 1) : d for d in dims]
    count(d -> d isa Colon, dims) <= 1 && prod(sizes; init = 1) == length(v) ||
        throw(Failure("reshape: $(v.type) has $(length(v)) elements, which do not fill ($(join(dims, ", ")))"))
    return reversed(reshaped_by_rows(reversed(v), reverse(sizes)))
end
Base.reshape(v::Value, dims::Tuple) = reshape(v, dims...)
Base.vec(v::Value) = reshape(v, :)

function Base.permutedims(v::Value, order = ndims(v):-1:1)
    isperm(order) && length(order) == ndims(v) ||
        throw(Failure("permutedims: ($(join(order, ", "))) is not a permutation of the $(ndims(v)) dimensions of $(v.type)"))
    return one_result("transpose", [v], "permutation" => Int64[d - 1 for d in order])
end
Base.transpose(v::Value) = permutedims(as_matrix(v))
Base.adjoint(v::Value) = eltype(v) <: Complex ? conj.(transpose(v)) : transpose(v)
as_matrix(v::Value) = ndims(v) == 1 ? reshaped_by_rows(v, Int64[size(v, 1), 1]) : v

"Repeated to `dims`, as dots do: sizes of 1 grow, and dimensions are added at the end."
function broadcast_to(v::Value, dims::Vector{Int64})
    v.type.dims == dims && return v
    kept = Int64[d for d in eachindex(v.type.dims) if v.type.dims[d] != 1]
    part = reshaped_by_rows(v, v.type.dims[kept])
    return one_result("broadcast_in_dim", [part], "shape" => dims, "broadcast_dimensions" => kept .- 1)
end

# ---- reductions ----

function reduced(operation::String, v::Value, dims)
    axes = dims isa Colon ? collect(1:ndims(v)) : Int[dims...]
    all(d -> 1 <= d <= ndims(v), axes) || throw(Failure("$operation: dims $(join(axes, ", ")) of $(v.type)"))
    out = one_result(operation, [v], "axes" => Int64[d - 1 for d in axes])
    dims isa Colon && return out
    return reshaped_by_rows(out, Int64[d in axes ? 1 : size(v, d) for d in 1:ndims(v)])
end
Base.sum(v::Value; dims = :) = reduced("reduce_sum", v, dims)
Base.prod(v::Value; dims = :) = reduced("reduce_prod", v, dims)
Base.maximum(v::Value; dims = :) = reduced("reduce_max", v, dims)
Base.minimum(v::Value; dims = :) = reduced("reduce_min", v, dims)
Base.all(v::Value; dims = :) = reduced("reduce_and", v, dims)
Base.any(v::Value; dims = :) = reduced("reduce_or", v, dims)
Base.sum(f, v::Value; dims = :) = sum(Base.broadcast(f, v); dims = dims)

"The mean of the elements, of all or along `dims`."
function mean(v::Value; dims = :)
    total = sum(v; dims = dims)
    return total ./ (length(v) ÷ max(length(total), 1))
end

function Base.cumsum(v::Value; dims::Integer)
    return one_result("cumsum", [v], "axis" => dims - 1, "reverse" => false)
end

# ---- products ----

"Sums over dimension `i` of `a` and `j` of `b`, from 1."
contracted(a::Value, b::Value, i::Int, j::Int) =
    one_result("dot_general", [a, b], "lhs_contract" => Int64[i - 1], "rhs_contract" => Int64[j - 1])

function Base.:*(a::Value, b::Value)
    (ndims(a) == 0 || ndims(b) == 0) && return a .* b
    ndims(a) <= 2 && ndims(b) <= 2 || throw(Failure("*: $(a.type) and $(b.type); for arrays of rank 3 use .* or emit"))
    ndims(a) == 1 && return as_matrix(a) * (ndims(b) == 1 ? as_matrix(b) : b)
    return contracted(a, b, 2, 1)
end
Base.:*(a::Value, b::AbstractArray) = a * constant(innermost([a]), b)
Base.:*(a::AbstractArray, b::Value) = constant(innermost([b]), a) * b

"The sum of the products of the elements of two vectors; the first one is conjugated."
function dot(a::Value, b::Value)
    ndims(a) == 1 && ndims(b) == 1 || throw(Failure("dot: $(a.type) and $(b.type) must be vectors"))
    return contracted(eltype(a) <: Complex ? conj.(a) : a, b, 1, 1)
end

# ---- operators: sums and differences of equal shapes, and everything with numbers ----

same_shape(name, a::Value, b::Value) = a.type.dims == b.type.dims ||
    throw(Failure("$name: $(a.type) and $(b.type) have different shapes; use .$name to repeat sizes of 1"))
function Base.:+(a::Value, b::Value)
    same_shape("+", a, b)
    return a .+ b
end
function Base.:-(a::Value, b::Value)
    same_shape("-", a, b)
    return a .- b
end
Base.:-(a::Value) = broadcast(-, a)
Base.:+(a::Value) = a

"A number and a value: as with dots, but sums only if the value has no dimensions, as in Julia."
function with_number(f, name::String, a, b)
    v = a isa Value ? a : b
    ndims(v) == 0 || throw(Failure("$name: a number and $(v.type); use .$name"))
    return broadcast(f, a, b)
end
for f in (:+, :-)
    @eval Base.$f(a::Value, b::Number) = with_number($f, $(string(f)), a, b)
    @eval Base.$f(a::Number, b::Value) = with_number($f, $(string(f)), a, b)
end
Base.:*(a::Value, b::Number) = a .* b
Base.:*(a::Number, b::Value) = a .* b
Base.:/(a::Value, b::Number) = a ./ b
Base.:/(a::Number, b::Value) = with_number(/, "/", a, b)
function Base.:/(a::Value, b::Value)
    ndims(b) == 0 || throw(Failure("/: $(a.type) and $(b.type); use ./ for elements"))
    return a ./ b
end
function Base.:^(a::Value, b::Union{Number,Value})
    ndims(a) == 0 || throw(Failure("^: $(a.type) is not a scalar; use .^ for elements"))
    return a .^ b
end
Base.literal_pow(::typeof(^), a::Value, ::Val{N}) where {N} = a^N

# ---- parts ----

# A range as (first index from 0, end, step), and whether the dimension goes.
extent(::Colon, n::Int) = (0, n, 1, false)
extent(i::Integer, n::Int) = (Int(i) - 1, Int(i), 1, true)
extent(r::AbstractUnitRange{<:Integer}, n::Int) = (Int(first(r)) - 1, Int(last(r)), 1, false)
extent(r::StepRange{<:Integer}, n::Int) = step(r) > 0 ? (Int(first(r)) - 1, Int(last(r)), Int(step(r)), false) :
    throw(Failure("a value is indexed by $r; steps must be positive, use reverse"))

"Elements, rows, blocks: every index is a number, a range with a positive step or `:`."
function Base.getindex(v::Value, indices::Union{Integer,Colon,AbstractRange{<:Integer}}...)
    length(indices) == ndims(v) || throw(Failure("$(length(indices)) indices for $(v.type); one for each dimension"))
    parts = [extent(indices[d], size(v, d)) for d in 1:ndims(v)]
    for (d, (from, to, _, _)) in enumerate(parts)
        0 <= from <= to <= size(v, d) || throw(Failure("index $(indices[d]) of dimension $d of $(v.type) is out of range"))
    end
    part = one_result("slice", [v], "start_indices" => Int64[p[1] for p in parts],
                      "limit_indices" => Int64[p[2] for p in parts], "strides" => Int64[p[3] for p in parts])
    return reshaped_by_rows(part, Int64[part.type.dims[d] for d in 1:ndims(v) if !parts[d][4]])
end

function Base.reverse(v::Value; dims = :)
    axes = dims isa Colon ? collect(1:ndims(v)) : Int[dims...]
    return one_result("rev", [v], "dimensions" => Int64[d - 1 for d in axes])
end

function Base.cat(first_part::Value, rest::Value...; dims::Integer)
    return one_result("concatenate", (first_part, rest...), "dimension" => dims - 1)
end
Base.vcat(first_part::Value, rest::Value...) = cat(first_part, rest...; dims = 1)
Base.hcat(first_part::Value, rest::Value...) = cat(map(as_matrix, (first_part, rest...))...; dims = 2)
