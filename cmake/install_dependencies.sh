#!/bin/sh
# Installs what Ricci needs on Debian 12: sh cmake/install_dependencies.sh [--build-only]
#
# The only list of dependencies. Debian packages are listed by name, each with the version tested (CMake checks the
# minimum). PyPI packages are pinned in cmake/requirements.txt and go into the ignored folder .venv; only tests use
# them, and --build-only leaves them out. Root rights (sudo) are needed only if a Debian package is missing, so a second
# run is quick and needs neither root nor network.
set -eu
cd "$(dirname "$0")/.."

build_packages='
  g++                     # 12.2.0
  cmake                   # 3.25.1
  ninja-build             # 1.11.1
  ccache                  # 4.7.5
  pkg-config              # 1.8.1
  libabsl-dev             # 20220623.1
  llvm-19-dev             # 19.1.7
  zlib1g-dev              # 1.2.13
  libzstd-dev             # 1.5.4
  python3-dev             # 3.11; without it calls from Python go through ctypes
'
test_packages='
  libopenblas-pthread-dev # 0.3.21; the peer of the benchmarks
  libgfortran-12-dev      # 12.2.0
  libgtest-dev            # 1.12.1
  libbenchmark-dev        # 1.7.1
  clang-14                # 14.0.6
  clang-format-14         # 14.0.6
  libclang-rt-14-dev      # 14.0.6
  lld                     # 14.0.6; links what holds LLVM in a quarter of the time
  python3                 # 3.11
  python3-venv            # 3.11
  gcc-aarch64-linux-gnu   # 12.2.0; objects for AArch64
  libc6-dev-arm64-cross   # 2.36
  qemu-user               # 7.2
  rustc                   # 1.63.0
  cargo                   # 0.66.0
  abigail-tools           # 2.2
  gdb                     # 13.1
  dpkg-dev                # 1.21.22
  file                    # 5.44; cpack asks it which files are shared objects
  make                    # 4.3; the template of a plugin in C
'

build_only=no
for argument in "$@"; do
  case $argument in
    --build-only) build_only=yes ;;
    *) echo "usage: sh cmake/install_dependencies.sh [--build-only]" >&2; exit 2 ;;
  esac
done

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; return; fi
  if ! command -v sudo >/dev/null; then
    echo "not root and no sudo: run as root: $*" >&2
    exit 1
  fi
  sudo "$@"
}

names() { printf '%s\n' "$1" | sed 's/#.*//' | tr -s ' \n' '  '; }

missing_packages() {
  for name in $(names "$1"); do
    state=$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null) || state=none
    [ "$state" = installed ] || printf '%s ' "$name"
  done
}

install_debian() {
  missing=$(missing_packages "$1")
  if [ -z "$missing" ]; then
    echo "Debian packages: all there"
    return
  fi
  echo "Debian packages: installing $missing"
  as_root apt-get update -qq </dev/null
  # shellcheck disable=SC2086  # one word per package
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing </dev/null
}

# The stamp holds the requirements that .venv was made from; if they differ, .venv is updated.
install_python() {
  stamp=.venv/requirements.txt
  if [ -x .venv/bin/python ] && cmp -s cmake/requirements.txt "$stamp"; then
    echo "Python packages: all there"
    return
  fi
  echo "Python packages: installing into .venv"
  [ -x .venv/bin/pip ] || python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check --no-input -r cmake/requirements.txt </dev/null
  cp cmake/requirements.txt "$stamp"
}

if [ $build_only = yes ]; then
  install_debian "$build_packages"
else
  install_debian "$build_packages $test_packages"
  install_python
fi
