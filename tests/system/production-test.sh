#!/bin/bash
# SPDX-License-Identifier: MIT
# doc/production.md: its units are units, and what it says of a service, a container, its host and a
# pod holds in namespaces as container managers make them.
. "$(dirname "$0")/../lib.sh"

unset APROF_OPTIONS APROF_RUNTIME APROF_COMMAND XDG_RUNTIME_DIR
page=$src/doc/production.md
cd "$work" || exit 1
chmod 755 "$work"
name=shop$$ # no other process is called so
started=()
trap 'kill -9 "${started[@]}" 2>/dev/null; wait 2>/dev/null; [ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
"${CC:-gcc}" -g -I"$src/rt/include" "$src/tests/cli/hand.c" -o "$name" || exit 1
export LD_PRELOAD=$build/rt/.libs/libaprof.so.0
aprof() { LD_PRELOAD="" "$aprof" "$@"; }
created() { value "$1" 'total(t.functions, "created")'; }

# -- the page's own files ------------------------------------------------------------

# Each block that begins with the name of a file, as that file.
awk '/^```ini$/ { getline; n = split($2, part, "/"); file = part[n]; next } /^```$/ { file = ""; next } file { print >file }' "$page"
check "the page has units" test -s shop.service -a -s aprof-sweep.timer -a -s aprof-metrics.service
options=$(sed -n 's/^Environment=APROF_OPTIONS=//p' shop.service)
pod=$(sed -n 's/^ *value: \(profile:.*\)/\1/p' "$page")
if command -v systemd-analyze >/dev/null; then
  sed -i "s|^ExecStart=/usr/bin/shop|ExecStart=$work/$name|; s|^ExecStart=/usr/bin/aprof|ExecStart=$aprof|" ./*.service
  # It says something of the machine's own units, too.
  LD_PRELOAD="" systemd-analyze verify ./*.service ./*.timer 2>&1 | grep -E 'shop|aprof-' >said.txt
  equal "systemd has nothing to say of them" "" "$(cat said.txt)"
  sed -i 's/^LogsDirectory/LogDirectory/' shop.service
  LD_PRELOAD="" systemd-analyze verify ./shop.service >said.txt 2>&1
  contains "it would of a wrong one" LogDirectory said.txt
else
  skip "the units" "no systemd-analyze"
fi

# -- a service -------------------------------------------------------------------------

mkdir -m 777 log
as=()
[ "$(id -u)" -ne 0 ] || as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
"${as[@]}" env -i LD_PRELOAD="$LD_PRELOAD" APROF_OPTIONS="${options/\/var\/log\/shop/$work/log}" "./$name" return >out.txt 2>err.txt
equal "a service: another user, no XDG_RUNTIME_DIR: nothing is said" "" "$(cat err.txt)"
equal "a service: its totals" 100 "$(created log/"$name".*.json)"
if [ "$(id -u)" -eq 0 ]; then
  mkfifo in.service
  "${as[@]}" env -i LD_PRELOAD="$LD_PRELOAD" "./$name" live <in.service >pid.service 2>err.txt &
  started+=($!)
  exec 5>in.service
  until_true test -s pid.service
  aprof dump -o live.json "$name"
  equal "a service: root looks at it by name" 100 "$(created live.json)"
  kill -9 "$(cat pid.service)"
  wait "${started[0]}" 2>/dev/null
  aprof list >list.txt
  contains "a service: root sees what a crash left" "/dev/shm/aprof-65534/$name-" list.txt
  left=$(grep -o "/dev/shm/aprof-65534/$name-.*" list.txt)
  aprof dump -o left.json "$left"
  equal "a service: and makes its totals" 100 "$(created left.json)"
  rm -f "$left"
fi

# -- a container ---------------------------------------------------------------------------

if ! unshare -Urmpf --mount-proc mount -t tmpfs none /dev/shm 2>/dev/null; then
  skip "containers" "this machine forbids namespaces"
  finish
fi
# container SCRIPT: in it the root is read-only, /dev/shm has 64 MB, profiles/ is a volume
mkdir profiles
cat >container.sh <<'SH'
mount -t tmpfs -o size=64m,mode=1777 shm /dev/shm &&
  mount --bind . . && cd "$PWD" && mount -t tmpfs -o size=64m,mode=2777 volume profiles &&
  mkdir -m 777 profiles/out && mount -o remount,ro,bind . || exit 77
. "$1"
SH
container() {
  LD_PRELOAD="" unshare -Urmpf --mount-proc env preload="$LD_PRELOAD" name="$name" aprof="$aprof" page="$pod" \
    bash container.sh "$1" >out.txt 2>err.txt
}

cat >ends.sh <<'SH'
run() { LD_PRELOAD=$preload "./$name" "$@"; }
"$aprof" export --textfile profiles/out || echo "no metrics of nobody"
! touch here 2>/dev/null || echo "a root that can be written to"
APROF_OPTIONS=dir:$PWD/profiles/out run return
cat profiles/out/*.json >&3
run return 2>&4
APROF_OPTIONS=$page run kill
mkfifo profiles/in
run live <profiles/in >profiles/pid & exec 5>profiles/in
until [ -s profiles/pid ]; do sleep 0.02; done
"$aprof" list
stat -c 'size %s' /dev/shm/aprof-0/"$name"-*.aprof | sort -u
kill -9 "$(cat profiles/pid)"
wait
for file in profiles/shop/*.aprof; do
  stat -c 'mode %a' profiles/shop
  "$aprof" dump -o - "$file" >&6
done
"$aprof" list --sweep=0d
"$aprof" list
SH
pod=${pod/\/profiles/profiles}
container ./ends.sh 3>totals.json 4>kept.txt 6>recovered.json
equal "a container: starts" "0 " "$? $(grep -v Killed err.txt)"
refuse "a container: its root is read-only" grep -q "can be written" out.txt
refuse "a container: metrics of no process are no error" grep -q "no metrics" out.txt
equal "a container: totals in the volume that dir: names" 100 "$(created totals.json)"
contains "a container: without, the profile is kept, and that is said" "the profile is kept: aprof dump /dev/shm/aprof-0/$name" kept.txt
equal "a container: a profile is a quarter of its /dev/shm at most" "size 16777216" "$(grep '^size' out.txt)"
equal "a container: what is killed leaves its profile in the volume" "recovered 100" \
  "$(value recovered.json '[t.process.reason, total(t.functions, "created")]' | tr -d '[]"' | tr , ' ')"
contains "a container: in a directory of the user's alone" "mode 2700" out.txt
contains "a container: old profiles are removed" "removed /dev/shm/aprof-0/$name" out.txt
equal "a container: and none is left" "no profiles" "$(tail -n 1 out.txt)"

# -- its host, and a pod ---------------------------------------------------------------

# The two of a pod have their processes in common, each its own /dev/shm.
cat >pod.sh <<'SH'
mkfifo profiles/in
unshare -m sh -c 'mount -t tmpfs -o size=64m shm /dev/shm && LD_PRELOAD=$preload exec "./$name" live <profiles/in >profiles/pid' &
exec 5>profiles/in
until [ -s profiles/pid ]; do sleep 0.02; done
cd profiles/out
"$aprof" dump -o - "$name" >&3
"$aprof" export --textfile . && cat aprof.prom >&4
"$aprof" report "$name" >&6
# A secret is a link there, and its group's, too.
mkdir -p token/..data
echo 0123456789abcdef >token/..data/aprof
chmod 440 token/..data/aprof
ln -s ..data/aprof token/aprof
[ ! -e "$aprof-serve" ] || "$aprof" serve --listen 127.0.0.1:0 --token-file token/aprof >served.txt 2>&1 &
until [ ! -e "$aprof-serve" ] || grep -q http served.txt; do sleep 0.02; done
cat served.txt 2>/dev/null
echo ready
read -r _ <&7
kill $! 2>/dev/null
SH
mkfifo go
exec 7<>go
container ./pod.sh 3>beside.json 4>beside.prom 6>beside.txt &
started+=($!)
check "a pod: starts" until_true grep -q ready out.txt
equal "a pod: the one beside finds it by name, without its /dev/shm" 100 "$(created beside.json)"
equal "a pod: and exports its metrics" 100 "$(awk -v process="process=\"$name\"" '/^aprof_function_created_total/ &&
  index($0, process) { sum += $NF } END { print sum }' beside.prom)"
if [ -e "$aprof-serve" ]; then
  LD_PRELOAD="" curl -s -H "Authorization: Bearer 0123456789abcdef" \
    "$(grep -o 'http://[^ ]*' out.txt | head -n 1)metrics" >served.prom
  contains "a pod: and serves them, by a token that is a secret" "process=\"$name\"" served.prom
fi
contains "a pod: and reports" handle_upload beside.txt
aprof dump -o host.json "$name"
equal "the host: finds it by name" 100 "$(created host.json)"
pid=$(aprof list | awk -v name="$name" '$3 == name && $2 == "live" { print $1 }')
aprof dump -o pid.json "$pid"
equal "the host: and by the number that it has there" 100 "$(created pid.json)"
aprof export --to prometheus >host.prom 2>err.host
contains "the host: metrics of all have it" "process=\"$name\"" host.prom
echo >&7
wait "${started[-1]}"

finish
