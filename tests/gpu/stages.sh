#!/bin/bash
# One stage of day.sh, in its environment: bash stages.sh NAME. Its last line of output, and what it writes to
# $LOGS/NAME/report, come into the report. Status 77: what it needs is not on this machine.
set -u
export STAGE=$1
logs=$LOGS/$STAGE
ricci=$HERE/ricci

# few [MORE]: every FEW-th line; where lines are MORE work, fewer if not all of them.
few() { awk -v few="$FEW" -v more="${1:-1}" 'few == 1 || NR % (few * more) == 1'; }
# side_by_side SECONDS COMMAND...: COMMAND LINE for each line of the input. All of them end then, before the stage does.
side_by_side() {
  local seconds=$1
  shift
  timeout -k 2 "$seconds" xargs -P "$JOBS" -n 1 "$@"
}
has() { command -v "$1" >/dev/null; }

# ---- the machine ----
inventory() {
  uname -a; cat /etc/os-release; ldd --version | head -n 1; nproc; free -g | head -n 2
  nvidia-smi; nvidia-smi -q -d CLOCK,POWER,MEMORY | head -n 80
  has nvcc && nvcc --version
  ulimit -a; df -h "$LOGS" "$OUT"; env | grep -E '^(CUDA|NVIDIA|LD_)'
  echo "libraries: $DRIVER, $NVRTC"; ls -lL "$DRIVER" "$NVRTC"
  grep -s Restrict /proc/driver/nvidia/params
  "$PYTHON" "$HERE/packages.py" | tee "$logs/report"
  for tool in nvcc ncu compute-sanitizer; do has $tool || echo "no $tool" >>"$logs/report"; done
  "$ricci" --version | head -n 1
  has nvidia-smi || { echo "no nvidia-smi"; return 0; }
  nvidia-smi --query-gpu=name,driver_version,memory.total,clocks.max.sm --format=csv,noheader | head -n 1
}
devices() { "$ricci" devices $LIBRARIES >"$logs/list"; cat "$logs/list"; grep 'cuda:0' "$logs/list"; }

