"""Object files of `ricci compile -o`, linked into programs in C that have nothing of Ricci, against `ricci run`.

Memory that a function gets ends at an inaccessible page, so what is read or written beyond an array ends the
host. usage: object_files.py TOOL results|functions|errors|headers|names|aarch64
"""
import array
import math
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

from object_programs import F16_PROGRAMS, PROGRAMS

NPY = {"f32": "<f4", "f64": "<f8", "i32": "<i4", "u32": "<u4"}
CODES = {"f32": "f", "f64": "d", "i32": "i", "u32": "I"}
# Names of cases that are compared with `ref`: its bits and a host's, which takes routines or planes, differ too.
OTHER_SUMS = ("cholesky", "solve", "lu", "conv_last", "conv_image", "conv_grouped", "ffts")
MEMORY = {"memcpy", "memmove", "memset"}
HOST = r"""
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include "all.h"
static void *room(size_t n) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), all = (n + page - 1) / page * page;
  char *p = mmap(NULL, all + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED || mprotect(p + all, page, PROT_NONE) != 0) exit(2);
  return p + all - n;
}
static void *take(size_t n) {
  void *p = room(n);
  if (fread(p, 1, n, stdin) != n) exit(3);
  return p;
}
static void give(const void *p, size_t n) {
  if (fwrite(p, 1, n, stdout) != n) exit(4);
}
int main(void) {
"""


def run(*words, **more):
    done = subprocess.run([str(w) for w in words], capture_output=True, **more)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}: exit {done.returncode}\n{done.stderr.decode()}")
    return done.stdout


def parameters(text):
    """(dtype, shape) of each parameter of a program."""
    head = re.match(r"program \w+\(([^)]*)\)", text).group(1)
    found = re.findall(r"%\w+: (\w+)\[([\d,]*)\]", head)
    return [(dtype, tuple(int(n) for n in dims.split(",") if n)) for dtype, dims in found]


def values(dtype, shape, rng):
    n = math.prod(shape)
    if dtype == "i32":
        return array.array("i", [rng.randrange(3) for _ in range(n)]).tobytes()
    if dtype == "u32":
        return array.array("I", [rng.randrange(2 ** 32) for _ in range(n)]).tobytes()
    return array.array(CODES[dtype], [rng.uniform(0.25, 1.75) for _ in range(n)]).tobytes()


def write_npy(path, dtype, shape, data):
    head = f"{{'descr': '{NPY[dtype]}', 'fortran_order': False, 'shape': {shape!r}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)


def read_npz(path):
    """(NumPy's name of the type, bytes) of each array."""
    out = []
    with zipfile.ZipFile(path) as files:
        for name in sorted(files.namelist(), key=lambda n: int(re.search(r"\d+", n).group())):
            data = files.read(name)
            length = struct.unpack("<H", data[8:10])[0]
            out.append((re.search(rb"'descr': '([^']*)'", data).group(1).decode(), data[10 + length:]))
    return out


class Case:
    """A program, its inputs, and what the tool computes from them."""

    def __init__(self, tool, folder, name, text, program=None):
        self.name, self.file = name, folder / f"{name}.ricci"
        self.file.write_text(text)
        rng = random.Random(name)
        source = program or text
        self.inputs, words = [], []
        for i, (dtype, shape) in enumerate(parameters(source)):
            self.inputs.append(values(dtype, shape, rng))
            path = folder / f"{name}.{i}.npy"
            write_npy(path, dtype, shape, self.inputs[-1])
            words += ["--input", f"{i}=@{path}"]
        result = folder / f"{name}.npz"
        device = ("--device", "ref") if name.startswith(OTHER_SUMS) else ()
        run(tool, "run", *device, *words, "--output", result, "-", input=source.encode())
        self.wanted = read_npz(result)

    def call(self):
        """Code that calls the function with its inputs and writes its outputs."""
        lines, names = [], []
        for i, data in enumerate(self.inputs):
            lines.append(f"void *in{i} = take({len(data)});")
            names.append(f"in{i}")
        for i, (_, data) in enumerate(self.wanted):
            lines.append(f"void *out{i} = room({len(data)});")
            names.append(f"out{i}")
        lines.append(f"void *work = room({self.name.upper()}_WORKSPACE_BYTES);")
        lines.append(f"if ({self.name}({', '.join(names + ['work'])}) != 0) return 5;")
        lines += [f"give(out{i}, {len(data)});" for i, (_, data) in enumerate(self.wanted)]
        return "  {\n    " + "\n    ".join(lines) + "\n  }\n"


