#!/usr/bin/env bash
# The journal that a fleet shares, on a PostgreSQL of this machine: payments beside the same statements by
# pgbench with the same durability, runners beside each other, look-ups among a million payments.
set -euo pipefail
tender=$1
faults=$2
rows=$3
programs=$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | sort -V | tail -n 1)
[ -x "$programs/postgres" ] || { echo "skipped: PostgreSQL is not installed"; exit 0; }
umask 022
folder=$(mktemp -d)
as=
if [ "$(id -u)" = 0 ]; then
  chown postgres "$folder"
  as="setpriv --reuid=postgres --regid=postgres --clear-groups"
fi
port=$((20000 + RANDOM % 10000))
trap '$as "$programs/pg_ctl" -D "$folder/data" -m immediate stop > /dev/null 2>&1 || true; rm -rf "$folder"' EXIT
cd "$folder"
$as "$programs/initdb" -D "$folder/data" -A trust -U tender -E UTF8 --locale=C > /dev/null
# How long a sync takes beyond the disk's own, in microseconds.
start() {
  local settings="-p $port -k $folder -c listen_addresses=127.0.0.1 -c max_connections=200"
  settings+=" -c shared_buffers=512MB -c max_wal_size=4GB -c checkpoint_timeout=1h"
  $as env LD_PRELOAD="$faults" TENDER_SYNC_MICROSECONDS="$1" "$programs/pg_ctl" -D "$folder/data" -w \
    -l "$folder/log" -o "$settings" start > /dev/null
}
stop() { $as "$programs/pg_ctl" -D "$folder/data" -m fast stop > /dev/null; }
sql() { "$programs/psql" -h "$folder" -p "$port" -U tender -qAt -v ON_ERROR_STOP=1 "$@"; }
row() { printf '%-50s%-20s%s\n' "$1" "$2" "${3:-}"; }
start 0
sql -d postgres -c 'CREATE DATABASE payments'
umask 077
head -c 32 /dev/urandom > key
unset TENDER_JOURNAL TENDER_JOURNAL_KEY_FILE
export HOME=$folder TENDER_STATE_DIR=$folder/state
shared() {
  TENDER_JOURNAL="postgres://tender@127.0.0.1:$port/payments" TENDER_JOURNAL_KEY_FILE="$folder/key" "$@"
}
shared "$tender" journal migrate --json > /dev/null
# What a payment asks of the database, in as many transactions, on tables like its own with its own rows: one
# payment of the program's is the model of all.
shared "$tender" transact --amount 10.50 --test-card visa --reference MODEL --json --quiet > /dev/null
# The columns of a table but some, as a list.
columns() {
  sql -d payments -c "SELECT string_agg(column_name, ', ') FROM information_schema.columns
    WHERE table_schema = 'tender' AND table_name = '$1' AND column_name <> ALL ('{$2}')"
}
payment=$(columns payment row,reference)
operation=$(columns operation row,payment)
event=$(columns event payment,line)
sql -d payments > /dev/null << 'SQL'
CREATE SCHEMA bare;
CREATE TABLE bare.payment (LIKE tender.payment INCLUDING ALL);
CREATE TABLE bare.operation (LIKE tender.operation INCLUDING ALL);
CREATE TABLE bare.event (LIKE tender.event INCLUDING ALL);
CREATE TABLE bare.term (LIKE tender.term INCLUDING ALL);
CREATE TABLE bare.lease (LIKE tender.lease INCLUDING ALL);
CREATE TABLE bare.payment_model AS SELECT * FROM tender.payment WHERE reference = 'MODEL';
CREATE TABLE bare.operation_model AS SELECT o.* FROM tender.operation o, bare.payment_model p WHERE o.payment = p.row;
CREATE TABLE bare.event_model AS SELECT e.* FROM tender.event e, bare.payment_model p WHERE e.payment = p.row AND e.line = 1;
CREATE SEQUENCE bare.number;
SQL
cat > bare.sql << SQL
SELECT nextval('bare.number') AS n \\gset
WITH held AS (INSERT INTO bare.lease (env, provider, reference, holder, machine, by, fence, until) VALUES ('simulator', 'paytheory', 'R:n', 'x', 'x', 'x', 1, clock_timestamp() + interval '40 s') ON CONFLICT (reference, provider, env) DO UPDATE SET fence = excluded.fence + 1 RETURNING fence), made AS (INSERT INTO bare.payment (row, reference, $payment) SELECT :n, 'R:n', $payment FROM bare.payment_model, held RETURNING row), done AS (INSERT INTO bare.operation (payment, $operation) SELECT made.row, $operation FROM made, bare.operation_model), line AS (INSERT INTO bare.event (payment, line, $event) SELECT made.row, 1, $event FROM made, bare.event_model) INSERT INTO bare.term SELECT t || :n % 1000, :n, made.row FROM made, unnest(ARRAY['r:', 'e:', 'p:', 'u:', 's:']) t;
WITH held AS (UPDATE bare.lease SET until = clock_timestamp() + interval '40 s' WHERE reference = 'R:n' AND fence = 1 RETURNING 1), made AS (UPDATE bare.payment SET version = 2, status = 'unknown', sum = 't' FROM held WHERE row = :n RETURNING row), done AS (UPDATE bare.operation SET state = 'sent', sum = 't' FROM made WHERE payment = :n) INSERT INTO bare.event (payment, line, $event) SELECT made.row, 2, $event FROM made, bare.event_model;
WITH held AS (UPDATE bare.lease SET until = clock_timestamp() WHERE reference = 'R:n' AND fence = 1 RETURNING 1), made AS (UPDATE bare.payment SET version = 3, status = 'succeeded', sum = 'u' FROM held WHERE row = :n AND version = 2 RETURNING row), done AS (UPDATE bare.operation SET state = 'succeeded', result = repeat('r', 400) FROM made WHERE payment = :n), gone AS (DELETE FROM bare.term WHERE text = 's:' || :n % 1000 AND created = :n) INSERT INTO bare.event (payment, line, $event) SELECT made.row, 3, $event FROM made, bare.event_model;
SQL
# Payments a second of so many clients of pgbench.
bare() {
  "$programs/pgbench" -n -h "$folder" -p "$port" -U tender -f bare.sql -c "$1" -j 2 -T 5 payments 2> /dev/null |
    sed -nE 's/^tps = ([0-9]+).*/\1/p'
}
# The median of eleven commands, in hundredths of a millisecond.
median() {
  for number in $(seq 11); do
    begun=$(date +%s%N)
    "$@" "${prefix:-}$number" > /dev/null
    echo $((($(date +%s%N) - begun) / 10000))
  done | sort -n | sed -n 6p
}
ms() { printf '%d.%02d ms' $(($1 / 100)) $(($1 % 100)); }
pay=("$tender" transact --amount 10.50 --test-card visa --json --quiet --reference)
prefix=W shared median "${pay[@]}" > /dev/null
# A folder that paid with a shared journal pays with no file.
alone() { TENDER_STATE_DIR=$folder/alone "$@"; }
prefix=W alone median "${pay[@]}" > /dev/null
one=$(prefix=A shared median "${pay[@]}")
file=$(prefix=B alone median "${pay[@]}")
bare_one=$(bare 1)
row "a payment, journal on PostgreSQL" "$(ms "$one")"
row "a payment, journal in a file" "$(ms "$file")"
row "its statements alone, by pgbench" "$(ms $((100000 / bare_one)))" "3 commits"
stop
start 4000
row "this disk, with 4 ms a sync by pgbench, 1 client" "$(bare 1) payments/s"
for runners in 1 4 10; do
  count=$((1200 / runners))
  for runner in $(seq "$runners"); do
    for number in $(seq "$count"); do
      printf '{"command":"transact","amount":"10.50","test_card":"visa","reference":"F%d-%d-%d"}\n' \
        "$runners" "$runner" "$number"
    done > "lines$runner"
  done
  begun=$(date +%s%N)
  cpu=$(awk '/^cpu /{print $5}' /proc/stat)
  for runner in $(seq "$runners"); do
    TENDER_STATE_DIR=$folder/runner$runner shared "$tender" batch "lines$runner" --jobs 8 --json --quiet \
      > "said$runner" &
  done
  wait
  took=$((($(date +%s%N) - begun) / 1000000))
  idle=$((($(awk '/^cpu /{print $5}' /proc/stat) - cpu) * 1000 / took / $(nproc)))
  done_=$(cat said* | grep -c '"status":"succeeded"' || true)
  rm -f said*
  rate=$((done_ * 1000 / took))
  peer=$(bare $((runners * 8)))
  row "batch of $runners runners, --jobs 8, 4 ms a sync" "$((rate * 3)) commits/s" \
    "$((rate * 100 / peer)) % of pgbench's $((peer * 3)), target 35 %; processor $((100 - idle)) % used"
