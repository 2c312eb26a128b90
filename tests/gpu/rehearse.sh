#!/bin/bash
# day.sh on the simulated GPU: bash rehearse.sh BUILD STANDIN PYTHON [packed]. Whether the scripts work, not what a GPU does:
# programs are small and few, and times mean nothing. NVIDIA's tools, PyTorch and Triton are stand-ins (standins/), JAX is
# on a CPU. A stage that fails is part of it, and a machine that lacks something. `packed`: from an archive, as on the
# day, of a release build without the CPU backend.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$1 standin=$2 python=$3
to=$(mktemp -d)
trap 'rm -rf "$to"' EXIT
# The fault is the last line: of a long report, logs keep the end.
fault() { [ ! -e "$OUT/report.txt" ] || cat "$OUT/report.txt" >&2; echo "rehearsal: $*" >&2; exit 1; }
export OUT=$to/out DAY_JAX=cpu JAX_PLATFORMS=cpu PYTHONPATH=$here/standins/python PATH=$here/standins/bin:$PATH
day() {
  bash "$to/day/day.sh" --driver "$standin" --compiler "$standin" --python "$python" --jobs 2 --measure 0.01 --fuzz 3 --few 16 "$@"
}
says() { grep -qE "$1" "$OUT/report.txt" || fault "the report does not say: $1"; }
says_not() { ! grep -E "$1" "$OUT/report.txt" >&2 || fault "the report says: $1"; }

pack() {
  sh "$here/build.sh" --build "$build" --nvrtc "$standin" --size 64 --most-product 40 \
    --kernels "stream column_sum product_bf16" "$@" || fault "build.sh fails"
}
if [ "${4:-}" = packed ]; then
  pack "$to/day.tar.gz"
  mkdir "$to/day"
  tar -xzf "$to/day.tar.gz" -C "$to/day" || fault "the archive cannot be unpacked"
else
  pack --unpacked "$to/day"
fi
# All stages, as on a GPU.
day --seconds 110 >"$to/said" || fault "day.sh fails"
for stage in inventory devices probe kernels smoke loops products times peers laws fuzz sanitizer counters; do
  says "^$stage +ok "
done
[ "$(ls "$OUT" | wc -l)" -le 8 ] || fault "too many files"
says "^the machine: .*, sm_90, driver of CUDA 1[0-9]\.[0-9]"
says_not "NOT READY"
# The stand-in follows the documents.
says "tensor maps: attention, part of a head: taken"
says_not "tensor maps: .*DIFFERS"
for who in torch cublas triton jax; do says "^ +$who .* us "; done
says "^peers .* 0 not measured"
says "^sanitizer .*6 of 6 without a complaint"
# Five programs with three kernels of seven metrics, of which the stand-in does not know one.
says "^counters .*105 figures, 15 of no use"
says "product_bf16 r0__sum l1tex__data_bank_conflicts_pipe_lsu.sum 1,015,808 *$"
says "product_bf16 r0__sum gpu__time_duration.sum 1,234.56 us"
cat "$OUT/report.txt"

# One that fails: the run goes on, and of the program there is all that says why.
OUT=$to/again
STANDIN_COMPLAINT=racecheck STANDIN_NO_LEAVE=1 day fails loops sanitizer counters >"$to/said"
[ $? = 1 ] || fault "day.sh passes with a stage that fails"
says "^fails *FAILED at its limit"
says "^loops *ok"
says "^sanitizer *FAILED .*4 of 6"
says "racecheck .*: 9 .*1 hazard displayed"
says "^counters *not here .*no leave to read counters"
tar -xzf "$OUT/logs.tar.gz" -C "$to" ./fails/fails || fault "no logs of the program that fails"
for file in cuda.txt source.cu explained step_by_step; do [ -s "$to/fails/fails/$file" ] || fault "no $file"; done

# A stage that a signal ends, or that says nothing, is not an empty line.
cat >"$to/python" <<END
#!/bin/sh
case \$* in *kernels.py*) \$ENDS ;; esac
exec "$python" "\$@"
END
chmod +x "$to/python"
OUT=$to/ends
ENDS='eval kill -SEGV $$' day --python "$to/python" kernels >"$to/said" && fault "day.sh passes with a stage that a signal ends"
says "^kernels *FAILED .*ended by SIGSEGV"
ENDS='exit 3' day --python "$to/python" kernels >"$to/said" && fault "day.sh passes with a stage that fails"
says "^kernels *FAILED .*status 3, without a word"

# A report that cannot be written is an error at once.
: >"$to/file"
OUT=$to/file/out day inventory 2>"$to/said" && fault "no error for a report that cannot be written"
grep -q "cannot be written" "$to/said" || fault "$(cat "$to/said")"

# What is missing is said before the first stage, and what does not need it goes on. lacks WHY STAGE OPTION...
lacks() {
  local why=$1 stage=$2
  shift 2
  OUT=$to/lacks
  day "$@" "$stage" devices >"$to/said" && fault "day.sh passes without what $stage needs"
  head -n 3 "$OUT/report.txt" | grep -q "^NOT READY .*$why.* $stage" || fault "not said at once: $why"
  says "^$stage *cannot run: .*$why"
}
lacks "no NumPy for " smoke --python "$here/standins/bin/python-without-numpy"
says "^devices *ok"
lacks "cannot be opened" loops --driver "$to/nowhere"
lacks "no compiler for CUDA" loops --compiler "$to/nowhere"
mkdir "$to/full"
printf '#!/bin/sh\nprintf "Filesystem\\ndisk 9 9 %%s 9 /\\n" 9000\n' >"$to/full/df"
chmod +x "$to/full/df"
PATH=$to/full:$PATH lacks "9 MB free" kernels
