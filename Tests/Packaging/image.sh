#!/usr/bin/env bash
# Makes an OCI image, without a daemon, of a program that has been built: `image.sh PROGRAM VERSION FOLDER`.
#
# It has the program, the libraries that the program links or opens, as this system has them, and certificates. It has
# no shell. The root can be read-only: `/state` is a volume, and has the journal and the mark beside it.
set -euo pipefail
program=$(readlink -f "$1") version=$2 target=$(readlink -m "$3")
. "$(dirname "$0")/common.sh"
# Megabytes that all layers may have together, compressed.
limit=40
case $(uname -m) in x86_64) architecture=amd64 ;; aarch64) architecture=arm64 ;; *) architecture=$(uname -m) ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
libraries=$work/libraries files=$work/files image=$work/image
mkdir -p "$libraries/usr/lib" "$libraries/usr/lib64" "$files/usr/bin" "$files/etc/ssl/certs" "$image/blobs/sha256"
ln -s usr/lib "$libraries/lib"
ln -s usr/lib64 "$libraries/lib64"

# Prints where the loader finds a library that is opened by name.
opened() { ldconfig -p | sed -n "s/^\t$1 (.*x86-64.*\|^\t$1 (.*AArch64.*/&/p" | sed 's/.* => //' | head -1; }
roots=("$program")
for name in $(sed -n 's/.* FILES(("\(lib[^"]*\.so\.[0-9]*\)".*/\1/p' Sources/CLibraries/*.c); do
  path=$(opened "$name")
  [ -n "$path" ] || { echo "not found: $name" >&2; exit 1; }
  roots+=("$path")
done
[ ${#roots[@]} = $((1 + $(awk -F'\t' '!/^#/ && NF >= 8' Sources/Libraries.tsv | wc -l))) ] ||
  { echo "not every library of Sources/Libraries.tsv was found" >&2; exit 1; }
{
  printf '%s\n' "${roots[@]:1}"
  env -u LD_PRELOAD ldd "${roots[@]}" | sed -n 's/^\t\(.* => \)\{0,1\}\(\/[^ ]*\) (.*/\2/p'
} | sort -u | while read -r path; do
  folder=$(readlink -f "$(dirname "$path")")
  [ "$(dirname "$path")" != /lib64 ] || folder=/usr/lib64
  mkdir -p "$libraries$folder"
  cp -L "$path" "$libraries$folder/"
  # Its licence goes with it, and its package into the bill of materials.
  file=$(readlink -f "$path")
  package=$({ dpkg-query -S "$file" "${file#/usr}" 2>/dev/null || true; } | head -1 | cut -d: -f1)
  [ -z "$package" ] || dpkg-query -W -f='${Package} ${Version}\n' "$package" | head -1 >>"$work/packages"
  [ ! -f "/usr/share/doc/$package/copyright" ] ||
    install -D -m 644 "/usr/share/doc/$package/copyright" "$libraries/usr/share/doc/$package/copyright"
done
find "$libraries" -type f -name '*.so*' -exec chmod 755 {} +

# For TZ.
[ -d /usr/share/zoneinfo ] || { echo "not found: /usr/share/zoneinfo (tzdata)" >&2; exit 1; }
mkdir -p "$libraries/usr/share/zoneinfo"
(cd /usr/share/zoneinfo && find . -path './[A-Z]*' -type f ! -name '*.*' -exec cp --parents -L {} "$libraries/usr/share/zoneinfo/" \;)
dpkg-query -W -f='${Package} ${Version}\n' ca-certificates tzdata >>"$work/packages"
sort -u "$work/packages" -o "$work/packages"
mkdir -p "$files/usr/share/doc/tender" "$target"
Tests/Packaging/sbom.sh "$version" "$program" "$work/packages" >"$files/usr/share/doc/tender/sbom.cdx.json"
cp "$files/usr/share/doc/tender/sbom.cdx.json" "$target/tender-$version-image-sbom.cdx.json"

