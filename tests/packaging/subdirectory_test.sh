#!/bin/sh
# Builds and runs a host whose project includes Ricci with add_subdirectory: subdirectory_test.sh WORK_FOLDER
set -eu
work=$1
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
cmake -S "$here/parent" -B "$work" -G Ninja -C "$root/cmake/compiler_cache.cmake" -DRICCI_SOURCE="$root" >/dev/null
cmake --build "$work" --target in_c --parallel "${RICCI_JOBS:-2}"
"$work/in_c"
