"""Runs a page of documentation: writes its named files and runs its commands, in order, in an empty folder.

run_page.py PAGE FOLDER. A line "`NAME`:" before a block of code names the file that the block is; blocks of `sh` are run
in one shell that ends at the first failure; a block of `text` is what the commands before it must print, among other
things: each of its lines is in one of theirs, in this order, whatever the blanks. A block that is none of these fails,
so that nothing on the page is untested.
"""
import os
import pathlib
import re
import subprocess
import sys

MARK = "=== block"
BLOCK = re.compile(r"(?:^`([^`\n]+)`:\n\n)?^```(\w*)\n(.*?)^```$", re.M | re.S)


def script_of(page, staged):
    """The page as one shell script, and what each block of commands must print: {number: lines}."""
    lines, expected, last = ["set -eu", "exec 2>&1"], {}, None
    for number, match in enumerate(BLOCK.finditer(page)):
        name, language, body = match.groups()
        if name:
            (staged / str(number)).write_text(body, encoding="utf-8")
            lines += [f"mkdir -p $(dirname '{name}')", f"cp '{staged}/{number}' '{name}'"]
        elif language == "sh":
            lines += [f"echo '{MARK} {number}'", body]
            last = number
        elif language == "text" and last is not None:
            expected.setdefault(last, []).extend(body.splitlines())
        else:
            raise SystemExit(f"a block of `{language}` that no test builds; name its file in the line before it:\n{body}")
    return "\n".join(lines), expected


def missing_line(wanted, printed):
    """The first line of `wanted` that is not in what follows the one before it."""
    plain = [" ".join(line.split()) for line in printed]
    at = 0
    for line in wanted:
        while at < len(plain) and " ".join(line.split()) not in plain[at]:
            at += 1
        if at == len(plain):
            return line
        at += 1
    return None


def main():
    page, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    staged = folder / "staged"
    staged.mkdir(parents=True)
    (folder / "work").mkdir()
    script, expected = script_of(page.read_text(encoding="utf-8"), staged)
    run = subprocess.run(["sh"], input=script, text=True, capture_output=True, cwd=folder / "work", env=dict(os.environ))
    parts = re.split(rf"^{MARK} (\d+)\n", run.stdout, flags=re.M)
    said = dict(zip(parts[1::2], parts[2::2]))
    print(run.stdout)
    if run.returncode != 0:
        raise SystemExit(f"{page}: block {list(said)[-1]} fails with {run.returncode}")
    if not expected:
        raise SystemExit(f"{page}: no block says what is printed")
    for number, wanted in expected.items():
        line = missing_line(wanted, said[str(number)].splitlines())
        if line is not None:
            raise SystemExit(f"{page}: block {number} does not print `{line}`")


if __name__ == "__main__":
    main()
