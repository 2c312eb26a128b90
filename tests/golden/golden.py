"""Golden text cases: programs, commands of the tool, and what it must print.

A case file holds sections separated by lines of `====`. A section is a program and, after it, steps: a line
`$ COMMAND OPTIONS` runs `ricci COMMAND OPTIONS -` with the program on standard input; what follows is its output (of a
failing command: its message and `exit N`). `$ A | B` passes what A prints to B, `$ A > F` writes it to F. Steps that
name a device this build lacks are skipped. Steps of a section share an empty folder; an option `--file F`, which the tool does not see, makes F
in it the operand instead of standard input. Of a step with `--profile F`, F is shown after the output, without its times.

`$NAME` in a step is VALUE: what differs between machines, such as the path of a library.

usage: golden.py TOOL [--update] [NAME=VALUE]... CASE...
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile


def run(tool, words, program, folder):
    if "|" in words:
        at = words.index("|")
        return run(tool, words[at + 1:], run(tool, words[:at], program, folder), folder)
    operand = "-"
    if "--file" in words:
        at = words.index("--file")
        operand, words = words[at + 1], words[:at] + words[at + 2:]
    target = subprocess.PIPE
    if ">" in words:
        at = words.index(">")
        target, words = os.open(pathlib.Path(folder) / words[at + 1], os.O_WRONLY | os.O_CREAT), words[:at]
    done = subprocess.run([tool, *words, operand], input=program, stdout=target, stderr=subprocess.PIPE, text=True,
                          timeout=120, cwd=folder)
    if target != subprocess.PIPE:
        os.close(target)
    if done.returncode != 0:
        return f"{done.stdout or ''}{done.stderr}exit {done.returncode}\n"
    return measured(words, done.stdout or "") + profile(words, folder)


def measured(words, text):
    if words[0] != "bench":
        return text
    return re.sub(r"^(compile|best|median|rate) +[0-9.]+ (us|ms|GFLOP)", r"\1 _ \2", text, flags=re.M)


def profile(words, folder):
    if "--profile" not in words:
        return ""
    text = (pathlib.Path(folder) / words[words.index("--profile") + 1]).read_text()
    json.loads(text)
    return re.sub(r'"(ts|dur)":[0-9.]+', r'"\1":_', text)


def devices(tool):
    lines = subprocess.run([tool, "devices"], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split(": ")[1].split(":")[0] for line in lines}  # 0: cpu:0, x86-64, ...


def can_run(words, known):
    return "--device" not in words or words[words.index("--device") + 1] in known


def parse(section):
    """The program and the list of (command line, expected output)."""
    program, *steps = ("\n" + section).split("\n$ ")
    return program[1:] + "\n", [step.partition("\n")[::2] for step in steps]


def expanded(line, names):
    return re.sub(r"\$(\w+)", lambda m: names.get(m.group(1), m.group(0)), line)


def check(tool, path, known, names, update):
    """The number of steps that differ."""
    failures, sections = 0, []
    for section in path.read_text().split("\n====\n"):
        program, steps = parse(section.rstrip("\n") + "\n")
        text = program.rstrip("\n") + "\n"
        with tempfile.TemporaryDirectory() as folder:
            for line, expected in steps:
                words = shlex.split(expanded(line, names))
                got = run(tool, words, program, folder) if can_run(words, known) else expected
                if got.rstrip("\n") != expected.rstrip("\n"):
                    failures += 1
                    if not update:
                        print(f"{path}: $ {line}\n--- expected\n{expected.rstrip()}\n--- got\n{got.rstrip()}\n")
                text += f"\n$ {line}\n{got.rstrip()}\n"
        sections.append(text)
    if update:
        path.write_text("====\n".join(sections))
        return 0
    return failures


def main():
    tool, *rest = [a for a in sys.argv[1:] if a != "--update"]
    names = dict(a.split("=", 1) for a in rest if "=" in a)
    paths = [a for a in rest if "=" not in a]
    tool = str(pathlib.Path(tool).resolve())
    known = devices(tool)
    failures = sum(check(tool, pathlib.Path(p), known, names, "--update" in sys.argv) for p in paths)
    print(f"golden: {len(paths)} files, {failures} step(s) differ")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
