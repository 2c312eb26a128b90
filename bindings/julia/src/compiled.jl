# compiled: code for a program, run on arrays of Julia where they are.
#
# The library sees memory by rows, Julia by columns: an m x n matrix of Julia is an n x m array of the library, in the same
# memory. So the program that is compiled has its parameters in reversed order, transposes each one, calls the program
# as it was traced, and transposes the results. Transposes are views: the compiler makes strides of them, nothing is
# copied, and the user's dimensions keep their order.

"The program for memory by columns: every parameter and result has its dimensions in the opposite order."
function by_columns(f::Program)
    params, results = signature(f)
    all(t -> length(t.dims) < 2, [params; results]) && return f
    types = ArrayType[ArrayType(t.dtype, reverse(t.dims)) for t in params]
    b, given = new_program(f.context, nothing, "by_columns", types)
    return building(b) do
        inside = Value[reversed(v) for v in given]
        return finish!(b, Value[reversed(v) for v in inline(f, inside, b)])
    end
end

"""
Machine code for a program. It holds one call with memory of its own, which one task uses at a time; others wait.
"""
mutable struct Compiled
    raw::Ptr{sys.ricci_executable}
    call::Ptr{sys.ricci_call} # C_NULL where the device has memory of its own
    device::Ptr{sys.ricci_device}
    context::Context
    params::Vector{ArrayType} # in Julia's order
    results::Vector{ArrayType}
    in_use::ReentrantLock
    # Releasing waits for nothing and takes no lock of Julia, so a finalizer may do it.
    function Compiled(raw, call, device, context, params, results)
        x = new(raw, call, device, context, params, results, ReentrantLock())
        return finalizer(x) do it
            sys.ricci_call_release(it.call)
            sys.ricci_executable_release(it.raw)
        end
    end
end

"""
    compile(program; device)

Code for a device (`"cpu"`, `"ref"`, ...; the best one if none is given). `code(arrays...)` gives a vector of results.
"""
function compile(f::Program; device::AbstractString = "")
    d, flipped = Ricci.device(f.context, device), by_columns(f)
    raw, call = Ref(Ptr{sys.ricci_executable}(C_NULL)), Ref(Ptr{sys.ricci_call}(C_NULL))
    devices = [d]
    GC.@preserve flipped devices begin
        options = Ref(sys.sized(sys.ricci_compile_opts; devices = pointer(devices), n_devices = 1))
        check(sys.ricci_compile(flipped.raw, options, raw))
    end
    params, results = signature(f)
    x = Compiled(raw[], C_NULL, d, f.context, params, results)
    if has_host_memory(d)
        check(sys.ricci_call_create(x.raw, call))
        x.call = call[]
    end
    return x
end

"What the code is made of, as text: `\"optimized\"`, `\"kernels\"`, `\"plan\"`, `\"native\"`, ..."
function dump_stage(x::Compiled, stage::AbstractString)
    name = String(stage)
    return printed((sink, write) ->
        GC.@preserve x sys.ricci_executable_dump(x.raw, name, sizeof(name), sink, write))
end

"The argument in memory by columns without gaps: itself, or a copy of a view."
function dense(a, t::ArrayType, i::Int)
    T = element_type(t.dtype)
    array_type(a) == t || throw(Failure("argument $i is $(array_type(a)), the program takes $t"))
    a isa Number && return fill(convert(T, a))
    return a isa Array{T} ? a : convert(Array{T}, a)
end

function uninitialized(t::ArrayType)
    dims = Tuple(Int.(t.dims))
    return Array{element_type(t.dtype),length(dims)}(undef, dims)
end

(x::Compiled)(arguments...) = run_compiled(x, collect(Any, arguments))

function run_compiled(x::Compiled, arguments::Vector{Any})
    length(arguments) == length(x.params) ||
        throw(Failure("$(length(arguments)) arguments for $(length(x.params)) parameters"))
    given = Array[dense(a, x.params[i], i) for (i, a) in enumerate(arguments)]
    x.call == C_NULL && return map(to_host, run_on_device(x, DeviceArray[DeviceArray(a, x) for a in given]))
    results = Array[uninitialized(t) for t in x.results]
    run_bound!(x, given, results)
    return Any[ndims(r) == 0 ? r[] : r for r in results]
end

# Pointers are valid while the arrays are preserved, and the run ends before this returns. While it runs, this thread is
# in C: a garbage collection that another thread wants waits for it.
function run_bound!(x::Compiled, given::Vector{Array}, results::Vector{Array})
    GC.@preserve x given results begin
        pointers = Ptr{Cvoid}[Ptr{Cvoid}(pointer(a)) for a in [given; results]]
        lock(x.in_use) do
            check(sys.ricci_call_run_at(x.call, pointers, length(pointers), -1))
        end
    end
    return nothing
end
