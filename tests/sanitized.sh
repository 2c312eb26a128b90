#!/bin/sh
# Builds the unit tests again with a sanitizer and runs them: sh tests/sanitized.sh asan|tsan BUILD_FOLDER [COMMAND]
#
# With a command, it runs that in the build folder instead of the tests.
# CTest runs it as the tests `asan` and `tsan`, so that a plain test run includes the sanitizers. Any report ends
# the test that caused it; leaks are reported at exit.
set -eu
kind=$1
build=$2
shift 2
root=$(cd "$(dirname "$0")/.." && pwd)
jobs=${RICCI_JOBS:-2}

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_init_order=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1

source=$root
[ "$kind" != tsan ] || source=$root/tests/packaging/parent
cmake -S "$source" -B "$build" -G Ninja -C "$root/cmake/$kind.cmake"
cmake --build "$build" --parallel "$jobs"
cd "$build"
[ $# -gt 0 ] || set -- ctest --parallel "$jobs" --output-on-failure --no-tests=error
exec "$@"
