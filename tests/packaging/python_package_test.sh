#!/bin/sh
# The wheel that pip builds from a prefix, installed into an empty environment, used there and removed again:
# sh tests/packaging/python_package_test.sh PREFIX WORK_FOLDER PYTHON
#
# Nothing is fetched: the backend of the wheel needs only Python, and NumPy is linked from PYTHON's environment. No library
# of Ricci or Abseil may come from outside of the environment, `python -m ricci` must do what the prefix's tool does, and
# removing the package must leave the environment as it was.
set -eu
prefix=$1
work=$2
python=$3
here=$(cd "$(dirname "$0")" && pwd)

rm -rf "$work"
mkdir -p "$work"
PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INDEX=1 PYTHONDONTWRITEBYTECODE=1
export PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INDEX PYTHONDONTWRITEBYTECODE

echo "== wheel"
cp -R "$here/../../bindings/python" "$work/source"
RICCI_PREFIX=$prefix "$python" -m pip wheel --quiet --no-deps --wheel-dir "$work/wheels" "$work/source"
unset RICCI_PREFIX
wheel=$(ls "$work/wheels/"*.whl)
case $wheel in
  */ricci-0.1.0-py3-none-linux_*.whl) ;;
  *) echo "the wheel is $wheel; its tag must be py3-none-linux_MACHINE" >&2; exit 1 ;;
esac

echo "== empty environment"
"$python" -m venv --without-pip "$work/empty"
own=$work/empty/bin/python
site=$("$own" -c "import sysconfig; print(sysconfig.get_path('purelib'))")
for package in numpy numpy.libs; do
  ln -s "$("$python" -c "import numpy, pathlib; print(pathlib.Path(numpy.__file__).parents[1])")/$package" "$site/$package"
done
listed() { (cd "$work/empty" && find . | sort); }
listed >"$work/before"
"$python" -m pip --python "$own" install --quiet --no-deps "$wheel"

cd "$work"
"$own" - "$site" <<'PROGRAM'
import sys

import numpy as np
import ricci
import ricci.numpy as rnp
from ricci.calls import native

assert native.IS_THERE, native.WHY_NOT
slope = ricci.jit(ricci.vmap(ricci.grad(lambda x: rnp.sin(x) * x)))(np.arange(3, dtype=np.float32))
x = np.arange(3)
np.testing.assert_allclose(slope, np.sin(x) + x * np.cos(x), rtol=1e-5)
try:
    ricci.from_jax
except ModuleNotFoundError as error:
    assert "pip install jax==" in str(error), error
mapped = {line.split()[-1] for line in open("/proc/self/maps") if any(name in line for name in ("libricci", "libabsl", "ricci_calls"))}
outside = [path for path in mapped if not path.startswith(sys.argv[1])]
assert mapped and not outside, outside
PROGRAM

echo "== the tool"
printf 'program f(%%x: f32[3]) { %%y: f32[3] = sin(%%x) return %%y }' >f.ricci
same() {  # arguments of the tool
  code=0
  "$prefix/bin/ricci" "$@" >expected.out 2>expected.err || code=$?
  own_code=0
  "$own" -m ricci "$@" >own.out 2>own.err || own_code=$?
  cmp expected.out own.out
  cmp expected.err own.err
  [ "$code" = "$own_code" ] || { echo "ricci $*: exit code $own_code, the tool's is $code" >&2; exit 1; }
}
same
same --version
same run f.ricci --input "0=[0.0, 0.5, 1.0]"
same grad f.ricci
same nonsense
loaded=$(ldd "$site/ricci/lib/ricci" | grep libabsl_ | grep -v "$site" || true)
[ -z "$loaded" ] || { echo "the tool loads from outside: $loaded" >&2; exit 1; }

echo "== removed"
"$python" -m pip --python "$own" uninstall --quiet --yes ricci
listed >"$work/after"
diff "$work/before" "$work/after"
rm -rf "$work/wheels" "$work/empty"
