#!/usr/bin/env bash
# Makes a Debian package of a program that has been built: `deb.sh PROGRAM VERSION FOLDER`.
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$1 version=$2 target=$3
architecture=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
umask 022
make -s install-files DESTDIR="$root" PREFIX=/usr TENDER="$program"
find "$root/usr/share/man" -type f -exec gzip -9n {} +
share=$root/usr/share/doc/tender
install -d "$share" "$root/DEBIAN"
Tests/Packaging/sbom.sh "$version" "$program" | gzip -9n >"$share/sbom.cdx.json.gz"
gzip -9nc CHANGELOG.md >"$share/changelog.gz"
# Whoever made the last commit made this package of it.
maintainer=$(git log -1 --format='%an <%ae>')
{
  echo "tender ($version-1) unstable; urgency=medium"
  echo
  echo "  * See changelog.gz."
  echo
  echo " -- $maintainer  $(git log -1 --format=%cD)"
} | gzip -9n >"$share/changelog.Debian.gz"
cat >"$share/copyright" <<TEXT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tender

Files: *
Copyright: 2026 the authors of tender
License: unpublished
 Not published under a licence yet: all rights are the authors'.
TEXT
# What is linked is needed; what is opened on first use is needed by what most people do.
run=$(awk -F'\t' '!/^#/ && NF >= 8 && $1 != "libpq" { print $5 " (>= " $2 ")" }' Sources/Libraries.tsv | paste -sd, | sed 's/,/, /g')
libc=$(objdump -T "$program" | sed -n 's/.*GLIBC_\([0-9.]*\).*/\1/p' | sort -uV | tail -1)
cat >"$root/DEBIAN/control" <<TEXT
Package: tender
Version: $version-1
Section: utils
Priority: optional
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $(du -sk "$root/usr" | cut -f1)
Depends: libc6 (>= $libc), $run
Recommends: ca-certificates, libpq5
Description: payments from the command line
 Takes, holds, looks up and undoes payments by Pay Theory, Toro and TrueLayer
 through one vocabulary, prints tables or JSON lines, and writes every attempt
 into a journal before it is sent. A simulator of all three is inside.
TEXT
rm -rf "$target"
mkdir -p "$target"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct) dpkg-deb --root-owner-group --build "$root" \
  "$target/tender_${version}-1_${architecture}.deb"
