#!/bin/sh
# Installs tender below PREFIX, which is /usr/local: [PREFIX=FOLDER] ./install.sh
set -eu
umask 022
prefix=${PREFIX:-/usr/local}
mkdir -p -- "$prefix/bin" "$prefix/share"
prefix=$(CDPATH='' cd -- "$prefix" && pwd)
cd "$(dirname "$(readlink -f "$0")")"
work=$(mktemp -d)
trap 'rm -rf "$work" "$prefix/bin/.tender.$$"' EXIT
env -i HOME="$work" ./bin/tender doctor >"$work/said" 2>&1 || {
  cat "$work/said" >&2
  echo "nothing was installed. If a library is missing, on Debian: apt-get install $(cat debian-packages)" >&2
  exit 1
}
(cd share && find . -type d -exec mkdir -p "$prefix/share/{}" \; -o \
  -exec cp {} "$prefix/share/{}" \; -exec chmod 644 "$prefix/share/{}" \;)
cp bin/tender "$prefix/bin/.tender.$$"
chmod 755 "$prefix/bin/.tender.$$"
mv -T "$prefix/bin/.tender.$$" "$prefix/bin/tender"
"$prefix/bin/tender" --version
