# shellcheck shell=bash disable=SC2034
# Where the libraries and the programs of day.sh are, which reads this: sets PYTHON, DRIVER, NVRTC, and the
# options of `ricci`: LIBRARIES for these, GPU for programs that run there.
for python in python3 python /opt/conda/bin/python /usr/bin/python3; do
  [ -n "$PYTHON" ] || ! "$python" -c 'import numpy' 2>/dev/null || PYTHON=$(command -v "$python")
done
PYTHON=${PYTHON:-python3}
# That of peers: the first one that has any.
for python in "$PYTHON" python3 python /opt/conda/bin/python /usr/bin/python3; do
  [ -n "${PEERS_PYTHON:-}" ] ||
    ! "$python" -c 'import importlib.util as u, sys; sys.exit(not (u.find_spec("torch") or u.find_spec("jax")))' 2>/dev/null ||
    PEERS_PYTHON=$(command -v "$python")
done
PEERS_PYTHON=${PEERS_PYTHON:-$PYTHON}
# NVIDIA's tools, where installers put them and no path leads.
for folder in /usr/local/cuda/bin /usr/local/cuda/compute-sanitizer /opt/nvidia/nsight-compute/*; do
  [ ! -d "$folder" ] || PATH=$PATH:$folder
done
export PATH

# The first of these files that exists.
first() {
  for file in "$@"; do [ ! -e "$file" ] || { echo "$file"; return; }; done
}
in_cache() { PATH=$PATH:/sbin ldconfig -p 2>/dev/null | awk -v name="$1" '$1 == name && /x86-64/ { print $NF; exit }'; }
packages() { "$PYTHON" -c 'import nvidia; print(*nvidia.__path__, sep="\n")' 2>/dev/null; }

if [ -z "$DRIVER" ]; then
  DRIVER=$(in_cache libcuda.so.1)
  [ -n "$DRIVER" ] || DRIVER=$(first /usr/local/nvidia/lib64/libcuda.so.1 /usr/lib/x86_64-linux-gnu/libcuda.so.1 \
    /usr/lib64/libcuda.so.1 /usr/local/cuda*/compat/libcuda.so.1)
  DRIVER=${DRIVER:-libcuda.so.1}
fi
if [ -z "$NVRTC" ]; then
  for version in 13 12; do
    for folder in $(packages); do
      NVRTC=${NVRTC:-$(first "$folder"/cu$version/lib/libnvrtc.so.$version "$folder"/cuda_nvrtc/lib/libnvrtc.so.$version)}
    done
    NVRTC=${NVRTC:-$(first "${CUDA_HOME:-/usr/local/cuda}"/lib64/libnvrtc.so.$version \
      /usr/local/cuda*/lib64/libnvrtc.so.$version)}
    NVRTC=${NVRTC:-$(in_cache libnvrtc.so.$version)}
  done
fi
LIBRARIES="--config cuda.driver=$DRIVER${NVRTC:+ --config cuda.compiler=$NVRTC}"
GPU="--device cuda $LIBRARIES"

# Where the system's libc is older than that of the bundle, its programs run with the bundle's (wrapper.sh).
"$HERE/ricci" --version >/dev/null 2>&1 || export DAY_OWN_LIBC=1
