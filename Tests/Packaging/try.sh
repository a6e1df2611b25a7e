#!/usr/bin/env bash
# Installs and runs the packages in a FOLDER as their users do: `try.sh PROGRAM VERSION FOLDER [BEFORE]`.
#
# The Debian package and the tarball are tried in bare systems (bookworm and trixie, by debootstrap), the image is run
# from its own layers. BEFORE is the package of an earlier version; without it, this program is packed as 0.0.1.
# Skipped by name where this machine cannot do a part.
set -euo pipefail
program=$(readlink -f "$1") version=$2 folder=$(readlink -f "$3") before=${4:+$(readlink -f "$4")}
. "$(dirname "$0")/common.sh"
package=$(ls "$folder/tender_${version}_"*.deb)
tarball=$(ls "$folder/tender-$version-linux-"*.tar.gz)
if command -v lintian >/dev/null; then
  lintian --fail-on warning "$package" 2>&1 | { grep -v 'root privileges' || true; }
  echo "lintian: $(basename "$package") has no errors and no warnings"
else
  echo "skipped: lintian is not installed"
fi
depends=$(dpkg-deb -f "$package" Depends)
echo "$(basename "$package"): $depends"
case $depends in
"libc6 (>= $(lowest_glibc "$program")),"*) ;;
*) echo "the program needs glibc $(lowest_glibc "$program")" >&2 && exit 1 ;;
esac
[ "$(id -u)" = 0 ] || { echo "skipped: only root can make a bare system"; exit 0; }
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
chmod 755 "$work"
if [ -z "$before" ]; then
  Tests/Packaging/deb.sh "$program" 0.0.1 "$work" >/dev/null
  before=$(ls "$work"/*.deb)
  echo "no BEFORE: the version before is this program as 0.0.1"
fi

# Runs a command below $root, with its own mounts and processes, as USER_ID and with ENVIRONMENT. With a VOLUME the root
# is read-only.
inside() {
  unshare --mount --pid --fork --kill-child bash -euc '
    root=$0
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    for node in null urandom; do
      [ -e "$root/dev/$node" ] || : >"$root/dev/$node"
      mount --bind "/dev/$node" "$root/dev/$node"
    done
    if [ -n "${VOLUME:-}" ]; then
      mount --bind "$VOLUME" "$root/state"
      mount -o remount,bind,ro "$root"
    fi
    exec "$@"' "$root" env -i "${ENVIRONMENT[@]}" "$(command -v chroot)" --userspec="$USER_ID" "$root" "$@"
}
# Shows a command, runs it, and shows its last line. Its exit status and output have to be as expected.
expect() {
  local exit=$1 text=$2 status=0
  shift 2
  inside "$@" >"$work/output" 2>&1 </dev/null || status=$?
  echo "  \$ $*"
  tail -1 "$work/output" | cut -c1-160 | sed 's/^/    /'
  if [ $status != "$exit" ] || ! grep -q -- "$text" "$work/output"; then
    cat "$work/output" >&2
    echo "exit $status where $exit and \"$text\" are expected" >&2
    return 1
  fi
}
# The first payment of each provider.
pay() {
  expect 0 '"status":"succeeded"' tender transact --amount 10.50 --test-card visa --reference CARD-1 --json --fields reference,status,replayed
  expect 0 '"status":"succeeded"' tender transact --provider toro --amount 5 --reference SALE-1 --json --fields reference,status,replayed
  expect 0 '"status":"succeeded"' tender transact --provider truelayer --amount 10 --reference BANK-1 --json --fields reference,status,replayed --quiet \
    --beneficiary-name Ben --sort-code 56-00-29 --account-number 26207729 --user name=Remi \
    --user email=remi@example.com --bank mock-payments-gb-redirect
  expect 0 '"outcome":"ok"' tender doctor --json --fields name,outcome
}

bare() {
  local release=$1 mirror
  mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | head -1)
  root=$work/$release
  if ! debootstrap --variant=minbase "$release" "$root" "$mirror" >"$work/log" 2>&1; then
    tail -3 "$work/log"
    echo "skipped: debootstrap made no $release"
    return
  fi
  echo "== a bare $release, glibc $(sed -n '/^Package: libc6$/,/^Version/s/Version: //p' "$root/var/lib/dpkg/status")"
  cp /etc/resolv.conf "$root/etc/"
  cp "$before" "$root/before.deb"
  cp "$package" "$root/tender.deb"
  cp "$tarball" "$root/tender.tar.gz"
  local apt=(apt-get install -y -qq --no-install-recommends)
  USER_ID=0:0 ENVIRONMENT=(DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root)
  inside apt-get update -qq
  expect 0 'Setting up tender' "${apt[@]}" /before.deb
  inside useradd --create-home --uid 1000 shop
  local shop=(PATH=/usr/local/bin:/usr/bin:/bin HOME=/home/shop) admin=("${ENVIRONMENT[@]}")
  as_shop() { USER_ID=1000:1000 ENVIRONMENT=("${shop[@]}"); }
  as_root() { USER_ID=0:0 ENVIRONMENT=("${admin[@]}"); }
  as_shop
  pay
  expect 0 requires_confirmation tender transact --amount 7 --test-card visa --reference HOLD-1 --confirmation --json --fields reference,status,replayed
  as_root
  expect 0 'Setting up tender' "${apt[@]}" /tender.deb
  as_shop
  expect 0 "tender $version" tender --version
  expect 0 '"status":"succeeded"' tender confirm HOLD-1 --json --fields reference,status,replayed
  expect 0 '"replayed":true' tender transact --amount 10.50 --test-card visa --reference CARD-1 --json --fields reference,status,replayed
  as_root
  expect 0 'Removing tender' apt-get purge -y tender
  as_shop
  expect 127 'No such file' tender --version
  # The tarball takes the state over that the package left.
  as_root
  inside tar -xzf /tender.tar.gz -C /root
  expect 0 "tender $version" "/root/$(basename "$tarball" .tar.gz)/install.sh"
  as_shop
  expect 0 '"reference":"HOLD-1"' tender journal list --json --fields reference,status
  expect 0 '"replayed":true' tender confirm HOLD-1 --json --fields reference,status,replayed
  expect 0 '"status":"refunded"' tender refund CARD-1 --json --fields reference,status,replayed
  expect 0 ok tender journal verify --json
  # The job of .ci/templates, where no library is installed.
  as_root
  inside apt-get autoremove --purge -y -qq >/dev/null
  inside rm -rf /usr/local/bin/tender
  awk 'go && !/^      / { exit } go { print substr($0, 7) } /- \|$/ { go = 1 }' .ci/templates/gitlab.yml >"$root/job.sh"
  cp Tests/Packaging/smoke.jsonl "$root/"
  ENVIRONMENT+=(TENDER_TARBALL=/tender.tar.gz TENDER_SHA256="$(sha256sum <"$tarball" | cut -d' ' -f1)"
    TENDER_BATCH=/smoke.jsonl TENDER_REPORT=/tender.xml)
  local start=$SECONDS
  expect 0 '"failed":0' sh /job.sh
  grep -q '<testsuites[^>]* tests="4" failures="0"' "$root/tender.xml" || { head -3 "$root/tender.xml" && return 1; }
  echo "  a green report in $((SECONDS - start)) s"
}

image() {
  root=$work/image
  mkdir -p "$root" "$work/state"
  local blobs=$folder/image/blobs/sha256 config layer
  field() { grep -o "\"$1\":[^]}]*" "$2" | grep -o '[0-9a-f]\{64\}'; }
  local manifest=$blobs/$(field manifests "$folder/image/index.json")
  config=$blobs/$(field config "$manifest")
  for layer in $(sed 's/.*"layers"://' "$manifest" | grep -o '[0-9a-f]\{64\}'); do
    sha256sum --check --quiet <<<"$layer  $blobs/$layer"
    tar -xzf "$blobs/$layer" -C "$root" --same-owner
  done
  echo "== the image, from its layers: user 10001, read-only root, volume /state"
  if command -v skopeo >/dev/null; then
    skopeo inspect --config "oci:$folder/image:tender:$version" >"$work/inspected"
    echo "  skopeo reads it: $(skopeo inspect --format '{{.Digest}}' "oci:$folder/image:tender:$version")"
  else
    echo "skipped: skopeo is not installed"
  fi
  # Where a runtime mounts them.
  mkdir -p "$root/proc" "$root/dev"
  cp -a "$root/state" "$work/"
  local -x VOLUME=$work/state
  USER_ID=$(sed 's/.*"User":"\([^"]*\)".*/\1/' "$config")
  mapfile -t ENVIRONMENT < <(sed 's/.*"Env":\[\([^]]*\)\].*/\1/' "$config" | tr , '\n' | tr -d '"')
  pay
  expect 0 requires_confirmation tender transact --amount 7 --test-card visa --reference HOLD-1 --confirmation --json --fields reference,status,replayed
  expect 0 '"status":"succeeded"' tender confirm HOLD-1 --json --fields reference,status,replayed
  local -a health
  mapfile -t health < <(sed 's/.*"Test":\["CMD",\([^]]*\)\].*/\1/' "$config" | tr , '\n' | tr -d '"')
  expect 0 '"name":"containment"' "${health[@]}"
  expect 16 state_unusable tender transact --amount 7 --test-card visa --state-dir /usr/other --json
  # Its simulator serves a second container that shares its network.
  : >"$work/served"
  inside tender simulator serve --json --deadline 20s >"$work/served" 2>&1 &
  for _ in {1..50}; do
    ! grep -q '"record":"server"' "$work/served" || break
    sleep 0.2
  done
  mapfile -t -O "${#ENVIRONMENT[@]}" ENVIRONMENT < <(sed 's/.*"variables":{\([^}]*\)}.*/\1/' "$work/served" | tr , '\n' |
    tr -d '"' | sed -n '/^TENDER_PAYTHEORY/s/:/=/p')
  expect 0 '"env":"simulator"' tender transact --amount 4 --test-card visa --reference SERVED-1 --json \
    --fields reference,status,env
  wait $! || true
  [ -f "$work/state/tender/journal.db" ]
  [ -f "$work/state/.tender.tender-mark" ]
  echo "  the journal and its mark are on the volume"
  # The volume of a pod is root's, and its group (fsGroup) is the user's. Another group's is refused.
  VOLUME=$work/pod
  install -d -o 0 -g 10001 -m 2775 "$VOLUME"
  expect 0 '"status":"succeeded"' tender transact --amount 7 --test-card visa --reference POD-1 --json --fields status
  chgrp 0 "$VOLUME" && chmod 2777 "$VOLUME"
  expect 16 state_unusable tender transact --amount 7 --test-card visa --reference POD-1 --json
}

if command -v debootstrap >/dev/null; then
  for release in bookworm trixie; do
    bare "$release"
    rm -rf --one-file-system "$root"
  done
else
  echo "skipped: debootstrap is not installed"
fi
image
