# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What may not grow: a file of lines "NAME CEILING", against what is counted now. Sourced behind
# tests/lib.sh by those that count; the caller sets ceilings (the file) and unit.

ceiling_of() { awk -v name="$1" '$1 == name { print $2 }' "$ceilings"; }
# is_within CEILING FOUND [SLACK]: SLACK may tell it by `ceiling`
is_within() { awk "BEGIN { ceiling = $1; exit !($2 <= ceiling + ${3:-0}) }"; }

# judge NAME FOUND [SLACK]: against its line
judge() {
  local ceiling
  ceiling=$(ceiling_of "$1")
  printf '%s %s\n' "$1" "$2" >>"$work/found"
  if [ -z "$ceiling" ]; then
    not_ok "$1: $2 $unit, and no ceiling in bench/${ceilings##*/}"
  elif is_within "$ceiling" "$2" "${3:-0}"; then
    ok "$1: $2 $unit (ceiling $ceiling)"
  else
    not_ok "$1: $2 $unit, above the ceiling $ceiling of bench/${ceilings##*/}"
  fi
}

# ratchet: the ceilings down to what was found. Lower, never higher; comments and order stay.
ratchet() {
  awk 'NR == FNR { found[$1] = $2; next }
       $1 in found && (NF == 1 || found[$1] < $2) { $0 = sprintf("%-20s %d", $1, found[$1]) }
       { print }' "$work/found" "$ceilings" >"$work/ceilings" && cp "$work/ceilings" "$ceilings"
}
