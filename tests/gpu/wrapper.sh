#!/bin/sh
# The program of this name in bin/, with the shared libraries that came with it, which are for it alone: Python and
# NVIDIA's tools keep the machine's own.
here=$(dirname "$(readlink -f "$0")") name=$(basename "$0")
libraries=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if [ -n "${DAY_OWN_LIBC:-}" ]; then
  exec "$here/libc/ld-linux-x86-64.so.2" --library-path "$here/libc:$libraries" "$here/bin/$name" "$@"
fi
LD_LIBRARY_PATH=$libraries exec "$here/bin/$name" "$@"
