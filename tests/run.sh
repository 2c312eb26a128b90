#!/bin/sh
# Installs what is missing, builds everything and runs all tests: sh tests/run.sh [arguments of ctest]
#
# One CTest run covers everything: unit tests, laws, JAX replay, samples, lint, an installed prefix, and the sanitizer
# builds, which are tests of the main build. Two jobs fit the two cores of continuous integration (RICCI_JOBS: others).
# With arguments, such as `-R lint`, only what the chosen tests need is built. Faster answers: tests/quick.sh.
set -eu
cd "$(dirname "$0")/.."
jobs=${RICCI_JOBS:-2}

step() { printf '\n== %s\n' "$1"; }

# Builds and what tests leave in them; where less is free, tests fail late and far from the cause.
needed=12
free=$(df -Pk . | awk 'NR == 2 { print int($4 / 1048576) }')
[ "$free" -ge "$needed" ] || [ -d build ] ||
  echo "warning: a first run writes $needed GB to $(pwd), where $free GB are free" >&2

step "dependencies"
sh cmake/install_dependencies.sh

step "configure"
cmake -S . -B build -G Ninja -C cmake/dev.cmake

step "build"
targets=all
[ $# -eq 0 ] || targets=$(python3 tests/test_targets.py build "$@")
# shellcheck disable=SC2086 # one word for each target
[ -z "$targets" ] || cmake --build build --parallel "$jobs" --target $targets

step "test"
cd build
exec ctest --parallel "$jobs" --output-on-failure --no-tests=error "$@"
