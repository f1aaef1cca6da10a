#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof top: a screen in tmux, at 80x24 and 200x60, of a program whose time moves when it is told to;
# and once, as text and as JSON. However it ends, the terminal is as it was.
. "${0%/*}/../lib.sh"

profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
socket=
screens=0
started=()
name=prog$$ # others may run this test, too
# It would keep the pipes of the program open.
tmux() { command tmux -f /dev/null -L "$socket" "$@" 8<&- 9>&-; }
trap 'tmux kill-server 2>/dev/null; kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export APROF_OPTIONS=profile:$profiles,dir:$work/out,clock:virtual LC_ALL=C.UTF-8
unset APROF_RUNTIME APROF_COMMAND NO_COLOR TMUX
cd "$work" || exit 1
mkdir out

# start: sets pid; descriptors 8 and 9 are its output and input
start() {
  rm -f in out.pipe
  mkfifo in out.pipe
  "./$name" <in >out.pipe 2>/dev/null &
  started+=($!)
  exec 9>in 8<out.pipe
  read -r -t 60 -u 8 pid
}
# step REQUESTS MS SECONDS: and waits until that is done
step() {
  echo "$*" >&9
  read -r -t 60 -u 8 _
}

check "the program is compiled" "$(gcc_of "${majors##* }")" -O1 -g "-fplugin=$plugin" \
  -I"$src/rt/include" "-fmacro-prefix-map=$src/tests/cli/=" "$src/tests/cli/top.c" -o "$name"
start
step 300 10 30

# -- once ----------------------------------------------------------------------------------

NO_COLOR=1 "$aprof" top --once --flat "$pid" >once.txt 2>err.txt
equal "once: exit status, and nothing to complain about" "0 0" "$? $(wc -c <err.txt)"
equal "once: the process, over all its time" "$name $pid since start 30.0 s 10.0 ended/s 1 live" \
  "$(head -n 1 once.txt | tr -s ' ' | sed 's/ cost.*//')"
contains "once: its loop" "10% ran  longest hold 10.0 ms  serve" once.txt
equal "once: the function" "serve 10.0 10.0 10% 2.0ms 0 12ms 12ms 0" "$(sed -n 's/  */ /g; /^serve /p' once.txt)"
equal "once: fits 80 columns" "" "$(awk 'length > 80' once.txt)"
COLUMNS=200 "$aprof" top --once "$pid" >wide.txt
contains "once, 200 columns: where it is" "top.c:" wide.txt
"$aprof" top --once --json "$pid" >once.json
check "--json: as its schema says" conforms once.json
equal "--json: the same" "$pid running false 30000000000 serve 300 0 10000000" \
  "$(value once.json "tuple(pick(t.processes[0], 'pid state interval elapsed_ns'))" | xargs) $(value once.json \
    "tuple(pick(t.processes[0].functions[0], 'name ended live slice_max_ns'))" | xargs)"
NO_COLOR=1 "$aprof" top --once "$pid" >kinds.txt
equal "once: the kind of its requests, and the function beneath it" \
  "v serve 10.0 10% 2.0ms 0 12ms 12ms 0;serve 10.0 10.0 10% 2.0ms 0 12ms 12ms 0;" \
  "$(sed -n 's/  */ /g; s/^ //; /^v serve/p; /^serve/p' kinds.txt | tr '\n' ';')"
equal "--json: its requests, and what lies beneath them" "serve 300 3600000000 1 serve 300 false" \
  "$(value once.json 'tuple(pick(t.processes[0].requests[0], "kind count member_ns kinds_of_function"))' | xargs) $(value once.json \
    'tuple(pick(t.processes[0].requests[0].functions[0], "name ended part"))' | xargs)"
"$aprof" top --once >all.txt
equal "once, all processes: it is one of them" "$pid $name running" \
  "$(sed 's/^ *//; s/  */ /g' all.txt | grep "^$pid " | cut -d' ' -f1-3)"

# -- what is refused ------------------------------------------------------------------------

for wrong in "--json" "--flat --kind x" "--for 1s $pid" "--once --for 1s" "--delay 1ms" "--sort none" "--window 5"; do
  # shellcheck disable=SC2086
  "$aprof" top $wrong </dev/null >/dev/null 2>&1
  equal "top $wrong is wrong usage" 2 $?
done
"$aprof" top "$pid" </dev/null >none.txt 2>&1
equal "no terminal: fails" 1 $?
contains "no terminal: says what to do" "--once" none.txt
refuse "no such process" "$aprof" top --once none-is-called-so
printf '#include "cli/terminal.h"\n#include <stdio.h>\nint main(void) { puts(terminal_open()); }\n' >stub.c
check "without ncurses it is built" "${CC:-gcc}" -I"$src" stub.c "$src/cli/terminal.c" -o stub
./stub >stub.txt
contains "without ncurses it says so, and what there is" "without ncurses (libncurses-dev): --once" stub.txt

# -- a screen -------------------------------------------------------------------------------

# open_screen COMMAND: in a server of its own, as one that ends may still take whoever comes
open_screen() {
  [ -z "$socket" ] || tmux kill-server 2>/dev/null
  socket=aprof-test-$$-$((++screens))
  tmux new-session -d -x 80 -y 24 "$1"
}
screen() { tmux capture-pane -p; }
has() { screen | grep -qF -- "$1"; }
lacks() { ! has "$1"; }
# ends NAME WHAT: what does not come is waited for once, as all else waits for what comes after it
ends() {
  { echo "$2"; screen; } >screen.txt
  not_ok "$1" screen.txt
  finish
}
# shows NAME TEXT: it comes; goes NAME TEXT
shows() {
  if until_true has "$2"; then ok "$1"; else ends "$1" "not on the screen: $2"; fi
}
goes() {
  if until_true lacks "$2"; then ok "$1"; else ends "$1" "still on the screen: $2"; fi
}
# row NAME: of the table, a space between columns
row() { screen | sed -n "s/  */ /g; s/ *$//; /^$1 /p"; }
is_row() { [ "$(row "$1")" = "$2" ]; }
row_becomes() {
  if until_true is_row "$2" "$3"; then ok "$1"; else ends "$1" "no row: $3"; fi
}

# What comes after it says how it left the terminal.
open_screen "$aprof top --flat --delay 100ms $pid; echo status \$?; stty -a; sleep 1000"
shows "screen: the process" "$name $pid  since start 30.0 s"
step 10 20 5
shows "screen: a window, as far as it goes" "last 5.00 s"
row_becomes "screen: numbers of the window alone" serve "serve 2.0 2.0 4.0% 2.0ms 0 21ms 22ms 0"
contains "screen: a hold that is new" "longest hold 20.0 ms  serve" <(screen)
contains "screen: a finding" "! HELD \`serve\` held the loop for 20.0 ms" <(screen)
step 50 1 5
shows "screen: the last 10 s" "last 10 s"
row_becomes "screen: both" serve "serve 6.0 6.0 2.5% 2.0ms 0 2.9ms 22ms 0"
step 0 0 3
step 0 0 3
step 20 1 2
tmux send-keys w w
shows "w: since the start" "since start"
row_becomes "w: all of it" serve "serve 7.9 7.9 6.8% 2.0ms 0 12ms 21ms 0"
tmux send-keys w
goes "w: and round again" "since start"

tmux send-keys Space
shows "Space: frozen" frozen
frozen=$(screen | grep -v '^F1')
step 5 1 1
tmux send-keys Down
equal "Space: nothing moves" "$frozen" "$(screen | grep -v '^F1')"
tmux send-keys Space
goes "Space: it goes on" frozen

tmux send-keys / x y z
shows "/: the filter" "filter: xyz_"
shows "/: nobody passes" "no function passes"
tmux send-keys Enter
shows "Enter: it is kept, and said" "/xyz F1 help"
tmux send-keys Escape
shows "Escape: all are there again" "serve "
tmux send-keys s
shows "s: by the next column" vRATE/S
tmux send-keys I
shows "I: the other way about" ^RATE/S
tmux send-keys S I
shows "S: back" vEXEC

tmux send-keys Home Enter
shows "Enter: all about the function" "runs (holds of its loop)"
shows "Enter: where it is" "serve  top.c:"
contains "Enter: its times" "life of a future" <(screen)
contains "Enter: who calls it" "CALLERS" <(screen)
tmux send-keys Escape
shows "Escape: back" FUNCTION
tmux send-keys k
shows "k: by kind" "KIND / FUNCTION"
row_becomes "k: requests, closed" "> serve" "> serve 2.8 0.3% 2.0ms 0 2.9ms 3.0ms 0"
tmux send-keys Home Enter
shows "Enter: the kind opens" "v serve"
shows "Enter: and shows its function" "    serve"
tmux send-keys Down Enter
shows "Enter: that one's page" "runs (holds of its loop)"
tmux send-keys Escape
shows "Escape: the kind is open still" "    serve"
tmux send-keys l
shows "l: all about the kind" "TIMES OF A REQUEST"
tmux send-keys End
shows "l: down to the slowest" "WAITING  BEGAN, UTC"
tmux send-keys Escape -
shows "-: kinds are closed" "> serve"
tmux send-keys +
shows "+: and open" "v serve"
tmux send-keys k
goes "k: and back" "KIND / FUNCTION"
tmux send-keys f
shows "f: findings" "FINDINGS"
tmux send-keys h
shows "h: help" "h F1 ?       this text"
tmux send-keys Escape Escape
shows "Escape: and back" FUNCTION
tmux send-keys F1
shows "F1: help" HELP
contains "80x24: the help, to the ends of its lines" "I the other way" <(screen | grep ' way$')
equal "80x24: the help, no line is cut" "" "$(screen | awk 'length > 79')"
tmux send-keys Escape

equal "80x24: no line is longer" "" "$(screen | awk 'length > 80')"
lines_of() { screen | grep -c .; }
tmux resize-window -x 200 -y 60
shows "200x60: more columns" PLACE
shows "200x60: and the place" "top.c:"
tmux resize-window -x 80 -y 24
goes "80x24 again: without them" PLACE

colours() { tmux capture-pane -e -p | grep -c $'\e\\[[0-9;]*3[0-7]m'; }
refuse "it has colours" test "$(colours)" -eq 0

kill -STOP "$pid"
shows "a stopped process: is said to be" stopped
kill -CONT "$pid"
goes "it goes on" stopped
exec 9>&-
wait "$pid" 2>/dev/null
shows "an ended process: is said to be" ended
shows "with its last numbers" "serve "

alternate() { [ "$(tmux display-message -p '#{alternate_on}')" = "$1" ]; }
as_it_was() {
  check "$1: the screen is as it was" until_true alternate 0
  shows "$1: the terminal, too" " icanon"
  contains "$1: it echoes" " echo " <(screen)
}
tmux send-keys q
shows "q: status 0" "status 0"
as_it_was q
exec 8<&-

# -- questions, for which it is recorded ------------------------------------------------------

start
profile=$(echo "$profiles"/*"$pid"*.aprof)
check "what looks at the switch is compiled" "${CC:-gcc}" -I"$src/rt/include" "$src/tests/cli/untraced.c" -o untraced
check "nobody traces it" ./untraced "$profile"
step 20 1 1
open_screen "$aprof top $pid; echo status \$?; sleep 1000"
shows "a kind of requests" "> serve"
tmux send-keys l
shows "l: the slowest, of which nothing has to be recorded" "WAITING  BEGAN, UTC"
check "l: it is not traced for that" ./untraced "$profile"
tmux send-keys Escape
shows "Escape: the kinds" "KIND / FUNCTION"
tmux send-keys t
shows "t: it is recorded, and what that costs is said" "events/s, 0 lost, all requests; it takes"
shows "t: what is asked, and of which requests" "TAIL  serve: why the slowest are slow"
shows "t: why there is no answer yet" "has begun and ended within the last"
refuse "t: it is traced" ./untraced "$profile"
# Two of 40 run for 29 ms more; some seconds later they are no more what it is about, so that a
# machine that is too slow for that has another chance.
is_told() { has "+29.00 of the +29.00 ms: running \`serve\`"; }
runs_late() {
  local until=$((SECONDS + 10))
  step 38 1 1
  step 2 30 1
  until is_told; do
    [ $SECONDS -lt $until ] || return 1
    sleep 0.02
  done
}
check "t: why they are slow" until_true runs_late
contains "t: all of it" "total, ms" <(screen)
equal "t: no line is longer" "" "$(screen | awk 'length > 80')"
equal "t: the foot is whole" "q quit" "$(screen | tail -n 1 | grep -o 'q quit *$' | sed 's/ *$//')"
tmux send-keys b
shows "b: who made them late" "BLAME  serve: who made them late"
shows "b: the answer" "the loop itself"
tmux send-keys r
shows "r: the slowest, laid out in time" "SLOWEST  serve: each laid out in time"
shows "r: the answer" "2.00 queued"
laid_out() {
  step 2 30 1
  has "2.00 queued"
}
tmux send-keys x
shows "x: all of them" "PATH  serve: what all of them spend it on"
tmux send-keys c
shows "c: samples" "CPU  serve: where its processor time goes"
shows "c: why there are none" "its clock is the program's own"
refuse_later() { ! ./untraced "$profile"; }
check "c: it is traced" until_true refuse_later
tmux send-keys r
shows "r: without samples again" "SLOWEST  serve: each laid out in time"
check "r: the answer again" until_true laid_out
tmux send-keys h
shows "h: the help" "who made them late;"
refuse "h: it is traced still" ./untraced "$profile"
tmux send-keys Escape
shows "Escape: the answer again" "each laid out in time"
tmux send-keys Space
check "Space: frozen, and not traced" until_true ./untraced "$profile"
shows "Space: the answer stays" "2.00 queued"
tmux send-keys Space
check "Space: and again it is" until_true refuse_later
tmux send-keys Escape
shows "Escape: back" "KIND / FUNCTION"
check "Escape: it is not traced any more" until_true ./untraced "$profile"

# From a function alone: of the requests that it ran in.
tmux send-keys k
shows "k: functions alone" "FUNCTION "
tmux send-keys Home Enter
shows "Enter: a function" "runs (holds of its loop)"
tmux send-keys t
shows "t: of its requests" "TAIL  serve: "
check "t: traced" until_true refuse_later
tmux send-keys Escape
shows "Escape: the function" "runs (holds of its loop)"
tmux send-keys l
shows "l: its requests" "TIMES OF A REQUEST"
tmux send-keys t
check "t: traced again" until_true refuse_later
tmux send-keys q
shows "q: status 0, from a question, too" "status 0"
check "q: it is not traced any more" until_true ./untraced "$profile"

# A probe; where the kernel allows none that is said.
open_screen "$aprof top --flat $pid"
shows "before a probe" "serve "
tmux send-keys Home p
shows "p: what is probed" "PROBE  serve: how often it is reached, and from where"
probed_or_refused() { has " hits" || has "! "; }
check "p: an answer" until_true probed_or_refused
if has " hits"; then
  shows "p: what it costs is said" "each hit takes its thread"
  step 7 1 1
  shows "p: as often as it ran" "7 hits"
  check "p: it is not traced for that" ./untraced "$profile"
  tmux send-keys t
  shows "t: from there to its requests" "TAIL  serve: "
  check "t: these are recorded" until_true refuse_later
  tmux send-keys p
  check "p: and not any more" until_true ./untraced "$profile"
else
  skip "p: hits" "$(screen | grep '! ')"
fi
tmux send-keys Escape
shows "Escape: back from a probe" "FUNCTION "
tmux send-keys q

# Killed as it is, and where somebody else records.
open_screen "sh -c 'echo \$\$ >top.pid; exec $aprof top $pid'; sleep 1000"
shows "before it is killed" "> serve"
tmux send-keys t
check "killed: traced before" until_true refuse_later
kill -9 "$(cat top.pid)"
check "killed: it is not traced any more" until_true ./untraced "$profile"
"$aprof" record -q -o other.trace "$pid" 2>/dev/null 8<&- 9>&- &
other=$!
started+=("$other")
check "another one records" until_true refuse_later
open_screen "$aprof top $pid"
shows "beside another recorder" "> serve"
tmux send-keys t
shows "t: it says who records already" "is recorded already, by process $other (aprof)"
kill "$other"
wait "$other"
tmux send-keys Escape
shows "Escape: back from there" "KIND / FUNCTION"
tmux send-keys t
shows "t: when that one has ended it can" "events/s"
exec 9>&-
wait "$pid" 2>/dev/null
shows "the process ends: is said" ended
tmux send-keys q
exec 8<&-

# Ended by signals, a crash among them; without colours.
start
step 100 1 10
for way in "TERM 143" "SEGV 139"; do
  rm -f top.pid
  open_screen "ulimit -c 0; NO_COLOR=1 sh -c 'echo \$\$ >top.pid; exec $aprof top $pid'; echo status \$?; stty -a; sleep 1000"
  shows "${way% *}: before" FUNCTION
  equal "NO_COLOR: there are none" 0 "$(colours)"
  kill -s "${way% *}" "$(cat top.pid)"
  shows "${way% *}: status" "status ${way#* }"
  as_it_was "${way% *}"
done
open_screen "TERM=dumb $aprof top $pid 2>&1; sleep 1000"
shows "a dumb terminal: it says what to do" "--once prints"
open_screen "$aprof top"
shows "all processes: a table" "PROCESS"
tmux send-keys / "$name" Enter
shows "all processes: it is there" "$pid $name"
tmux send-keys Enter
shows "Enter: opens one" "$name $pid"
tmux send-keys Escape
shows "Escape: the table" PROCESS
tmux send-keys q
finish
