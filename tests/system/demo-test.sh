#!/bin/bash
# SPDX-License-Identifier: MIT
# The demo's report names the handler that burns, as its first finding and with
# its lines; and nobody when nobody burns.
. "$(dirname "$0")/../lib.sh"

routes=(hello delay file quota upload)
handlers=$(printf 'handle_%s\n' "${routes[@]}")

# demo BURN MS
demo() {
  "$src/scripts/demo" --build="$build" --out="$work/$1" --burn="$1" --ms="$2" --seconds=3
}

# named FILE: the handlers that findings of FILE name for holding the loop
named() { grep -E ' held the loop ' "$1" | grep -oF -e "$handlers" | sort -u | tr '\n' ' '; }

# names WHO BURN: the loop is held, too, when a busy machine takes the processor
# away; there the bug must be a larger one to be the only thing that stands out.
names() {
  if [ "$(named "$work/$2/report.txt")" != "$1" ]; then
    demo "$2" 400
  fi >/dev/null 2>&1
  equal "$2 burning: the report names" "$1" "$(named "$work/$2/report.txt")"
}

# On a bare machine: what is installed, of a list of commands that only tell.
mkdir "$work/bin"
for command in dpkg-query apt-get apt-cache sudo; do
  printf '#!/bin/sh\nexit 0\n' >"$work/bin/$command"
done
chmod +x "$work/bin"/*
PATH=$work/bin:$PATH "$src/scripts/install-deps" demo >"$work/installs" 2>&1
contains "what the demo needs is installed" "libuv1-dev wrk jq" "$work/installs"
equal "and nothing of the tests" "" "$(grep -oE 'systemd|valgrind|clang|libevent|cmake|npm' "$work/installs")"
PATH=$work/bin:$PATH "$src/scripts/install-deps" >"$work/installs" 2>&1
contains "the tests need more" "libsystemd-dev" "$work/installs"

burn=${BURN:-${routes[RANDOM % ${#routes[@]}]}}
check "demo with $burn burning" demo "$burn" 60
names "handle_$burn " "$burn"
report=$work/$burn/report.txt
awk '/^ *1 / { on = 1 } /^ *2 |^$/ { on = 0 } on' "$report" >"$work/first"
contains "$burn: the first finding" "\`handle_$burn\` held the loop " "$work/first"

# Its lines are in or next to the function: from the wake or return before it to
# where it returned.
from=$(grep -n "handle_$burn(struct" "$src/examples/http-server/routes.c" | cut -d: -f1)
to=$(awk -v from="$from" 'NR > from && /^}/ { print NR; exit }' "$src/examples/http-server/routes.c")
line=$(grep -oE 'routes\.c:[0-9]+' "$work/first" | tail -n 1 | cut -d: -f2)
check "$burn: the finding's line ($line) is in the handler ($from-$to)" \
  test "${line:-0}" -ge "$from" -a "${line:-0}" -le "$to"

check "demo with nobody burning" demo none 60
names "" none

# Every request is accounted for: created = done, as many as the server counted.
totals=$(find "$work/$burn" -name 'http-server.*.json' | sort | tail -n 1)
equal "requests done as the server counted them" \
  "$(sed -n 's/^served \([0-9]*\) requests/\1/p' "$work/$burn/server.log")" \
  "$(value "$totals" 'sum(x.done for x in t.functions if x.name.startswith("handle_"))')"
finish
