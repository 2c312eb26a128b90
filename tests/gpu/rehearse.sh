#!/bin/bash
# day.sh on the simulated GPU: bash rehearse.sh BUILD STANDIN PYTHON. Whether the scripts work, not what a GPU does:
# programs are small and few, and times mean nothing. A stage that fails is part of it.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1 standin=$2 python=$3
to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
fault() { echo "rehearsal: $*" >&2; [ ! -e "$OUT/report.txt" ] || cat "$OUT/report.txt" >&2; exit 1; }
export OUT=$to/out
day() {
  bash "$to/day/day.sh" --driver "$standin" --compiler "$standin" --python "$python" --jobs 2 --measure 0.01 --fuzz 3 --few 16 "$@"
}

sh "$here/build.sh" --build "$build" --nvrtc "$standin" --size 64 --most-product 40 \
  --kernels "stream column_sum product_bf16" --unpacked "$to/day" || fault "build.sh fails"
# All stages, as on a GPU. NVIDIA's tools and peers may not be there.
day --seconds 100 >"$to/said" || fault "day.sh fails"
for stage in inventory devices probe kernels smoke loops products times laws fuzz; do
  grep -qE "^$stage +ok " "$OUT/report.txt" || fault "$stage is not ok"
done
for stage in peers sanitizer counters; do
  grep -qE "^$stage +(ok|not here) " "$OUT/report.txt" || fault "$stage"
done
[ "$(ls "$OUT" | wc -l)" -le 8 ] || fault "too many files"
cat "$OUT/report.txt"

# One that fails: the run goes on, and of the program there is all that says why.
OUT=$to/again
day fails loops >"$to/said"
[ $? = 1 ] || fault "day.sh passes with a stage that fails"
grep -q "^fails *FAILED at its limit" "$OUT/report.txt" || fault "the stage that fails"
grep -q "^loops *ok" "$OUT/report.txt" || fault "the stage after it"
tar -xzf "$OUT/logs.tar.gz" -C "$to" ./fails/fails || fault "no logs of the program that fails"
for file in cuda.txt source.cu explained step_by_step; do [ -s "$to/fails/fails/$file" ] || fault "no $file"; done

# A report that cannot be written is an error at once.
: >"$to/file"
OUT=$to/file/out day inventory 2>"$to/said" && fault "no error for a report that cannot be written"
grep -q "cannot be written" "$to/said" || fault "$(cat "$to/said")"
