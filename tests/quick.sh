#!/bin/sh
# Answers in minutes: sh tests/quick.sh [FOLDER]
#
# Builds what they need and runs unit tests, goldens and lints: those of FOLDER (src/pass, plugins/lax, bindings/cpp, ...),
# or all. Everything that must pass is `sh tests/run.sh`; it also installs what is missing.
set -eu
cd "$(dirname "$0")/.."
jobs=${RICCI_JOBS:-2}
case ${1:-} in
  --help | -h) exec sed -n '2,5s/^# \{0,1\}//p' "$0" ;;
esac
[ $# -le 1 ] || { echo "usage: sh tests/quick.sh [FOLDER]" >&2; exit 2; }
folder=${1:-}
folder=${folder%/}
[ -z "$folder" ] || [ -d "$folder" ] || { echo "$0: there is no folder $folder; such as src/pass, plugins/lax" >&2; exit 2; }

[ -f build/build.ninja ] || cmake -S . -B build -G Ninja -C cmake/dev.cmake >&2
set -- -L quick
if [ -n "$folder" ]; then
  # The tests with the name of the folder, or of the one around it (src/pass of src/pass/kernel), and those of the text
  # of all files; two lints take the folder itself.
  python3 tests/lint/format_check.py "$folder"
  python3 tests/lint/header_compiles.py "$folder"
  name=$(echo "$folder" | cut -d/ -f2)
  set -- -L quick -R "^($name(_.*)?|golden|lint_(layer_order|text_rules|links))$"
fi
# shellcheck disable=SC2046 # one word for each target
cmake --build build --parallel "$jobs" --target $(python3 tests/test_targets.py build "$@")
exec ctest --test-dir build --parallel "$jobs" --output-on-failure --no-tests=error "$@"
