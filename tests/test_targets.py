"""Prints what must be built for the tests that ctest chooses: test_targets.py BUILD [arguments of ctest]

A test says in its command and environment which files of the build it uses; those that ninja makes are its targets. A
test that is given the build folder itself may use anything: then the answer is `all`. Commands are read from the files
that ctest reads, since it lists none whose program is not built yet.
"""
import json
import pathlib
import re
import subprocess
import sys

QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def commands(folder):
    """Name and words of each test of a folder of the build, and of the folders that its file names."""
    file = folder / "CTestTestfile.cmake"
    if not file.exists():  # a folder added before enable_testing()
        return {}
    text = file.read_text()
    found = {name: QUOTED.findall(line) for name, line in re.findall(r"^add_test\(\[=\[(.*?)\]=\] (.*)\)$", text, re.M)}
    for below in re.findall(r'^subdirs\("(.*)"\)$', text, re.M):
        found |= commands(folder / below)
    return found


def words(test, command):
    """Command and environment, in parts: `--config cuda.driver=FILE` and `RICCI_PREFIX=FOLDER` name files too."""
    properties = {p["name"]: p["value"] for p in test["properties"]}
    for word in [*command, *properties.get("ENVIRONMENT", [])]:
        yield word
        yield word.split("=", 1)[-1]


def targets(build, arguments):
    build = pathlib.Path(build).resolve()
    made = {line.rsplit(":", 1)[0] for line in output("ninja", "-C", build, "-t", "targets", "all").splitlines()}
    tests = json.loads(output("ctest", "--test-dir", build, "--show-only=json-v1", *arguments))["tests"]
    command = commands(build)
    used = {word for test in tests for word in words(test, command[test["name"]])}
    if str(build) in used:
        return ["all"]
    below = {word[len(str(build)) + 1 :] for word in used if word.startswith(f"{build}/")}
    return sorted(below & made)


if __name__ == "__main__":
    print(*targets(sys.argv[1], sys.argv[2:]))
