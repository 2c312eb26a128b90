"""Times of object files next to those of `ricci bench` on one thread, in microseconds: object_bench.py TOOL [WORD]

Not a test: for the table in SPEED.md. Each is the best of some runs, on inputs from a seed. With a WORD,
only cases with it in their names.
"""
import math
import pathlib
import re
import sys
import tempfile

from object_files import parameters, run
from object_programs import PROGRAMS, cholesky, convolution, lu, product, solve

CASES = [p for p in PROGRAMS if p[0] in ("elementwise", "reduction", "scans", "ffts", "sorts", "threefry", "cholesky_f32")]
CASES += [product(f"square{n}", n, n, n) for n in (32, 64, 128, 256, 512, 1024)]
CASES += [product("square_f64", 256, 256, 256, "f64"), product("turned256", 256, 256, 256, "f32", 1)]
CASES += [cholesky(f"chol_{t}_{n}", n, t) for t in ("f32", "f64") for n in (32, 64, 128, 256, 512)]
CASES += [solve(f"solve_{side}_{n}", n, side == "left", True, False) for side in ("left", "right") for n in (64, 256, 512)]
CASES += [lu(f"lu_{t}_{n}", n, n, t) for t in ("f32", "f64") for n in (64, 128, 256, 512)]
CASES += [product(f"square_{t}_{n}", n, n, n, t) for t in ("bf16", "f16") for n in (64, 128, 256, 512)]
CASES += [convolution(f"conv{size}x{x}to{y}", (n, size, size, x), (3, 3), y)
          for n, size, x, y in ((1, 56, 64, 64), (4, 28, 32, 64), (8, 14, 128, 128), (1, 112, 3, 32))]
CASES += [convolution("conv_strided", (4, 28, 28, 32), (3, 3), 64, more="window_strides=[2,2]"),
          convolution("conv_dilated", (4, 28, 28, 32), (3, 3), 64, more="rhs_dilation=[2,2]"),
          convolution("conv_grouped", (4, 28, 28, 32), (3, 3), 64, groups=2),
          convolution("conv_depthwise", (4, 28, 28, 32), (3, 3), 32, groups=32),
          convolution("conv_first", (4, 32, 28, 28), (3, 3), 64, first=True)]
GRADIENTS = ("conv28x32to64", "conv_strided", "conv_first")  # by both operands, of the sum of the squares
SIZES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i32": 4, "u32": 4, "c64": 8}
HOST = """#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "all.h"
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
static void *room(size_t n, int kind) {
  static size_t apart = 0;  /* addresses that differ by 4096 disturb each other */
  char *p = (char *)aligned_alloc(64, (n + 127) / 64 * 64 + 4096) + (apart += 320) % 4096 / 64 * 64;
  for (size_t i = 0; i + 8 <= n + 63; i += 4) {
    static unsigned state = 1;  /* numbers as those of the tool: times of special functions depend on them */
    const unsigned u = state = state * 1664525u + 1013904223u;
    const double d = u / 4294967296.0;
    const float f = (float)d;
    if (kind == 'd' && i % 8 == 0) *(double *)(p + i) = d;
    if (kind == 'f') *(float *)(p + i) = f;
    if (kind == 'i') *(unsigned *)(p + i) = u;
    if (kind == 'h') *(unsigned *)(p + i) = 0x3c003c00u + (u & 0x00ff00ffu);  /* two f16 or bf16 */
  }
  return p;
}
int main(void) {
"""


def gradient(tool, case):
    """The derivative of the sum of a convolution's squares by both operands."""
    name, text = case
    result = re.search(r"%y: (\w+)(\[[\d,]*\])", text)
    t, dims = result.groups()
    axes = ",".join(str(i) for i in range(dims.count(",") + 1))
    loss = text.replace("return %y", f"%s: {t}{dims} = mul(%y, %y) %r: {t}[] = reduce_sum(%s) axes=[{axes}] return %r")
    grad = run(tool, "grad", "--wrt", "0,1", "-", input=loss.encode()).decode()
    return name + "_grad", re.sub(r"program \w+", f"program {name}_grad", grad, count=1)


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        code, files, word = "", [], sys.argv[2] if len(sys.argv) > 2 else ""
        cases = [c for c in CASES if word in c[0]]
        cases += [gradient(tool, c) for c in CASES if c[0] in GRADIENTS and word in c[0] + "_grad"]
        for case, text in cases:
            files.append(folder / f"{case}.ricci")
            files[-1].write_text(text)
            kinds = [({"f32": "f", "f64": "d", "f16": "h", "bf16": "h"}.get(t, "i"), SIZES[t] * math.prod(s)) for t, s in parameters(text)]
            words = [f"room({n}, '{k}')" for k, n in kinds]
            results = run(tool, "verify", files[-1]).decode().split("->")[1].split("), ")[0] + ")"
            for t, dims in re.findall(r"(\w+)\[([\d,]*)\]", results):
                words.append(f"room({SIZES[t] * math.prod(int(n) for n in dims.split(',') if n)}, 0)")
            words.append(f"room({case.upper()}_WORKSPACE_BYTES, 0)")
            names = [f"a{i}" for i in range(len(words))]
            code += "  { " + " ".join(f"void *{n} = {w};" for n, w in zip(names, words))
            code += f""" double best = 1e9; const double end = now() + 0.5;
    for (int n = 1; now() < end;) {{
      const double t = now();
      for (int i = 0; i < n; ++i) {case}({', '.join(names)});
      const double taken = now() - t;
      if (taken < 1e-3) n *= 2;
      if (taken >= 1e-3 && taken / n < best) best = taken / n;
    }}
    printf("{case} %.3f\\n", best * 1e6); }}\n"""
        run(tool, "compile", *files, "-o", folder / "all.a", "-h", folder / "all.h", "--cpu", "native")
        (folder / "host.c").write_text(HOST + code + "  return 0;\n}\n")
        run("gcc", "-O2", "-std=c11", f"-I{folder}", folder / "host.c", folder / "all.a", "-lm", "-o", folder / "host")
        times = dict(line.split() for line in run(folder / "host").decode().splitlines())
        print(f"{'case':16} {'object us':>12} {'run us':>12}  ratio")
        for (case, _), file in zip(cases, files):
            text = run(tool, "bench", file, "--seconds", "0.5", "--config", "threads=1").decode()
            best = float(re.search(r"best\s+([\d.]+)", text).group(1))
            print(f"{case:16} {float(times[case]):12.2f} {best:12.2f}  {float(times[case]) / best:.2f}")


if __name__ == "__main__":
    main()
