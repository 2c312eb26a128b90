"""The checks of the Julia package see mistakes: each one here, made in a copy, must be reported.

Mistakes that one run can show together are made together, because each run compiles a program.
"""
import pathlib
import shutil
import sys
import tempfile

import julia_calls
import julia_low_level
import julia_package
import julia_text

# (file, text, what takes its place, part of the message)
NAMES = [
    ("LowLevel.jl", "const RICCI_F32 = ", "const RICCI_F33 = ", "constant RICCI_F32 is not in LowLevel.jl"),
    ("LowLevel.jl", "struct ricci_span\n", "struct ricci_spam\n", "struct ricci_span is not in LowLevel.jl"),
    ("LowLevel.jl", "(:ricci_array_wait, libricci)", "(:ricci_array_data, libricci)", "ricci_array_wait calls ricci_array_data"),
    ("LowLevel.jl", "Ptr{ricci_status}, (Ptr{ricci_call},), k)", "Ptr{ricci_status}, (Ptr{ricci_call},), j)",
     "ricci_call_run passes (j)"),
    ("LowLevel.jl", "function ricci_device_trim(d, keep_bytes)", "function ricci_device_cut(d, keep_bytes)",
     "function ricci_device_trim is not in LowLevel.jl"),
    ("LowLevel.jl", "mutable struct ricci_stream end", "mutable struct ricci_flow end", "ricci_stream is not defined before"),
]
LAYOUTS = [
    ("LowLevel.jl", "    n_in::UInt32\n    # n_out = 0", "    n_in::UInt64\n    # n_out = 0", "member ricci_op.n_in"),
    ("LowLevel.jl", "    f::Float64\n    data::Ptr{Cvoid}\n", "    data::Ptr{Cvoid}\n    f::Float64\n", "member ricci_attr.f 40"),
    ("LowLevel.jl", "    name::NTuple{8, UInt8}\n", "    name::NTuple{4, UInt8}\n", "struct ricci_plugin_note 32 4"),
    ("LowLevel.jl", "const RICCI_S_ADD = UInt32(1)", "const RICCI_S_ADD = UInt32(2)", "constant RICCI_S_ADD 2"),
    ("LowLevel.jl", "(Ptr{ricci_ctx}, Ptr{UInt8}, Csize_t), c, path, len)", "(Ptr{ricci_ctx}, Ptr{UInt8}, UInt32), c, path, len)",
     "function ricci_context_load_plugin Ptr{ricci_status} | Ptr{ricci_ctx} | Ptr{UInt8} | UInt32"),
    ("LowLevel.jl", "(:ricci_program_hash, libricci), UInt64,", "(:ricci_program_hash, libricci), UInt32,",
     "function ricci_program_hash UInt32"),
    ("LowLevel.jl", "    batch_kind::UInt32\n", "", "ricci_prim_def: 4 bytes before abstract_eval belong to no member"),
]
PACKAGE = [
    ("trees.jl", "struct Hole end\n", "struct Whole end\n", "Hole is not defined"),
    ("compiled.jl", "sys.ricci_call_release(it.call)", "sys.ricci_call_release(it.call, 0)", "ricci_call_release is given 2"),
    ("compiled.jl", "n_devices = 1", "n_device = 1", "ricci_compile_opts has no member n_device"),
    ("failures.jl", "sys.ricci_status_free(", "sys.ricci_status_drop(", "LowLevel.jl has no ricci_status_drop"),
    ("functions.jl", "numbers_of(arguments, argument)", "numbers_of(arguments)", "no method of numbers_of"),
    ("loops.jl", "\"num_carry\" => k;\n", "\"num_carry\" => kk;\n", "kk is not defined"),
    ("Ricci.jl", "export Context,", "export Contexts,", "Contexts is exported and not defined"),
    ("Ricci.jl", 'include("rows.jl")\n', "", "rows.jl is not included"),
    ("README.md", "f = jit(energy)", "f = jet(energy)", "README.md: jet is not defined"),
]
SYNTAX = [("contexts.jl", "mutable struct Context\n", "mutable struct Context end end\n", "not Julia")]


def broken(changes, folder):
    """A copy of the package with these mistakes."""
    shutil.copytree(julia_text.PACKAGE, folder)
    for file, old, new, _ in changes:
        path = folder / file if file == "README.md" else folder / "src" / file
        text = path.read_text()
        if old not in text:
            sys.exit(f"{file} has no {old!r}; the mistake cannot be made")
        path.write_text(text.replace(old, new, 1))
    return folder


def unseen(changes, check):
    with tempfile.TemporaryDirectory() as work:
        messages = check(broken(changes, pathlib.Path(work, "julia")))
    return [f"no check finds that {old!r} became {new!r}: {part!r} is not among\n  " + "\n  ".join(messages[:20])
            for _, old, new, part in changes if not any(part in m for m in messages)]


def low_level(folder):
    return julia_low_level.check(folder / "src/LowLevel.jl")


def main():
    errors = unseen(NAMES, low_level) + unseen(LAYOUTS, low_level)
    errors += unseen(PACKAGE, julia_package.check) + unseen(SYNTAX, julia_package.check)
    if not julia_calls.check(julia_text.PACKAGE, code="ricci_context_create(NULL, &c);"):
        errors.append("no check finds that the sequences call too little")
    print("\n".join(errors + [f"mistakes in Julia that no check finds: {len(errors)}"]))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
