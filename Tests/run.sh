#!/usr/bin/env bash
# Runs the tests' own PROGRAM with the ARGUMENTS, shows what it says, and ends with its status.
#
# `swift test` waits for every process that still holds its output. This waits for the program alone, for LIMIT
# seconds at most (20 minutes); a program that has given its verdict and does not end is ended.
set -uo pipefail
program=$1
shift
limit=${LIMIT:-1200}
log=$(mktemp)
"$program" --testing-library swift-testing "$@" > "$log" 2>&1 < /dev/null &
tests=$!
tail -n +1 -f --pid="$tests" "$log" &
shown=$!
trap 'kill "$tests" "$shown" 2> /dev/null; rm -f "$log"' EXIT
verdict() { grep -aoE 'Test run with .* (passed|failed) after' "$log" | tail -n 1; }
late=
while kill -0 "$tests" 2> /dev/null; do
  sleep 1
  [ "$SECONDS" -lt "$limit" ] || { echo "the tests did not end within $limit s" >&2; exit 1; }
  [ -n "$(verdict)" ] || continue
  late=${late:-$((SECONDS + 30))}
  [ "$SECONDS" -lt "$late" ] && continue
  echo "the tests gave their verdict and did not end: they are ended" >&2
  case "$(verdict)" in *passed*) exit 0 ;; *) exit 1 ;; esac
done
wait "$tests"
status=$?
wait "$shown" 2> /dev/null
exit "$status"
