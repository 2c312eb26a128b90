#!/bin/sh
# Runs several_libraries with two copies of the core and of the CPU plugin, beside LLVM's own shared libraries.
#
#   several_libraries_test.sh PROGRAM LIBRICCI CPU FOLDER
set -eu
program=$1 core=$2 cpu=$3 folder=$4
rm -rf "$folder"
mkdir -p "$folder"
cp "$core" "$folder/libricci_other.so.0"
cp "$cpu" "$folder/other_cpu.so"
set --
for llvm in /usr/lib/*/libLLVM-1[0-9].so.1 /usr/lib/*/libLLVM.so.*; do
  [ -e "$llvm" ] && set -- "$@" "$llvm"
done
[ $# -gt 0 ] || { echo "no shared library of LLVM is installed"; exit 1; }
"$program" "$core" "$cpu" "$folder/libricci_other.so.0" "$folder/other_cpu.so" "$@"
rm -rf "$folder"
