#!/bin/sh
# Prints which rules and lowerings each primitive has and what ran them: sh tests/coverage.sh [--update]
#
# Builds the tool and the fuzzer into `build`, writes the cases of tests/jax that are not there yet, and draws the
# fuzzer's programs of the tests. `--update` writes plugins/lax/COVERAGE.md.
set -eu
cd "$(dirname "$0")/.."
build=${RICCI_BUILD:-build}
page=plugins/lax/COVERAGE.md
python=.venv/bin/python
case ${1:-} in
  ''|--update) ;;
  *) sed -n '2,5s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
sh cmake/install_dependencies.sh >&2
[ -f "$build/build.ninja" ] || cmake -S . -B "$build" -G Ninja -C cmake/dev.cmake >&2
cmake --build "$build" --parallel "${RICCI_JOBS:-2}" --target ricci_tool ricci_fuzz \
  ricci_point_programs ricci_shared >&2
cases=$build/tests/jax/cases
for group in $(sed -n 's/^set(groups \(.*\))$/\1/p' tests/jax/CMakeLists.txt); do
  [ -f "$cases/$group.cases" ] || "$python" tests/jax/generate.py "$cases" "$group" >&2
done
drawn=$(mktemp)
trap 'rm -f "$drawn" "$drawn.page"' EXIT
"$build/tests/fuzz/ricci_fuzz" --seed 1 --count 5000 --draw-only --coverage > "$drawn"
"$python" tests/jax/coverage.py --table "$drawn" "$build/src/cli/ricci" "$cases"/*.cases > "$drawn.page"
if [ "${1:-}" = --update ]; then
  cp "$drawn.page" "$page"
else
  cat "$drawn.page"
fi
