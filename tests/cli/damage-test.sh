#!/bin/bash
# SPDX-License-Identifier: MIT
# Damaged profiles: totals that a dump writes are those that a report takes (damage.py).
# DAMAGE=N changes each profile N times in place of 100, DAMAGE_SEED=S in other ways.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
trap 'rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND
cd "$work" || exit 1
runtime=$build/rt/.libs/libaprof.so.0
"${CC:-gcc}" -g -I"$src/rt/include" "$src/tests/cli/hand.c" -o hand || exit 1
"${CC:-gcc}" -O1 -I"$src/rt/include" "$src/tests/cli/scale.c" -o scale -lpthread || exit 1

LD_PRELOAD=$runtime APROF_OPTIONS="profile:$profiles/killed" ./hand kill &
{ wait $!; } 2>/dev/null # bash tells of the kill
LD_PRELOAD=$runtime APROF_OPTIONS="profile:$profiles/large,clock:virtual" ./scale 60 4 1500 \
  </dev/null >scale.txt &
{ wait $!; } 2>/dev/null
mkfifo in
exec 9<>in
LD_PRELOAD=$runtime APROF_OPTIONS="profile:$profiles/live,exit:no" ./hand stuck <in >pid.txt &
until [ -s pid.txt ]; do sleep 0.02; done
pid=$(cat pid.txt)

# damage WHAT TARGET
damage() {
  check "$1, damaged in ${DAMAGE:-100} ways: what is dumped is reported, or refused in a line" \
    python3 "$src/tests/cli/damage.py" --count "${DAMAGE:-100}" --seed "${DAMAGE_SEED:-1}" --keep "$work" "$aprof" "$2"
  sed 's/^/    /' check.out
}
damage "a profile that was left" "$(echo "$profiles"/killed/*.aprof)"
damage "a large one" "$(echo "$profiles"/large/*.aprof)"
damage "that of a live process" "$pid"

# Totals of several processes, each of which is sound.
"$aprof" dump -o one.json "$(echo "$profiles"/killed/*.aprof)"
"$aprof" dump -o two.json "$pid"
for file in one two; do
  edit "$file.json" 't.health.events = 3 << 61' >edited.json && mv edited.json "$file.json"
  check "totals that nearly are too much have a report" "$aprof" report "$file.json"
done
refuse "their sum is not written" "$aprof" merge -o sum.json one.json two.json
contains "... which is said" "these cannot be added up: events of health is" check.out
refuse "... and nothing is there" test -e sum.json

kill -9 "$pid"
{ wait; } 2>/dev/null
finish
