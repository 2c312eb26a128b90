#!/bin/bash
# First contact of the CUDA backend with a GPU: bash day.sh [OPTIONS] [STAGE...]
#
#   --seconds S        of the whole run (default: 480); a stage that has no time left is skipped
#   --jobs N           processes side by side (default: 12)
#   --driver FILE      libcuda (default: where the system has it)
#   --compiler FILE    NVRTC (default: that of Python's packages, of a toolkit, or where the system has it)
#   --python FILE      (default: the first Python that has NumPy)
#   --few N            of programs every N-th only, and of primitives fewer (default: 1)
#   --measure S        seconds for each measured program (default: 0.4)
#   --fuzz S           seconds of random programs (default: 40)
#
# Without STAGEs all of them, in the order at the end of this file; stages.sh says what each does. Knowledge first: a
# stage has a limit of its own, and each program is a process of its own, so that an illegal address or a hang of one
# spoils no other. What a stage needs of the machine is looked for before the first one (ready.sh). What is found is in $OUT/report.txt at once (OUT is day_out if it is not set), all logs in
# $OUT/logs.tar.gz after each stage, also if the run is killed. The exit status is 1 if a stage failed.
set -u
HERE=$(cd "$(dirname "$0")" && pwd)
seconds=480 JOBS=12 DRIVER= NVRTC= PYTHON= FEW=1 MEASURE=0.4 FUZZ=40
while [ $# -gt 0 ]; do
  case $1 in
    --*) [ $# -ge 2 ] || { echo "$0: $1 needs a value" >&2; exit 2; } ;;&
    --seconds) seconds=$2 ;;
    --jobs) JOBS=$2 ;;
    --driver) DRIVER=$2 ;;
    --compiler) NVRTC=$2 ;;
    --python) PYTHON=$2 ;;
    --few) FEW=$2 ;;
    --measure) MEASURE=$2 ;;
    --fuzz) FUZZ=$2 ;;
    --*) echo "$0: unknown option $1; see the head of the file" >&2; exit 2 ;;
    *) break ;;
  esac
  shift 2
done
wanted=" $* "

OUT=${OUT:-$PWD/day_out}
report=$OUT/report.txt
mkdir -p "$OUT" && : >"$report" || { echo "$0: the report $report cannot be written: set OUT" >&2; exit 2; }
LOGS=$(mktemp -d) || { echo "$0: no folder for logs can be made: set TMPDIR" | tee "$report" >&2; exit 2; }
begin=$(date +%s)
failed=0
say() { echo "$*" | tee -a "$report"; }
passed() { echo $(($(date +%s) - begin)); }
pack() { tar -C "$LOGS" -czf "$OUT/logs.part" . && mv "$OUT/logs.part" "$OUT/logs.tar.gz"; }
finish() {
  pack
  rm -rf "$LOGS"
  say "end at $(passed) s; logs: $OUT/logs.tar.gz"
}
trap finish EXIT
trap 'exit 1' INT TERM

has() { command -v "$1" >/dev/null; }

# A process that crashes with a GPU would write all memory that is mapped.
ulimit -c 0
# Every process makes a context on each GPU that it sees.
export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0}
# A GPU that no process has open is set up again for the next process, which takes a second or two.
for device in /dev/nvidia[0-9]*; do
  [ ! -c "$device" ] || ! (: <>"$device") 2>/dev/null || exec {held}<>"$device"
done
# shellcheck source=places.sh
. "$HERE/places.sh"
say "begins $(date -u '+%Y-%m-%d %H:%M:%S') UTC; driver: $DRIVER; NVRTC: ${NVRTC:-none}; GPUs: $CUDA_VISIBLE_DEVICES"
# shellcheck source=ready.sh
. "$HERE/ready.sh"
export HERE OUT LOGS JOBS DRIVER NVRTC FEW MEASURE FUZZ PYTHON PEERS_PYTHON LIBRARIES GPU

# last_words CODE FILE: the last line of a stage; of one that a signal ended, or that says nothing, how it ended too.
last_words() {
  local line how=
  line=$(tail -n 1 "$2" | cut -c1-200)
  if [ "$1" -gt 128 ] && [ "$1" != 137 ]; then how="ended by SIG$(kill -l $(($1 - 128)))"; fi
  if [ -z "$how$line" ] && [ "$1" != 124 ]; then how="status $1, without a word"; fi
  echo "$how${how:+${line:+: }}$line"
}

# stage NAME LIMIT: LIMIT seconds, or what is left.
stage() {
  [ "$wanted" = "  " ] || [[ $wanted == *" $1 "* ]] || return 0
  [ -z "${lacks[$1]:-}" ] || { say "$(printf '%-10s cannot run: %s' "$1" "${lacks[$1]}")"; failed=1; return 0; }
  local limit=$2 left=$((seconds - $(passed))) start code state
  [ "$left" -ge "$limit" ] || limit=$left
  [ "$limit" -ge 3 ] || { say "$(printf '%-10s no time left' "$1")"; return 0; }
  mkdir -p "$LOGS/$1"
  start=$(date +%s)
  LIMIT=$limit timeout -k 3 "$limit" bash "$HERE/stages.sh" "$1" >"$LOGS/$1/stdout" 2>&1
  code=$?
  case $code in
    0) state=ok ;;
    77) state="not here" ;;
    124 | 137) state="FAILED at its limit of $limit s" failed=1 ;;
    *) state=FAILED failed=1 ;;
  esac
  say "$(printf '%-10s %-8s %4d s   %s' "$1" "$state" $(($(date +%s) - start)) "$(last_words "$code" "$LOGS/$1/stdout")")"
  # What a stage has to say besides its last line.
  [ ! -s "$LOGS/$1/report" ] || sed 's/^/    /' "$LOGS/$1/report" | tee -a "$report"
  pack
}

[ "$wanted" = "  " ] || stage fails 5  # only if it is asked for: shows what a failure looks like
stage inventory 30
stage devices 40
stage probe 60
stage kernels 60
stage smoke 60
stage loops 40
stage products 60
stage times 110
stage peers 90
stage laws 110
stage fuzz 60
stage sanitizer 70
stage counters 70
exit $failed
