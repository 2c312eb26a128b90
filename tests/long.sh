#!/bin/sh
# Tests that take too long for every test run: sh tests/long.sh [BUILD_FOLDER] [SECONDS]
#
# The laws of all rows on the simulated GPU, 50,000 texts with hostile integers, then random programs, by default for an
# hour, from a seed that rotates with the commit. A failure prints the smallest program found and the line that repeats
# it.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
seconds=${2:-3600}
cmake --build "$build" --parallel "${RICCI_JOBS:-2}" --target ricci_fuzz ricci_cuda_test
"$build/tests/cuda/ricci_cuda_test"
"$build/tests/fuzz/ricci_fuzz" --hostile --count 50000
exec "$build/tests/fuzz/ricci_fuzz" --count 1000000 --seconds "$seconds"
