#!/usr/bin/env bash
# Makes the release of the last commit twice, in two folders and on two days, and compares the bytes. A key is made for
# it, and the signature is verified. Without libfaketime both are made today.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ssh-keygen -q -t ed25519 -N '' -C releaser -f "$work/key"
tomorrow=()
if command -v faketime >/dev/null; then
  tomorrow=(faketime -f +1d)
else
  echo "skipped: no other day, since faketime is not installed"
fi
git clone --quiet . "$work/one"
mkdir "$work/another"
git clone --quiet . "$work/another/deeper"
"$work/one/Tests/Packaging/release.sh" "$work/first" "$work/key"
mkdir "$work/tmp"
TMPDIR=$work/tmp "${tomorrow[@]}" bash -c 'date -u && "$@"' - \
  "$work/another/deeper/Tests/Packaging/release.sh" "$work/second" "$work/key"
diff -r "$work/first" "$work/second"
echo "releaser $(cat "$work/key.pub")" >"$work/signers"
verify() { ssh-keygen -Y verify -f "$work/signers" -I releaser -n tender-release -s "$work/first/SHA256SUMS.sig"; }
verify <"$work/first/SHA256SUMS"
! sed '1s/^./x/' "$work/first/SHA256SUMS" | verify >/dev/null 2>&1 || { echo "a changed list is taken as signed" >&2; exit 1; }
(cd "$work/first" && sha256sum --check --quiet SHA256SUMS)
echo "the same bytes twice: $(sha256sum <"$work/first/SHA256SUMS" | cut -d' ' -f1)"
