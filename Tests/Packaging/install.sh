#!/bin/sh
# Installs tender below PREFIX, which is /usr/local: [PREFIX=FOLDER] ./install.sh
set -eu
cd "$(dirname "$0")"
prefix=${PREFIX:-/usr/local}
./bin/tender --version >/dev/null || { echo "on Debian, first: apt-get install $(cat debian-packages)" >&2; exit 1; }
mkdir -p "$prefix/bin"
cp -R share "$prefix/"
cp bin/tender "$prefix/bin/.tender.$$" && mv "$prefix/bin/.tender.$$" "$prefix/bin/tender"
"$prefix/bin/tender" --version
