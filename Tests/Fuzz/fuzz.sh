#!/usr/bin/env bash
# Fuzzes every target for so many seconds, under libFuzzer and the address sanitizer, and says how much of
# the adapters the inputs that were found reach. `fuzz.sh SECONDS [TARGET…]`; a crash ends it with 1.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=$1
shift
work=.build/fuzz-corpora
mkdir -p "$work"
link=(-Xswiftc -Xclang-linker -Xswiftc -fuse-ld=lld)
swift build --product tender-fuzz >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
# Edges are counted, comparisons are not: that took a quarter of the time. Parsers are given words instead.
swift build -c release --scratch-path .build/fuzz --product tender-fuzz \
  -Xswiftc -sanitize=fuzzer,address -Xswiftc -parse-as-library -Xswiftc -DFUZZING \
  -Xswiftc -sanitize-coverage=edge,inline-8bit-counters,pc-table -Xcc -fsanitize=address \
  -Xcc -fsanitize-coverage=inline-8bit-counters,pc-table "${link[@]}" \
  >"$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
# What a lazy constant holds is taken for a leak, since its pointer has bits of its own. To note where each
# piece of memory was allocated, to keep much freed memory, and to move the stack to the heap take a third of
# the time: a finding is run again without these options.
asan=detect_leaks=0:malloc_context_size=0:quarantine_size_mb=1:thread_local_quarantine_size_kb=64
asan+=:detect_stack_use_after_return=0
targets=("$@")
[ ${#targets[@]} -gt 0 ] || mapfile -t targets < <(.build/debug/tender-fuzz targets)
for target in "${targets[@]}"; do
  corpus=$work/$target
  mkdir -p "$corpus"
  TENDER_FUZZ=$target .build/debug/tender-fuzz seeds "$corpus"
  words=()
  [ ! -s "$corpus.dict" ] || words=("-dict=$corpus.dict")
  # One process on each processor. They share the inputs that they find.
  workers=()
  rm -f "$work/$target".*.log
  for number in $(seq "$(nproc)"); do
    ASAN_OPTIONS=$asan TENDER_FUZZ=$target .build/fuzz/release/tender-fuzz -detect_leaks=0 \
      -max_len=16384 -timeout=20 -rss_limit_mb=4096 "-max_total_time=$seconds" \
      "-artifact_prefix=$work/$target-" -print_final_stats=1 "${words[@]}" "$corpus" \
      >"$work/$target.$number.log" 2>&1 &
    workers+=($!)
  done
  failed=
  for worker in "${workers[@]}"; do wait "$worker" || failed=yes; done
  if [ -n "$failed" ]; then
    tail -n 40 "$work/$target".*.log
    echo "$target: an input that it does not survive is in $work/$target-*"
    exit 1
  fi
  sum() { sed -n "s/^stat::$1: *//p" "$work/$target".*.log | awk '{ all += $1 } END { print all }'; }
  edges=$(sed -n 's/.*DONE *cov: \([0-9]*\).*/\1/p' "$work/$target".*.log | sort -n | tail -1)
  echo "$target: $(sum number_of_executed_units) executions, $(sum average_exec_per_sec) a second," \
    "$edges edges, 0 crashes"
done
swift build --scratch-path .build/coverage --product tender-fuzz \
  -Xswiftc -profile-generate -Xswiftc -profile-coverage-mapping >"$work/build.log" 2>&1 ||
  { cat "$work/build.log"; exit 1; }
rm -f "$work"/*.profraw
for target in paytheory toro-answers toro-gateway toro-later toro-session truelayer; do
  [ -d "$work/$target" ] || continue
  TENDER_FUZZ=$target LLVM_PROFILE_FILE="$work/$target.profraw" \
    .build/coverage/debug/tender-fuzz "$work/$target"/*
done
tools=$(dirname "$(command -v swift)")
"$tools/llvm-profdata" merge -o "$work/all.profdata" "$work"/*.profraw
# What reads settings and options is the adapter's module, and is not fuzzed.
for room in PayTheory Toro TrueLayer; do
  "$tools/llvm-cov" report .build/coverage/debug/tender-fuzz --ignore-filename-regex='/Module/' \
    -instr-profile="$work/all.profdata" "Sources/$room" |
    awk -v room="$room" '/^TOTAL/ { print room ": " $4 " of " $2 " regions reached" }'
done