done
stop
start 0
for table in payment operation observation event term preparation lease; do sql -d payments -c "TRUNCATE tender.$table"; done
fill() {
  "$rows" rows "$1" "$2" | sql -d payments > /dev/null
  sql -d payments -c 'ANALYZE tender.payment; ANALYZE tender.operation; ANALYZE tender.term; ANALYZE tender.event'
}
export PAGER=
look() { shared "$tender" "$@" --json > /dev/null; }
searches=("journal show ORDER-0000500" "find --customer ada500@" "find --last-four 0500 --amount 15.00"
  "find ORDER-00005*" "find --by till-7 --last-four 0507")
declare -A small
fill 1 1000
for search in "${searches[@]}"; do
  # shellcheck disable=SC2086
  small[$search]=$(prefix= ; for n in 1 2 3 4 5 6 7; do begun=$(date +%s%N); look $search || true; echo $((($(date +%s%N) - begun) / 10000)); done | sort -n | sed -n 4p)
done
fill 1001 1000000
for search in "${searches[@]}"; do
  # shellcheck disable=SC2086
  large=$(for n in 1 2 3 4 5 6 7; do begun=$(date +%s%N); look $search || true; echo $((($(date +%s%N) - begun) / 10000)); done | sort -n | sed -n 4p)
  row "$search" "$(ms "${small[$search]}")" \
    "$(ms "$large") among 1,000,000: $((large * 100 / small[$search])) %, target at most 200 %"
done
