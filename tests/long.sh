#!/bin/sh
# Tests that take too long for every test run: sh tests/long.sh [BUILD_FOLDER] [SECONDS]
#
# JAX's results of all cases computed again and replayed; the functions of the C++ and the Python binding and the
# random programs of which a run of all tests takes a part; all tests of the simulated GPU, with the laws of all rows,
# each call of the driver failing with each code, products compared with `ref`, and NVRTC compiling every text for
# three architectures; machine code of typical programs for five; all unit tests with AddressSanitizer, all that start
# threads with ThreadSanitizer; 50,000 texts with hostile integers, a quarter of them binary files with hostile bytes
# whose checksums fit; 3,000 random programs more compared with JAX, 20,000 run on the simulated GPU, 5,000 compiled
# ahead of time and 500 for AArch64; then random programs, by default for an hour. Texts and those programs are from a
# seed that rotates with the commit. A failure prints the smallest program found and the line that repeats it.
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
seconds=${2:-3600}
cases=$build/tests/jax/all_cases
cmake --build "$build" --parallel "${RICCI_JOBS:-2}" --target ricci_fuzz ricci_tool ricci_jax_replay \
  ricci_point_programs ricci_shared ricci_plugin_cpu ricci_cuda_test ricci_cuda_quality ricci_numpy_cases ricci_calls
.venv/bin/python tests/jax/generate.py "$cases" --all
for device in ref cpu; do
  "$build/tests/jax/ricci_jax_replay" --device "$device" "$cases"/*.cases
done
"$build/tests/numpy/ricci_numpy_cases" "$build/tests/numpy/all.cases"
.venv/bin/python tests/numpy/compare.py "$build/tests/numpy/all.cases"
PYTHONPATH=bindings/python RICCI_PREFIX=$(cd "$build" && pwd) JAX_PLATFORMS=cpu PYTHONDONTWRITEBYTECODE=1 \
  .venv/bin/python -m unittest discover -s tests/python
nvrtc=$(.venv/bin/python -c 'import nvidia.cu13; print(nvidia.cu13.__path__[0])')/lib/libnvrtc.so.13
RICCI_STANDIN_NVRTC_ALL=1 RICCI_ALL_FAILURES=1 RICCI_TURN=all "$build/tests/cuda/ricci_cuda_test"
.venv/bin/python tests/cuda/quality.py "$build/tests/cuda/ricci_cuda_quality"
# Suites of which CTest knows a share are run by themselves.
for kind in asan tsan; do
  RICCI_TURN=all sh tests/sanitized.sh $kind "$build/$kind" ctest --output-on-failure -E "^(laws_rows|cpu|cuda)_[12]$"
done
for test in ricci_laws_test ricci_cpu_test cuda/ricci_cuda_test; do
  RICCI_TURN=all sh tests/sanitized.sh asan "$build/asan" "tests/$test"
done
sh tests/sanitized.sh tsan "$build/tsan" ricci/tests/ricci_cpu_test
"$build/tests/fuzz/ricci_fuzz" --hostile --count 50000
"$build/tests/fuzz/ricci_fuzz" --seed 1 --count 5000 --coverage
for seed in 1 2000; do
  .venv/bin/python tests/fuzz/against_jax.py "$build/tests/fuzz/ricci_fuzz" --compare 500 --seed $seed
done
.venv/bin/python tests/fuzz/against_jax.py "$build/tests/fuzz/ricci_fuzz" --compare 3000
RICCI_STANDIN_NVRTC=$nvrtc RICCI_TURN=all \
  "$build/tests/fuzz/ricci_fuzz" --gpu "$build/tests/cuda/libricci_standin_cuda.so" --count 20000
"$build/tests/fuzz/ricci_fuzz" --objects "$build/src/cli/ricci" --count 5000
"$build/tests/fuzz/ricci_fuzz" --objects "$build/src/cli/ricci" --aarch64 --count 500
exec "$build/tests/fuzz/ricci_fuzz" --ways 4 --count 1000000 --seconds "$seconds"
