#!/usr/bin/env bash
# Says what of a program's protection is missing, by readelf: `hardening.sh PROGRAM [release]`. Ends with 1
# where something is. On systems without ELF it checks nothing.
set -euo pipefail
program=$1
kind=${2:-debug}
command -v readelf >/dev/null || { echo "skipped: no readelf"; exit 0; }
[ "$(head -c 4 "$program" | tail -c 3)" = ELF ] || { echo "skipped: no ELF"; exit 0; }
headers=$(readelf -hldW "$program")
symbols=$(readelf --dyn-syms -W "$program")
missing=0
wants() {
  if ! grep -Eq -- "$2" <<<"$3"; then
    echo "missing: $1"
    missing=1
  fi
}
wants "a position of its own in memory (PIE)" 'Type: +DYN' "$headers"
wants "read-only tables of the loader (RELRO)" 'GNU_RELRO' "$headers"
wants "all symbols bound at start (BIND_NOW)" 'BIND_NOW' "$headers"
wants "a stack that runs no code" 'GNU_STACK +0x0+ 0x0+ 0x0+ 0x0+ 0x0+ RW ' "$headers"
wants "the stack protector" '__stack_chk_fail' "$symbols"
if grep -Eq '\((RPATH|RUNPATH)\)' <<<"$headers" && [ "$kind" = release ]; then
  echo "missing: no search path of its own for libraries"
  missing=1
fi
if grep -Eq 'LOAD .* RWE ' <<<"$headers"; then
  echo "missing: no memory that is both written and run"
  missing=1
fi
[ "$kind" != release ] || wants "checked copies (FORTIFY)" '__[a-z]+_chk' "$symbols"
[ $missing = 0 ] && echo "hardened: $(basename "$program")"
exit $missing
