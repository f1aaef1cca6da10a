#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof serve --from: several servers as one, each process with its host, sums and metrics of all; one
# that is killed, one that hangs, one that answers garbage, one of another version, one that wants a
# token; a list that changes; one that asks another one that asks others.
. "${0%/*}/../lib.sh"

unset APROF_RUNTIME APROF_COMMAND JOURNAL_STREAM APROF_FROM_TOKEN
if [ ! -x "$build/aprof-serve" ]; then
  skip "aprof serve --from" "built without libmicrohttpd"
  finish
fi
if grep -q '^CURL_TRUE = #' "$build/Makefile"; then
  refuse "without libcurl --from is refused" "$aprof" serve --listen 127.0.0.1:0 --from http://127.0.0.1:1
  contains "and it is said what is missing" "libcurl4-openssl-dev" "$work/check.out"
  finish
fi
profiles=$(mktemp -d /dev/shm/aprof-test.XXXXXX)
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; rm -rf "$profiles"; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export APROF_OPTIONS=profile:$profiles,clock:virtual LC_ALL=C.UTF-8
cd "$work" || exit 1

for program in one two; do
  "${CC:-gcc}" -O1 -I"$src/rt/include" "$src/tests/cli/scale.c" -o "$program" -lpthread || exit 1
done
# start N PROGRAM FUNCTIONS: sets pid; it lives until its standard input ends
start() {
  mkfifo "in$1"
  LD_PRELOAD=$build/rt/.libs/libaprof.so.0 "./$2" "$3" 2 200 <"in$1" >"pid$1" 2>/dev/null &
  started+=($!)
  eval "exec $((6 + $1))>in$1"
  until_true test -s "pid$1"
  pid=$(cat "pid$1")
}
# serve NAME ARGUMENT...: sets url, server; it prints to NAME.out, NAME.err
serve() {
  served "$1" --listen 127.0.0.1:0 "${@:2}"
  url=${url%/}
}
# get PATH [OPTION...]: the body goes to body; prints the status
get() {
  local path=$1
  shift
  curl -s --max-time 60 -o body -w '%{http_code}\n' "$@" "$collector$path"
}
# state NAME: what that host is at
state() { get /api/processes >/dev/null && value body "[h.state for h in t.hosts if h.name == '$1'][0]"; }
is() { [ "$(state "$1")" = "$2" ]; }
made() { value "$1" "total(t.functions, 'created')"; }

start 1 one 30
one=$pid
start 2 two 40
two=$pid
"$aprof" dump -o one.json "$one"
"$aprof" dump -o two.json "$two"
serve agent1 --label zone=a --label rack=1 one
agent1=$url first=$server
echo "0123456789abcdef-token" >token.txt && chmod 600 token.txt
serve agent2 --token-file token.txt two
agent2=$url
serve again one # of the same process as the first
again=$url

# One that hangs, one that answers garbage, one of another version, one that does not end.
cat >odd.py <<'PY'
import socket, sys, threading
def answer(kind, s):
    request = s.recv(65536)
    open("odd.log", "ab").write(kind.encode() + b" " + request + b"\n")
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    body = {"garbage": b'{"schema": "aprof.list/1", "profiles": [{"pid": ', "other": b'{"schema":"aprof.list/2"}',
            "page": b"<html>nothing of ours</html>"}.get(kind)
    if kind == "hangs": return s.recv(1)
    if kind == "noise": s.sendall(b"\x00\xff garbage \r\n\r\n"); return s.close()
    if kind == "moved": s.sendall(b"HTTP/1.1 302 Found\r\nLocation: " + sys.argv[1].encode() + b"/api/processes\r\nContent-Length: 0\r\n\r\n"); return s.close()
    if kind == "endless":
        s.sendall(head + b"\r\n{\"schema\": \"aprof.list/1\", \"x\": \"")
        try:
            while True: s.sendall(b"x" * 1000000)
        except OSError: return
    s.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body); s.close()
def listen(kind):
    l = socket.create_server(("127.0.0.1", 0))
    sys.stdout.write(f"{kind}=http://127.0.0.1:{l.getsockname()[1]}\n"); sys.stdout.flush()
    while True: threading.Thread(target=answer, args=(kind, l.accept()[0]), daemon=True).start()
