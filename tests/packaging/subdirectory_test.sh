#!/bin/sh
# Configures a project that includes Ricci with add_subdirectory and asks for nothing, and compiles a part of it with
# the flags that it then has: subdirectory_test.sh WORK_FOLDER. `tsan` builds and runs the host of the same project.
set -eu
work=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cmake -S "$here/parent" -B "$work" -G Ninja -C "$root/cmake/compiler_cache.cmake" -DRICCI_SOURCE="$root" \
  -DRICCI_CPU=OFF >/dev/null
cmake --build "$work" --target ricci_plugin_nn --parallel "${RICCI_JOBS:-2}"
