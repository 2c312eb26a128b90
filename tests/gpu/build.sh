#!/bin/sh
# Packs what day.sh needs for a machine with a GPU: sh tests/gpu/build.sh [OPTIONS] OUT.tar.gz
#
#   --build FOLDER     a build with ricci_tool, ricci_fuzz and ricci_gpu_probe (default: build-gpu, which is made: without
#                      the CPU backend, whose LLVM is most of a program)
#   --nvrtc FILE       makes the machine code for kernels.py (default: that of .venv)
#   --size N           rows and columns of what is measured (default: 8192)
#   --most-product N   the largest dimension of the exact products (default: as they are)
#   --kernels "NAME ..."  those for kernels.py (default: all that it knows)
#   --unpacked         OUT is a folder, with programs as they were built
#
# There: mkdir day && tar xzf OUT.tar.gz -C day && bash day/day.sh. NVRTC is not packed: it is on each machine that has
# the backend's users, and has its own licence.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
tree=$here/../..
build= nvrtc= size=8192 most= unpacked=
kernels="stream row_softmax layernorm column_sum cumsum product_bf16 product_bf16_tn"
while [ $# -gt 1 ]; do
  case $1 in
    --unpacked) unpacked=yes; shift; continue ;;
    --build) build=$2 ;;
    --nvrtc) nvrtc=$2 ;;
    --size) size=$2 ;;
    --kernels) kernels=$2 ;;
    --most-product) most=$2 ;;
    *) echo "$0: unknown option $1; see the head of the file" >&2; exit 2 ;;
  esac
  shift 2
done
[ $# = 1 ] || { echo "$0: where to? see the head of the file" >&2; exit 2; }
python=python3
[ ! -x "$tree/.venv/bin/python" ] || python=$tree/.venv/bin/python
[ -n "$nvrtc" ] ||
  nvrtc=$("$python" -c 'import nvidia.cu13; print(nvidia.cu13.__path__[0])')/lib/libnvrtc.so.13
if [ -z "$build" ]; then
  build=$tree/build-gpu
  cmake -S "$tree" -B "$build" -G Ninja -C "$tree/cmake/release.cmake" -DRICCI_CPU=OFF -DRICCI_TESTS=ON -DRICCI_SAMPLES=OFF
  cmake --build "$build" --target ricci_tool ricci_fuzz ricci_gpu_probe
fi
to=$1
[ -n "$unpacked" ] || { to=$(mktemp -d); trap 'rm -rf "$to"' EXIT; }
mkdir -p "$to/lib" "$to/libc" "$to/bin" "$to/cubins" "$to/programs/measured"

# ---- programs, with the shared libraries that they were linked with ----
own='/(libc|libm|libdl|libpthread|librt|ld-linux[^/]*)\.so'
for name in ricci ricci_fuzz ricci_gpu_probe; do
  program=$(find "$build" -name "$name" -type f -perm -u+x | head -n 1)
  [ -n "$program" ] || { echo "$0: no $name under $build" >&2; exit 1; }
  if [ -n "$unpacked" ]; then ln -sf "$program" "$to/bin/$name"; else strip -o "$to/bin/$name" "$program"; fi
  cp "$here/wrapper.sh" "$to/$name"
  ldd "$program" | awk '$3 ~ /^\// { print $3 }' | grep -vE "$own" |
    while read -r library; do cp -L "$library" "$to/lib"; done
done
# For a machine whose libc is older.
for library in ld-linux-x86-64.so.2 libc.so.6 libm.so.6 libdl.so.2 libpthread.so.0 librt.so.1; do
  for folder in /lib64 /lib/x86_64-linux-gnu; do [ ! -e "$folder/$library" ] || cp -L "$folder/$library" "$to/libc"; done
done

# ---- what they run ----
cp "$here"/*.py "$here"/*.ricci "$here/day.sh" "$here/places.sh" "$here/ready.sh" "$here/stages.sh" "$here/one.sh" "$to"
"$python" "$here/smoke_programs.py" "$tree/tests/cuda/source" "$to/programs/smoke" "$to/ricci"
"$python" "$here/product_programs.py" "$to/programs/products" ${most:+"$most"}
cp "$here/measured/order" "$to/programs/measured"
for program in "$here"/measured/*.ricci; do
  sed "s/@N@/$size/g; s/@H@/$((size / 2))/g; s/@E@/$((size * size))/g" "$program" \
    >"$to/programs/measured/$(basename "$program")"
done
# ---- machine code of some, for sm_90a ----
echo "$size" >"$to/cubins/size"
for name in $kernels; do
  compile() {
    "$to/ricci" compile "$to/programs/measured/$name.ricci" --device cuda --config cuda.arch=sm_90a \
      --config cuda.compiler="$nvrtc" "$@"
  }
  compile --dump object >"$to/cubins/$name.cubin"
  compile --dump source >"$to/cubins/$name.cu"
  compile --explain >"$to/cubins/$name.explain"
done
if [ -z "$unpacked" ]; then
  tar -C "$to" -czf "$1" .
  [ "$(wc -c <"$1")" -le 31457280 ] || { echo "$0: $1 has more than 30 MB: $(du -h "$1")" >&2; exit 1; }
  du -h "$1"
fi
