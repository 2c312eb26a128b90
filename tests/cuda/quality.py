"""The machine code of typical programs, compared with what was recorded: it may get better, not worse.

PRINTER (quality_programs.cc) prints the CUDA text of each program for an architecture, and occupancy as the plugin computes it; NVRTC compiles it for
the architectures below without a warning, and of the first one the figures of each kernel are compared with quality.json.

usage: quality.py PRINTER [--update | --table] [--turn=N] [PROGRAM...]

With a number (of the commit) each program is compiled for the first architecture and for one of the others in turn.
--update records the figures and writes their table into peers/README.md, --table prints it.
"""
import concurrent.futures
import functools
import json
import pathlib
import re
import subprocess
import sys

import sass_figures

ARCHITECTURES = ["sm_90a", "sm_80", "sm_100a", "sm_120a"]
OLD_ARCHITECTURES = ["sm_75"]  # of texts that ask for the architecture
RECORD = pathlib.Path(__file__).with_name("quality.json")
README = RECORD.with_name("peers") / "README.md"
TABLE = re.compile(r"^\| program \|.*?\n(?!\|)", re.M | re.S)
MORE_IS_BETTER = {"occupancy", "tensor", "wgmma", "boxes"}


def programs(printer, architecture, names=()):
    """{name: text}, of those names or of all; or the message after `!!!! ` where there is none."""
    number = re.search(r"\d+", architecture).group()
    out = subprocess.run([printer, "--architecture", number, *names], capture_output=True, text=True, check=True).stdout
    return dict(section.split("\n", 1) for section in out.split("==== ")[1:])


def texts_by_architecture(printer, chosen):
    """{name: {architecture: text}}. Only what has tiles has another text for another architecture."""
    first, *others = ARCHITECTURES
    texts = {name: {a: text for a in ARCHITECTURES + (OLD_ARCHITECTURES if "__CUDA_ARCH__" in text else [])}
             for name, text in programs(printer, first, chosen).items()}
    tiled = [name for name, of in texts.items() if "// tiles of" in of[first]]
    for architecture in (others + OLD_ARCHITECTURES) if tiled else []:
        for name, text in programs(printer, architecture, tiled).items():
            texts[name][architecture] = text
    return texts


def in_turn(texts, turn):
    """Of each program the text for the first architecture and for one of the others."""
    out = {}
    for number, (name, of) in enumerate(texts.items()):
        first, *others = of
        out[name] = {a: of[a] for a in [first] + others[(turn + number) % len(others):][:1]} if others else of
    return out


@functools.cache
def compiler():
    return sass_figures.Compiler()


def dynamic_shared(text):
    """{kernel: bytes of shared memory that its launch gives}, where groups of warps multiply."""
    found = re.findall(r"__global__ [^\n]*?void (\w+)\((?:(?!__global__).)*?extern __shared__ [^;]*;  // (\d+) bytes", text, re.S)
    return {kernel: int(bytes_) for kernel, bytes_ in found}


def warnings(log, architecture):
    """Also what ptxas only advises: that it serialises products which should run by themselves (C7510 and kin)."""
    words = ("warning", "error", "potential performance loss", "serialized")
    lines = [line for line in log.splitlines() if any(w in line.lower() for w in words)]
    return [f"{architecture}: {line}" for line in lines]


def measure(texts):
    """Figures by kernel, and what is wrong, of the texts by architecture."""
    wrong, figures = [], {}
    for architecture, text in texts.items():
        if text.startswith("!!!! "):
            return {"cannot": text[5:].strip()}, []
        code, log = compiler().compile(text, architecture)
        wrong += warnings(log, architecture)
        if code is None:
            wrong.append(f"{architecture}: refused: {log}")
        elif not figures:
            figures = sass_figures.figures(code, log)
            for kernel, bytes_ in dynamic_shared(text).items():
                figures[kernel]["shared"] += bytes_
    return figures, wrong


def add_occupancy(printer, results):
    """The plugin's own, of each kernel after its shared memory."""
    kernels = [(p, name) for p, of in results.items() if "cannot" not in of for name in of]
    used = "".join(f"{results[p][k]['registers']} {results[p][k]['shared']} {384 if k.endswith('_pairs') else 256}\n"
                   for p, k in kernels)
    out = subprocess.run([printer, "--occupancy", ARCHITECTURES[0]], input=used, capture_output=True, text=True,
                         check=True).stdout.split()
    for (p, name), percent in zip(kernels, out, strict=True):
        figures = list(results[p][name].items())
        at = [key for key, _ in figures].index("shared") + 1
        results[p][name] = dict(figures[:at] + [("occupancy", int(percent))] + figures[at:])


