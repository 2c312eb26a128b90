"""Machine code of typical programs beside that of Triton's and Warp's, without a GPU; not in CTest.

PRINTER (quality_programs.cc) prints our CUDA text; the packages of peer_packages.txt compile theirs. All is for sm_90a. The
same code counts all: instructions of the main part for each element that a thread computes there, and of products the
multiply-adds of a warp for each of its instructions. It is a statement about code, not about time.

usage: PYTHONPATH=PACKAGES beside.py PRINTER [--update]

--update writes the table into README.md of this folder; else it is printed.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

import quality
import sass_figures
import triton
import triton_programs
import warp_programs

ARCHITECTURE = 90
BYTES = {"bf16": 2}  # of an element, by the end of a program's name; others have 4
LANES = {"rk4", "cholesky6", "lattice"}
SPECIAL = ["gelu", "gelu_bf16", "softmax1024", "softmax8192"]  # with a special function, exp or tanh
WITHOUT = " but tanh or exp"
BODY = re.compile(r"(static __device__ f32 ricci_dev_(?:exp|tanh)_f32\(f32 x\) \{\n).*?\n\}", re.S)
TABLE = re.compile(r"^\| beside \|.*?\n(?!\|)", re.M | re.S)
CUOBJDUMP = pathlib.Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"


# ---- parts of a listing ----
def widest(part):
    return max([int(bits) for name in ("LDG", "STG") for bits in sass_figures.widths(part, name)], default=0)


def main_parts(listing):
    """The innermost loops with the widest accesses; the whole kernel if there is none."""
    loops = sass_figures.inner_loops(listing)
    most = max([widest(part) for part in loops], default=0)
    parts = [part for part in loops if most and widest(part) == most]
    return parts or [[x for x in listing if x[0] != "label"]]


def elements(part, size):
    """What a thread stores in `part`, or reads where it stores nothing: by the widest accesses, since others may be what
    happens instead of them."""
    for name in ("STG", "LDG"):
        found = {int(bits): n for bits, n in sass_figures.widths(part, name).items()}
        if found:
            return max(found) * found[max(found)] / (8 * size)
    return 0


def per_element(listing, size):
    counted = [(len(part), elements(part, size)) for part in main_parts(listing)]
    return sum(n / e for n, e in counted if e)


def multiply_adds(op):
    """Of a warp, by one instruction."""
    kind, *rest = op.split(".")
    if kind == "FFMA":
        return 32
    shape = next((p for p in rest if re.fullmatch(r"\d+(x\d+x\d+)?", p)), "0")
    if kind == "HMMA":
        return {"16816": 16 * 8 * 16, "1688": 16 * 8 * 8}[shape]
    if kind == "HGMMA":
        m, n, k = map(int, shape.split("x"))
        return m * n * k / 4
    return 0


def density(listing):
    """Multiply-adds for each instruction of the loop that has most of them; of the whole kernel if no loop has any."""
    loops = sass_figures.inner_loops(listing)
    work = [(sum(multiply_adds(op) for op, _ in part), len(part)) for part in loops + [listing]]
    sums, length = max(work[:-1] if any(s for s, _ in work[:-1]) else work)
    return sums / length


# ---- figures ----
def is_product(program):
    return "product" in program or "scores" in program


def registers(code):
    """{kernel: registers of a thread}"""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(code)
        file.flush()
        text = subprocess.run([CUOBJDUMP, "--dump-resource-usage", file.name], capture_output=True, text=True,
                              check=True).stdout
    return {name: int(n) for name, n in re.findall(r"Function (\w+):\s+REG:(\d+)", text)}


def figures(code, program, only=""):
    """Of the kernel with the most instructions, for aligned addresses: registers, instructions, and the figure of its kind."""
    used = registers(code)
    listings = {k: v for k, v in sass_figures.instructions(code).items() if k in used and only in k and not k.endswith("_unaligned")}
    name = max(listings, key=lambda k: len(listings[k]))
    listing = listings[name]
    whole = [x for x in listing if x[0] != "label"]
    if is_product(program):
        figure = density(listing)
    elif program in LANES:
        figure = len(sass_figures.main_loop(listing) if program == "rk4" else main_parts(listing)[0])
    else:
        size = next((b for end, b in BYTES.items() if program.endswith(end)), 4)
        figure = per_element(listing, size)
    return {"registers": used[name], "instructions": len(whole), "figure": figure}


def ours(printer):
    texts = quality.programs(printer, f"sm_{ARCHITECTURE}a")
    texts = {k: v for name in texts for k, v in [(name, texts[name])] +
             ([(name + WITHOUT, BODY.sub(r"\1  return x * 0.7f;\n}", texts[name]))] if name in SPECIAL else [])}
    compiler = sass_figures.Compiler()
    return {name: figures(compiler.compile(text, f"sm_{ARCHITECTURE}a")[0], name.removesuffix(WITHOUT))
            for name, text in texts.items()
            if name.removesuffix(WITHOUT) in triton_programs.PROGRAMS or name in warp_programs.PROGRAMS}


def of_triton():
    plain = {name + WITHOUT: figures(triton_programs.cubin(name, ARCHITECTURE, plain=True), name) for name in SPECIAL}
    return plain | {name: figures(triton_programs.cubin(name, ARCHITECTURE), name) for name in triton_programs.PROGRAMS}


def of_warp():
    code = warp_programs.cubins(ARCHITECTURE)
    return {name: figures(code, name, only=f"{name}_") for name in warp_programs.PROGRAMS}


# ---- table ----
def unit(program):
    if is_product(program):
        return "multiply-adds / instruction"
    return "instructions / step" if program == "rk4" else "instructions" if program in LANES else "instructions / element"


def cells(side):
    return f"{side['registers']} | {side['figure']:.3g}" if side else "|"


def table(*sides):
    lines = ["| beside | unit | registers | Ricci | registers | Triton | registers | Warp |", "|---" * 8 + "|"]
    for program in sides[0]:
        lines.append(f"| {program} | {unit(program)} | " + " | ".join(cells(s.get(program)) for s in sides) + " |")
    return "\n".join(lines) + "\n"


def main(arguments):
    options = {a for a in arguments if a.startswith("--")}
    (printer, ) = [a for a in arguments if not a.startswith("--")]
    text = table(ours(printer), of_triton(), of_warp())
    if "--update" in options:
        quality.README.write_text(TABLE.sub(lambda _: text, quality.README.read_text()))
    else:
        print(text, end="")


if __name__ == "__main__":
    main(sys.argv[1:])
