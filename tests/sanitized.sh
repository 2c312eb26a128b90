#!/bin/sh
# Builds the unit tests again with a sanitizer and runs them: sh tests/sanitized.sh asan|tsan BUILD_FOLDER [COMMAND]
#
# With a command, it builds everything and runs that in the build folder instead of the tests. Any report ends the test
# that caused it; leaks are reported at exit.
#
# CTest runs it as the tests `asan` and `tsan`, so that a plain test run includes the sanitizers, and gives the number of
# the commit in RICCI_TURN. It chooses one of three groups of suites, and libraries that no suite of the group needs are
# not built. A turn in which `asan` has little to build is one in which `tsan` has much. Without it, or with
# RICCI_TURN=all, everything is run.
set -eu
kind=$1
build=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
jobs=${RICCI_JOBS:-2}
turn=${RICCI_TURN:-all}
[ "$turn" = all ] || turn=$((turn % 3))

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_init_order=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

# CPU and CUDA backends, and the folders of tests/; the fuzzer is built with `laws`, the simulated GPU with its backend.
core='base;types;ir;kernel;prim;trace;file;transform;sharding;pass;runtime;api;lax'
programs='control;cpp;cpu;laws'
case $kind-$turn in
  asan-0) cpu=OFF cuda=OFF folders=$core ;;
  asan-1) cpu=ON cuda=OFF folders=$programs ;;
  asan-2) cpu=ON cuda=ON folders= ;;
  asan-all) cpu=ON cuda=ON folders="$core;$programs" ;;
  tsan-0) cpu=ON cuda=OFF folders='cpp;cpu' ;;
  tsan-1 | tsan-2) cpu=OFF cuda=OFF folders='runtime;api' ;;
  tsan-all) cpu=ON cuda=OFF folders='runtime;api;cpp;cpu' ;;
  *) echo "usage: sh tests/sanitized.sh asan|tsan BUILD_FOLDER [COMMAND]; RICCI_TURN is a number or all" >&2; exit 2 ;;
esac

source=$root
[ "$kind" != tsan ] || source=$root/tests/packaging/parent
cmake -S "$source" -B "$build" -G Ninja -C "$root/cmake/$kind.cmake" \
  -D RICCI_CPU=$cpu -D RICCI_CUDA=$cuda -D RICCI_TEST_FOLDERS="$folders"
targets=all
[ $# -gt 0 ] || targets=$(python3 "$root/tests/test_targets.py" "$build")
# shellcheck disable=SC2086 # one word for each target
cmake --build "$build" --parallel "$jobs" --target $targets
cd "$build"
[ $# -gt 0 ] || set -- ctest --parallel "$jobs" --output-on-failure --no-tests=error
exec "$@"