def outputs(cases, folder, library, compiler, runner=()):
    """What a host in C that is linked with the library gets."""
    (folder / "host.c").write_text(HOST + "".join(c.call() for c in cases) + "  return 0;\n}\n")
    run(*compiler, "-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{folder}", folder / "host.c", library, "-lm", "-o",
        folder / "host")
    data = run(*runner, folder / "host", input=b"".join(b"".join(c.inputs) for c in cases))
    out, at = [], 0
    for case in cases:
        out.append([])
        for _, wanted in case.wanted:
            out[-1].append(data[at:at + len(wanted)])
            at += len(wanted)
    assert at == len(data), f"{len(data)} bytes came, not {at}"
    return out


def numbers(kind, data):
    code = {"f4": "f", "f8": "d", "c8": "f", "i4": "i", "u4": "I"}[kind[1:]]
    return array.array(code, data)


def compare(case, got, exact):
    for i, ((kind, wanted), data) in enumerate(zip(case.wanted, got, strict=True)):
        if data == wanted:
            continue
        a, b = numbers(kind, data), numbers(kind, wanted)
        finite = lambda v: kind[1] in "iu" or math.isfinite(v)
        for x, y in zip(a, b):
            if (not finite(x) or not finite(y)) and x != y and (x == x or y == y):
                raise SystemExit(f"{case.name}: result {i} has {x} where {y} is wanted")
        size = max((abs(v) for v in b if finite(v)), default=0)
        worst = max((abs(x - y) for x, y in zip(a, b) if finite(x)), default=0)
        bound = 0 if exact or kind[1] in "iu" else (3e-5 if kind[2] != "8" or kind[1] == "c" else 1e-12) * size
        if not worst <= bound:
            raise SystemExit(f"{case.name}: result {i} differs by {worst} at sizes up to {size}; {bound} is allowed")


def check_symbols(library):
    """Only the C library's libm and functions of memory are missing, and nothing can be written."""
    libm = run("gcc", "-print-file-name=libm.so.6").decode().strip()
    defined = run("nm", "-D", "--defined-only", libm).decode().splitlines()
    math_names = {line.split()[-1].split("@")[0] for line in defined}
    for line in run("nm", "-u", library).decode().splitlines():
        words = line.split()
        if len(words) == 2 and words[1] not in MEMORY | math_names:
            raise SystemExit(f"{library}: {words[1]} is missing, which libm does not have")
    for line in run("readelf", "-S", "-W", library).decode().splitlines():
        section = re.match(r"\s*\[ *\d+\] (\.\S+)\s+\S+\s+\S+ \S+ (\S+) \S+\s+(\S*)", line)
        if section and "W" in section.group(3) and int(section.group(2), 16) and ".rel.ro" not in section.group(1):
            raise SystemExit(f"{library}: section {section.group(1)} can be written")


def compiled(tool, cases, folder, *options):
    library = folder / "all.a"
    run(tool, "compile", *(c.file for c in cases), "-o", library, "-h", folder / "all.h", *options)
    return library


def results(tool, folder):
    all_cases = [Case(tool, folder, name, text) for name, text in PROGRAMS + F16_PROGRAMS]
    checked = ("gcc", "-g", "-fsanitize=address,undefined")
    for cpu, exact in (("native", True), ("x86-64-v2", False)):
        cases = all_cases if exact else all_cases[:-len(F16_PROGRAMS)]
        library = compiled(tool, cases, folder, "--cpu", cpu)
        check_symbols(library)
        for case, got in zip(cases, outputs(cases, folder, library, checked), strict=True):
            compare(case, got, exact and not case.name.startswith(OTHER_SUMS))
    products = [c for c in cases if "product" in c.name]
    library = compiled(tool, products, folder, "--cpu", "native", "--opt", "1")
    for case, got in zip(products, outputs(products, folder, library, checked), strict=True):
        compare(case, got, case.name != "small_product" and case.name != "repeated_products")


def aarch64(tool, folder):
    cases = [Case(tool, folder, name, text) for name, text in PROGRAMS + F16_PROGRAMS]
    library = compiled(tool, cases, folder, "--target", "aarch64-linux-gnu")
    compiler = ("aarch64-linux-gnu-gcc", "-O1", "-static")
    for case, got in zip(cases, outputs(cases, folder, library, compiler, ("qemu-aarch64",)), strict=True):
        compare(case, got, exact=False)


