# Ricci: derivatives, batches and native code of numerical programs, as functions from program to program.
#
# A function of Julia is called once with `Value`s, which record what is done with them; the rest is the library's. Read
# tracing.jl first, then functions.jl. Dimensions are numbered and ordered as in Julia everywhere; compiled.jl has how
# column-major memory meets a row-major library without a copy.
module Ricci

import Libdl

include("LowLevel.jl")
const sys = LowLevel

include("failures.jl")
include("contexts.jl")
include("programs.jl")
include("tracing.jl")
include("trees.jl")
include("operations.jl")
include("broadcasting.jl")
include("loops.jl")
include("compiled.jl")
include("device_arrays.jl")
include("functions.jl")
include("rows.jl")

export Context, DeviceArray, Failure, Primitive, Program, Value
export add_primitives!, compile, cond, config!, default_context, dump_stage, grad, jit, jvp, load_plugin!, scan
export trace, value_and_grad, vmap, while_loop

const LIBRARY = "libricci.so.0"
const CPU_PLUGIN = "libricci_plugin_cpu.so.0"

"The folders in which the libraries may be: those of RICCI_PREFIX, an installed prefix or a build folder."
function folders()
    prefix = get(ENV, "RICCI_PREFIX", "/usr/local")
    inside = ["", "lib", "lib/ricci", "lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu/ricci", "plugins/cpu"]
    return [joinpath(prefix, folder) for folder in inside]
end

"The path of the library `name`; an error that lists the folders if there is none."
function find_library(name)
    for folder in folders()
        isfile(joinpath(folder, name)) && return joinpath(folder, name)
    end
    error("no $name in $(join(folders(), ", ")); set RICCI_PREFIX to an installed prefix or to a build folder")
end

# The library is opened by its path, once for each process: ccall then finds it by its name (its SONAME), so nothing that
# is precompiled holds a path. RTLD_LOCAL, because the core shows nothing that others should bind to.
function __init__()
    Libdl.dlopen(find_library(LIBRARY), Libdl.RTLD_NOW | Libdl.RTLD_LOCAL)
    found, wanted = sys.ricci_abi_version(), sys.RICCI_ABI_MAJOR << 16 | sys.RICCI_ABI_MINOR
    found == wanted || error("$LIBRARY has ABI $(found >> 16).$(found & 0xffff), this package needs " *
                             "$(wanted >> 16).$(wanted & 0xffff); install both from one version")
    return nothing
end

end # module Ricci
