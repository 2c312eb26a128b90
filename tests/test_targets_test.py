"""What test_targets.py says of a project whose programs are not built: test_targets_test.py FOLDER"""
import pathlib
import shutil
import subprocess
import sys

from test_targets import targets

PROJECT = """
cmake_minimum_required(VERSION 3.25)
project(unbuilt NONE)
add_subdirectory(untested)
enable_testing()
foreach(name program given)
  add_custom_command(OUTPUT ${name} COMMAND ${CMAKE_COMMAND} -E touch ${name})
endforeach()
add_custom_target(everything DEPENDS program given)
add_test(NAME at_top COMMAND ${CMAKE_BINARY_DIR}/program --config "driver=${CMAKE_BINARY_DIR}/given")
add_subdirectory(below)
"""
BELOW = """
add_test(NAME below COMMAND ${CMAKE_BINARY_DIR}/program)
add_test(NAME any COMMAND ${CMAKE_BINARY_DIR}/program ${CMAKE_BINARY_DIR})
"""


def expect(found, expected):
    if found != expected:
        sys.exit(f"test_targets.py says {found} instead of {expected}")


folder = pathlib.Path(sys.argv[1])
shutil.rmtree(folder, ignore_errors=True)
(folder / "below").mkdir(parents=True)
(folder / "CMakeLists.txt").write_text(PROJECT)
(folder / "untested").mkdir()
(folder / "below" / "CMakeLists.txt").write_text(BELOW)
(folder / "untested" / "CMakeLists.txt").touch()
subprocess.run(["cmake", "-S", folder, "-B", folder / "build", "-G", "Ninja"], check=True, stdout=subprocess.DEVNULL)
expect(targets(folder / "build", ["-R", "^at_top$"]), ["given", "program"])
expect(targets(folder / "build", ["-R", "^below$"]), ["program"])
expect(targets(folder / "build", []), ["all"])
