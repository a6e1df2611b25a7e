#!/usr/bin/env bash
# Lets one `simulator serve` take card payments from many clients at once for so many seconds, and counts
# what fails: soak.sh TENDER SECONDS [CLIENTS]
set -euo pipefail
tender=$1 seconds=$2 clients=${3:-256}
umask 077
folder=$(mktemp -d)
server= sampling=
trap 'kill "$server" "$sampling" 2> /dev/null || true; rm -rf "$folder"' EXIT
"$tender" simulator serve --json --env-file "$folder/env" --state-dir "$folder/server" > "$folder/served" &
server=$!
until grep -q TENDER_TRUELAYER_AUTH_URL "$folder/served"; do sleep 0.1; done
. "$folder/env"
# Connections that close wait for a minute: so many at once and no more have a port each.
memory() { awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$server/status"; }
payments=0 failed=0 round=0
# Memory rises and falls with the clients. Only a trend over many samples shows a leak.
while sleep 1; do memory; done > "$folder/samples" &
sampling=$!
end=$((SECONDS + seconds))
while [ "$SECONDS" -lt "$end" ]; do
  round=$((round + 1))
  for number in $(seq 1000); do
    printf '{"command":"transact","amount":"10.50","test_card":"visa","reference":"S%d-%d"}\n' \
      "$round" "$number"
  done > "$folder/lines"
  "$tender" batch "$folder/lines" --jobs "$clients" --json --quiet --state-dir "$folder/state" \
    > "$folder/said" 2> "$folder/errors" || true
  ok=$(tail -n 1 "$folder/said" | sed -nE 's/.*"record":"batch_summary".*"ok":([0-9]+).*/\1/p')
  payments=$((payments + 1000))
  failed=$((failed + 1000 - ${ok:-0}))
  kill -0 "$server"
done
kill "$sampling" && wait "$sampling" 2> /dev/null || true
kill -TERM "$server"
wait "$server" && status=0 || status=$?
server=
trend=$(awk '{ samples[NR] = $1; if ($1 > most) most = $1 }
  END {
    for (n = 1; n <= NR; n++) { part = int((n - 1) * 4 / NR); sum[part] += samples[n]; count[part]++ }
    for (part = 0; part < 4; part++) printf "%d ", count[part] ? sum[part] / count[part] : 0
    printf "MB in each quarter, at most %d", most
  }' "$folder/samples")
echo "simulator serve, $clients clients, $seconds s: $payments payments, $failed failed, memory $trend MB," \
  "exit $status"
# The memory of a batch does not grow with its lines.
awk 'BEGIN { for (n = 0; n < 1000000; n++)
  printf "{\"command\":\"transact\",\"amount\":\"10.50\",\"test_card\":\"visa\",\"reference\":\"M%d\"}\n", n }' \
  > "$folder/lines"
begun=$SECONDS
env -i HOME="$folder" "$tender" batch "$folder/lines" --check --json --quiet \
  --state-dir "$folder/check" > /dev/null &
checking=$!
most=0
while now=$(awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$checking/status" 2> /dev/null) && [ -n "$now" ]; do
  most=$now
  sleep 1
done
wait "$checking"
echo "batch --check, 1,000,000 lines: $((SECONDS - begun)) s, $most MB, target at most 64 MB"
[ "$failed" -eq 0 ]
