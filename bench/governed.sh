#!/bin/bash
# What overhead:PERCENT holds, measured from outside: processor time per request of governed.c
# with a ceiling, against the same program without a runtime, at loads from heavy requests to
# next to none. Prints the text of bench/GOVERNED.md.
. "$(dirname "$0")/lib.sh"
works=(100000 10000 1000 100 10) seconds=3 rounds=5 ceilings=(none 5 1)
[ -z "$quick" ] || { works=(10000 100) seconds=0.6 rounds=1; }

"$cc" -std=gnu11 -O2 -I"$src/rt/include" -fplugin="$plugin" "$bench_dir/governed.c" -o "$work/with"

# sample WORK CEILING: ns per request; the step that it came to, and how much it says it costs
sample() {
  local options=dir:$work/out,signal:none,profile:memfd ns
  [ "$2" = none ] || options+=,overhead:$2
  rm -rf "$work/out" && mkdir "$work/out"
  ns=$(APROF_RUNTIME=$runtime APROF_OPTIONS=$options taskset -c 0 "$work/with" "$1" "$seconds")
  printf '%s\t%s\t%s\n' "$2" "$1" "$ns" >>"$work/samples"
  jq -r '.threads[0].shed | if . == null then "all" else
    (.steps | max_by(.elapsed_ns) | .step) end' "$work"/out/*.json >"$work/step-$2-$1"
}

for round in $(seq "$rounds"); do
  say "governed: round $round of $rounds"
  for amount in "${works[@]}"; do
    printf 'plain\t%s\t%s\n' "$amount" \
      "$(APROF_RUNTIME=none taskset -c 0 "$work/with" "$amount" "$seconds")" >>"$work/samples"
    for ceiling in "${ceilings[@]}"; do sample "$amount" "$ceiling"; done
  done
done

echo "# What a ceiling holds, measured"
echo
echo "Made by \`scripts/bench --keep governed\`: requests of three async calls (six events), on one thread, as"
echo "fast as they go. Processor time that profiling adds to a request, against the same program without a"
echo "runtime: medians of $rounds rounds of $seconds s, the second half of each; and the step it was at most of"
echo "the time (see \`overhead:\` in aprof-options(7))."
echo
machine
echo
printf '| a request without a runtime |'
for ceiling in "${ceilings[@]}"; do
  [ "$ceiling" = none ] && printf ' no ceiling |' || printf ' ceiling %s %% |' "$ceiling"
done
printf '\n|---|'
for ceiling in "${ceilings[@]}"; do printf -- '---|'; done
echo
for amount in "${works[@]}"; do
  awk -F '\t' -v work="$amount" "$median"'$1 == "plain" && $2 == work { v[++n] = $3 }
    END { printf "| %.0f ns |", median(v, n) }' "$work/samples"
  for ceiling in "${ceilings[@]}"; do
    printf ' %s, %s |' "$(changes "$amount" "$ceiling" <"$work/samples" | sed 's/^[^ ]* //')" \
      "$(cat "$work/step-$ceiling-$amount")"
  done
  echo
done
