#!/usr/bin/env bash
# Packs a program that has been built, with its pages, completions and installer: `tarball.sh PROGRAM VERSION FOLDER`.
set -euo pipefail
program=$(readlink -f "$1") version=$2 target=$(readlink -m "$3")
. "$(dirname "$0")/common.sh"
name=tender-$version-linux-$(uname -m)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/$name
install -d "$root/share/doc/tender"
make -s install-files DESTDIR="$work" PREFIX="/$name" TENDER="$program" >/dev/null
Tests/Packaging/sbom.sh "$version" "$program" >"$root/share/doc/tender/sbom.cdx.json"
cp CHANGELOG.md "$root/share/doc/tender/"
{ echo ca-certificates && awk -F'\t' '!/^#/ && NF >= 8 && $1 != "libpq" { print $5 }' Sources/Libraries.tsv; } |
  paste -sd' ' >"$root/debian-packages"
install -m 755 Tests/Packaging/install.sh "$root/"
mkdir -p "$target"
pack "$work" "$name" | gzip -9n >"$target/$name.tar.gz"
echo "$target/$name.tar.gz"
