# shellcheck shell=bash disable=SC2034
# What stages need, looked for before the first one, for day.sh, which reads this: a line of the report for what is
# missing, what to do about it, and `lacks` by stage. A stage that lacks something is not begun.
declare -A lacks
of_machine="devices probe kernels smoke loops products times peers laws fuzz sanitizer counters"

# lack WHY STAGE...
lack() {
  local why=$1 stage
  shift
  say "NOT READY  $why; without it not: $*"
  for stage in "$@"; do lacks[$stage]="${lacks[$stage]:+${lacks[$stage]}; }$why"; done
}

# Megabytes that are free where a folder is.
megabytes() { df -Pk "$1" | awk 'NR == 2 { print int($4 / 1000) }'; }
room() {  # FOLDER LEAST WHAT-TO-DO
  local free
  free=$(megabytes "$1")
  [ "${free:-0}" -ge "$2" ] || lack "$1 has ${free:-no} MB free, logs want $2: $3" $of_machine
}

# Compiled by this NVRTC, run by this driver on this GPU.
machine() {
  local code
  timeout -k 2 30 "$HERE/ricci_gpu_probe" "$DRIVER" "$NVRTC" machine >"$LOGS/machine" 2>&1
  code=$?
  if [ $code = 0 ] && ! grep -q DIFFERS "$LOGS/machine"; then
    say "$(tail -n 1 "$LOGS/machine")"
    # More processes at once would be refused.
    ! grep -q 'for one process at a time' "$LOGS/machine" || JOBS=1
    return
  fi
  local why
  why=$(tail -n 1 "$LOGS/machine" | sed 's/^the machine: //; s/^not asked: //; s/ *DIFFERS$//')
  [ $code != 124 ] || why="the driver does not answer within 30 s"
  case $why in
    *NVRTC* | *nvrtc* | *compiler*) lack "${why:-the compiler does not work}: --compiler FILE" $of_machine ;;
    *) lack "${why:-status $code}: is a driver installed, and a GPU given to this container? --driver FILE" $of_machine ;;
  esac
}

for tool in timeout xargs awk sed tar gzip df readlink; do
  has "$tool" || { say "NOT READY  no $tool on this machine, without which nothing can be done"; exit 2; }
done
room "$LOGS" 1000 "set TMPDIR"
room "$OUT" 100 "set OUT"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 8))' 2>/dev/null ||
  lack "no Python 3.8 or later: --python FILE" kernels smoke products times peers
"$PYTHON" -c 'import numpy' 2>/dev/null ||
  lack "no NumPy for $PYTHON: $PYTHON -m pip install numpy, or --python FILE" kernels smoke products
if ! "$HERE/ricci" --version >"$LOGS/version" 2>&1 || ! "$HERE/ricci_gpu_probe" --list >>"$LOGS/version" 2>&1; then
  lack "the programs of the archive do not run: $(tail -n 1 "$LOGS/version")" $of_machine
elif [ -z "$NVRTC" ]; then
  lack "no NVRTC: $PYTHON -m pip install nvidia-cuda-nvrtc, or --compiler FILE" $of_machine
else
  machine
fi
