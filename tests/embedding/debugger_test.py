"""gdb and perf see generated code: functions by the names of program and kernel, lines of the host's source.

    debugger_test.py PROGRAM SOURCE

runs `debugged` under gdb, with a breakpoint at each line whose code is generated, and once by itself, to read the map
that it leaves for perf.
"""
import pathlib
import re
import subprocess
import sys


def line_of(source, text):
    lines = pathlib.Path(source).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if f"HERE; /* line of {text} */" in line)


def stop_at(program, line):
    """What gdb prints when it stops at that line for the last time: host code is there too, and comes first."""
    commands = ["set breakpoint pending on", "set debuginfod enabled off", "break __jit_debug_register_code", "run gdb",
                "finish", f"tbreak debugged.c:{line}", "continue", "backtrace 2", "kill"]
    words = ["gdb", "-nx", "-batch"] + [word for c in commands for word in ("-ex", c)] + [program]
    return subprocess.run(words, capture_output=True, text=True, timeout=120).stdout


def perf_map(program):
    with subprocess.Popen([program, "perf"], stdout=subprocess.PIPE) as child:
        child.communicate(timeout=60)
        path = pathlib.Path(f"/tmp/perf-{child.pid}.map")
        text = path.read_text()
        path.unlink()
        return text.splitlines()


def main():
    program, source = sys.argv[1:]
    errors = []
    for what in "sin", "mul":
        line = line_of(source, what)
        seen = stop_at(program, line)
        if not re.search(rf"#0 .*wave[\w.]* \(\) at \S*debugged\.c:{line}\b", seen):
            errors.append(f"gdb does not stop in the generated code of line {line}:\n{seen}")
    lines = perf_map(program)
    if not any(re.fullmatch(r"[0-9a-f]+ [0-9a-f]+ wave", line) for line in lines):
        errors.append("perf's map does not name the program:\n" + "\n".join(lines))
    if not all(re.fullmatch(r"[0-9a-f]+ [1-9a-f][0-9a-f]* \S+", line) for line in lines):
        errors.append("perf's map has lines of another form:\n" + "\n".join(lines))
    refused = subprocess.run([program, "lldb"], capture_output=True, text=True, check=False)
    if "the option cpu.debug is lldb; it must be gdb, perf or gdb,perf" not in refused.stdout:
        errors.append("a wrong option is not refused: " + refused.stdout)
    quiet = subprocess.run([program], capture_output=True, text=True, check=True)
    if quiet.stdout != "0.8415\n":
        errors.append("the program prints " + quiet.stdout)
    for error in errors:
        print(error)
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
