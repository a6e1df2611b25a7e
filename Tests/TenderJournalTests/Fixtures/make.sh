#!/bin/bash
# Writes a journal with an old program: make.sh TENDER FOLDER [ADDRESS]
#
# With the ADDRESS of an empty PostgreSQL database it writes a shared journal there, and its dump into FOLDER.
# What a version does not know it refuses, and its journal lacks that payment. See README.md.
set -u
tender=$1
folder=$2
here=$(cd "$(dirname "$0")" && pwd)
HOME=$(mktemp -d)
export HOME
state=$HOME/state/tender
mkdir -p "$state" "$folder"
chmod 700 "$state"
if [ $# = 3 ]; then
  export TENDER_JOURNAL=$3 TENDER_JOURNAL_KEY_FILE=$HOME/fleet.key
  # 32 bytes of 7.
  printf '\a%.0s' {1..32} >"$HOME/fleet.key"
  chmod 600 "$HOME/fleet.key"
  "$tender" journal migrate || exit
fi
run() {
  "$tender" "$@" --state-dir "$state" --json --no-input >>"$HOME/out" 2>&1
  echo "$? $*" | cut -c1-150
}
# Ends a command so many seconds after it began: what it had sent stays unknown.
kill_after() {
  local seconds=$1
  shift
  "$tender" "$@" --state-dir "$state" --json --no-input >>"$HOME/out" 2>&1 &
  sleep "$seconds"
  kill -9 $!
  wait $! 2>>"$HOME/out"
  echo "killed $*" | cut -c1-150
}
card() { run transact --amount 10.50 --reference "$@"; }
pay() { card "$@" --test-card visa; }
banked=(--merchant-account 8d5e4f3a-2b1c-4d6e-9f80-a1b2c3d4e5f6 --user name=Remi
  --user email=remi@example.com --bank mock-payments-gb-redirect)
bank() { run transact --provider truelayer --amount 10 "${banked[@]}" --reference "$@"; }
mandate() {
  run transact --provider truelayer --mandate --max-individual 50 --limit month:500 \
    --beneficiary-name Ben --sort-code 56-00-29 --account-number 26207729 --user name=Remi \
    --user email=remi@example.com --bank ob-natwest-vrp-sandbox --reference "$@"
}
till() { run transact --provider toro --amount 12.50 --reference "$@"; }

# Before version 3 there is no `refund`: `cancel --refund` is for banks alone, and Pay Theory's payments are reversed
# whole. Version 1 has no names of refunds, and no Toro.
refund=(refund)
"$tender" help refund >>"$HOME/out" 2>&1 || refund=(cancel --refund)
# Before version 7 another refund needs an option, and the first one is sent without a look.
again=(--new-attempt)
sent=1
if ! "$tender" help "${refund[0]}" | grep -q new-attempt; then
  again=()
  sent=3
fi
named() { "$tender" help cancel | grep -q refund-reference && echo "--refund-reference $1"; }

pay PAID --metadata table=7 --payor email=ada@example.com
pay RETRIED --sim-scenario decline:generic_decline
pay RETRIED --new-attempt
pay DECLINED --sim-scenario decline:generic_decline
pay FREED --sim-fault token:http-500
pay HELD --confirmation
pay HELDFEE --confirmation --fee-mode service_fee
pay CAPTURED --confirmation
run confirm CAPTURED
pay RELEASED --confirmation
run cancel RELEASED
pay VOIDED
run cancel VOIDED
card ACCOUNT --test-account success
pay LOST --sim-fault part2:close-before
pay LOSTCONFIRM --confirmation
run confirm LOSTCONFIRM --sim-fault part2:close-before
if [ "${refund[0]}" = refund ]; then
  pay PARTS
  run refund PARTS --amount 3
  run refund PARTS --amount 2 "${again[@]}" --refund-reference r2
  # Each request is answered after 2 s: the look before it, then the reversal.
  kill_after 3 refund PARTS --amount 1 "${again[@]}" --refund-reference r3 --sim-fault graphql:latency=2s
  pay PARTVOID --sim-scenario pending
  run refund PARTVOID --amount 4
fi
pay LOSTREFUND
kill_after "$sent" cancel LOSTREFUND --sim-fault graphql:latency=2s
run tokenize --test-card visa --reference TOKEN
method=$(grep -o 'pt_pmt_[a-z0-9]*' "$HOME/out" | tail -1)
card STORED --token "$method"
printf '{"type":"cash","name":"Ada","contact":"ada@example.com"}' >"$HOME/cash"
chmod 600 "$HOME/cash"
card BARCODE --instrument-file "$HOME/cash"

bank BANK
bank BANKPARTS
run "${refund[@]}" BANKPARTS --amount 3
# shellcheck disable=SC2046
run "${refund[@]}" BANKPARTS --amount 2 "${again[@]}" $(named r2) --sim-fault refund:close-before
bank BANKFAILED
run "${refund[@]}" BANKFAILED --amount 3 --sim-scenario refund:failed
bank BANKLOST --sim-fault create:close-before
mandate MANDATE
mandate REVOKED
run cancel REVOKED

# The payer does not come back from the bank: the payments wait.
for reference in BANKWAITS BANKGONE; do
  kill_after 3 transact --provider truelayer --amount 10 "${banked[@]}" --reference $reference \
    --sim-scenario bank:abandon
done
run cancel BANKGONE

till SALE
till SALEPART --sim-scenario gateway:partial
till SALEPARTS
run transact --provider toro --type refund --amount 5 --original SALEPARTS --reference BACK
till SALEHELD --no-capture
kill_after 1 transact --provider toro --amount 12.50 --reference SALELOST --sim-fault authorisation:latency=2s
till SALELOSTCONFIRM --no-capture
kill_after 1 confirm SALELOSTCONFIRM --sim-fault completion:latency=2s
till SALEUNDONE
run cancel SALEUNDONE
till SALELOSTCANCEL
kill_after 1 cancel SALELOSTCANCEL --sim-fault cancellation:latency=2s

# What the old program says of each.
for reference in $("$tender" journal list --state-dir "$state" --json --all | grep -o '"reference":"[A-Z]*"' |
  cut -d'"' -f4 | sort -u); do
  "$tender" journal show "$reference" --state-dir "$state" --json
done >"$folder/said.jsonl"
"$tender" journal export --state-dir "$state" >"$folder/export.jsonl" 2>>"$HOME/out" ||
  rm "$folder/export.jsonl"
if [ $# = 3 ]; then
  pg_dump --schema=tender --inserts --no-owner --no-privileges "$3" >"$folder/shared.sql"
  rm -r "$HOME"
  exit
fi
for name in journal simulator; do
  python3 - "$state/$name.db" <<'END'
import sqlite3, sys
file = sqlite3.connect(sys.argv[1])
columns = [row[1] for row in file.execute("PRAGMA table_info(journal)")]
if "place" in columns:
    # Elsewhere it would be a copy.
    file.execute("UPDATE journal SET place = NULL")
    file.commit()
file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
END
done
# Versions from 3 on take a file without its log for one that lost something.
touch "$state/journal.db-wal"
for name in db db-wal seals key; do
  [ -f "$state/journal.$name" ] && cp "$state/journal.$name" "$folder"
done
[ -f "$HOME/state/.tender.tender-mark" ] && cp "$HOME/state/.tender.tender-mark" "$folder/mark"
rm -f "$folder/simulator.db"
# From version 7 on the books have the shape that they have now.
if grep -q '"schema":1' "$HOME/out"; then
  python3 "$here/world.py" "$state/simulator.db" "$folder/simulator.db"
else
  cp "$state/simulator.db" "$folder"
fi
cp "$HOME/out" "$folder/../$(basename "$folder").log"
rm -rf "$HOME"
