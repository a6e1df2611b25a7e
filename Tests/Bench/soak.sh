#!/usr/bin/env bash
# Lets one `simulator serve --retain` take card payments from many clients at once, samples its memory each
# second, and fails on a peak above 160 MB, on a trend or on a failed payment:
# soak.sh TENDER [PAYMENTS] [CLIENTS] [RETAIN]
set -euo pipefail
tender=$1 payments=${2:-1000000} clients=${3:-256} retain=${4:-10000}
umask 077
folder=$(mktemp -d)
server=
trap '[ -z "$server" ] || kill "$server" 2> /dev/null || true; rm -rf "$folder"' EXIT
"$tender" simulator serve --retain "$retain" --env-file "$folder/env" --state-dir "$folder/server" \
  > /dev/null &
server=$!
for turn in $(seq 100); do [ -s "$folder/env" ] && break || sleep 0.1; done
[ -s "$folder/env" ] || { echo "simulator serve did not start within 10 s"; exit 1; }
. "$folder/env"
field() { awk -v name="$1:" '$1 == name { print int($2 / 1024) }' "/proc/$server/status" 2> /dev/null; }
echo 0 > "$folder/done"
while now=$(field VmRSS) && [ -n "$now" ]; do
  echo "$SECONDS $(cat "$folder/done") $now"
  sleep 1
done > "$folder/samples" &
sampler=$!
paid=0 failed=0 begun=$SECONDS
while [ "$paid" -lt "$payments" ]; do
  count=$((payments - paid < 5000 ? payments - paid : 5000))
  awk -v from="$paid" -v count="$count" 'BEGIN { for (n = from; n < from + count; n++)
    printf "{\"command\":\"transact\",\"amount\":\"10.50\",\"test_card\":\"visa\",\"reference\":\"S%d\"}\n", n }' \
    > "$folder/lines"
  # A journal of its own for each round: the server is what is measured.
  rm -rf "$folder/client"*
  HOME="$folder" "$tender" batch "$folder/lines" --jobs "$clients" --json --quiet \
    --state-dir "$folder/client$paid" > "$folder/said" 2> "$folder/errors" || true
  ok=$(tail -n 1 "$folder/said" | sed -nE 's/.*"record":"batch_summary".*"ok":([0-9]+).*/\1/p')
  paid=$((paid + count))
  failed=$((failed + count - ${ok:-0}))
  [ "${ok:-0}" -eq "$count" ] || grep -h -m 3 '"record":"error"' "$folder/said" "$folder/errors" || true
  echo "$paid" > "$folder/done"
  kill -0 "$server"
done
took=$((SECONDS - begun)) peak=$(field VmHWM)
books=$(du -sm "$folder/server" | cut -f1)
kill -TERM "$server"
wait "$server" && status=0 || status=$?
server=
wait "$sampler" || true
awk -v step=$((payments / 20 > 0 ? payments / 20 : 1)) '{ part = int($2 / step)
    if (!(part in least) || $3 < least[part]) least[part] = $3
    if ($3 > most[part]) most[part] = $3 }
  END { for (part = 0; part <= 20; part++) if (part in least)
    printf "%8d  %8d  %7d\n", part * step, least[part], most[part] }' "$folder/samples" > "$folder/parts"
echo "payments  least MB  most MB"
cat "$folder/parts"
# The line of least squares through the highest sample of each part, without the first part: between two
# rounds there are no clients.
trend=$(awk 'NR > 1 { n++; x += $1; y += $3; xx += $1 * $1; xy += $1 * $3 }
  END { d = n * xx - x * x; printf "%.2f", (d > 0 ? (n * xy - x * y) / d * 100000 : 0) }' "$folder/parts")
echo "simulator serve --retain $retain, $clients clients: $payments payments in $took s, $failed failed," \
  "peak $peak MB, trend $trend MB per 100,000 payments, books $books MB, exit $status," \
  "$(wc -l < "$folder/samples") samples"
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
[ "$failed" -eq 0 ] && [ "$status" -eq 0 ] && [ "$peak" -le 160 ] && awk "BEGIN { exit !($trend < 2) }"
