#!/bin/sh
# Makes the .deb and the tarball of the sources, and looks into both: sh tests/packaging/deb_test.sh BUILD_FOLDER WORK_FOLDER
#
# The package is unpacked, not installed: its tool runs from there, its control file names what it needs, and its files
# are those of an installed prefix. The tarball holds exactly what is under version control.
set -eu
build=$1
work=$2
source=$(cd "$(dirname "$0")/../.." && pwd)
rm -rf "$work"
mkdir -p "$work"

echo "== .deb"
cpack --config "$build/CPackConfig.cmake" -G DEB -B "$work" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
package=$(ls "$work"/*.deb)
dpkg-deb --info "$package"
depends=$(dpkg-deb --field "$package" Depends)
for name in libc6 libstdc++6 libabsl-dev; do
  case $depends in *"$name"*) ;; *) echo "the package does not depend on $name: $depends" >&2; exit 1 ;; esac
done
dpkg-deb -x "$package" "$work/root"
for file in bin/ricci lib/libricci.a lib/libricci.so.0 include/ricci/ricci.h lib/pkgconfig/ricci.pc \
  share/doc/ricci/LICENSE; do
  found=$(find "$work/root/usr" -path "*/$file" | head -1)
  [ -n "$found" ] || { echo "the package has no $file" >&2; exit 1; }
done
outside=$(dpkg-deb -c "$package" | awk '{print $6}' | grep -v '^\./$' | grep -v '^\./usr/' || true)
[ -z "$outside" ] || { echo "files outside /usr: $outside" >&2; exit 1; }
"$work/root/usr/bin/ricci" --version

echo "== sources"
cpack --config "$build/CPackSourceConfig.cmake" -B "$work" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
if ! git -C "$source" rev-parse --git-dir >/dev/null 2>&1; then
  echo "not under version control: the tarball is not compared"
  exit 0
fi
tar -tzf "$work"/ricci-*.tar.gz | sed 's|^[^/]*/||' | grep -v '/$' | grep -v '^$' | sort >"$work/packed"
git -C "$source" ls-files --cached --others --exclude-standard | sort >"$work/kept"
diff "$work/kept" "$work/packed" || { echo "the tarball is not what is under version control" >&2; exit 1; }
rm -rf "$work"
echo "packages are complete"
