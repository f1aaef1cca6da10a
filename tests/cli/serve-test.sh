#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof serve: the metrics of aprof export, processes that come and go, who is answered and who is
# not, requests that are none, a thousand slow clients, a real Prometheus under load, a clean end.
. "${0%/*}/../lib.sh"
. "${0%/*}/../lib/metrics.sh"

unset APROF_RUNTIME APROF_COMMAND JOURNAL_STREAM
if [ ! -x "$build/aprof-serve" ]; then
  skip "aprof serve" "built without libmicrohttpd"
  finish
fi
profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export APROF_OPTIONS=profile:$profiles,clock:virtual LC_ALL=C.UTF-8
cd "$work" || exit 1

"${CC:-gcc}" -O1 -I"$src/rt/include" "$src/tests/cli/scale.c" -o scale -lpthread || exit 1
"${CC:-gcc}" -O1 -I"$src/rt/include" "$src/tests/cli/scale.c" -o other -lpthread || exit 1
# start N PROGRAM FUNCTIONS: sets pid; it lives until its standard input ends
start() {
  rm -f "in$1" "pid$1"
  mkfifo "in$1"
  LD_PRELOAD=$build/rt/.libs/libaprof.so.0 "./$2" "$3" 2 200 <"in$1" >"pid$1" 2>/dev/null &
  started+=($!)
  eval "exec $((6 + $1))>in$1"
  until_true test -s "pid$1"
  pid=$(cat "pid$1")
}
# serve NAME ARGUMENT...: sets url, port, server; it prints to NAME.out, NAME.err
serve() {
  served "$1" --listen 127.0.0.1:0 "${@:2}"
  echo "$server" >"$1.pid"
  port=${url##*:} port=${port%/}
}
# get PATH [OPTION...]: the body goes to body, headers to headers; prints the status
get() {
  local path=$1
  shift
  curl -s --max-time 60 -o body -D headers -w '%{http_code}\n' "$@" "${url%/}$path"
}
lines() { wc -l <"$1"; }
# counters FILE: as they do not depend on when it was read
counters() { grep -E '^aprof_function_[a-z_]*(total|bucket|count)\{' "$1"; }

start 1 scale 80
one=$pid
serve main
equal "listens on this machine only" "http://127.0.0.1:$port/" "$url"

# The numbers are those of aprof export.
"$aprof" export --to prometheus "$one" >export.prom
equal "/metrics" 200 "$(get /metrics)"
cp body m.prom
contains "/metrics: as older text without being asked for more" "Content-Type: text/plain; version=0.0.4" headers
equal "/metrics: what aprof export writes" "$(counters export.prom)" "$(grep "pid=\"$one\"" m.prom >one.prom; counters one.prom)"
equal "/metrics: OpenMetrics" 200 "$(get /metrics -H 'Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5')"
contains "/metrics: says so" "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8" headers
equal "/metrics: ends as OpenMetrics does" "# EOF" "$(tail -n 1 body)"
if command -v promtool >/dev/null; then
  equal "promtool has nothing to say" "" "$(promtool check metrics <m.prom 2>&1)"
else
  skip "promtool" "not installed"
fi
for header in "Cache-Control: no-store" "X-Content-Type-Options: nosniff" "Content-Security-Policy: default-src 'none'"; do
  contains "answers have $header" "$header" headers
done
refuse "no answer is for pages of others" grep -qi '^access-control' headers
equal "HEAD" "200 0" "$(curl -sI -o headers -w '%{http_code} %{size_download}\n' "${url}metrics")"

