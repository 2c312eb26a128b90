#!/bin/sh
# The Python package as pip builds it from a prefix, imported from elsewhere with nothing but what is in it:
# sh tests/packaging/python_package_test.sh PREFIX WORK_FOLDER PYTHON
set -eu
prefix=$1
work=$2
python=$3
here=$(cd "$(dirname "$0")" && pwd)

rm -rf "$work"
mkdir -p "$work"
cp -R "$here/../../bindings/python" "$work/source"
(cd "$work/source" && RICCI_PREFIX=$prefix "$python" setup.py --quiet build --build-lib "$work/site")
unset RICCI_PREFIX
cd "$work"
PYTHONPATH=$work/site "$python" - "$work/site" <<'PROGRAM'
import sys

import ricci

f = ricci.Program.parse("program f(%x: f32[]) { %0: f32[] = sin(%x)  return %0 }")
assert abs(float(ricci.Executable(f.grad([0]))(0.0)[0]) - 1) < 1e-6
mapped = {line.split()[-1] for line in open("/proc/self/maps") if "libricci" in line or "libabsl" in line}
outside = [path for path in mapped if not path.startswith(sys.argv[1])]
assert mapped and not outside, outside
PROGRAM
