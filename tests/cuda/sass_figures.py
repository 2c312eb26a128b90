"""What the machine code of CUDA text shows without a GPU: NVRTC compiles it, nvdisasm prints it, this counts.

Times, bank conflicts and what is read from caches cannot be seen here.
"""
import ctypes
import pathlib
import re
import subprocess
import tempfile

import nvidia.cu13

FOLDER = pathlib.Path(next(iter(nvidia.cu13.__path__)))
LINE = re.compile(r"\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+ )?\s*([A-Z][\w.]*)(.*?);")
INTEGER = {"IADD3", "IMAD", "LEA", "SHF", "LOP3", "ISETP", "IABS", "IMNMX", "VIMNMX", "I2F", "SEL", "PRMT", "IADD",
           "UIADD3", "UIMAD", "ULEA", "USHF", "ULOP3", "UISETP", "USEL", "VIADD", "SGXT", "IDP", "POPC", "FLO", "BMSK"}


class Compiler:
    """NVRTC."""

    def __init__(self):
        self.library = ctypes.CDLL(str(FOLDER / "lib" / "libnvrtc.so.13"))

    def compile(self, text, architecture):
        """The machine code (None if the text is refused) and the log."""
        program, call = ctypes.c_void_p(), self.library
        options = [f"--gpu-architecture={architecture}".encode(), b"--std=c++17", b"--fmad=false", b"--ptxas-options=-v"]
        if call.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"ricci.cu", 0, None, None) != 0:
            raise RuntimeError("nvrtcCreateProgram fails")
        failed = call.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options))
        log = self.read(program, "ProgramLog").decode().rstrip("\0")
        code = None if failed else self.read(program, "CUBIN")
        call.nvrtcDestroyProgram(ctypes.byref(program))
        return code, log

    def read(self, program, what):
        size = ctypes.c_size_t()
        getattr(self.library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        getattr(self.library, f"nvrtcGet{what}")(program, buffer)
        return buffer.raw


def resources(log):
    """{kernel: registers and bytes of stack, spills and shared memory}, from the log."""
    out = {}
    for name, rest in re.findall(r"Compiling entry function '(\w+)'(.*?)(?=Compiling entry|\Z)", log, re.S):
        number = lambda pattern: sum(int(n) for n in re.findall(pattern, rest))
        out[name] = {"registers": number(r"Used (\d+) registers"), "stack": number(r"(\d+) bytes stack"),
                     "spill": number(r"(\d+) bytes spill"), "shared": number(r"(\d+) bytes smem")}
    return out


def instructions(code):
    """{kernel: its instructions in order: ("label", name) or (opcode, operands)}; padding is left out."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(code)
        file.flush()
        text = subprocess.run([str(FOLDER / "bin" / "nvdisasm"), "-c", file.name], capture_output=True, text=True,
                              check=True).stdout
    out, now = {}, None
    for line in text.splitlines():
        if section := re.match(r"//-+ \.text\.(\S+) ", line):
            now = out[section.group(1)] = []
        elif now is not None and (label := re.match(r"(\.L_x_\d+):", line)):
            now.append(("label", label.group(1)))
        elif now is not None and (found := LINE.match(line)) and found.group(1) != "NOP":
            now.append(found.groups())
    return out


def is_wait(part):
    """Whether threads only wait there, at a barrier in shared memory."""
    ops = [op for op, _ in part if op != "label"]
    return len(ops) < 16 and any(op.startswith("SYNCS.PHASECHK") for op in ops)


def target_of(op, operands):
    found = re.search(r"(\.L_x_\d+)", operands) if op.startswith("BRA") else None
    return found.group(1) if found else None


def apart(listing):
    """Places of what only warps that have diverged run: from the label that a BRA.DIV goes to, up to the next one that
    others go to. It returns by a branch, which is not a loop."""
    diverged = {target_of(op, rest) for op, rest in listing if op.startswith("BRA.DIV")}
    others = {target_of(op, rest) for op, rest in listing if op != "label" and not op.startswith("BRA.DIV")}
    out, inside, last = set(), False, None
    for i, (op, name) in enumerate(listing):
        if op == "label":
            inside = name in diverged or (inside and last not in ("BRA", "EXIT", "RET"))
        if inside:
            out.add(i)
        if op != "label":
            last = op.split(".")[0]
    return out


def inner_loops(listing):
    """The innermost loops, the longest first, without labels; what only waits is none."""
    begin = {name: i for i, (op, name) in enumerate(listing) if op == "label"}
    loops, rare = [], apart(listing)
    for i, (op, operands) in enumerate(listing):
        target = target_of(op, operands)
        first = begin.get(target, i) if target else i
        if i not in rare and first < i - 1 and not is_wait(listing[first:i + 1]):
            loops.append((first, i + 1))
    inner = [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]
    inner.sort(key=lambda a: a[0] - a[1])
    return [[x for x in listing[first:last] if x[0] != "label"] for first, last in inner]


def main_loop(listing):
    """The longest of the innermost loops; empty if there is none."""
    return next(iter(inner_loops(listing)), [])


def widths(listing, name):
    """{bits: number} of the accesses by instruction `name`."""
    out = {}
    for op, _ in listing:
        parts = op.split(".")
        if parts[0] == name:
            bits = next((re.sub(r"[US]", "", p) for p in parts[1:] if re.fullmatch(r"[US]?(8|16|64|128|256)", p)), "32")
            out[bits] = out.get(bits, 0) + 1
    return dict(sorted(out.items(), key=lambda x: -int(x[0])))


def figures(code, log):
    """{kernel: its figures}"""
    used, out = resources(log), {}
    for name, listing in instructions(code).items():
        if name not in used:
            continue
        ops = [op.split(".")[0] for op, _ in listing if op != "label"]
        count = lambda *names: sum(op in names for op in ops)
        loop = [op.split(".")[0] for op, _ in main_loop(listing)]
        out[name] = {**used[name], "instructions": len(ops), "loads": widths(listing, "LDG"),
                     "stores": widths(listing, "STG"), "async": widths(listing, "LDGSTS"),
                     "tensor": count("HMMA", "IMMA", "DMMA", "QMMA", "UTCMMA"),
                     "wgmma": count("HGMMA", "IGMMA", "QGMMA"),
                     "local": count("LDL", "STL"), "shuffles": count("SHFL", "REDUX"), "barriers": count("BAR"),
                     "f64": count("DADD", "DMUL", "DFMA", "DSETP", "DMNMX"), "loop": len(loop),
                     "loop_integer": sum(op in INTEGER for op in loop)}
        if out[name]["wgmma"]:
            out[name]["boxes"] = count("UTMALDG")  # that the GPU copies by itself
    return out