# What the driver says to calls that documents leave open, each question a process of its own; those about times alone.
probe() {
  local times='contexts|runs' question
  "$HERE/ricci_gpu_probe" --list | grep -vxE "$times" | side_by_side $((LIMIT - 20)) bash "$HERE/one.sh" question
  for question in $("$HERE/ricci_gpu_probe" --list | grep -xE "$times"); do bash "$HERE/one.sh" question "$question"; done
  cat "$logs"/*.answer >"$logs/report"
  grep -h 'DIFFERS' "$logs/report"
  echo "$(wc -l <"$logs/report") answers, $(grep -c DIFFERS "$logs/report") differ from the documents"
  [ "$(ls "$logs"/*.answer | wc -l)" = "$("$HERE/ricci_gpu_probe" --list | wc -l)" ] && ! ls "$logs"/*.failed 2>/dev/null
}

# Machine code made beforehand, launched without Ricci: right, and how fast, even if all our host code fails.
kernels() { "$PYTHON" -u "$HERE/kernels.py" "$DRIVER" "$HERE/cubins" | tee "$logs/report"; return "${PIPESTATUS[0]}"; }

# ---- is it right ----
# programs FOLDER HOW [OPTION]: all of a folder; what compare_results.py says of them.
programs() {
  ls "$HERE/programs/$1"/*.ricci | few | side_by_side $((LIMIT - 8)) bash "$HERE/one.sh" "$2"
  "$PYTHON" "$HERE/compare_results.py" ${3:+"$3"} "$logs" >"$logs/out"
  local wrong=$?
  cat "$logs/out"
  head -n -1 "$logs/out" >"$logs/report"
  return $wrong
}
smoke() { programs smoke compare; }
products() { programs products exact --exact; }
loops() {
  local n
  for n in 3 8; do
    "$ricci" run "$HERE/loops.ricci" --device ref --input 0=$n --limit 1000 >"$logs/ref$n" || return 1
    timeout --foreground -k 2 15 "$ricci" run "$HERE/loops.ricci" $GPU --input 0=$n --limit 1000 >"$logs/cuda$n" || return 1
    [ "$(cat "$logs/ref$n")" = "$(cat "$logs/cuda$n")" ] || { diff "$logs/ref$n" "$logs/cuda$n"; return 1; }
  done
  "$ricci" compile "$HERE/loops.ricci" $GPU --explain | grep '^a run '
}
# Rows without examples, and platform_index, whose value is the platform's, have no law of a device.
laws() {
  "$ricci" primitives | awk '{ print $1 }' | grep -vxE 'custom_linear|debug_callback|debug_print|platform_index' |
    few 6 >"$logs/rows"
  side_by_side $((LIMIT - 4)) bash "$HERE/one.sh" law <"$logs/rows"
  local row held=0
  while read -r row; do
    if [ -e "$logs/$row.law.held" ]; then
      held=$((held + 1))
    else
      echo "$row: $(tail -n 1 "$logs/$row.law" 2>/dev/null || echo "not checked")" >>"$logs/report"
    fi
  done <"$logs/rows"
  echo "$held of $(wc -l <"$logs/rows") rows hold"
  [ ! -s "$logs/report" ]
}
fuzz() {
  local i
  for i in $(seq 1 "$JOBS"); do
    timeout -k 2 $((LIMIT - 2)) "$HERE/ricci_fuzz" --gpu "$DRIVER" ${NVRTC:+--compiler "$NVRTC"} --no-shrink --failures 3 \
      --seed $((i * 100000 + 1)) --count 100000 --seconds "$FUZZ" >"$logs/$i" 2>&1 &
  done
  wait
  # A process that died has no line of totals.
  grep -h ' programs (' "$logs"/[0-9]* | awk -v processes="$JOBS" '
    { n += $1; ++ended; for (i = 1; i < NF; ++i) if ($(i + 1) ~ /^failures/) wrong += $i }
    END {
      printf "%d programs, %d failures, %d processes died\n", n, wrong, processes - ended
      exit n == 0 || wrong > 0 || ended < processes
    }'
}

# ---- how fast ----
# Alone on the GPU: bound calls, which is what a host waits for; runs in flight, by events of the driver; and the device's
# own times of each step. Kernels are compiled once for all three.
times() {
  local name
  kept=$(mktemp -d)
  trap 'rm -rf "$kept"' EXIT
  few <"$HERE/programs/measured/order" >"$logs/order"
  for name in $(cat "$logs/order"); do
    local f=$HERE/programs/measured/$name.ricci
    timeout --foreground -k 2 30 "$ricci" bench "$f" $GPU --cache "$kept" --seconds "$MEASURE" >"$logs/$name.bench" 2>&1
    timeout --foreground -k 2 30 "$ricci" bench "$f" $GPU --cache "$kept" --seconds "$MEASURE" --inflight 16 --events \
      >"$logs/$name.inflight" 2>&1
    timeout --foreground -k 2 30 "$ricci" run "$f" $GPU --cache "$kept" --limit 1 --profile "$logs/$name.trace.json" \
      >"$logs/$name.run" 2>&1
  done
  "$PYTHON" "$HERE/times.py" "$HERE/programs/measured" "$logs" | tee "$logs/out"
  head -n -1 "$logs/out" >"$logs/report"
  tail -n 1 "$logs/out" | grep -q ' 0 failed'
}
# Whatever of them is there; DAY_JAX is for the rehearsal, where JAX has a CPU alone.
peers() {
  timeout --foreground -k 2 $((LIMIT * 2 / 3)) "$PEERS_PYTHON" -u "$HERE/peers.py" >"$logs/report" 2>"$logs/stderr"
  "$PEERS_PYTHON" -u "$HERE/peers_jax.py" "${DAY_JAX:-gpu}" >>"$logs/report" 2>>"$logs/stderr"
  grep -q ' us ' "$logs/report" || { echo "no PyTorch, no JAX for GPUs"; return 77; }
  echo "$(grep -c ' us ' "$logs/report") times, $(grep -c 'not measured' "$logs/report") not measured"
}

# ---- NVIDIA's tools ----
check() {  # TOOL FILE ARGUMENTS: under compute-sanitizer
  local tool=$1 file=$2 log=$logs/$1.$(basename "$2" .ricci) code
  shift 2
  timeout -k 2 $((LIMIT - 5)) compute-sanitizer --target-processes all --tool "$tool" --error-exitcode 9 \
    "$ricci" run "$file" $GPU --limit 1 "$@" >"$log" 2>&1
  code=$?
  echo "$tool $(basename "$file"): $code $(grep -h 'SUMMARY' "$log" | tail -n 1)" >>"$logs/report"
}
sanitizer() {
  has compute-sanitizer || { echo "no compute-sanitizer"; return 77; }
  local p=$HERE/programs
  check memcheck "$p"/products/bf16_km_edges.ricci --input 0=7 &
  check memcheck "$HERE/loops.ricci" --input 0=3 &
  check racecheck "$p"/smoke/teams.softmax.ricci &
  check racecheck "$p"/smoke/transposes.plus_transposed.ricci &
  check synccheck "$p"/products/bf16_km_128x128.ricci --input 0=7 &
  check initcheck "$p"/smoke/teams.total.ricci &
  wait
  echo "$(grep -c ': 0 ' "$logs/report") of 6 without a complaint"
  ! grep -qv ': 0 ' "$logs/report"
}
counters() {
  has ncu || { echo "no ncu"; return 77; }
  local metrics name
  metrics=gpu__time_duration.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed
  metrics=$metrics,sm__throughput.avg.pct_of_peak_sustained_elapsed,lts__throughput.avg.pct_of_peak_sustained_elapsed
  metrics=$metrics,sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active
  metrics=$metrics,l1tex__data_bank_conflicts_pipe_lsu.sum,sm__warps_active.avg.pct_of_peak_sustained_active
  for name in product_bf16 row_softmax column_sum cumsum total2; do
    timeout --foreground -k 2 30 ncu --target-processes all --clock-control none --metrics "$metrics" --launch-count 3 \
      "$ricci" run "$HERE/programs/measured/$name.ricci" $GPU --limit 1 >"$logs/$name" 2>&1
    figures "$name" <"$logs/$name" >>"$logs/report"
  done
  if grep -qs ERR_NVGPUCTRPERM "$logs"/*; then
    echo "no leave to read counters: run as root, or load the driver with NVreg_RestrictProfilingToAdminUsers=0"
    return 77
  fi
  echo "$(wc -l <"$logs/report") figures, $(grep -c ' n/a' "$logs/report") of no use"
  [ -s "$logs/report" ] && ! grep -q '^ncu ' "$logs/report"
}
# figures PROGRAM: of what ncu prints the program, the kernel, and name, value and unit of each metric. A count has no
# unit, and what this GPU does not know is `(!) n/a`. What ncu complains about is a line too.
figures() {
  awk -v program="$1" '
    /^==ERROR==/ { print "ncu", program, $0 }
    / Context [0-9]+, Stream [0-9]+/ { kernel = $1 == "void" ? $2 : $1; sub(/[(<].*/, "", kernel) }
    $1 ~ /^[a-z0-9]+__[a-z0-9_.]+$/ && NF > 1 { print program, kernel, $1, $NF, (NF > 2 && $2 != "(!)" ? $2 : "") }'
}

# A program that wants more memory than any GPU has, then a hang: what a failure looks like.
fails() {
  bash "$HERE/one.sh" compare "$HERE/fails.ricci"
  "$PYTHON" "$HERE/compare_results.py" "$logs" >"$logs/report"
  sleep 1000
}

"$STAGE"