# Processes come and go.
get /api/processes >/dev/null
equal "/api/processes: it is there" "$one" "$(value body "one(t.profiles, pid=$one).pid")"
check "/api/processes: as its schema says" conforms body
start 2 other 20
two=$pid
# scraped PID: the counters of that process are served
scraped() { get /metrics >/dev/null && grep -q "^aprof_function_created_total{.*pid=\"$1\"" body; }
gone() { get /metrics >/dev/null && ! grep -q "pid=\"$1\"" body; }
check "a process that comes is served" until_true scraped "$two"
# listed PID: it is in the list, behind all others of this test
listed() {
  get /api/processes >/dev/null
  equal_to "$1" "$(value body "[q.pid for q in t.profiles if q.pid in ($one, $two)][-1]")"
}
equal_to() { [ "$1" = "$2" ]; }
check "/api/processes: the youngest is the last" until_true listed "$two"

# One process: its totals, and events with what it did lately, while somebody listens.
equal "/api/totals" 200 "$(get "/api/totals?pid=$two")"
"$aprof" dump -o two.json "$two"
numbers() { value "$1" "sorted([g.name, g.created, g.exec_ns, g.waiting_ns] for g in t.functions)"; }
equal "/api/totals: what aprof dump writes" "$(numbers two.json)" "$(numbers body)"
check "/api/totals: as its schema says, and it adds up" totals_close body
for range in 10s 1m 60s 1min 10m 30m 3h start; do
  equal "/api/totals: of the last $range" 200 "$(get "/api/totals?range=$range&pid=$two")"
done
equal "/api/page" 200 "$(get "/api/page?pid=$two&range=10s")"
check "/api/page: as its schema says" conforms body
equal "/api/page: what it is of" "$two true" "$(value body "t.target, t.summary.alive")"
# listen NAME: events of $two go to NAME; sets listener
listen() {
  curl -sN --max-time 100 "${url}api/events?pid=$two&range=10s" >"$1" 7>&- 8>&- &
  listener=$!
  started+=($listener)
}
# documents NAME: so many have come
documents() { grep -c '^event: document' "$1"; }
several() { [ "$(documents "$1")" -ge 3 ]; }
listen events
check "events: one after the other" until_true several events
awk '/^data: /{ print substr($0, 7) } /^$/ { exit }' events >event.json
check "events: each is a document of the page" conforms event.json
for _ in 1 2 3 4 5; do listen "events$_"; done
# Packed: the same, shorter, and a whole stream.
curl -sN --max-time 100 -H 'Accept-Encoding: gzip' -D packed.headers "${url}api/events?pid=$two&range=10s" >packed.gz 7>&- 8>&- &
packer=$!
started+=($packer)
get "/api/totals?pid=$one" -H 'Accept-Encoding: br, gzip' >/dev/null
contains "who takes it gets it packed" "Content-Encoding: gzip" headers
packed=$(wc -c <body)
check "packed: whole" gzip -dc body
gzip -dc <body >unpacked.json 2>/dev/null
get "/api/totals?pid=$one" -H 'Accept-Encoding: gzip;q=0' >/dev/null
refuse "who does not take it does not" grep -qi '^content-encoding' headers
equal "packed: the same" "$(numbers body)" "$(numbers unpacked.json)"
check "packed: a fifth at most ($packed of $(wc -c <body) bytes)" [ $((5 * packed)) -le "$(wc -c <body)" ]
check "events: for each who listens" until_true several events5
check "events: those who listen to one thing hear the same" test -n \
  "$(sort events1 events2 | uniq -d | grep '"elapsed_ns"')"
