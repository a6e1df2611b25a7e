#!/usr/bin/env bash
# conformance.sh SUITE-FOLDER ECHO-CLIENT: runs the Autobahn client cases on loopback and judges.
set -euo pipefail
suite=$1 client=$2
folder=$(mktemp -d)
port=$((20000 + RANDOM % 20000))
# 12 and 13 are compression, which the client does not offer.
"$suite/run.sh" "$port" --cases '1.*,2.*,3.*,4.*,5.*,6.*,7.*,9.*,10.*' --outdir "$folder" \
  >"$folder/log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
for _ in $(seq 600); do
  grep -q READY "$folder/log" && break
  kill -0 "$server" 2>/dev/null || { cat "$folder/log"; exit 1; }
  sleep 0.5
done
"$client" "ws://127.0.0.1:$port" tender
python3 "$suite/report.py" "$folder" tender
