"""A run that never ends is interrupted by SIGINT, as by Ctrl-C: the tool says which loops have no bound, and where.

usage: interrupted_run.py TOOL
"""
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

WHILE = """  {result}: i64[] = while({start}) cond_nconsts=0 body_nconsts=0{bound} cond=program(%i: i64[]) {{
    %n: i64[] = constant {least}
    %b: bool[] = ge(%i, %n)
    return %b
  }} body=program(%i: i64[]) {{
    %one: i64[] = constant 1
    %a: i64[] = and(%i, %one)
    return %a
  }}
"""
PROGRAM = ("program f(%x: i64[]) {\n" + WHILE.format(result="%a", start="%x", bound=" max_trips=3", least=2)
           + WHILE.format(result="%y", start="%a", bound="", least=0) + "  return %y\n}\n")
WANT = "ricci: run: interrupted; loops without a bound, which may never end: while at f.ricci:11\n"


def interrupted(tool, folder, device):
    """The exit status and the message of a run that got SIGINT when it had begun."""
    running = subprocess.Popen([tool, "run", "f.ricci", "--input", "0=1", "--device", device], cwd=folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    status = pathlib.Path(f"/proc/{running.pid}/status")
    while running.poll() is None and not caught(status.read_text()):
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    _, message = running.communicate(timeout=60)
    return running.returncode, message


def caught(status):
    """Whether the process has a handler for SIGINT."""
    mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
    return int(mask, 16) >> (signal.SIGINT - 1) & 1


def main():
    tool = str(pathlib.Path(sys.argv[1]).resolve())
    listed = subprocess.run([tool, "devices"], capture_output=True, text=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "f.ricci").write_text(PROGRAM)
        for device in [d for d in ("ref", "cpu") if f": {d}:" in listed]:
            got = interrupted(tool, folder, device)
            if got != (1, WANT):
                sys.exit(f"on {device}: {got}, expected {(1, WANT)}")


main()
