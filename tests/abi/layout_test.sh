#!/bin/sh
# Every compiler agrees with the layouts of the C ABI, as C and as C++: sh tests/abi/layout_test.sh
set -eu
cd "$(dirname "$0")/../.."
for compiler in "gcc -std=c11" "clang-14 -std=c11" "g++ -std=c++20 -xc++" "clang++-14 -std=c++20 -xc++"; do
  # shellcheck disable=SC2086  # words
  $compiler -Wall -Wextra -Werror -fsyntax-only -Iinclude tests/abi/layout.c
done
# A layout that differs does not compile.
changed=$(mktemp -d)
trap 'rm -rf "$changed"' EXIT
sed 's/sizeof(ricci_attr) == 48/sizeof(ricci_attr) == 56/' tests/abi/layout.c >"$changed/layout.c"
if gcc -std=c11 -fsyntax-only -Iinclude "$changed/layout.c" 2>"$changed/said"; then
  echo "a wrong layout was accepted" >&2
  exit 1
fi
grep -q "sizeof(ricci_attr) == 56" "$changed/said"
