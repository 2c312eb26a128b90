#!/bin/sh
# Checks and measures the CUDA backend on a GPU: sh tests/gpu/run.sh [OPTIONS]
#
#   --build FOLDER     where ricci and ricci_fuzz are (default: build, or the folder of this script: sh tests/gpu/bundle.sh)
#   --driver FILE      libcuda (default: libcuda.so.1)
#   --compiler FILE    NVRTC (default: libnvrtc.so.13, then libnvrtc.so.12)
#   --python FILE      a Python with JAX for GPUs, to measure beside (default: python3; without JAX only ours)
#   --fuzz N           random programs (default: 2000)
#   --laws "ROW ..."   primitives (default: all)
#   --size N           rows and columns of the measured programs (default: 8192)
#   --seconds S        for each measurement (default: 1)
#   --report FILE      what was found, as JSON (default: gpu_report.json)
#
# Every stage runs, whatever fails before it; the exit status is 1 if one has failed. The output of each stage is in the
# folder REPORT.logs.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../../build
if [ -x "$here/ricci" ]; then  # a bundle
  build=$here
  export LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
driver=libcuda.so.1 compiler= python=python3 fuzz=2000 laws= size=8192 seconds=1 report=gpu_report.json
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || { echo "$0: $1 needs a value" >&2; exit 2; }
  case $1 in
    --build) build=$2 ;;
    --driver) driver=$2 ;;
    --compiler) compiler=$2 ;;
    --python) python=$2 ;;
    --fuzz) fuzz=$2 ;;
    --laws) laws=$2 ;;
    --size) size=$2 ;;
    --seconds) seconds=$2 ;;
    --report) report=$2 ;;
    *) echo "$0: unknown option $1; see the head of the file" >&2; exit 2 ;;
  esac
  shift 2
done

find_program() { find "$build" -name "$1" -type f -perm -u+x 2>/dev/null | head -n 1; }
ricci=$(find_program ricci)
ricci_fuzz=$(find_program ricci_fuzz)
[ -n "$ricci" ] && [ -n "$ricci_fuzz" ] || {
  echo "$0: no ricci and ricci_fuzz under $build: build them, or give --build" >&2
  exit 2
}
config="--config cuda.driver=$driver"
[ -z "$compiler" ] || config="$config --config cuda.compiler=$compiler"
logs=$report.logs
rm -rf "$logs"
mkdir -p "$logs"
failed=0
stages= figures=

now() { date +%s; }
# stage NAME COMMAND...: one line of the report, with what was said in logs/NAME.
stage() {
  name=$1
  shift
  printf '%-12s ' "$name"
  begin=$(now)
  if "$@" >"$logs/$name" 2>&1; then passed=true; else passed=false failed=1; fi
  taken=$(($(now) - begin))
  echo "$([ $passed = true ] && echo passed || echo "FAILED, see $logs/$name") ($taken s)"
  stages="$stages${stages:+,}
    {\"name\": \"$name\", \"passed\": $passed, \"seconds\": $taken}"
}

# shellcheck disable=SC2086
gpus() { "$ricci" devices $config | sed -n 's/^[-0-9]*: \(cuda:[0-9].*\)/\1/p'; }
list_devices() {
  # shellcheck disable=SC2086
  "$ricci" devices $config && [ -n "$(gpus)" ]
}
check_laws() {
  rows=$laws
  [ -n "$rows" ] || rows=$("$ricci" list | awk '{print $1}')
  # shellcheck disable=SC2086
  "$ricci" check --device cuda $config $rows
}
fuzz_programs() {
  "$ricci_fuzz" --gpu "$driver" ${compiler:+--compiler "$compiler"} --seed 1 --count "$fuzz"
}
# Loops and branches that the device decides about: as on ref; the log ends with how they ran.
check_loops() {
  "$ricci" run "$here/loops.ricci" --device ref --input 0=3 --limit 1000 >"$logs/loops.ref" || return 1
  # shellcheck disable=SC2086
  "$ricci" run "$here/loops.ricci" --device cuda $config --input 0=3 --limit 1000 >"$logs/loops.cuda" || return 1
  cmp "$logs/loops.ref" "$logs/loops.cuda" || return 1
  # shellcheck disable=SC2086
  "$ricci" compile "$here/loops.ricci" --device cuda $config --explain | grep '^a run '
}
# Fragments and descriptors of tensor cores are known from documents only.
check_products() {
  sed "s/@N@/$size/g" "$here/checked/products.ricci" >"$logs/products.ricci"
  # shellcheck disable=SC2086
  "$ricci" run "$logs/products.ricci" --input 0=7 --device cuda $config >"$logs/products.out" || return 1
  cat "$logs/products.out"
  grep -q '= 0$' "$logs/products.out"
}
sanitize() {
  compute-sanitizer --error-exitcode 1 "$ricci_fuzz" --gpu "$driver" ${compiler:+--compiler "$compiler"} --seed 1 \
    --count 40
}

# measure NAME BYTES FLOPS: the median time of a program, and the rates that it means.
measure() {
  sed "s/@N@/$size/g" "$here/measured/$1.ricci" >"$logs/$1.ricci"
  # shellcheck disable=SC2086
  if ! "$ricci" bench "$logs/$1.ricci" --device cuda $config --seconds "$seconds" >"$logs/$1" 2>&1; then
    echo "  $1: FAILED, see $logs/$1"
    failed=1
    return
  fi
  figure=$(awk -v name="$1" -v bytes="$2" -v flops="$3" '
    $1 == "median" { us = $2 }
    END {
      printf "{\"name\": \"%s\", \"us\": %s, \"GB_per_s\": %.1f, \"TFLOP_per_s\": %.2f}", name, us,
             bytes / us * 1e-3, flops / us * 1e-6
    }' "$logs/$1")
  echo "  $figure"
  figures="$figures${figures:+,}
    $figure"
}

device=$(gpus 2>/dev/null | head -n 1)
echo "device: ${device:-none}"
stage devices list_devices
stage laws check_laws
stage loops check_loops
stage fuzz fuzz_programs
stage products check_products
command -v compute-sanitizer >/dev/null && stage sanitizer sanitize

echo "times, by bound calls:"
elements=$((size * size))
measure copy $((elements * 8)) 0
measure stream $((elements * 12)) 0
measure row_softmax $((elements * 8)) 0
measure layernorm $((elements * 8)) 0
measure column_sum $((elements * 4)) 0
measure cumsum $((elements * 8)) 0
measure sort $((elements * 8)) 0
measure product $((elements * 6)) "$(awk -v n="$size" 'BEGIN { printf "%.0f", 2 * n * n * n }')"
measure pendulums $((elements * 4)) 0
jax=
if "$python" -c 'import jax; assert jax.devices("gpu")' >/dev/null 2>&1; then
  stage jax "$python" "$here/measure_jax.py" --size "$size" --seconds "$seconds"
  jax=$(grep '^{' "$logs/jax" | sed '$!s/$/,/; s/^/    /')
fi

cat >"$report" <<EOF
{
  "device": "$device",
  "size": $size,
  "stages": [$stages
  ],
  "times": [$figures
  ],
  "jax_times": [
$jax
  ]
}
EOF
echo "report: $report"
exit $failed