# ---- derivatives, batches, checks, memory of its own ----
VALLEY = ("program valley(%x: f32[2], %n: i32[]) { %c: f32[2] = mul(%x, %x) %s: f32[2] = sin(%c) %p: f32[2] = mul(%s, %x)"
          " %t: f32[] = reduce_sum(%p) axes=[0] return %t }")
CHECKED = ("program checked(%x: f32[3]) { %z: f32[3] = constant 0.0 %p: bool[3] = gt(%x, %z)"
           " %a: bool[] = reduce_and(%p) axes=[0] %y: f32[3] = check(%a, %x) code=9 message=\"not positive\""
           " %l: f32[3] = log(%y) return %l }")


def functions(tool, folder):
    (folder / "valley.ricci").write_text(VALLEY)
    run(tool, "compile", folder / "valley.ricci", "-o", folder / "all.o", "-h", folder / "all.h", "--cpu", "native",
        "--derivatives", "grad,jvp,hvp", "--vmap", "5")
    text = folder / "valley.ricci"
    made = {"valley": run(tool, "print", text), "valley_grad": run(tool, "grad", text),
            "valley_jvp": run(tool, "jvp", text)}
    cases = []
    for name, program in made.items():
        mapped = run(tool, "vmap", "--size", "5", "-", input=program).decode()
        cases.append(Case(tool, folder, name, mapped))
    for case, got in zip(cases, outputs(cases, folder, folder / "all.o", ("gcc", "-g")), strict=True):
        compare(case, got, exact=False)
    first = (folder / "all.o").read_bytes()
    (folder / "valley.ricci").write_text(VALLEY)
    run(tool, "compile", folder / "valley.ricci", "-o", folder / "all.o", "-h", folder / "all.h", "--cpu", "native",
        "--derivatives", "grad,jvp,hvp", "--vmap", "5")
    assert (folder / "all.o").read_bytes() == first, "the same program gives other bytes"
    check_hessian(folder)
    check_failure(tool, folder)


def check_hessian(folder):
    """The Hessian of sum(x sin(x^2)) is diagonal: 6 x cos(x^2) - 4 x^3 sin(x^2)."""
    host = HOST + """  static float x[10], v[10], out[10]; static int32_t n[5];
  for (int i = 0; i < 10; ++i) x[i] = 0.1f * (float)i, v[i] = 1.0f + (float)i;
  if (valley_hvp(x, n, v, out, room(VALLEY_HVP_WORKSPACE_BYTES)) != 0) return 1;
  for (int i = 0; i < 10; ++i) printf("%.9g ", (double)out[i]);
  (void)take; (void)give;
  return 0;\n}\n"""
    (folder / "host.c").write_text(host)
    run("gcc", "-std=c11", f"-I{folder}", folder / "host.c", folder / "all.o", "-lm", "-o", folder / "host")
    for i, got in enumerate(map(float, run(folder / "host").split())):
        x, v = 0.1 * i, 1.0 + i
        want = (6 * x * math.cos(x * x) - 4 * x ** 3 * math.sin(x * x)) * v
        assert abs(got - want) < 1e-4, (i, got, want)


def check_failure(tool, folder):
    """A check that fails is a number; memory of the object's own needs no parameter."""
    (folder / "checked.ricci").write_text(CHECKED)
    run(tool, "compile", folder / "checked.ricci", "-o", folder / "all.o", "-h", folder / "all.h", "--workspace", "own")
    (folder / "host.c").write_text("""#include <stdio.h>
#include "all.h"
int main(void) {
  const float good[3] = {1, 1, 1}, bad[3] = {1, -1, 1};
  float out[3];
  printf("%d %d %d", checked(good, out), checked(bad, out), checked(good, out));
  return 0;
}
""")
    run("gcc", "-std=c11", f"-I{folder}", folder / "host.c", folder / "all.o", "-lm", "-o", folder / "host")
    header = (folder / "all.h").read_text()
    assert " * Its working memory is in the object: one call at a time, of all threads. */\nint checked(" in header, header
    assert " *   returns 1: " in header and "not positive" in header, header
    assert run(folder / "host") == b"0 1 0", run(folder / "host")


