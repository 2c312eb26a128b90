# functions: jit, grad, jvp and vmap of functions of Julia, in any nesting.
#
# Within a trace each of them makes a program of its function, transforms that and appends the result. Outside, on
# arrays, the whole is traced and compiled once for each combination of types, then run.

"What `jit` gives: compiled code for each combination of types that it was called with. Any thread may call it."
struct Jitted
    f::Any
    context::Union{Nothing,Context}
    device::String
    known::Dict{Any,Tuple{Compiled,Any}}
    guard::ReentrantLock
end

"""
    jit(f; context, device)

`f` with trees of arrays as arguments and results, traced and compiled at the first call with arguments of some types.
Numbers in results of rank 0 are numbers. If an argument is a `DeviceArray`, all must be, and so are the results.
"""
function jit(f; context::Union{Nothing,Context} = nothing, device::AbstractString = "")
    return Jitted(f, context, String(device), Dict{Any,Tuple{Compiled,Any}}(), ReentrantLock())
end

function (j::Jitted)(arguments...)
    has_value(arguments) && return j.f(arguments...)
    given = leaves(arguments)
    code, like = code_for(j, arguments, given)
    n_on_device = count(a -> a isa DeviceArray, given)
    n_on_device == 0 && return rebuilt(like, run_compiled(code, given))
    n_on_device == length(given) || throw(Failure("$n_on_device of $(length(given)) arguments are on a device; all or none"))
    return rebuilt(like, run_on_device(code, DeviceArray[given...]))
end

"The code for arguments of these types, and what its function returned, as a structure."
function code_for(j::Jitted, arguments::Tuple, given::Vector{Any})
    key = (types_of(given), structure(arguments))
    return lock(j.guard) do
        return get!(j.known, key) do
            context = j.context === nothing ? default_context() : j.context
            program, out = trace_tree(j.f, arguments, context, "jit")
            return compile(program; device = j.device), structure(out)
        end
    end
end

"A function of values that, called with arrays, is compiled."
struct Transformed
    on_values::Any
    jitted::Jitted
end
Transformed(f) = Transformed(f, jit(f))
(t::Transformed)(arguments...) = has_value(arguments) ? t.on_values(arguments...) : t.jitted(arguments...)

"A nested program of `f` on these arguments, whose leaves are its parameters."
function nested_on(f, name::String, arguments::Tuple)
    builder, given = gathered(arguments...)
    operands = reduce(vcat, given; init = Value[])
    n = nested(p -> f(rebuilt(arguments, p)...), builder, name, types_of(operands))
    return builder, n, operands
end

"The numbers of the parameters that are leaves of argument `i`."
function numbers_of(arguments::Tuple, i::Integer)
    1 <= i <= length(arguments) || throw(Failure("argument $i of $(length(arguments)) is to be differentiated"))
    before = sum(Int[length(leaves(arguments[j])) for j in 1:i-1]; init = 0)
    return collect(Int, before .+ (1:length(leaves(arguments[i]))))
end

function differentiated(f, argument::Integer, with_value::Bool, arguments::Tuple)
    builder, n, operands = nested_on(f, "function", arguments)
    program = program_grad(n.program, numbers_of(arguments, argument), with_value)
    out = inline(program, Value[operands; n.captures], builder)
    k = with_value ? length(leaves(n.out)) : 0
    gradient = rebuilt(arguments[argument], out[k+1:end])
    return with_value ? (rebuilt(n.out, out[1:k]), gradient) : gradient
end

"""
    grad(f; argument = 1)

The gradient of `f`, whose result is one floating number, by an argument: a tree like that argument.
"""
grad(f; argument::Integer = 1) = Transformed((xs...) -> differentiated(f, argument, false, xs))

"    value_and_grad(f; argument = 1)\n\nThe result of `f` and its gradient. With several results the first is differentiated."
value_and_grad(f; argument::Integer = 1) = Transformed((xs...) -> differentiated(f, argument, true, xs))

"""
    jvp(f, arguments, tangents)

The results of `f(arguments...)` and how they change as the arguments change by `tangents`; both are tuples. `f` takes
and gives floating arrays.
"""
function jvp(f, arguments::Tuple, tangents::Tuple)
    has_value((arguments, tangents)) && return pushed_forward(f, arguments, tangents)
    return jit((x, dx) -> pushed_forward(f, x, dx))(arguments, tangents)
end

function pushed_forward(f, arguments::Tuple, tangents::Tuple)
    types_of(leaves(arguments)) == types_of(leaves(tangents)) ||
        throw(Failure("jvp: the tangents differ from the arguments in type: " *
                      "$(join(types_of(leaves(tangents)), ", ")) for $(join(types_of(leaves(arguments)), ", "))"))
    builder, n, operands = nested_on(f, "function", arguments)
    changes = Value[constant(builder, t) for t in leaves(tangents)]
    active = [fill(true, length(operands)); fill(false, length(n.captures))]
    out = inline(program_jvp(n.program, active), Value[operands; n.captures; changes], builder)
    k = length(leaves(n.out))
    length(out) == 2k || throw(Failure("jvp: $(length(out) - k) of $k results are floating; return only those"))
    return rebuilt(n.out, out[1:k]), rebuilt(n.out, out[k+1:end])
end

"""
    vmap(f; dims)

`f` on each slice of its arguments along their last dimensions; results are stacked along a new last dimension, the
order of columns in memory. `dims` is a tuple with the dimension of each argument, from 1, or `nothing` for an argument
that is the same for all. Branches and loops of a slice stay its own.
"""
vmap(f; dims::Union{Nothing,Tuple} = nothing) = Transformed((xs...) -> mapped_over(f, dims, xs))

function mapped_over(f, dims::Union{Nothing,Tuple}, arguments::Tuple)
    dims === nothing || length(dims) == length(arguments) ||
        throw(Failure("vmap: $(length(dims)) dims for $(length(arguments)) arguments"))
    builder, given = gathered(arguments...)
    along = Int[dimension_of(v, dims === nothing ? 0 : dims[i]) for (i, values) in enumerate(given) for v in values]
    operands = reduce(vcat, given; init = Value[])
    sizes = unique(Int64[operands[i].type.dims[along[i]] for i in eachindex(operands) if along[i] > 0])
    length(sizes) == 1 || throw(Failure("vmap: batches of sizes $(join(sizes, ", ")); exactly one size is needed"))
    types = ArrayType[without(operands[i].type, along[i]) for i in eachindex(operands)]
    n = nested(p -> f(rebuilt(arguments, p)...), builder, "element", types)
    results = signature(n.program)[2]
    in_dims = [along; zeros(Int, length(n.captures))]
    program = program_vmap(n.program, in_dims, Int[length(t.dims) + 1 for t in results], only(sizes))
    return rebuilt(n.out, inline(program, Value[operands; n.captures], builder))
end

"The dimension of a batch: `nothing` is 0, none; 0 is the last one."
dimension_of(::Value, ::Nothing) = 0
function dimension_of(v::Value, d::Integer)
    chosen = d == 0 ? ndims(v) : Int(d)
    1 <= chosen <= ndims(v) || throw(Failure("vmap: dimension $chosen of $(v.type), which has $(ndims(v))"))
    return chosen
end
without(t::ArrayType, d::Int) = ArrayType(t.dtype, Int64[n for (i, n) in enumerate(t.dims) if i != d])
