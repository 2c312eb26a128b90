#!/bin/sh
# NVRTC from a folder that the system does not know: nvrtc_alone.sh RICCI NVRTC PROGRAM
#
# The loader's cache is left out, so that nothing is found by name. Then a kernel compiles, since the library that NVRTC
# opens by its name lies beside it; where it does not, the message says where it was looked for.
set -eu
ricci=$1 nvrtc=$2 program=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
loader=$(ldd "$ricci" | awk '$1 ~ /\/ld-linux/ { print $1 }')
# Where the tool's own libraries are, which the cache knows.
own=$(ldd "$ricci" | awk '$3 ~ /^\// { sub(/\/[^\/]*$/, "", $3); print $3 }' | sort -u | tr '\n' ':')
compile() {
  env -u LD_LIBRARY_PATH "$loader" --inhibit-cache --library-path "$own" "$ricci" compile "$program" --device cuda \
    --config cuda.arch=sm_90a --config cuda.compiler="$1" --dump object >"$folder/cubin" 2>"$folder/message"
}
compile "$nvrtc" || { cat "$folder/message"; exit 1; }
[ -s "$folder/cubin" ]
ln -s "$nvrtc" "$folder/libnvrtc.so.13"
if compile "$folder/libnvrtc.so.13"; then echo "compiled without the second library"; exit 1; fi
cat "$folder/message"
grep -q "failed to open libnvrtc-builtins" "$folder/message"
grep -q "libnvrtc-builtins.so.[0-9.]* is not in $folder, nor where the system looks" "$folder/message"
