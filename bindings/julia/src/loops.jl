# loops: scan, while_loop and cond, whose functions may use any value around them.
#
# The captured values become operands of the equation: constants of the loop, operands of both branches.

"The innermost program of some leaves; numbers and arrays among them become constants there."
function gathered(trees...)
    all_leaves = Any[x for tree in trees for x in leaves(tree)]
    builder = innermost(Value[x for x in all_leaves if x isa Value])
    return builder, [Value[constant(builder, x) for x in leaves(tree)] for tree in trees]
end

"Whether a body gives back the types that it took."
function same_types(what::String, given::Vector{ArrayType}, wanted::Vector{ArrayType})
    given == wanted || throw(Failure("$what: ($(join(given, ", "))) instead of ($(join(wanted, ", ")))"))
    return nothing
end

"Dimension `d` of a value first, or back from there: as the library has it, which goes over the first one."
to_front(v::Value) = ndims(v) < 2 ? v : permutedims(v, [ndims(v); 1:ndims(v)-1])
to_back(v::Value) = ndims(v) < 2 ? v : permutedims(v, [2:ndims(v); 1])

"""
    scan(f, init, xs = (); length, reverse)

`carry, y = f(carry, x)` for each `x` along the last dimension of the leaves of `xs`, which are columns of memory as it
is: the last carry, and the ys, stacked along a new last dimension. Without `xs`, `f` gets `()` and `length` says how
often. Derivatives of both modes go through it.
"""
function scan(f, init, xs = (); length::Union{Nothing,Integer} = nothing, reverse::Bool = false)
    builder, (carry, inputs) = gathered(init, xs)
    any(v -> ndims(v) == 0, inputs) && throw(Failure("scan: an input without dimensions has nothing to go along"))
    inputs = Value[to_front(v) for v in inputs]
    sizes = unique(Int64[v.type.dims[1] for v in inputs])
    length === nothing || push!(sizes, length)
    n = only_size(unique(sizes))
    types = ArrayType[types_of(carry); [ArrayType(v.type.dtype, v.type.dims[2:end]) for v in inputs]]
    k = Base.length(carry)
    body = nested(builder, "body", types) do params
        next, y = f(rebuilt(init, params[1:k]), rebuilt(xs, params[k+1:end]))
        return (next, y)
    end
    program = captured_first(builder, "body", body, types)
    same_types("scan: the carry of the body", signature(program)[2][1:k], types[1:k])
    results = emit("scan", Value[body.captures; carry; inputs], Base.length(signature(program)[2]), "body" => program,
                   "length" => n, "reverse" => reverse, "num_consts" => Base.length(body.captures), "num_carry" => k;
                   builder = builder)
    ys = Value[to_back(v) for v in results[k+1:end]]
    return rebuilt(init, results[1:k]), rebuilt(last(body.out), ys)
end
only_size(sizes) = Base.length(sizes) == 1 ? Int64(only(sizes)) :
    throw(Failure(isempty(sizes) ? "scan: no inputs and no length; pass length = n" :
                  "scan: lengths $(join(sizes, ", ")) differ"))

"""
    while_loop(test, f, init)

`carry = f(carry)` while `test(carry)`, a bool, holds: the last carry. It has derivatives of forward mode.
"""
function while_loop(test, f, init)
    builder, (carry,) = gathered(init)
    types = types_of(carry)
    asked = nested(p -> test(rebuilt(init, p)), builder, "cond", types)
    body = nested(p -> f(rebuilt(init, p)), builder, "body", types)
    condition = captured_first(builder, "cond", asked, types)
    program = captured_first(builder, "body", body, types)
    same_types("while_loop: the test", signature(condition)[2], [ArrayType(sys.RICCI_BOOL, Int64[])])
    same_types("while_loop: the carry of the body", signature(program)[2], types)
    results = emit("while", Value[asked.captures; body.captures; carry], Base.length(types), "cond" => condition,
                   "body" => program, "cond_nconsts" => Base.length(asked.captures),
                   "body_nconsts" => Base.length(body.captures); builder = builder)
    return rebuilt(init, results)
end

"""
    cond(pred, on_true, on_false, operands...)

`on_true(operands...)` if `pred`, a bool value, holds, else `on_false(operands...)`; only one of them is computed.
"""
function cond(pred::Value, on_true, on_false, operands...)
    builder, ((which,), given) = gathered((pred,), operands)
    types = types_of(given)
    no = nested(p -> on_false(rebuilt(operands, p)...), builder, "on_false", types)
    yes = nested(p -> on_true(rebuilt(operands, p)...), builder, "on_true", types)
    same_types("cond: the results of on_false", signature(no.program)[2], signature(yes.program)[2])
    # A branch takes the captured values of both, its own among them, then the operands.
    captures = Value[no.captures; yes.captures]
    all_types, k, m = ArrayType[types_of(captures); types], Base.length(captures), Base.length(no.captures)
    branch(n, own) = reparametrized(p -> Value[p[k+1:end]; p[own]], builder, "branch", n.program, all_types)
    branches = Program[branch(no, 1:m), branch(yes, m+1:k)]
    number = astype(which, Int32)
    results = emit("cond", Value[number; captures; given], Base.length(signature(yes.program)[2]),
                   "branches" => branches; builder = builder)
    return rebuilt(yes.out, results)
end
