#!/bin/bash
# One program, primitive or question of a stage, in the environment of day.sh: bash one.sh HOW WHAT. What it finds is in
# files of the stage's folder, where the last line of the stage counts them.
set -u
how=$1 what=$2 ricci=$HERE/ricci
name=$(basename "$what" .ricci)
folder=$LOGS/$STAGE
# Arrays of NumPy have no floats of 8 bits and less.
form=npz
[ ! -f "$what" ] || ! grep -qE ': f[48]e' "$what" || form=safetensors

# limited SECONDS FILE COMMAND...: with its output in FILE; in the group of the stage, whose end is its end too.
limited() {
  local seconds=$1 file=$2
  shift 2
  timeout --foreground -k 3 "$seconds" "$@" >"$file" 2>&1
}

# Which step it was, from which text, and what the sanitizer says of the first such program.
look_into() {
  limited 20 "$to/source.cu" "$ricci" compile "$what" $GPU --dump source
  limited 20 "$to/explained" "$ricci" compile "$what" $GPU --explain
  limited 20 "$to/step_by_step" "$ricci" run "$what" "$@" $GPU --profile "$to/trace.json" --output "$to/again.$form"
  command -v compute-sanitizer >/dev/null && mkdir "$LOGS/sanitized" 2>/dev/null &&
    limited 40 "$to/sanitizer" compute-sanitizer --target-processes all --tool memcheck "$ricci" run "$what" "$@" $GPU
}

# On the GPU, with the status in `code`; `ref` beside it if it is asked for.
run() {
  to=$folder/$name
  mkdir -p "$to"
  limited 25 "$to/cuda.txt" "$ricci" run "$what" "$@" $GPU --output "$to/cuda.$form"
  echo $? >"$to/code"
  [ "$(cat "$to/code")" = 0 ] || look_into "$@"
}

case $how in
  compare)
    run --seed 3
    limited 40 "$to/ref.txt" "$ricci" run "$what" --seed 3 --device ref --output "$to/ref.$form"
    ;;
  exact) run --input 0=7 ;;
  law)
    if limited 50 "$folder/$name.law" "$ricci" check $GPU "$name"; then
      mv "$folder/$name.law" "$folder/$name.law.held"
    fi
    ;;
  question)
    limited 20 "$folder/$name.answer" "$HERE/ricci_gpu_probe" "$DRIVER" "$NVRTC" "$name" || {
      echo "$name: FAILS with status $?" >>"$folder/$name.answer"
      : >"$folder/$name.failed"
    }
    ;;
esac
exit 0  # xargs goes on
