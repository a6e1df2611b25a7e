#!/usr/bin/env bash
# Makes the release of the last commit: `release.sh FOLDER [KEY]`. KEY is an SSH key that signs the sums.
#
# Everything is built in a fresh clone. The same commit, compiler and libraries give the same bytes.
set -euo pipefail
target=$(readlink -m "$1") key=${2:+$(readlink -f "$2")}
. "$(dirname "$0")/common.sh"
[ -z "$(git status --porcelain)" ] || { echo "commit or remove your changes first" >&2; git status --short >&2; exit 1; }
commit=$(git rev-parse HEAD)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
git clone --quiet . "$work/tender"
log=$work/log
made=$work/tender/.build/packages
# PACKAGES of `make release` is not for this one.
export MAKEFLAGS=
make -C "$work/tender" deb tarball image >"$log" 2>&1 || { tail -20 "$log" >&2; exit 1; }
grep -E '^(layer|all layers)' "$log"
rm -rf "$made/image"
version=$("$work/tender/.build/release/tender" --version | cut -d' ' -f2)
make -s -C "$work/tender" sbom >"$made/tender-$version-sbom.cdx.json"

# An in-toto statement: these files are of this commit, by this compiler, with these libraries.
list() { paste -sd, -; }
subjects=$(cd "$made" && sha256sum tender* | sed 's/^\([0-9a-f]*\)  \(.*\)/{"name":"\2","digest":{"sha256":"\1"}}/' | list)
. /etc/os-release
libraries=$(awk -F'\t' '!/^#/ && NF >= 8 { print $4; print $5 }' Sources/Libraries.tsv | sort -u |
  xargs dpkg-query -W -f='{"uri":"pkg:deb/'"$ID"'/${Package}@${Version}?arch=${Architecture}"}\n' libc6 |
  sed 's/+/%2B/g' | list)
compiler=$(swift --version 2>/dev/null | sed -n 's/.*\(Swift version [^ ]* ([^)]*)\).*/\1/p')
number=$(sed 's/Swift version \([^ ]*\).*/\1/' <<<"$compiler")
cat >"$made/tender-$version-provenance.json" <<JSON
{"_type":"https://in-toto.io/Statement/v1","subject":[$subjects],\
"predicateType":"https://slsa.dev/provenance/v1","predicate":{"buildDefinition":{"buildType":"urn:tender:make-release",\
"externalParameters":{"commit":"$commit","version":"$version"},\
"resolvedDependencies":[{"name":"source","digest":{"gitCommit":"$commit"}},\
{"name":"compiler","uri":"pkg:generic/swift@$number","annotations":{"version":"$compiler"}},$libraries]},\
"runDetails":{"builder":{"id":"urn:tender:builder:$ID-${VERSION_ID:-}-$(uname -m)"}}}}
JSON
(cd "$made" && sha256sum tender* >"$work/SHA256SUMS")
mv "$work/SHA256SUMS" "$made/"
if [ -n "$key" ]; then
  ssh-keygen -q -Y sign -f "$key" -n tender-release "$made/SHA256SUMS" 2>"$log" || { cat "$log" >&2; exit 1; }
else
  echo "not signed: KEY=FILE names an SSH key"
fi
rm -rf "$target"
mkdir -p "$target"
cp "$made"/* "$target/"
echo "tender $version, commit $commit, in $target:"
(cd "$target" && for file in *; do
  printf '%10s  %s  %s\n' "$(stat -c %s "$file")" "$(sha256sum <"$file" | cut -d' ' -f1)" "$file"
done)