install -m 755 "$program" "$files/usr/bin/tender"
install -m 644 /etc/ssl/certs/ca-certificates.crt "$files/etc/ssl/certs/"
echo 'tender:x:10001:10001:tender:/state:' >"$files/etc/passwd"
echo 'tender:x:10001:' >"$files/etc/group"
echo 'hosts: files dns' >"$files/etc/nsswitch.conf"
# Its owner is that of a new volume.
mkdir -p "$work/state/state" "$work/state/mark"
chmod 700 "$work/state/state" "$work/state/mark"

# Stores standard input under its sum; prints its descriptor.
blob() {
  local sum
  cat >"$image/blob"
  sum=$(sha256sum <"$image/blob" | cut -d' ' -f1)
  printf '{"mediaType":"%s","digest":"sha256:%s","size":%s}' "$1" "$sum" "$(stat -c %s "$image/blob")"
  mv "$image/blob" "$image/blobs/sha256/$sum"
}
layers=() sums=() names=() total=0
for layer in libraries files state; do
  owner=0
  [ $layer != state ] || owner=10001
  pack "$work/$layer" --owner=$owner --group=$owner $(ls -A "$work/$layer") >"$work/tar"
  sums+=("\"sha256:$(sha256sum <"$work/tar" | cut -d' ' -f1)\"")
  layers+=("$(gzip -9n <"$work/tar" | blob application/vnd.oci.image.layer.v1.tar+gzip)")
  names+=("\"$(sed 's/.*sha256:\([0-9a-f]*\).*/blobs\/sha256\/\1/' <<<"${layers[-1]}")\"")
  size=$(sed 's/.*"size":\([0-9]*\).*/\1/' <<<"${layers[-1]}")
  total=$((total + size))
  printf 'layer %-9s %9s bytes, %9s compressed\n' $layer "$(stat -c %s "$work/tar")" "$size"
done
printf 'all layers: %s bytes compressed\n' $total
[ $total -le $((limit * 1000000)) ] || { echo "more than $limit MB" >&2; exit 1; }
list() { local IFS=,; echo "$*"; }
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
config=$(blob application/vnd.oci.image.config.v1+json <<JSON
{"architecture":"$architecture","os":"linux","created":"$created","config":{"User":"10001:10001",\
"Env":["PATH=/usr/bin","HOME=/state","XDG_STATE_HOME=/state","container=oci"],\
"Entrypoint":["/usr/bin/tender"],"Cmd":["help"],"WorkingDir":"/state","Volumes":{"/state":{}},"StopSignal":"SIGTERM",\
"Healthcheck":{"Test":["CMD","/usr/bin/tender","doctor","--json"],"Interval":60000000000,"Timeout":10000000000},\
"Labels":{"org.opencontainers.image.title":"tender","org.opencontainers.image.version":"$version",\
"org.opencontainers.image.revision":"$(git rev-parse HEAD)"}},\
"rootfs":{"type":"layers","diff_ids":[$(list "${sums[@]}")]},\
"history":[{"created":"$created","created_by":"libraries"},{"created":"$created","created_by":"program, certificates"},\
{"created":"$created","created_by":"volume"}]}
JSON
)
manifest=$(blob application/vnd.oci.image.manifest.v1+json <<JSON
{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":$config,\
"layers":[$(list "${layers[@]}")]}
JSON
)
echo '{"imageLayoutVersion":"1.0.0"}' >"$image/oci-layout"
printf '{"schemaVersion":2,"manifests":[%s,"annotations":{"org.opencontainers.image.ref.name":"tender:%s"}}]}\n' \
  "${manifest%\}}" "$version" >"$image/index.json"
# Docker's own list, in the same archive.
sum=$(sed 's/.*sha256:\([0-9a-f]*\).*/\1/' <<<"$config")
printf '[{"Config":"blobs/sha256/%s","RepoTags":["tender:%s"],"Layers":[%s]}]\n' "$sum" "$version" "$(list "${names[@]}")" \
  >"$image/manifest.json"
rm -rf "$target/image"
cp -R "$image" "$target/image"
pack "$image" blobs index.json manifest.json oci-layout >"$target/tender-$version-image-$architecture.tar"
echo "$target/tender-$version-image-$architecture.tar"