kinds = ["garbage", "other", "page", "hangs", "noise", "moved", "endless"]
for kind in kinds: threading.Thread(target=listen, args=(kind,)).start()
PY
python3 odd.py "$agent1" >odd.txt 7>&- 8>&- &
started+=($!)
complete() { [ "$(wc -l <odd.txt)" = 7 ]; }
until_true complete

{
  echo "# the hosts of this test"
  echo "first=$agent1"
  echo
  echo "second=$agent2/ token.txt zone=b rack=2"
  cat odd.txt
  echo "nobody=http://127.0.0.1:1"
} >hosts
export APROF_FROM_TOKEN=fedcba9876543210-another
serve all --from hosts --every 200ms
unset APROF_FROM_TOKEN
collector=$url
for want in "first answers" "second answers" "garbage wrong" "page wrong" "other other version" "noise wrong" \
  "moved wrong" "endless wrong" "nobody gone"; do
  check "a host that is ${want#* }: ${want%% *}" until_true is "${want%% *}" "${want#* }"
done
get /api/processes >/dev/null
check "/api/processes: as its schema says" conforms body
check "one that hangs keeps nobody waiting" grep -qE '^(new|slow)$' <<<"$(value body "[h.state for h in t.hosts if h.name == 'hangs'][0]")"
contains "it is said which version it reads" "aprof.list/2, and this aprof reads aprof.list/1" body
equal "processes say which host they are on" "first $one second $two" \
  "$(value body "' '.join(f'{q.host} {q.pid}' for q in sorted(t.profiles, key=lambda q: q.host))")"
grep -a '^first\|fedcba' odd.log >leak.txt
refuse "a token of one goes to no other" grep -qa 0123456789abcdef odd.log
check "the common one goes to those without their own" grep -qa 'Bearer fedcba9876543210-another' odd.log
refuse "no token is printed" grep -rq -e fedcba -e 0123456789abcdef all.out all.err body
equal "nothing is said of any of them" "" "$(cat all.err)"

# Sums.
equal "/api/totals: of all" 200 "$(get "/api/totals")"
equal "sums are those of all hosts" "$(($(made one.json) + $(made two.json)))" "$(made body)"
check "as the schema says, and it adds up" totals_close body
equal "which process is where" "first second" "$(value body "' '.join(sorted(p.host for p in t.processes))")"
get "/api/totals?host=second" >/dev/null
equal "of one host" "$(made two.json)" "$(made body)"
get "/api/totals?host=first&pid=$one" >/dev/null
equal "of one process" "$(made one.json)" "$(made body)"
equal "no such process on that host" 404 "$(get "/api/totals?host=first&pid=$two")"
equal "no such host" 404 "$(get "/api/totals?host=third")"
get "/api/totals?by=process" >/dev/null
equal "functions of each apart" "$(($(value one.json "len(t.functions)") + $(value two.json "len(t.functions)")))" \
  "$(value body "len(t.functions)")"
get "/api/totals?where=zone=b" >/dev/null
equal "of hosts with a label" "$(made two.json) zone=b,rack=2" "$(made body) $(value body t.process.labels)"
get "/api/totals?where=build=$(value one.json t.process.build_id)" >/dev/null
equal "of one build, which both are" "$(($(made one.json) + $(made two.json)))" "$(made body)"
equal "of another build" 404 "$(get "/api/totals?where=build=00")"
equal "of a label that none has" 404 "$(get "/api/totals?where=zone=c")"
equal "where has a key and a value" 400 "$(get "/api/totals?where=zone")"
equal "/api/page: of all" 200 "$(get "/api/page?range=10s&by=process")"
check "/api/page: as its schema says" conforms body
get /metrics >/dev/null
equal "metrics: sums of all" "$(($(made one.json) + $(made two.json)))" \
  "$(awk '/^aprof_function_created_total\{/ { sum += $NF } END { print sum }' body)"
