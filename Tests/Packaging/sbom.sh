#!/usr/bin/env bash
# A bill of materials in CycloneDX 1.5, of Sources/Libraries.tsv: `sbom.sh VERSION`.
set -euo pipefail
cd "$(dirname "$0")/../.."
awk -F'\t' -v version="$1" '
  BEGIN {
    printf "{\"bomFormat\":\"CycloneDX\",\"specVersion\":\"1.5\",\"version\":1,"
    printf "\"metadata\":{\"component\":{\"type\":\"application\",\"bom-ref\":\"tender\","
    printf "\"name\":\"tender\",\"version\":\"%s\"}},\"components\":[", version
  }
  /^#/ || NF < 8 { next }
  {
    scope = $3 == "linked" ? "required" : "optional"
    printf "%s{\"type\":\"library\",\"bom-ref\":\"%s\",\"name\":\"%s\",", count++ ? "," : "", $1, $1
    printf "\"version\":\"%s\",\"scope\":\"%s\",\"description\":\"%s\",", $2, scope, $8
    if ($7 == "curl" || $7 == "blessing" || $7 ~ /^(ISC|MIT|Apache-2.0|LGPL-2.1-or-later)$/)
      printf "\"licenses\":[{\"license\":{\"id\":\"%s\"}}],", $7
    printf "\"properties\":[{\"name\":\"tender:lowest-version\",\"value\":\"%s\"},", $2
    printf "{\"name\":\"tender:how\",\"value\":\"%s\"},", $3
    printf "{\"name\":\"tender:debian\",\"value\":\"%s\"}]}", $5
    list = list (list ? "," : "") "\"" $1 "\""
  }
  END { printf "],\"dependencies\":[{\"ref\":\"tender\",\"dependsOn\":[%s]}]}\n", list }
' Sources/Libraries.tsv