# ---- headers ----
def headers(tool, folder):
    cases = []
    for name, text in PROGRAMS[:6]:
        (folder / f"{name}.ricci").write_text(text)
        cases.append(folder / f"{name}.ricci")
    run(tool, "compile", *cases, "-o", folder / "all.a", "-h", folder / "all.h")
    strict = ("-Wall", "-Wextra", "-Werror", "-pedantic", "-fsyntax-only")
    for compiler, language in (("gcc", "c99"), ("gcc", "c11"), ("g++", "c++17")):
        run(compiler, f"-std={language}", *strict, "-x", "c++" if compiler == "g++" else "c", "-include", folder / "all.h",
            "/dev/null")
    text = (folder / "all.h").read_text()
    run(tool, "compile", cases[0], "-o", folder / "own.o", "-h", folder / "own.h", "--workspace", "own")
    check_symbols(folder / "own.o")
    assert " * It needs no working memory. */\nint elementwise(" in (folder / "own.h").read_text()
    for wanted in ("int elementwise(const float *in0, const float *in1, float *out0, float *out1, void *workspace);",
                   " *   in0: f32[1003], 1003 of float\n", "#define ELEMENTWISE_WORKSPACE_BYTES "):
        assert wanted in text, text


# ---- errors ----
F = "program f(%x: f32[3]) { %y: f32[3] = sin(%x) return %y }"
PRINTS = "program f(%x: f64[]) {\n  debug_print(%x) fmt=\"x = {}\"\n  return %x\n}"
OBJECT = ("-o", "out.o", "-h", "out.h")
ERRORS = [
    (F, (*OBJECT, "--cpu", "8086"), "object: processor `8086` is unknown; for x86_64-linux-gnu there are native "),
    (F, (*OBJECT, "--cpu", "i386"), "object: processor `i386` is unknown; for x86_64-linux-gnu there are native "),
    (F, (*OBJECT, "--target", "vax"),
     "object: target `vax` is unknown; there are x86_64-linux-gnu and aarch64-linux-gnu\n"),
    (F, (*OBJECT, "--target", "aarch64-linux-gnu", "--cpu", "native"),
     "object: processor `native` is of another kind than target `aarch64-linux-gnu`; name one\n"),
    (F, (*OBJECT, "--workspace", "heap"), "object: workspace `heap` is neither `caller` nor `own`\n"),
    (F, ("-o", "none/out.o", "-h", "out.h"), "none/out.o: cannot be written: No such file or directory\n"),
    (F, ("-o", "out.o", "-h", "none/out.h"), "none/out.h: cannot be written: No such file or directory\n"),
    (F, ("-o", "f.ricci", "-h", "out.h"), "compile: -o or -h would replace the program f.ricci; name another file;"),
    (F, ("-o", "out.o", "-h", "./f.ricci"), "compile: -o or -h would replace the program f.ricci; name another file;"),
    (F, ("-o", "out.o", "-h", "out.o"), "compile: -o and -h name the same file out.o;"),
    (F, ("-o", "out.o"), "compile: -o writes an object file and takes -h FILE.h, for its C header; `ricci help compile`"
                         " lists its options\n"),
    (F, (*OBJECT, "--device", "cuda"), "compile: -o takes neither --explain, --dump nor --device: objects run on"
                                       " processors, see --target; `ricci help compile` lists its options\n"),
    ("program f(%x: f16[3]) { %y: f16[3] = sin(%x) return %y }", (*OBJECT, "--cpu", "x86-64-v2"),
     "object: its code would call __extendhfsf2, which the C library does not have; a newer processor"),
    (F, ("--cpu", "native"), "compile: --cpu is for object files; name one with -o FILE.o; `ricci help compile` lists its"
                             " options\n"),
    (F, (*OBJECT, "--name", "2f"), "--name: `2f` is not a C identifier; choose another\n"),
    (F, (*OBJECT, "--name", "sinf"), "--name: `sinf` is a name of C or its libraries; choose another\n"),
    (F, (*OBJECT, "--name", "_Up"), "--name: `_Up` is a name that C keeps for itself; choose another\n"),
    (F.replace("program f", "program exp"), OBJECT,
     "f.ricci: program name `exp` is a name of C or its libraries; give one with --name\n"),
    (F, ("f.ricci", *OBJECT), "compile: several programs become a static library; name it with -o FILE.a, not out.o;"
                              " `ricci help compile` lists its options\n"),
    (F, ("f.ricci", "-o", "out.a", "-h", "out.h"),
     "two functions are called f (program f of f.ricci; program f of f.ricci); rename one of the programs\n"),
    (F, ("F.ricci", "-o", "out.a", "-h", "out.h"),
     "functions f and F (program f of f.ricci; program F of F.ricci) would share the macro F_WORKSPACE_BYTES; rename one"),
    (F, (*OBJECT, "--name", "A_WORKSPACE_BYTES"),
     "--name: `A_WORKSPACE_BYTES` is a name that headers of objects keep for macros; choose another\n"),
    (F, (*OBJECT, "--vmap", "0"), "compile: --vmap: a batch of 0 is empty; take 1 or more; `ricci help compile` lists its"
                                  " options\n"),
    (F, (*OBJECT, "--derivatives", "curl"), "compile: --derivatives: `curl` is none of grad, jvp, hvp;"
                                            " `ricci help compile` lists its options\n"),
    ("program f(%x: i32[]) { return %x }", (*OBJECT, "--derivatives", "grad"),
     "--derivatives: f has no floating parameter to differentiate by\n"),
    ("program f(%x: i32[], %y: f32[]) { return %y }", (*OBJECT, "--derivatives", "grad", "--wrt", "0"),
     "--wrt 0: parameter 0 of f is i32[], which has no derivative; name floating ones\n"),
    (PRINTS, OBJECT, "debug_print at f.ricci:2 calls a function of the host, which is not in an object; leave the equation"
                     " out, or give its primitive another lowering than LIBRARY"),
]


