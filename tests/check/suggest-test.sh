#!/bin/bash
# SPDX-License-Identifier: MIT
# aprof suggest: lines from a library's headers, which are lines of the grammar, and compile; of
# libuv it finds nearly all that is shipped, and invents nearly nothing.
. "${0%/*}/../lib.sh"

[ -e "$build/aprof-check" ] || {
  skip "aprof suggest" "built without libclang"
  finish
}
cd "$work" || exit 1
mkdir -p lib/net
cat >lib/net.h <<'END'
#include "net/types.h"
typedef void (*done_cb)(struct net_request *, int status);
typedef void (*net_alloc_cb)(struct net_request *, unsigned long);
int net_ask(struct net *, struct net_request *, done_cb);
int net_watch_start(struct net *, struct net_watch *, void (*seen)(struct net_watch *, int));
void net_watch_stop(struct net_watch *);
void net_watch_send(struct net_watch *);
int net_watch_is_active(struct net_watch *);
void net_defer(void (*call)(void *), void *data);
struct net_job *net_job(void (*call)(int));
void net_foreach(struct net *, void (*visit)(void *), void *);
void net_set_allocator(struct net *, net_alloc_cb);
int net_wait(struct net *);
struct net_base { int flags; void *data; union { int of; } u; };
struct net_timer { int flags; void *data; union { int of; } u; int due; };
int net_reset(struct net_timer *, void (*done)(struct net_base *));
void net_set_seen(struct net_hooks *, void (*seen)(int));
static inline int own(void (*sort)(void *)) { return sort != 0; }
END
echo 'struct net; struct net_hooks; struct net_request; struct net_watch; struct net_job; void net_types_each(void (*f)(struct net *));' >lib/net/types.h
"$aprof" suggest -o net.aprof net.h -- -Ilib 2>suggest.err
equal "status" 0 $?
equal "its lines" "create call:net_ask key=a1 fn=a2 ok=ret==0 | run key=a0 once
create call:net_defer key=a1 fn=a0 | run key=a0 once
create call:net_job key=ret fn=a0
create call:net_reset key=a0 fn=a1 ok=ret==0 | run key=a0 once
create call:net_watch_start key=a1 fn=a2 ok=ret==0 rearm | run key=a0 multi
end call:net_watch_stop key=a0 how=cancelled
header net.h
wake call:net_watch_send key=a0" "$(grep -v '^#' net.aprof | grep . | tr -s ' ' | sort)"
contains "each has its reason" "# net_ask: argument 2 (done_cb) is called back with argument 1 (struct net_request *)" net.aprof
contains "and its questions" "? Once; does 0 mean that it has begun" net.aprof
contains "an object of a kind of the callback's is its key" "create call:net_reset key=a0 fn=a1 ok=ret==0 | run key=a0 once" net.aprof
contains "what nothing names is a comment" "#   create call:net_set_seen key=ret" net.aprof
contains "what waits is asked" "#   blocking call:net_wait" net.aprof
contains "how many" "6 of 14 functions call back, 3 end, wake or wait" suggest.err
check "they are lines of the grammar" "$aprof" bindings net.aprof
printf '#include "net.h"\nint main(void) { net_watch_stop(0); }\n' >use.c
for major in $majors; do
  check "gcc-$major takes them" "$(gcc_of "$major")" "-fplugin=$plugin" -fplugin-arg-aprof-bindings=./net.aprof \
    -Ilib -c use.c -o use.o
done

