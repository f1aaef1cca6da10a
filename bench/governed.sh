#!/bin/bash
# SPDX-License-Identifier: MIT
# What overhead:PERCENT holds, measured from outside: what profiling adds to a request of
# governed.c with a ceiling, at loads from heavy requests to next to none. Prints the text of
# bench/GOVERNED.md.
. "$(dirname "$0")/lib.sh"
works=(100000 10000 1000 100 10) seconds=3 rounds=5 ceilings=(none 5 1)
[ -z "$quick" ] || { works=(10000 100) seconds=0.6 rounds=1; }

"$cc" -std=gnu11 -O2 -I"$src/rt/include" -fplugin="$plugin" "$bench_dir/governed.c" -o "$work/with"

# sample WORK CEILING: ns of a plain request, and percent more; and the step it came to
sample() {
  local options=dir:$work/out,signal:none,profile:memfd plain more
  [ "$2" = none ] || options+=,overhead:$2
  rm -rf "$work/out" && mkdir "$work/out"
  read -r plain more < <(APROF_RUNTIME=$runtime APROF_OPTIONS=$options \
    taskset -c 0 "$work/with" "$1" "$seconds")
  printf '%s\t%s\t%s\n' plain "$1" "$plain" "$2" "$1" "$more" >>"$work/samples"
  jq -r '.threads[0].shed | if . == null then "all" else
    (.steps | max_by(.elapsed_ns) | .step) end' "$work"/out/*.json >"$work/step-$2-$1"
}

for round in $(seq "$rounds"); do
  say "governed: round $round of $rounds"
  for amount in "${works[@]}"; do
    for ceiling in "${ceilings[@]}"; do sample "$amount" "$ceiling"; done
  done
done

# value VARIANT WORK FORMAT: the median of the rounds
value() {
  awk -F '\t' -v variant="$1" -v work="$2" -v format="$3" "$median"'
    $1 == variant && $2 == work { v[++n] = $3 } END { printf format, median(v, n) }' "$work/samples"
}

echo "# What a ceiling holds, measured"
echo
echo "Made by \`scripts/bench --keep governed\`: requests of three async calls (six events), on one thread, as"
echo "fast as they go. What profiling adds to a request, in percent of the same without async functions, which"
echo "is made once more after each eighth: medians of $rounds rounds of $seconds s, the second half of each; and the step"
echo "that the thread was at most of the time (see \`overhead:\` in aprof-options(7))."
echo
machine
echo
printf '| a request without profiling |'
for ceiling in "${ceilings[@]}"; do
  [ "$ceiling" = none ] && printf ' no ceiling |' || printf ' ceiling %s %% |' "$ceiling"
done
printf '\n|---|'
for ceiling in "${ceilings[@]}"; do printf -- '---|'; done
echo
for amount in "${works[@]}"; do
  printf '| %s ns |' "$(value plain "$amount" %.0f)"
  for ceiling in "${ceilings[@]}"; do
    printf ' %s %%, %s |' "$(value "$ceiling" "$amount" %+.2f)" "$(cat "$work/step-$ceiling-$amount")"
  done
  echo
done
