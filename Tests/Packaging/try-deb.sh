#!/usr/bin/env bash
# Installs a Debian package in a bare Debian and pays there: `try-deb.sh PACKAGE`. Skipped by name where
# neither mmdebstrap nor debootstrap is, or this user may not make a system.
set -euo pipefail
package=$(readlink -f "$1")
[ "$(id -u)" = 0 ] || { echo "skipped: only root makes a bare system"; exit 0; }
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
root=$(mktemp -d)
trap 'umount "$root/system/proc" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
if command -v mmdebstrap >/dev/null; then
  mmdebstrap --quiet --variant=apt "$release" "$root/system" >/dev/null
elif command -v debootstrap >/dev/null; then
  mirror=$(apt-get indextargets --format '$(SITE)' "Created-By: Packages" 2>/dev/null | head -1)
  debootstrap --variant=minbase "$release" "$root/system" "${mirror:-}" >/dev/null
else
  echo "skipped: neither mmdebstrap nor debootstrap is installed"
  exit 0
fi
# The same ways to packages as here, for what this one depends on.
cp -r /etc/apt/apt.conf.d "$root/system/etc/apt/" 2>/dev/null || true
cp /etc/resolv.conf "$root/system/etc/resolv.conf" 2>/dev/null || true
[ ! -d /usr/local/share/ca-certificates ] ||
  cp -r /etc/ssl "$root/system/etc/" 2>/dev/null || true
mount -t proc proc "$root/system/proc"
cp "$package" "$root/system/tmp/tender.deb"
run() { chroot "$root/system" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
run apt-get update -qq
run env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends /tmp/tender.deb >/dev/null 2>&1
run tender --version
run tender transact --amount 10.50 --test-card visa --reference ORDER-1 --output table
run tender transact --provider toro --amount 5 --currency GBP --reference SALE-1 --fields status,id --json
echo "the package works in a bare $release"
