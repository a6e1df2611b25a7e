#!/usr/bin/env bash
# Card payments over HTTP and WebSocket to a simulator a round trip of 100 ms away.
set -euo pipefail
tender=$1
command -v python3 > /dev/null || { echo "skipped: there is no python3"; exit 0; }
umask 077
folder=$(mktemp -d)
server=
delay=
trap 'kill "$server" "$delay" 2> /dev/null || true; rm -rf "$folder"' EXIT
"$tender" simulator serve --json --state-dir "$folder/server" > "$folder/served" &
server=$!
until grep -q TENDER_TRUELAYER_AUTH_URL "$folder/served"; do sleep 0.1; done
near=$(sed -nE 's|.*"ws://127.0.0.1:([0-9]+)".*|\1|p' "$folder/served" | head -n 1)
far=$((20000 + RANDOM % 10000))
python3 "$(dirname "$0")/delay.py" "$far" "$near" 100 &
delay=$!
sleep 0.5
export TENDER_PAYTHEORY_TOKEN_URL=http://127.0.0.1:$far TENDER_PAYTHEORY_GRAPHQL_URL=http://127.0.0.1:$far
export TENDER_PAYTHEORY_SOCKET_URL=ws://127.0.0.1:$far
# One by itself: what it takes beyond the delay is small beside a round trip.
begun=$(date +%s%N)
"$tender" transact --amount 10.50 --test-card visa --reference ALONE --json --quiet \
  --state-dir "$folder/state" > /dev/null
took=$((($(date +%s%N) - begun) / 1000000))
printf '%-48s%-18s%s\n' "a payment, 100 ms away" "$took ms" "$((took / 100)) round trips"
for jobs in 4 64; do
  count=$((jobs == 4 ? 200 : 1000))
  for number in $(seq "$count"); do
    printf '{"command":"transact","amount":"10.50","test_card":"visa","reference":"F%d-%d"}\n' \
      "$jobs" "$number"
  done > "$folder/lines"
  took=$("$tender" batch "$folder/lines" --jobs "$jobs" --json --quiet --state-dir "$folder/state" |
    sed -nE 's/.*"batch_summary".*"milliseconds":([0-9]+).*/\1/p')
  target=
  [ "$jobs" -ne 64 ] || target='target at least 200'
  printf '%-48s%-18s%s\n' "tender batch --jobs $jobs, $count, 100 ms away" \
    "$((count * 1000 / took)) payments/s" "$target"
done