def errors(tool, folder):
    (folder / "F.ricci").write_text(F.replace("program f", "program F"))
    for text, options, wanted in ERRORS:
        (folder / "f.ricci").write_text(text)
        done = subprocess.run([tool, "compile", "f.ricci", *options], cwd=folder, capture_output=True, text=True)
        if done.returncode == 0 or wanted not in done.stderr:
            raise SystemExit(f"{' '.join(options)}: exit {done.returncode}, said\n{done.stderr}and not\n{wanted}")
        left = sorted(p.name for p in folder.iterdir())
        assert left == ["F.ricci", "f.ricci"], f"{' '.join(options)}: left {left}"
        assert (folder / "f.ricci").read_text() == text, f"{' '.join(options)}: f.ricci was written"
    (folder / "nothing").symlink_to("/dev/null")
    (folder / "f.ricci").write_text(F)
    run(tool, "compile", folder / "f.ricci", "-o", folder / "nothing", "-h", folder / "out.h")
    assert (folder / "nothing").is_symlink() and (folder / "out.h").exists(), "a device was replaced"
    help_text = run(tool, "compile", "--help").decode()
    assert "-o FILE.o" in help_text and run(tool, "compile", "-h").decode() == help_text


# ---- names ----
HEADERS = ("assert", "complex", "ctype", "errno", "fenv", "inttypes", "iso646", "limits", "locale", "math", "setjmp",
           "signal", "stdarg", "stdbool", "stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string", "threads", "time",
           "uchar", "wchar", "wctype")
WORDS = "co_await reinterpret_cast char8_t bitand thread_local _Bool typeof wchar_t linux not_eq consteval".split()
FREE = "f step x y2 interp final override in0 workspace sinx cosine expl1 timer index_of INT intl pow_f".split()


def library_names():
    """Functions of the library of C, as its headers declare them, and macros of <stdint.h>."""
    source = "".join(f"#include <{h}.h>\n" for h in HEADERS).encode()
    declared = run("gcc", "-std=c11", "-E", "-P", "-xc", "-", input=source).decode()
    names = set(re.findall(r"\b([A-Za-z]\w*) *\(", declared))
    macros = run("gcc", "-std=c11", "-E", "-dM", "-xc", "-", input=b"#include <stdint.h>\n").decode()
    return sorted(names | set(re.findall(r"#define ([A-Z]\w*)", macros)))


def names(tool, folder):
    """A function cannot have a name that C, C++ or their libraries have; of those of the library, an eighth is tried."""
    (folder / "f.ricci").write_text(F)
    command = (tool, "compile", folder / "f.ricci", "-o", folder / "f.o", "-h", folder / "f.h", "--name")
    taken = library_names()
    assert len(taken) > 500, taken
    for name in WORDS + taken[::8]:
        done = subprocess.run([*command, name], capture_output=True, text=True)
        if done.returncode != 1 or f"--name: `{name}` is a name " not in done.stderr:
            raise SystemExit(f"--name {name}: exit {done.returncode}, said {done.stderr}")
    for name in FREE:
        run(*command, name)
        run("g++", "-std=c++20", "-Werror", "-fsyntax-only", "-include", "cmath", "-include", "cstring", "-xc++", folder / "f.h")


def main():
    tool, part = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        globals()[part](tool, pathlib.Path(folder))
    print(f"{part}: ok")


if __name__ == "__main__":
    main()
