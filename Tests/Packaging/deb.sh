#!/usr/bin/env bash
# Makes a Debian package of a program that has been built: `deb.sh PROGRAM VERSION FOLDER`.
set -euo pipefail
program=$(readlink -f "$1") version=$2 target=$(readlink -m "$3")
. "$(dirname "$0")/common.sh"
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
share=$root/usr/share/doc/tender
install -d "$share" "$root/DEBIAN"
make -s install-files DESTDIR="$root" PREFIX=/usr TENDER="$program" >/dev/null
# Debian's shell does not look into the folder of other systems.
mv "$root/usr/share/zsh/site-functions" "$root/usr/share/zsh/vendor-completions"
find "$root/usr/share/man" -type f -exec gzip -9n {} +
Tests/Packaging/sbom.sh "$version" "$program" | gzip -9n >"$share/sbom.cdx.json.gz"
gzip -9nc CHANGELOG.md >"$share/CHANGELOG.md.gz"
# The author of the last commit made the package.
maintainer=$(git log -1 --format='%an <%ae>')
{
  echo "tender ($version) unstable; urgency=medium"
  echo
  echo "  * See CHANGELOG.md.gz."
  echo
  echo " -- $maintainer  $(git log -1 --format=%cD)"
} | gzip -9n >"$share/changelog.gz"
cat >"$share/copyright" <<TEXT
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: tender
Comment:
 The program contains Swift's standard library (Apache-2.0 with Runtime Library
 Exception) and GCC's C++ runtime (GPL-3.0 or later with GCC Runtime Library
 Exception). sbom.cdx.json.gz lists them.

Files: *
Copyright: 2026 the authors of tender
License: unpublished
 Not published under a licence yet: all rights are the authors'.
TEXT
# Linked libraries are needed. Of those that are opened on first use, only PostgreSQL's is for few.
depends="libc6 (>= $(lowest_glibc "$program"))"
needed=$(objdump -p "$program" | awk '$1 == "NEEDED" { print $2 }')
case $needed in *libstdc++*) depends="$depends, libstdc++6" ;; esac
case $needed in *libgcc_s*) depends="$depends, libgcc-s1" ;; esac
depends="$depends, $(awk -F'\t' '!/^#/ && NF >= 8 && $1 != "libpq" { print $5 " (>= " $2 ")" }' Sources/Libraries.tsv |
  paste -sd, | sed 's/,/, /g')"
size=$(find "$root/usr" -type f -printf '%s\n' | awk '{ sum += int(($1 + 1023) / 1024) } END { print sum }')
cat >"$root/DEBIAN/control" <<TEXT
Package: tender
Version: $version
Section: utils
Priority: optional
Architecture: $architecture
Maintainer: $maintainer
Installed-Size: $size
Depends: $depends
Recommends: ca-certificates, libpq5
Description: payments from the command line
 Takes, holds, looks up and undoes payments by Pay Theory, Toro and TrueLayer
 through one vocabulary, prints tables or JSON lines, and writes every attempt
 into a journal before it is sent. A simulator of all three is inside.
TEXT
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
mkdir -p "$target"
package=$target/tender_${version}_${architecture}.deb
dpkg-deb --root-owner-group -Zxz --threads-max=1 --build "$root" "$package" >/dev/null
echo "$package"
