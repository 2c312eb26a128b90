#!/bin/sh
# Plugins as a newcomer writes them, against a prefix that was moved: sh tests/packaging/plugins_test.sh PREFIX WORK_FOLDER
#
# Each template is built and checked by the command in its README; then the page PLUGINS.md is run. Where Ricci is not
# found, a template says what to do.
set -eu
prefix=$1
work=$2
here=$(cd "$(dirname "$0")" && pwd)
PATH=/usr/bin:$PATH
CMAKE_BUILD_PARALLEL_LEVEL=${RICCI_JOBS:-2}
CARGO_BUILD_JOBS=$CMAKE_BUILD_PARALLEL_LEVEL
CARGO_NET_OFFLINE=true
CARGO_TARGET_DIR=$work/target
LDFLAGS=-fuse-ld=gold  # hosts hold LLVM: a third of the default linker's time
export LDFLAGS PATH CMAKE_BUILD_PARALLEL_LEVEL CARGO_BUILD_JOBS CARGO_NET_OFFLINE CARGO_TARGET_DIR

rm -rf "$work"
mkdir -p "$work"
cp -R "$prefix/share/ricci/templates" "$work/templates"
sed -i "s|path = \"../../rust|path = \"$prefix/share/ricci/rust|" "$work/templates/rust/Cargo.toml"

by_readme() {  # FOLDER WHAT_IS_PRINTED
  echo "== the template in $1"
  cd "$work/templates/$1"
  sed -n '/^```sh$/,/^```$/p' README.md | sed -e '/^```/d' -e "s|=PREFIX|=$prefix|g" >command.sh
  [ "$(wc -l <command.sh)" = 1 ] || { echo "README.md does not give one command" >&2; exit 1; }
  sh -eu command.sh >said 2>&1 || { cat said; exit 1; }
  cat said
  grep -q "$2" said || { echo "it does not print: $2" >&2; exit 1; }
}
by_readme c '^0: f64\[\] = 12$'
by_readme cpp 'slope 12$'
by_readme rust '^0: f64\[\] = 12$'

echo "== mistakes, and what to do about them"
mistake() {  # WHAT SED_COMMAND MESSAGE
  cp -R "$prefix/share/ricci/templates/c" "$work/$1"
  sed -i "$2" "$work/$1/cube_plugin.c"
  if said=$(PKG_CONFIG_PATH=$prefix/lib/pkgconfig make -C "$work/$1" check 2>&1); then
    echo "nothing is wrong with a plugin with $1" >&2
    exit 1
  fi
  case $said in *"$3"*) ;; *) printf 'with %s: %s\n' "$1" "$said" >&2; exit 1 ;; esac
}
mistake no_flag '/RICCI_LOWERING_TRANSFORMABLE/d' "or its decomposition be flagged RICCI_LOWERING_TRANSFORMABLE"
mistake other_name 's/ricci_plugin_query_cube/ricci_plugin_query_cubes/' "undefined reference to \`ricci_plugin_query_cube'"
mistake itself 's/^  \*out = ricci_write_emit2.*/  ricci_write_same(\&w, in, out);/' "demo.cube: its decomposition never ends"
mistake no_examples '/row.examples =/d' "demo.cube: the row has no examples"
mistake false_claim 's/^  row.n_lowerings = 1;/&  row.hdr.flags = RICCI_PRIM_VIEW;/' \
  "the row has RICCI_PRIM_VIEW, but element 0 of the result is none of operand 0"
mistake same_array 's/emit2(&w, "mul", in\[0\], in\[0\])/emit2(\&w, "mul", in[0], out[0])/' "operand 1 is RICCI_VAL_NONE"

echo "== a plugin that calls functions of C, libm's too"
cp -R "$prefix/share/ricci/templates/c" "$work/calls_libm"
sed -i -e '1a #include <math.h>\nstatic volatile double one = 1;' \
  -e 's/^  row.n_lowerings = 1;/  row.n_lowerings = (uint32_t)pow(one, one);/' "$work/calls_libm/cube_plugin.c"
PKG_CONFIG_PATH=$prefix/lib/pkgconfig make -C "$work/calls_libm" check >"$work/said" 2>&1 || { cat "$work/said"; exit 1; }

echo "== without Ricci"
cd "$work/templates/c"
if said=$(PKG_CONFIG_PATH=/nowhere PKG_CONFIG_LIBDIR=/nowhere make check 2>&1); then
  echo "it is built without Ricci" >&2
  exit 1
fi
case $said in *"set PKG_CONFIG_PATH to lib/pkgconfig of its prefix"*) ;; *) echo "$said" >&2; exit 1 ;; esac

echo "== the page"
PREFIX=$prefix python3 "$here/run_page.py" "$prefix/share/doc/ricci/PLUGINS.md" "$work/page"
rm -rf "$CARGO_TARGET_DIR"  # large
