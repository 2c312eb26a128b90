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
# Two dozen executables hold LLVM; the linker `gold`, of the same package as the default one, takes a third of its time.
# prefix_test.sh has the default one.
linker="-C link-arg=-fuse-ld=gold -C link-arg=-Wl,--strip-debug"
RUSTFLAGS="-D warnings $linker"
RUSTDOCFLAGS=$linker
CARGO_INCREMENTAL=0  # most crates are built once
CARGO_PROFILE_DEV_DEBUG=0
export PATH RICCI_LIB_DIR CARGO_TARGET_DIR RUSTFLAGS RUSTDOCFLAGS CARGO_INCREMENTAL CARGO_PROFILE_DEV_DEBUG
cargo test --offline --jobs 2
cargo run --offline --jobs 2 --example pendulum
cargo check --offline -p ricci-sys --features plugin

# The library is found by pkg-config too, and the plugin of the README is as it is there.
(unset RICCI_LIB_DIR; PKG_CONFIG_PATH=$prefix/lib/pkgconfig; export PKG_CONFIG_PATH; cargo check --offline -p ricci-sys)
mkdir -p "$work/cube/src"
sed -n '/^```rust,ignore$/,/^```$/p' README.md | grep -v '^```' >"$work/cube/src/lib.rs"
cat >"$work/cube/Cargo.toml" <<EOF
[package]
name = "cube"
version = "0.1.0"
edition = "2021"
[lib]
crate-type = ["cdylib"]
[dependencies]
ricci = { path = "$work/rust/ricci", default-features = false, features = ["plugin"] }
EOF
cargo build --offline --manifest-path "$work/cube/Cargo.toml"
"$prefix/bin/ricci" check --plugin "$work/target/debug/libcube.so"

# A plugin in Rust: its primitives obey all laws, give the right number, and their gradients under vmap are one kernel.
cargo build --offline --jobs 2 -p collision
ricci=$prefix/bin/ricci
plugin=$work/target/debug/libcollision.so
program=collision/two_capsules.ricci
"$ricci" check --plugin "$plugin"
said=$("$ricci" run "$program" --plugin "$plugin" \
  --input '0=[1.0, 0.0, 0.0]' --input '1=[0.0, -1.0, 2.0]' --input '2=[0.0, 1.0, 2.0]')
[ "$said" = "0: f32[] = 1.25" ] || { echo "the distance is not 1.25: $said" >&2; exit 1; }
"$ricci" grad "$program" --plugin "$plugin" >"$work/gradient.ricci"
"$ricci" vmap "$work/gradient.ricci" --plugin "$plugin" --size 64 >"$work/batch.ricci"
"$ricci" compile "$work/batch.ricci" --plugin "$plugin" --dump plan >"$work/plan"
[ "$(grep -c '^  ' "$work/plan")" = 1 ] || { echo "not one kernel:" >&2; cat "$work/plan" >&2; exit 1; }

# Loops and a library in Rust: the gradient of a larger function is one kernel under vmap too, and a fit is right.
cargo build --offline --jobs 2 -p smoothing
smoothing=$work/target/debug/libsmoothing.so
"$ricci" check --plugin "$smoothing"
"$ricci" grad smoothing/whittaker.ricci --plugin "$smoothing" >"$work/gradient.ricci"
"$ricci" vmap "$work/gradient.ricci" --plugin "$smoothing" --size 64 >"$work/batch.ricci"
"$ricci" compile "$work/batch.ricci" --plugin "$smoothing" --dump plan >"$work/plan"
[ "$(grep -c '^  ' "$work/plan")" = 1 ] || { echo "not one kernel:" >&2; cat "$work/plan" >&2; exit 1; }
said=$("$ricci" run smoothing/monotone.ricci --plugin "$smoothing" --input '0=[1.0, 3.0, 2.0, 6.0, 4.0]')
[ "$said" = "0: f64[5] = [1, 2.5, 2.5, 5, 5]" ] || { echo "the monotone fit is wrong: $said" >&2; exit 1; }
# What is missing or does not fit is named.
said=$("$ricci" vmap "$program" --size 2 2>&1) && { echo "a program of a plugin that is not there is taken" >&2; exit 1; }
case $said in *collision.capsules*) ;; *) echo "the primitive is not named: $said" >&2; exit 1 ;; esac

# A plugin that knows a function more than this host has is refused before it calls anything.
sed -i '$s/^}$/    pub later: usize,\n}/' ricci-sys/src/abi.rs
cargo build --offline --jobs 2 -p collision
if "$ricci" check --plugin "$plugin" 2>"$work/refused"; then
  echo "a plugin with another table is taken" >&2
  exit 1
fi
grep -q "compiled for another version of the ABI; rebuild it for this core" "$work/refused" ||
  { cat "$work/refused" >&2; exit 1; }

# A folder without the library is named, with what to do.
if RICCI_LIB_DIR=/nowhere cargo build --offline -p ricci-sys 2>"$work/refused"; then
  echo "ricci-sys builds without the library" >&2
  exit 1
fi
grep -q "RICCI_LIB_DIR: no ricci.pc in /nowhere/pkgconfig" "$work/refused" || { cat "$work/refused" >&2; exit 1; }
rm -rf "$CARGO_TARGET_DIR"  # large