serve named other
check "of one NAME: it is served" scraped "$two"
refuse "of one NAME: others are not" scraped "$one"
listen named.events
until_true test -s named.events
kill "$server"
wait "$server"
equal "an end while somebody listens" 0 $?
wait "$listener"
equal "who is told" 0 $?
exec 8>&-
check "events: the end of the process" until_true grep -q '^event: ended' events
wait "$packer"
equal "packed events: to their end" 0 $?
contains "packed events: they say so" "Content-Encoding: gzip" packed.headers
check "packed events: one whole stream" gzip -t packed.gz
gzip -dc packed.gz >packed.events 2>/dev/null
contains "packed events: the end of the process" "event: ended" packed.events
awk '/^data: /{ print substr($0, 7) } /^$/ { exit }' packed.events >event.json
check "packed events: documents as the others" conforms event.json
server=$(sed -n 's/^//p' main.pid) url=$(sed -n 's/^serving //p' main.out) port=${url##*:} port=${port%/}
# poll() without a time
waits() { grep -qE '^7 .* 0xffffffff ' "/proc/$server/syscall"; }
if [ "$(uname -m)" = x86_64 ] && cat "/proc/$server/syscall" >/dev/null 2>&1; then
  check "nobody listens: it waits, and reads nothing" until_true waits
else
  skip "nobody listens: it waits, and reads nothing" "not seen on this machine"
fi
check "a process that ends is gone" until_true gone "$two"
check "a process that stays is there" scraped "$one"

# What needs a recording: it is on while somebody asks.
check "a program with requests is compiled" "$(gcc_of "${majors##* }")" -O1 -g "-fplugin=$plugin" \
  -I"$src/rt/include" "$src/tests/cli/top.c" -o shop
check "and what looks at the switch" "${CC:-gcc}" -I"$src/rt/include" "$src/tests/cli/untraced.c" -o untraced
mkfifo in3 out3
./shop <in3 >out3 2>/dev/null &
started+=($!)
exec 9>in3 10<out3
read -r -t 60 -u 10 shop
step() {
  echo "$*" >&9
  read -r -t 60 -u 10 _
}
step 20 1 1
profile=$(echo "$profiles"/*"$shop"*.aprof)
traced() { ! ./untraced "$profile"; }
equal "/api/slow: what is kept" 200 "$(get "/api/slow?pid=$shop&kind=serve")"
check "/api/slow: as its schema says" conforms body
equal "/api/slow: of that kind" "serve 16" "$(value body '" ".join({s.kind for s in t.slowest}), len(t.slowest)')"
check "/api/slow: nothing is recorded for that" ./untraced "$profile"
equal "/api/tail: not recorded" 409 "$(get "/api/tail?pid=$shop")"
contains "/api/tail: how it can be" "POST /api/record?pid=PID" body
equal "/api/record: nor does it cost anything" 404 "$(get "/api/record?pid=$shop")"
equal "/api/record: what a page elsewhere wants" 403 "$(get "/api/record?pid=$shop" -X POST -H 'Origin: http://evil.example')"
equal "/api/record: what a form elsewhere sends" 403 \
  "$(get "/api/record?pid=$shop" -X POST -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: navigate')"
check "/api/record: is not done" ./untraced "$profile"
equal "/api/record: of no process" "400 404 404" \
  "$(get /api/record -X POST) $(get "/api/record?pid=4194304" -X POST) $(get "/api/record?pid=$$" -X POST)"
equal "/api/record" 202 "$(get "/api/record?pid=$shop" -X POST)"
equal "/api/record: and again" 202 "$(get "/api/record?pid=$shop" -X POST)"
equal "/api/tail: of none there is no answer yet" 202 "$(get "/api/tail?pid=$shop&kind=serve")"
contains "/api/tail: says why" "has begun and ended within the last" body
check "it is traced" traced
# As it is asked about the last seconds, a machine that is too slow for that has other chances.
tells() {
  step 38 1 1
  step 2 30 1
  for _ in 1 2 3; do
    get "/api/tail?pid=$shop&kind=serve" >/dev/null
    [ "$(value body 't.kinds[0].cause.name, round(t.kinds[0].cause.more_ns)')" != "serve 29000000" ] || return 0
  done
  return 1
}
check "/api/tail: what differs" until_true tells
check "/api/tail: as its schema says" conforms body
answers() {
  step 2 1 1
  [ "$(get "/api/$1?pid=$shop&kind=serve")" = 200 ]
}
for question in blame paths path; do
  check "/api/$question" until_true answers "$question"
  check "/api/$question: as its schema says" conforms body
done
equal "/api/tail: of a kind that nobody has" 202 "$(get "/api/tail?pid=$shop&kind=nobody")"
equal "/api/record: what it costs" 200 "$(get "/api/record?pid=$shop")"
contains "/api/record: in a line" "events/s, 0 lost, all requests; it takes" body
# Several who ask share it, and hear the same.
step 2 1 1
for i in 1 2 3; do
  curl -s --max-time 60 "${url}api/tail?pid=$shop" >"tail$i" 7>&- 8>&- 9>&- &
  askers[i]=$!
done
wait "${askers[@]}"
equal "/api/tail: all who ask at once get the same" 1 "$(sort -u tail1 tail2 tail3 | grep -c '"elapsed_ns"')"
equal "one records for all of them" 1 "$(pgrep -c -P "$server")"
check "when nobody asks any more it is over" until_true ./untraced "$profile"
none_records() { [ "$(pgrep -c -P "$server")" = 0 ]; }
check "and so is who recorded" until_true none_records
# With another recorder; and a server that is killed.
"$aprof" record -q -o other.trace "$shop" 2>/dev/null 7>&- 8>&- 9>&- &
other=$!
started+=("$other")
check "another one records" until_true traced
equal "/api/record: beside it" 202 "$(get "/api/record?pid=$shop" -X POST)"
equal "/api/tail: refused" 409 "$(get "/api/tail?pid=$shop")"
contains "/api/tail: says by whom it is recorded" "is recorded already, by process $other (aprof)" body
kill "$other"
wait "$other"
serve killed
get "/api/record?pid=$shop" -X POST >/dev/null
get "/api/tail?pid=$shop" >/dev/null
check "a server that is killed: traced before" traced
kill -9 "$server"
wait "$server" 2>/dev/null
check "a server that is killed: not any more" until_true ./untraced "$profile"
server=$(cat main.pid) url=$(sed -n 's/^serving //p' main.out) port=${url##*:} port=${port%/}

# What is wrong is said in one line, with a status.
# status NAME STATUS PATH OPTION...
status() {
  local name=$1 wanted=$2
  shift 2
  equal "$name: $wanted, and one sentence" "$wanted 1" "$(get "$@") $(lines body)"
}
status "no such path" 404 /nothing
status "a method that it does not take" 405 /metrics -X DELETE
contains "and which it takes" "Allow: GET, HEAD" headers
status "a body where none is taken" 400 /metrics -X GET -d x=1
status "a long URL" 414 "/api/page?kind=$(head -c 9000 /dev/zero | tr '\0' x)"
contains "is told in words" "the URL has over 4096 bytes" body
status "a long body" 413 /login -d "token=$(head -c 3000 /dev/zero | tr '\0' x)"
status "another name, as DNS may be made to say" 421 /metrics -H 'Host: evil.example'
status "a name that begins as ours" 421 /metrics -H 'Host: 127.0.0.1.evil.example'
status "no name" 400 /metrics -H 'Host: :80'
status "a page of another server" 403 /metrics -H 'Origin: http://evil.example'
status "a page from nowhere" 403 /metrics -H 'Origin: null'
status "a page of another port" 403 /metrics -H "Origin: http://127.0.0.1:1"
status "what a page elsewhere loads" 403 /metrics -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: no-cors'
equal "a link elsewhere" 200 "$(get / -H 'Sec-Fetch-Site: cross-site' -H 'Sec-Fetch-Mode: navigate')"
equal "our own page" 200 "$(get /metrics -H "Origin: http://127.0.0.1:$port" -H 'Sec-Fetch-Site: same-origin')"
equal "localhost, by a tunnel" 200 "$(get /metrics -H 'Host: localhost:1234')"
equal "a long path" 414 "$(get "/$(head -c 9000 /dev/zero | tr '\0' x)")"
equal "no process named: all of them" 200 "$(get /api/totals)"
status "no host" 400 "/api/totals?host="
status "a host that is not there" 404 "/api/totals?host=nowhere"
status "functions by nothing" 400 "/api/totals?by=nothing"
status "no number" 400 "/api/totals?pid=1x"
status "a process that is not there" 404 "/api/totals?pid=4194304"
status "one that is not profiled" 404 "/api/events?pid=$$"
status "no such range" 400 "/api/totals?pid=$one&range=5s"
status "a range without a unit" 400 "/api/totals?pid=$one&range=10"
status "a kind where none is taken" 400 "/api/totals?kind=x"
status "no kind" 400 "/api/page?kind="
status "a name of a kind that is too long" 400 "/api/page?kind=$(printf '%0300d' 0)"
status "no such argument" 400 "/api/totals?pid=$one&x=y"
status "a range of what is recorded" 400 "/api/tail?pid=$one&range=10s"
status "a method that records nothing" 405 "/api/tail?pid=$one" -X POST
status "an argument twice" 400 "/api/totals?pid=$one&pid=$one"
status "an argument where none is taken" 400 "/metrics?pid=$one"
status "no form where no token is wanted" 404 /login -d token=x

# Those that are no clients.
serve_clients=$src/tests/cli/serve-clients.py
memory() { awk '/^VmRSS/ { print $2 }' "/proc/$server/status"; }
for _ in 1 2 3; do get /metrics >/dev/null; done
before=$(memory)
equal "1000 slow clients: one that is not is answered" "1000 held 200 True" "$("$serve_clients" crowd "$port" 1000 2>&1)"
check "1000 slow clients: 40 MB at most ($before, then $(memory) kB)" test "$(($(memory) - before))" -lt 40960
equal "requests that are none: refused, and the next is answered" "worst 414 then 200" \
  "$("$serve_clients" garbage "$port" 300 2>&1)"
equal "nothing is said of any of them" "" "$(cat main.err)"

# A token.
echo "0123456789abcdef-token" >token.txt
chmod 600 token.txt
serve token --token-file token.txt --host prof.example
equal "the token is not printed" "serving $url" "$(cat token.out)"
status "without it" 401 /metrics
contains "without it: how to send it" "WWW-Authenticate: Bearer" headers
status "a wrong one" 401 /metrics -H 'Authorization: Bearer 0123456789abcdef-tokem'
status "a part of it" 401 /metrics -H 'Authorization: Bearer 0123456789abcdef'
status "not in the URL" 401 "/metrics?token=0123456789abcdef-token"
equal "with it" 200 "$(get /metrics -H 'Authorization: Bearer 0123456789abcdef-token')"
status "with it, from another server's page" 403 /metrics -H 'Origin: http://evil.example' -H 'Authorization: Bearer 0123456789abcdef-token'
equal "with it, by any name" 200 "$(get /metrics -H 'Host: node7:9797' -H 'Authorization: Bearer 0123456789abcdef-token')"
equal "a browser gets a form" 401 "$(get / -H 'Accept: text/html')"
contains "the form: where to" 'action="/login"' body
contains "the form: its policy" "form-action 'self'" headers
equal "the form: a wrong token" 401 "$(get /login -d token=0123456789abcdef)"
contains "the form: says so" "That is not the token" body
status "the form of another server" 403 /login -d token=0123456789abcdef-token -H 'Origin: http://evil.example'
equal "the form: the token" 303 "$(get /login -d token=0123456789abcdef-token -c jar)"
contains "its cookie: for no script, no other site" "; HttpOnly; SameSite=Strict; Path=/" headers
refuse "its cookie: not the token" grep -q 0123456789abcdef headers
equal "with the cookie" 200 "$(get /metrics -b jar)"
status "with the cookie, from another server's page" 403 /metrics -b jar -H 'Origin: http://evil.example'
equal "with the cookie, by a name that was given" 200 "$(get /metrics -H 'Host: prof.example' -H 'Origin: https://prof.example' \
  -H "Cookie: $(awk 'NF == 7 { print $6 "=" $7 }' jar)")"
status "a wrong cookie" 401 /metrics -b "aprof-$port=0123456789abcdef0123456789abcdef"
equal "nothing is said of it" "" "$(cat token.err)"
# refused NAME SENTENCE ARGUMENT...
refused() {
  local name=$1 says=$2
  shift 2
  refuse "$name" timeout 60 "$aprof" serve --listen 127.0.0.1:0 "$@"
  contains "$name: why" "$says" check.out
}
chmod 644 token.txt
refused "a token that everybody can read" "chmod o= it" --token-file token.txt
echo short >short.txt && chmod 600 short.txt
refused "a short token" "16 characters at least" --token-file short.txt
refused "no token" "cannot read the token in nowhere" --token-file nowhere
refused "an address that is none" "it is ADDR:PORT" --listen 9797
refused "a directory that is not there" "./nowhere is not there" ./nowhere
refused "totals that are no directory" "token.txt is a file: serve takes" token.txt
refused "a port that is taken" "takes a port that is free" --listen "127.0.0.1:$port"
JOURNAL_STREAM=$(stat -c %d:%i check.out) refused "a token made where output is a log" "a log, where none belongs" --listen 0.0.0.0:0
serve beyond --listen 0.0.0.0:0
url=http://127.0.0.1:$port/
status "beyond this machine: without a token" 401 /metrics
made=$(sed -n 's/^token: //p' beyond.out)
equal "beyond this machine: with the one that was made" 200 "$(get /metrics -H "Authorization: Bearer $made")"
check "it is a long one" test ${#made} = 32

# A directory that totals come into.
mkdir totals
"$aprof" dump -o totals/a.1.json "$one"
# later N: the totals of 10 N seconds later, in which each function has made 5 N more
later() {
  edit totals/a.1.json "t.process.elapsed_ns += $1 * 10**10
first = {q.function_index: q for q in reversed(t.tree) if 'await' not in q}
for i, q in first.items():
  for g in (q, t.functions[i]): g.created += 5 * $1; g.done += 5 * $1" >"a.$1.new" && mv "a.$1.new" "totals/a.$(($1 + 1)).json"
}
later 1
later 2
echo '{"schema": "none"}' >totals/other.json
echo nothing >totals/notes.txt
made() { value "$1" "total(t.functions, 'created')"; }
functions=$(value totals/a.1.json "len(t.functions)")
serve recorded totals
get /api/processes >/dev/null
equal "a directory: what it has totals of" "$one scale done" "$(value body "tuple(pick(t.profiles[0], 'pid name state'))")"
get "/api/totals?pid=$one&range=10s" >/dev/null
equal "a directory: the last 10 s of it" "10000000000 $((5 * functions))" "$(value body t.process.elapsed_ns) $(made body)"
get "/api/totals?pid=$one" >/dev/null
equal "a directory: all of it" "$(made totals/a.3.json)" "$(made body)"
later 3
come() { get "/api/totals?pid=$one" >/dev/null && equal_to "$(made totals/a.4.json)" "$(made body)"; }
check "a directory: what has come since" until_true come
get /metrics >/dev/null
equal "a directory: metrics of the last" "$(made totals/a.4.json)" \
  "$(awk '/^aprof_function_created_total\{/ { sum += $NF } END { print sum }' body)"
equal "a directory: the page's document" 200 "$(get "/api/page?pid=$one&range=10s")"
# Memory is flat: ten times as many requests need no more. Readings of live processes are kept, for
# ranges to begin at; here none comes.
resident() { awk '/^VmRSS/ { print $2 }' "/proc/$server/status"; }
ask_all() {
  local i
  for ((i = 0; i < $1; i++)); do
    get /metrics >/dev/null
    get /metrics -H 'Accept: application/openmetrics-text' -H 'Accept-Encoding: gzip' >/dev/null
    get "/api/page?pid=$one&range=$2" --compressed >/dev/null
    get "/api/page?range=start&kind=none" >/dev/null
    get "/api/totals?range=$2" >/dev/null
    get "/api/totals?pid=1x" >/dev/null
  done
}
ask_all 10 10s
few=$(resident)
ask_all 100 10s
equal "ten times the requests, and no more memory: $few KB, then $(resident)" true \
  "$([ "$(resident)" -le $((few + few / 20 + 512)) ] && echo true)"
equal "a directory: no other process" 404 "$(get "/api/totals?pid=$$")"
equal "a directory: nothing is said of what else is in it" "" "$(cat recorded.err)"

# The page, in a browser.
if grep -q '^PAGE_TRUE = #' "$build/Makefile"; then
  equal "without the page: what there is" 200 "$(get /)"
elif ! command -v chromium >/dev/null; then
  not_ok "there is a browser to open the page (Debian: chromium)"
elif "$src/web/install" "$src/web" "$build/web/test" >install.out 2>&1; then
  start 2 other 20
  chmod 600 token.txt
  serve page --token-file token.txt
  while IFS= read -r line; do
    case $line in
    "ok "*) ok "page: ${line#ok }" ;;
    "not ok "*) not_ok "page: ${line#not ok }" ;;
    "step "*) eval "$line" ;;
    untraced) check "page: the panel is closed, and nothing is recorded" until_true ./untraced "$profile" ;;
    ending) exec 8>&- ;;
    "ended "*) equal "page: all of it was tried" "ended 0" "$line" ;;
    *) echo "$line" ;;
    esac
  done < <(exec 7>&- 8>&- 9>&-; node "$src/tests/web/serve.mjs" "$build/web/test" "$url" "$pid" "$(cat token.txt)" "$shop" 2>&1; echo "ended $?")
  kill "$server"
  wait "$server"
else
  not_ok "packages to try the page with" install.out
fi
serve beyond --listen 0.0.0.0:0

# The end.
kill -INT "$server"
wait "$server"
equal "Ctrl-C ends it, well" 0 $?
refuse "and nothing listens there" curl -s --max-time 60 "$url"

# A real Prometheus, and a busy server.
if command -v prometheus >/dev/null && command -v wrk >/dev/null && [ -x "$build/examples/http-server/http-server" ]; then
  mkdir root && yes 'a line of a page' | head -n 1000 >root/page.txt
  APROF_OPTIONS=profile:$profiles,exit:off "$build/examples/http-server/http-server" --root=root >http.log 2>&1 &
  http=$!
  started+=($http)
  until_true grep -q '^listening on ' http.log
  timeout 60 wrk -t1 -c8 -d50s -s "$src/examples/http-server/load.lua" \
    "$(sed -n 's/^listening on //p' http.log)" >wrk.log 2>&1 &
  load=$!
  started+=($load)
  serve load http-server
  served=$port
  start_prometheus 500ms
  mkfifo falls.in
  "$serve_clients" falls "$port" <falls.in >falls.txt 2>&1 &
  falls=$!
  started+=($falls)
  exec 5>falls.in
  scrapes() { [ "$(ask 'count_over_time(up[5m])' || echo 0)" -ge 6 ]; }
  check "Prometheus scrapes a busy server" until_true scrapes
  check "Prometheus: next to every time, however busy the machine" \
    [ "$(ask 'avg_over_time(up[5m]) > bool 0.6')" = 1 ]
  equal "Prometheus: no counter was reset" 0 "$(ask 'sum(resets(aprof_function_created_total[5m])) + sum(resets(aprof_function_wall_seconds_total[5m]))')"
  ends() { [ "$(ask 'sum(increase(aprof_function_done_total[5m]))' | sed 's/\..*//')" -gt 10 ]; }
  check "Prometheus: futures end" until_true ends
  exec 5>&-
  wait "$falls"
  equal "no counter falls" "over" "$(cat falls.txt)"
  kill "$load" "$server"
  wait "$server"
  equal "SIGTERM ends it, well" 0 $?
else
  skip "a real Prometheus" "prometheus, wrk or the example is not there"
fi

finish
