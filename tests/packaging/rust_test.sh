#!/bin/sh
# Tests the Rust crates of a prefix against its library, with Debian's own compiler and no network:
# sh tests/packaging/rust_test.sh PREFIX WORK_FOLDER
set -eu
prefix=$1
work=$2
rm -rf "$work"
mkdir -p "$work"
cp -R "$prefix/share/ricci/rust" "$work/rust"
cd "$work/rust"
PATH=/usr/bin:$PATH
RICCI_LIB_DIR=$prefix/lib
CARGO_TARGET_DIR=$work/target
RUSTFLAGS="-D warnings"
export PATH RICCI_LIB_DIR CARGO_TARGET_DIR RUSTFLAGS
cargo test --offline --jobs 2
cargo run --offline --jobs 2 --example pendulum
cargo check --offline -p ricci-sys --features plugin
# A folder without the library is named, with what to do.
if RICCI_LIB_DIR=/nowhere cargo build --offline -p ricci-sys 2>"$work/refused"; then
  echo "ricci-sys builds without the library" >&2
  exit 1
fi
grep -q "RICCI_LIB_DIR: no ricci.pc in /nowhere/pkgconfig" "$work/refused" || { cat "$work/refused" >&2; exit 1; }
