#!/bin/sh
# Installs into a prefix, moves it, and builds and runs hosts against it through CMake and through pkg-config:
# sh tests/packaging/prefix_test.sh BUILD_FOLDER WORK_FOLDER
#
# The prefix is moved because packages are often built in one place and used in another. The first copy is uninstalled
# afterwards and must leave no file or folder of ours behind. The samples in the prefix are built and run (the quickstart,
# which trains, is only built).
set -eu
build=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/installed" >/dev/null
cp -R "$work/installed" "$work/moved"
cmake --build "$build" --target uninstall >/dev/null
left=$(find "$work/installed" -type f)
[ -z "$left" ] || { echo "left behind by uninstall: $left" >&2; exit 1; }
left=$(cd "$work/installed" && find . -path "*/ricci*")
[ -z "$left" ] || { echo "folders left behind by uninstall: $left" >&2; exit 1; }
for document in README.md LICENSE PLUGINS.md include/REFERENCE.md plugins/lax/PRIMITIVES.md bindings/cpp/NUMPY.md \
  bindings/cpp/README.md bindings/python/README.md bindings/python/GUIDE.md bindings/rust/README.md \
  bindings/julia/README.md cmake/README.md tests/bench/MEASURED.md; do
  [ -s "$work/moved/share/doc/ricci/$document" ] || { echo "no $document in share/doc/ricci" >&2; exit 1; }
done
python3 "$here/../lint/links.py" "$work/moved"

components=
[ ! -e "$work/moved/lib/cmake/ricci/ricci-cpu-targets.cmake" ] || components=cpu

by_cmake() {  # FOLDER LANGUAGES
  echo "== CMake package, $2"
  cmake -S "$here/consumer" -B "$work/$1" -G Ninja -DCMAKE_PREFIX_PATH="$work/moved" \
    -DCONSUMER_COMPONENTS=$components "-DCONSUMER_LANGUAGES=$2" >/dev/null
  cmake --build "$work/$1"
  "$work/$1/in_c"
  [ -z "$components" ] || "$work/$1/in_c_cpu"
}
by_cmake by_cmake "C;CXX"
"$work/by_cmake/in_cxx"
by_cmake by_cmake_c C

echo "== pkg-config"
PKG_CONFIG_PATH=$work/moved/lib/pkgconfig
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # flags are words
gcc -std=c11 "$here/consumer/in_c.c" -o "$work/in_c" $(pkg-config --cflags --libs ricci)
"$work/in_c"
# shellcheck disable=SC2046
g++ -std=c++20 "$here/consumer/in_cxx.cc" -o "$work/in_cxx" $(pkg-config --cflags --libs ricci)
"$work/in_cxx"
# Only the binding: its compiled part and the core.
# shellcheck disable=SC2046
g++ -std=c++20 "$here/consumer/in_binding.cc" -o "$work/in_binding_ref" $(pkg-config --cflags --libs ricci-cpp)
"$work/in_binding_ref" ref
if [ -n "$components" ]; then
  gcc -std=c11 -DWITH_CPU "$here/consumer/in_c.c" -o "$work/in_c_cpu" $(pkg-config --cflags --libs ricci-cpu)
  "$work/in_c_cpu"
  # The binding refers to the backend weakly, so the flags must link it.
  # shellcheck disable=SC2046
  g++ -std=c++20 "$here/consumer/in_binding.cc" -o "$work/in_binding" $(pkg-config --cflags --libs ricci-cpp ricci-cpu)
  "$work/in_binding" cpu
fi

if [ -n "$components" ]; then
  echo "== the samples in the prefix"
  cmake -S "$work/moved/share/ricci/samples" -B "$work/samples" -G Ninja -DCMAKE_BUILD_TYPE=Debug \
    "-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=gold -Wl,--strip-debug" >/dev/null  # a third of the default linker's time
  cmake --build "$work/samples" --parallel "${RICCI_JOBS:-2}"
  ctest --test-dir "$work/samples" --output-on-failure -E quickstart
fi

echo "== the tool"
"$work/moved/bin/ricci" devices

echo "== a plugin without CMake: its plain names are slots of the table"
sed s/@name@/smooth_abs/g "$work/moved/lib/cmake/ricci/plugin_entry.c.in" >"$work/entry.c"
gcc -std=c11 -shared -fPIC -fvisibility=hidden -DRICCI_PLUGIN_DSO -I"$work/moved/include" "$work/entry.c" \
  "$here/../../samples/custom_primitive/smooth_abs_plugin.c" -o "$work/smooth_abs.so"
"$work/moved/bin/ricci" check --plugin "$work/smooth_abs.so"
if grep -rl "$work/installed" "$work/moved" >&2; then
  echo "the files above hold the place of installation" >&2
  exit 1
fi
# What was built in it is large, and the prefix is what other tests use.
find "$work" -mindepth 1 -maxdepth 1 ! -name moved -exec rm -rf {} +
