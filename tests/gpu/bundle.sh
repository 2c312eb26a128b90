#!/bin/sh
# Packs what run.sh needs for a machine without this tree: sh tests/gpu/bundle.sh BUILD OUT.tar.gz [NVRTC_FOLDER]
#
# The programs with the shared libraries that they were linked with (but libc's), the files of this folder, and NVRTC's
# libraries if their folder is given. There: tar xzf OUT.tar.gz && sh ricci_gpu/run.sh
set -eu
[ $# -ge 2 ] || { sed -n '2,5s/^# //p' "$0" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
build=$1 out=$2 nvrtc=${3:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
to=$folder/ricci_gpu
mkdir -p "$to/lib"
cp -R "$here/run.sh" "$here/measure_jax.py" "$here/loops.ricci" "$here/measured" "$here/checked" "$to"
for name in ricci ricci_fuzz; do
  program=$(find "$build" -name "$name" -type f -perm -u+x | head -n 1)
  [ -n "$program" ] || { echo "$0: no $name under $build" >&2; exit 1; }
  strip -o "$to/$name" "$program"
  ldd "$program" | awk '$3 ~ /^\// { print $3 }' | grep -vE '/(libc|libm|libdl|libpthread|ld-linux[^/]*)\.so' |
    while read -r library; do cp -L "$library" "$to/lib"; done
done
[ -z "$nvrtc" ] || cp -L "$nvrtc"/libnvrtc*.so* "$to/lib"
tar -C "$folder" -czf "$out" ricci_gpu
du -h "$out"
