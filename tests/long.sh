#!/bin/sh
# What takes too long for every test run: sh tests/long.sh [BUILD_FOLDER] [SECONDS]
#
# Random programs from a seed that rotates with the commit, by default for an hour. A failure prints the smallest program
# found and the line that repeats it.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
seconds=${2:-3600}
cmake --build "$build" --parallel "${RICCI_JOBS:-2}" --target ricci_fuzz
exec "$build/tests/fuzz/ricci_fuzz" --count 1000000 --seconds "$seconds"