def flat(figures):
    """Numbers by name, with the accesses counted, and the bits that one moves on average."""
    out = {}
    for name, value in figures.items():
        if isinstance(value, dict):
            out[name] = sum(value.values())
            out[f"bits of {name}"] = sum(int(bits) * n for bits, n in value.items()) / max(out[name], 1)
        else:
            out[name] = value
    return out


def worse(kernel, now, before):
    """One line for each figure that got worse."""
    out, now, before = [], flat(now), flat(before)
    for name, value in now.items():
        better = name in MORE_IS_BETTER or name.startswith("bits")
        if (value < before.get(name, 0)) if better else (value > before.get(name, 0)):
            out.append(f"{kernel}: {name}: {value}, recorded is {before.get(name)}")
    return out


def compare(now, recorded):
    out = []
    for program in sorted(now.keys() | recorded.keys()):
        here, there = now.get(program, {}), recorded.get(program, {})
        if "cannot" in here:
            out += [] if here == there else [f"{program}: cannot be measured: {here['cannot']}"]
            continue
        for kernel in sorted(here.keys() | there.keys()):
            name = f"{program}: {kernel}"
            if kernel not in there or kernel not in here:
                out.append(f"{name}: {'not recorded' if kernel in here else 'recorded, but not there any more'}")
            else:
                out += worse(name, here[kernel], there[kernel])
    return out


def accesses(widths, asynchronous={}):
    return " + ".join([f"{n} x {bits}" for bits, n in widths.items()] +
                      [f"{n} x {bits} async" for bits, n in asynchronous.items()]) or "none"


def table(results):
    """Markdown; of each program the kernel with the most instructions, but for what only runs where addresses are not aligned."""
    lines = ["| program | kernels | registers | occupancy | instructions | loads | stores | loop | integers | other |",
             "|---" * 10 + "|"]
    for program, kernels in results.items():
        if "cannot" in kernels:
            lines.append(f"| {program} | not yet: {kernels['cannot']} |" + " |" * 8)
            continue
        k = max((k for name, k in kernels.items() if not name.endswith("_unaligned")), key=lambda k: k["instructions"])
        other = [f"{k[n]} {n}" for n in ("stack", "spill", "local", "shared", "shuffles", "barriers", "f64", "tensor", "wgmma",
                                          "boxes") if k.get(n)]
        lines.append(f"| {program} | {len(kernels)} | {k['registers']} | {k['occupancy']} % | {k['instructions']} "
                     f"| {accesses(k['loads'], k['async'])} | {accesses(k['stores'])} | {k['loop']} | {k['loop_integer']} "
                     f"| {', '.join(other) or '-'} |")
    return "\n".join(lines) + "\n"


def text_of(results):
    """JSON with a line for each kernel."""
    programs_ = []
    for program, kernels in results.items():
        lines = ",\n".join(f"  {json.dumps(k)}: {json.dumps(v)}" for k, v in kernels.items())
        programs_.append(f"{json.dumps(program)}: {{\n{lines}}}")
    return "{\n" + ",\n".join(programs_) + "\n}\n"


def record(results):
    RECORD.write_text(text_of(results))
    README.write_text(TABLE.sub(lambda _: table(results), README.read_text()))


def check(results, chosen):
    recorded = json.loads(RECORD.read_text())
    stale = table(recorded) not in README.read_text()
    return compare(results, {k: v for k, v in recorded.items() if not chosen or k in chosen}) + (
        [f"{README}: its table is not that of quality.json"] if stale else [])


def main(arguments):
    options = {a for a in arguments if a.startswith("--")}
    printer, *chosen = [a for a in arguments if not a.startswith("--")]
    texts = texts_by_architecture(printer, chosen)
    for option in options:
        if option.startswith("--turn="):
            texts = in_turn(texts, int(option.removeprefix("--turn=")))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        measured = dict(zip(texts, pool.map(measure, texts.values())))
    results = {name: figures for name, (figures, _) in measured.items()}
    add_occupancy(printer, results)
    wrong = [f"{name}: {line}" for name, (_, lines) in measured.items() for line in lines]
    if "--table" in options:
        print(table(results), end="")
    elif "--update" in options:
        record(results)
    else:
        wrong += check(results, chosen)
    for line in wrong:
        print(line)
    print(f"quality: {len(results)} programs, {len(wrong)} complaint(s)", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
