"""Prints what must be built for the tests that ctest chooses: test_targets.py BUILD [arguments of ctest]

A test says in its command and environment which files of the build it uses; those that ninja makes are its targets. A
test that is given the build folder itself may use anything: then the answer is `all`.
"""
import json
import pathlib
import subprocess
import sys


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def words(test):
    """Command and environment, in parts: `--config cuda.driver=FILE` and `RICCI_PREFIX=FOLDER` name files too."""
    properties = {p["name"]: p["value"] for p in test["properties"]}
    for word in [*test.get("command", []), *properties.get("ENVIRONMENT", [])]:
        yield word
        yield word.split("=", 1)[-1]


def targets(build, arguments):
    build = pathlib.Path(build).resolve()
    made = {line.rsplit(":", 1)[0] for line in output("ninja", "-C", build, "-t", "targets", "all").splitlines()}
    tests = json.loads(output("ctest", "--test-dir", build, "--show-only=json-v1", *arguments))["tests"]
    used = {word for test in tests for word in words(test)}
    if str(build) in used:
        return ["all"]
    below = {word[len(str(build)) + 1 :] for word in used if word.startswith(f"{build}/")}
    return sorted(below & made)


if __name__ == "__main__":
    print(*targets(sys.argv[1], sys.argv[2:]))
