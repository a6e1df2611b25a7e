#!/usr/bin/env bash
# Overwrites the hashes that the compiler leaves of how each module was built, paths included: nothing reads
# them, and without them the same source gives the same bytes wherever it is built. `forget-hashes.sh PROGRAM`.
set -euo pipefail
program=$1
command -v readelf >/dev/null || exit 0
read -r offset size < <(readelf -SW "$program" | sed -n \
  's/.* \.swift_modhash  *[A-Z]*  *[0-9a-f]*  *\([0-9a-f]*\)  *\([0-9a-f]*\) .*/\1 \2/p') || exit 0
head -c "$((16#$size))" /dev/zero |
  dd of="$program" bs=4096 seek="$((16#$offset))" oflag=seek_bytes conv=notrunc status=none
