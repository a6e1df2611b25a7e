#!/usr/bin/env bash
# Counts the instructions of two builds, in millions. Unlike times, they repeat: quick.sh TENDER [EARLIER-TENDER]
set -euo pipefail
command -v valgrind > /dev/null || { echo "skipped: there is no valgrind"; exit 0; }
umask 077
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export TENDER_CONTAINMENT=off SWIFT_DETERMINISTIC_HASHING=1 HOME=$folder

# Prints a row: the instructions of a command, which has to end with 0.
row() {
  local name=$1 counted
  shift
  counted=$(count "$@")
  print "$name" "$counted" 1
}

count() {
  valgrind --tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "$@" > /dev/null 2> "$state/log" ||
    { echo "bench: $* ended with $?" >&2; tail -n 5 "$state/log" >&2; return 1; }
  sed -nE 's/.*I +refs: +([0-9,]+)/\1/p' "$state/log" | tr -d ,
}

print() {
  awk -v name="$1" -v count="$2" -v of="$3" 'BEGIN { printf "%s\t%.2f\n", name, count / of / 1e6 }'
}

lines() {
  for number in $(seq "$2"); do
    printf '{"command":"transact","amount":"10.50","test_card":"visa","reference":"%s-%d"}\n' "$1" "$number"
  done
}

# All rows of one build.
rows() {
  local tender=$1 state=$2 all one few many whole
  mkdir "$state"
  all=(--state-dir "$state/tender" --json)
  pay=(transact --amount 10.50 --test-card visa "${all[@]}")
  # The first payment makes the journal.
  "$tender" "${pay[@]}" --reference FIRST > /dev/null
  row "--version" "$tender" --version
  row "help of a command" "$tender" help transact
  row "a word to complete" "$tender" __complete bash "tender transact --am"
  row "a payment (simulator)" "$tender" "${pay[@]}" --reference COUNTED
  row "a look-up (simulator)" "$tender" payment-status COUNTED "${all[@]}"
  row "a payment, chip and PIN" \
    "$tender" transact --provider toro --amount 10.50 --reference CHIP "${all[@]}"
  row "journal show" "$tender" journal show COUNTED "${all[@]}"
  row "find by amount" "$tender" find --amount 10.50 "${all[@]}"
  one=$(count "$tender" journal export --state-dir "$state/tender")
  lines FEW 5 > "$state/few"
  lines MANY 45 > "$state/many"
  few=$(count "$tender" batch "$state/few" --jobs 1 --quiet "${all[@]}")
  many=$(count "$tender" batch "$state/many" --jobs 1 --quiet "${all[@]}")
  print "a line of a batch" $((many - few)) 40
  whole=$(count "$tender" journal export --state-dir "$state/tender")
  print "a record of an export" $((whole - one)) 50
  lines MORE 205 > "$state/more"
  few=$(count "$tender" batch "$state/few" --check --quiet "${all[@]}")
  many=$(count "$tender" batch "$state/more" --check --quiet "${all[@]}")
  print "a line of batch --check" $((many - few)) 200
}

rows "$1" "$folder/now" > "$folder/rows.now" &
now=$!
rows "${2:-$1}" "$folder/then" > "$folder/rows.then" &
wait $!
wait "$now"
printf '%-28s%10s%10s%10s\n' "million instructions" earlier now change
paste "$folder/rows.then" "$folder/rows.now" |
  awk -F'\t' '{ printf "%-28s%10.2f%10.2f%9.1f%%\n", $1, $2, $4, $2 ? ($4 / $2 - 1) * 100 : 0 }'
