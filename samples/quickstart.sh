#!/bin/sh
# Installs what is missing, builds in release form and runs samples/quickstart: sh samples/quickstart.sh [folder]
#
# The folder, by default out/, receives the two curves as SVG.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
output=${1:-$root/out}
mkdir -p "$output"

sh "$root/cmake/install_dependencies.sh" --build-only
cmake -S "$root" -B "$root/build-release" -G Ninja -C "$root/cmake/release.cmake"
cmake --build "$root/build-release" --target quickstart --parallel "${RICCI_JOBS:-$(nproc)}"
exec "$root/build-release/samples/quickstart" "$root/samples/data/digits.csv" "$output"