check "metrics: which labels its host has" grep -qE "^aprof_process_info\{process=\"one\",.*label_zone=\"a\"" body
check "metrics: each says its host" grep -q "^aprof_function_created_total{process=\"two\",pid=\"$two\",host=\"second\"" body
equal "metrics: who answers" "1 1 0" "$(sed -n 's/^aprof_agent_up{host="\(first\|second\|nobody\)".* //p' body | xargs)"
! command -v promtool >/dev/null || equal "promtool has nothing to say" "" "$(promtool check metrics <body 2>&1)"

# The page, in a browser.
if grep -q '^PAGE_TRUE = #' "$build/Makefile"; then
  skip "the page" "built without it"
elif ! command -v chromium >/dev/null; then
  not_ok "there is a browser to open the page (Debian: chromium)"
elif "$src/web/install" "$src/web" "$build/web/test" >install.out 2>&1; then
  while IFS= read -r line; do
    case $line in
    "ok "*) ok "page: ${line#ok }" ;;
    "not ok "*) not_ok "page: ${line#not ok }" ;;
    "ended "*) equal "page: all of it was tried" "ended 0" "$line" ;;
    *) echo "$line" ;;
    esac
  done < <(exec 7>&- 8>&-; node "$src/tests/web/hosts.mjs" "$build/web/test" "$collector/" 2>&1; echo "ended $?")
else
  not_ok "packages to try the page with" install.out
fi

# A list that changes: one that tells of the same process counts once; one that asks others.
grep -v '^endless\|^hangs\|^moved' hosts >shorter
echo "again=$again" >>shorter
mv shorter hosts
check "a list that has changed is read again" until_true is again answers
get "/api/totals" >/dev/null
equal "a process that two tell of counts once" "$(($(made one.json) + $(made two.json)))" "$(made body)"
echo "no URL at all" >>hosts
says() { grep -qF "hosts:$(wc -l <hosts): a line is URL" all.err; }
check "a list that is wrong is told, with its line" until_true says
check "and the one of before stays" is first answers
below=$collector
serve above --from "$below" --every 200ms
collector=$url
named() { get /api/processes >/dev/null && equal_to "$one $two" "$(value body "' '.join(str(q.pid) for q in sorted(t.profiles, key=lambda q: q.host))")"; }
equal_to() { [ "$1" = "$2" ]; }
check "one asks another one that asks others" until_true named
equal "and their names stay" "first second" "$(value body "' '.join(sorted(q.host for q in t.profiles))")"
kill "$server"
collector=$below

# One is killed: it is shown so, and its numbers go; the other tells of the process then.
kill -9 "$first"
check "a host that is killed is gone" until_true is first gone
once() { get /api/processes >/dev/null && equal_to again "$(value body "one(t.profiles, pid=$one).host")"; }
check "another one that knows its process tells of it" until_true once
exec 8>&-
over() { get /api/processes >/dev/null && equal_to "$one" "$(value body "' '.join(str(q.pid) for q in t.profiles)")"; }
check "a process that ends is gone" until_true over
equal "what it did is there for who asks" 200 "$(get "/api/totals?host=second&pid=$two")"
equal "and it is as it was" "$(made two.json)" "$(made body)"
get "/api/totals" >/dev/null
equal "it counts no more" "$(made one.json)" "$(made body)"

# refused NAME SENTENCE ARGUMENT...
refused() {
  local name=$1 says=$2
  shift 2
  refuse "$name" timeout 60 "$aprof" serve --listen 127.0.0.1:0 "$@"
  contains "$name: why" "$says" check.out
}
refused "a password in a URL" "no place for a password" --from http://user:secret@node7:9797
refuse "and it is not repeated" grep -q secret check.out
refused "a query in a URL" "nothing behind its path" --from "http://node7:9797/?token=x"
refused "another protocol" "http://HOST:PORT" --from file:///etc/passwd
refused "no such list" "neither a URL" --from nowhere
refused "two of one name" "two are called node7" --from http://node7:9797 --from http://node7
refused "a process beside them" "a server of its own" --from http://node7:9797 one
APROF_FROM_TOKEN=short refused "a short token" "APROF_FROM_TOKEN" --from http://node7:9797

finish
