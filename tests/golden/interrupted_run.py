"""A run that never ends is interrupted by SIGINT, as by Ctrl-C: the tool says which loops have no bound, and where, and
which of all loops was running, and for how many trips. Code from a folder says the same.

usage: interrupted_run.py TOOL [DRIVER]

With DRIVER, the simulated GPU of tests/cuda, only there, and only loops of the plan: nothing ends one in a kernel.
"""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

# Goes on while `least` is at most the last bit of `start`.
WHILE = """  {result}: i64[] = while({least}, {start}) cond_nconsts=1 body_nconsts=0{bound} cond=program(%n: i64[], %i: i64[]) {{
    %b: bool[] = ge(%i, %n)
    return %b
  }} body=program(%i: i64[]) {{
    %one: i64[] = constant 1
    %a: i64[] = and(%i, %one)
    return %a
  }}
"""
HEAD = "program f(%x: i64[]) {\n  %0: i64[] = constant 0\n  %2: i64[] = constant 2\n"
BOUNDED = WHILE.format(result="%a", least="%2", start="%x", bound=" max_trips=3")
ENDLESS = WHILE.format(result="%y", least="%0", start="%a", bound="")
# As ENDLESS, but it ends: the same kernel as that at another line.
ENDING = WHILE.format(result="%a", least="%2", start="%x", bound="")
NESTED = """  %y: i64[] = while(%x) cond_nconsts=0 body_nconsts=0 cond=program(%i: i64[]) {
    %b: bool[] = constant true
    return %b
  } body=program(%x: i64[]) {
    %0: i64[] = constant 0
    %2: i64[] = constant 2
"""
OF_THE_PLAN = """program f(%x: f64[]) {
  %m: f64[300,300] = broadcast_in_dim(%x) shape=[300,300] broadcast_dimensions=[]
  %y: f64[300,300] = while(%m) cond_nconsts=0 body_nconsts=0 cond=program(%a: f64[300,300]) {
    %s: f64[] = reduce_max(%a) axes=[0,1]
    %l: f64[] = constant 9.0
    %p: bool[] = lt(%s, %l)
    return %p
  } body=program(%a: f64[300,300]) {
    %t: f64[300,300] = transpose(%a) permutation=[1,0]
    %h: f64[300,300] = constant 0.5
    %b: f64[300,300] = mul(%t, %h)
    return %b
  }
  return %y
}
"""
# Each trip of the outer one begins an endless inner one.
NESTED_OF_THE_PLAN = """program f(%x: f64[]) {
  %m: f64[300,300] = broadcast_in_dim(%x) shape=[300,300] broadcast_dimensions=[]
  %y: f64[300,300] = while(%m) cond_nconsts=0 body_nconsts=0 cond=program(%a: f64[300,300]) {
    %p: bool[] = constant true
    return %p
  } body=program(%m: f64[300,300]) {
""" + "".join("  " + line + "\n" for line in OF_THE_PLAN.splitlines()[2:-2]) + """    return %y
  }
  return %y
}
"""
SCAN = """program f(%x: f64[]) {
  %y: f64[] = scan(%x) length=1000000000000 num_consts=0 num_carry=1 body=program(%a: f64[]) {
    %b: f64[] = sin(%a)
    return %b
  }
  return %y
}
"""
# Seconds before SIGINT. A run that still compiled, or was in its first trip, is tried again: a busy machine is slow.
WAITS = (0.05, 0.2, 1, 5)
END = "  return %y\n}\n"
# Name, program, the line of the loop that runs, whether its trips are counted, lines of loops without a bound.
CASES = [
    ("after one with a bound", HEAD + BOUNDED + ENDLESS + END, 12, True, [12]),
    ("after an equal one", HEAD + ENDING + ENDLESS + END, 12, True, [4, 12]),
    ("the inner one", HEAD + NESTED + ENDLESS.replace("%a)", "%x)").replace("%a,", "%x,") + "    return %y\n  }\n" + END,
     10, True, [10, 4]),
    ("the outer one", HEAD + NESTED + ENDING + "    return %a\n  }\n" + END, 4, True, [10, 4]),
    ("of the plan", OF_THE_PLAN, 3, True, [3]),
    ("the inner one of the plan", NESTED_OF_THE_PLAN, 7, True, [7, 3]),
    ("of many trips", SCAN, 2, True, []),
]


def interrupted(tool, folder, arguments, seconds):
    """The exit status and the message of a run that got SIGINT some time after it could be caught."""
    running = subprocess.Popen([tool, "run", "f.ricci", *arguments], cwd=folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    status = pathlib.Path(f"/proc/{running.pid}/status")
    while running.poll() is None and not caught(status.read_text()):
        time.sleep(0.01)
    time.sleep(seconds)
    running.send_signal(signal.SIGINT)
    _, message = running.communicate(timeout=60)
    return running.returncode, message


def caught(status):
    """Whether the process has a handler for SIGINT."""
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return int(mask, 16) >> (signal.SIGINT - 1) & 1


def wanted(device, line, counted, unbounded):
    """A pattern for the message."""
    place = f" in the loop at f\\.ricci:{line}" + (", after [1-9][0-9]* trips?" if counted else "")
    listed = ", ".join(f"while at f\\.ricci:{n}" for n in unbounded)
    loops = f"loops without a bound, which may never end: {listed}" if listed else "every loop of the program has a bound"
    return f"ricci: run: interrupted: {device}: run cancelled by the host{place}; {loops}\n"


def check(tool, folder, device, cached, case, libraries):
    """Runs one case; a run from the cache compiles nothing."""
    name, program, line, counted, unbounded = case
    pathlib.Path(folder, "f.ricci").write_text(program)
    arguments = ["--device", device, "--input", "0=1", *libraries]
    for _ in range(2 if cached else 1):
        pattern = wanted(device, line, counted, unbounded)
        for seconds in WAITS:
            status, message = interrupted(tool, folder, arguments + (["--cache", "kept"] if cached else []), seconds)
            if status == 1 and re.fullmatch(pattern, message):
                break
        else:
            sys.exit(f"{name} on {device}, cached: {cached}: {status}, {message!r}, expected {pattern!r}")


def main():
    tool = str(pathlib.Path(sys.argv[1]).resolve())
    listed = subprocess.run([tool, "devices"], capture_output=True, text=True, check=True).stdout
    cases, devices, libraries = CASES, [d for d in ("ref", "cpu") if f": {d}:" in listed], []
    if len(sys.argv) > 2:
        cases, devices = [case for case in CASES if "of the plan" in case[0]], ["cuda"]
        libraries = ["--config", f"cuda.driver={sys.argv[2]}", "--config", f"cuda.compiler={sys.argv[2]}"]
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            for device in devices:
                check(tool, folder, device, device != "ref", case, libraries)


main()
