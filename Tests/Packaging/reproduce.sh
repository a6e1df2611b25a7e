#!/usr/bin/env bash
# Builds the last commit twice, in two folders, and compares the two programs byte for byte.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for name in one another/deeper; do
  mkdir -p "$work/$name"
  git archive HEAD | tar -x -C "$work/$name"
  make -C "$work/$name" build >"$work/log" 2>&1 || { tail -20 "$work/log"; exit 1; }
done
if cmp "$work/one/.build/release/tender" "$work/another/deeper/.build/release/tender"; then
  echo "the same bytes twice: $(sha256sum <"$work/one/.build/release/tender" | cut -d' ' -f1)"
else
  exit 1
fi
