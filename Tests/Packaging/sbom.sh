#!/usr/bin/env bash
# A bill of materials in CycloneDX 1.5: `sbom.sh VERSION [PROGRAM [PACKAGES]]`. PACKAGES lists the Debian packages of an
# image, a name and a version in a line.
#
# What is linked into the program comes from the tools that build it, each with the version that it has. What the
# program requires of a system comes from Sources/Libraries.tsv: no version is known of it but the lowest that is taken.
set -euo pipefail
program=${2:+$(readlink -f "$2")}
. "$(dirname "$0")/common.sh"
needed=
[ -z "$program" ] || needed=$(objdump -p "$program" | awk '$1 == "NEEDED" { print $2 }')
# A build for tests loads the Swift runtime, and with it the C++ runtime.
how=linked-in
case $needed in *libswiftCore*) how=required ;; esac
{
  swift --version 2>/dev/null |
    sed -n 's/.*Swift version \([0-9.]*\).*/'"$how"'\tSwift standard library and runtime\t\1\tApache-2.0\tlinked\t\tthe language/p'
  # The C++ runtime of the Swift runtime, and what compilers call: in the program where it does not ask for them.
  if [ $how = linked-in ] && command -v gcc >/dev/null; then
    gcc=$(gcc -dumpfullversion)
    for name in libstdc++ libgcc; do
      case $needed in
      *$name*) ;;
      *) printf 'linked-in\t%s\t%s\tGPL-3.0-or-later WITH GCC-exception-3.1\t\t\tthe C++ runtime\n' "$name" "$gcc" ;;
      esac
    done
  fi
  lowest=
  [ -z "$program" ] || lowest=$(lowest_glibc "$program")
  [ "$(uname)" != Linux ] ||
    printf 'required\tglibc\t%s\tLGPL-2.1-or-later\tlinked\tlibc6\tthe C library\n' "$lowest"
  if [ -n "${3:-}" ]; then
    awk '{ print "in-image\t" $1 "\t" $2 "\t\t\t" $1 "\ta package of the image" }' "$3"
  fi
  awk -F'\t' '!/^#/ && NF >= 8 { print "required\t" $1 "\t" $2 "\t" $7 "\t" $3 "\t" $5 "\t" $8 }' Sources/Libraries.tsv
} | awk -F'\t' -v version="$1" -v distribution="$(sed -n 's/^ID=//p' /etc/os-release 2>/dev/null)" '
  function property(name, value) {
    if (value != "") properties = properties (properties ? "," : "") "{\"name\":\"tender:" name "\",\"value\":\"" value "\"}"
  }
  BEGIN {
    printf "{\"bomFormat\":\"CycloneDX\",\"specVersion\":\"1.5\",\"version\":1,"
    printf "\"metadata\":{\"component\":{\"type\":\"application\",\"bom-ref\":\"tender\","
    printf "\"name\":\"tender\",\"version\":\"%s\"}},\"components\":[", version
  }
  {
    properties = ""
    property("how", $1)
    scope = $1 != "required" || $5 != "opened" ? "required" : "optional"
    printf "%s{\"type\":\"library\",\"bom-ref\":\"%s\",\"name\":\"%s\",", count++ ? "," : "", $2, $2
    if ($1 != "required") printf "\"version\":\"%s\",", $3
    else property("lowest-version", $3)
    if ($1 == "required") property("loaded", $5 == "linked" ? "at start" : $5 == "required" ? "by each command" : "on first use")
    property("debian", $6)
    address = "pkg:deb/" distribution "/" $6 ($1 == "in-image" ? "@" $3 : "")
    gsub(/\+/, "%2B", address)
    if ($6 != "") printf "\"purl\":\"%s\",", address
    printf "\"scope\":\"%s\",\"description\":\"%s\",", scope, $7
    if ($4 ~ / WITH /) printf "\"licenses\":[{\"expression\":\"%s\"}],", $4
    else if ($4 == "curl" || $4 == "blessing" || $4 ~ /^(ISC|MIT|Apache-2.0|PostgreSQL|LGPL-2.1-or-later)$/)
      printf "\"licenses\":[{\"license\":{\"id\":\"%s\"}}],", $4
    printf "\"properties\":[%s]}", properties
    list = list (list ? "," : "") "\"" $2 "\""
  }
  END { printf "],\"dependencies\":[{\"ref\":\"tender\",\"dependsOn\":[%s]}]}\n", list }
'
