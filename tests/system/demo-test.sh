#!/bin/bash
# The demo's report names the handler that burns, as its first finding and with
# its lines; and nobody when nobody burns.
. "$(dirname "$0")/../lib.sh"

routes=(hello delay file quota upload)
handlers=$(printf 'handle_%s\n' "${routes[@]}")

demo() { "$src/scripts/demo" --build="$build" --out="$work/$1" --burn="$1" --seconds=3; }

# named FILE: the handlers that findings of FILE name for holding the loop
named() { grep -E ' held the loop ' "$1" | grep -oF -e "$handlers" | sort -u | tr '\n' ' '; }

# quiet WHO FILE BURN: a loop is held too when the machine takes the processor away, so
# on a busy one a report may name more than WHO; the demo is then run once more.
quiet() {
  [ "$(named "$2")" = "$1" ] || demo "$3" >/dev/null 2>&1
}

burn=${BURN:-${routes[RANDOM % ${#routes[@]}]}}
check "demo with $burn burning" demo "$burn"
report=$work/$burn/report.txt
quiet "handle_$burn " "$report" "$burn"
first=$(grep -m1 -E '^ *1 ' "$report")
equal "$burn: it is named, and nobody else" "handle_$burn " "$(named "$report")"
echo "$first" >"$work/first"
contains "$burn: the first finding" "\`handle_$burn\` held the loop " "$work/first"

# Its lines are in or next to the function: from the wake or return before it to
# where it returned.
from=$(grep -n "handle_$burn(struct" "$src/examples/http-server/routes.c" | cut -d: -f1)
to=$(awk -v from="$from" 'NR > from && /^}/ { print NR; exit }' "$src/examples/http-server/routes.c")
line=$(grep -oE 'routes\.c:[0-9]+' "$work/first" | tail -n 1 | cut -d: -f2)
check "$burn: the finding's line ($line) is in the handler ($from-$to)" \
  test "${line:-0}" -ge "$from" -a "${line:-0}" -le "$to"

check "demo with nobody burning" demo none
quiet "" "$work/none/report.txt" none
equal "nobody is named" "" "$(named "$work/none/report.txt")"

# Every request is accounted for: created = done, as many as the server counted.
totals=$(find "$work/$burn" -name 'http-server.*.json' | sort | tail -n 1)
equal "requests done as the server counted them" \
  "$(sed -n 's/^served \([0-9]*\) requests/\1/p' "$work/$burn/server.log")" \
  "$(jq '[.functions[] | select(.name | test("^handle_")) | .done] | add' "$totals")"
finish