cat >>lib/net.h <<'END'
struct net_hooks { void (*closed)(struct net_request *, int why); int flags; };
int net_open(struct net *, struct net_request *, const struct net_hooks *);
int net_each_late(struct net *, void (*visit)(void *), void *);
typedef void *net_handle;
net_handle net_later(void (*call)(int));
void net_later_free(net_handle);
void net_unused_each(void (*visit)(void *), void *);
END
cat >program.c <<'END'
#include "net.h"
static void on_closed(struct net_request *request, int why) { (void)request, (void)why; }
static void on_each(void *data) { (void)data; }
static void on_job(int n) { (void)n; }
static void on_done(struct net_request *request, int status) { (void)request, (void)status; }
int start(struct net *net, struct net_request *request) {
  struct net_hooks hooks = {.closed = on_closed};
  net_handle later = net_later(on_job);
  net_each_late(net, on_each, 0);
  net_later_free(later);
  return net_ask(net, request, on_done) + net_open(net, request, &hooks);
}
END
"$aprof" suggest --use program.c net.h -- -Ilib >used.aprof 2>suggest.err
equal "with a program: status" 0 $?
grep -v '^#' net.aprof | grep . | sort >before
equal "what it adds" "create call:net_later key=ret fn=a0
create call:net_open key=a1 fn=a2->closed | run key=a0 once
end call:net_later_free key=a0" "$(grep -v '^#' used.aprof | grep . | sort | comm -13 before - | tr -s ' ')"
contains "why" "the program puts 'on_closed' into net_hooks.closed, to which argument 2 points" used.aprof
contains "what ends a result" "# net_later_free: at program.c:10 it is given what net_later has returned" used.aprof
contains "which callbacks are passed" "# In use: 'on_done', at program.c:11." used.aprof
contains "what its name speaks against is a comment" "#   create call:net_each_late" used.aprof
contains "how much is used" "the program calls 5 of them" suggest.err
check "they are lines of the grammar" "$aprof" bindings used.aprof
cat >compile_commands.json <<END
[{"directory": "$work", "arguments": ["gcc", "-Ilib", "-c", "program.c"], "file": "program.c"}]
END
"$aprof" suggest -p . net.h -- -Ilib 2>suggest.err | cmp - used.aprof
equal "by its compilation database: the same" "0 0" "${PIPESTATUS[*]}"
"$aprof" suggest --use there-is-none.c net.h -- -Ilib >out.txt 2>&1
equal "no such program: status" 1 $?

# creates FILE HEADERS WORD: the calls that take a callback, with lists of names, which hold WORD,
# written out
creates() {
  sed -nE 's/^create +call:([^ ]+) .*fn=.*/\1/p' "$1" | while read -r name; do
    case $name in
    /*) grep -rhoE "\b$3[a-z0-9_]+\b" "$2" | sort -u | grep -E "$(echo "$name" | tr -d /)" ;;
    *) echo "$name" ;;
    esac
  done | sort -u
}
# compared NAME HEADERS WORD PERCENT OTHERS: of what is shipped so much is suggested, and at most
# OTHERS that are not
compared() {
  check "$1: lines of the grammar" "$aprof" bindings "$1.aprof"
  creates "$src/bindings/$1.aprof" "$2" "$3" >shipped
  creates "$1.aprof" "$2" "$3" >suggested
  local both=$(comm -12 shipped suggested | wc -l) all=$(wc -l <shipped)
  check "$1: of $all that are shipped $both are found, $4 in a hundred at least" test $((both * 100)) -ge $((all * $4))
  comm -13 shipped suggested >invented
  check "$1: at most $5 others ($(xargs <invented))" test "$(wc -l <invented)" -le "$5"
}
if [ -e /usr/include/uv.h ]; then
  "$aprof" suggest uv.h >libuv.aprof 2>suggest.err
  compared libuv /usr/include/uv.h uv_ 95 0
else
  skip "libuv" "it is not installed"
fi
# Of the others three are called back at once; the rest the shipped file leaves out: names, servers.
if [ -e /usr/include/event2/event.h ]; then
  "$aprof" suggest event2/{event,bufferevent,listener,http,dns,util,event_compat,bufferevent_compat}.h >libevent.aprof 2>suggest.err
  compared libevent /usr/include/event2 '(ev|buff)' 85 17
else
  skip "libevent" "it is not installed"
fi
# Six are called back at once or only set something.
if mapfile -t flags < <(pkg-config --cflags gio-2.0 2>/dev/null | xargs -n1) && [ "${#flags[@]}" -gt 0 ]; then
  "$aprof" suggest glib.h gio/gio.h -- "${flags[@]}" >glib.aprof 2>suggest.err
  compared glib /usr/include/glib-2.0 g_ 95 31
else
  skip "GLib" "it is not installed"
fi

"$aprof" suggest there-is-none.h >out.txt 2>&1
equal "no such header: status" 1 $?
contains "no such header: what to do" "name it as #include does" out.txt
"$aprof" suggest >out.txt 2>&1
equal "no header: status" 2 $?
finish
