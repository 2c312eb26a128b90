#!/bin/sh
# Measures Ricci and its peers side by side and prints the ratios: sh tests/bench/run.sh [--peers] [--json FILE] ...
#
# Builds the release configuration into build_bench if it is not there; `--help` lists all options.
set -eu
cd "$(dirname "$0")/../.."
build=${RICCI_BENCH_BUILD:-build_bench}
python=${RICCI_PYTHON:-.venv/bin/python}
case " $* " in
  *" --help "*) exec "$python" tests/bench/measure.py --help ;;
esac
sh cmake/install_dependencies.sh >&2
[ -f "$build/build.ninja" ] || cmake -S . -B "$build" -G Ninja -C cmake/release.cmake \
  -DRICCI_TESTS=ON -DRICCI_SAMPLES=OFF >&2
cmake --build "$build" --parallel "${RICCI_JOBS:-2}" --target bench_programs >&2
exec "$python" tests/bench/measure.py --build "$build" "$@"
