#!/bin/bash
# SPDX-License-Identifier: MIT
# Messages: diagnostics/NAME.c compiled by every GCC says what NAME.err holds.
#
#   UPDATE=1 diagnostics-test.sh writes the messages anew
. "$(dirname "$0")/../lib.sh"

cases=$src/tests/plugin/diagnostics
plugin=${APROF_PLUGIN:-$plugin}
first=${majors##* }
cd "$cases" || exit 1

# compile MAJOR OPTIONS...: messages in $work/err
compile() {
  local compiler
  compiler=$(gcc_of "$1")
  shift
  LC_ALL=C $compiler -fdiagnostics-color=never -fplugin="$plugin" \
    -fplugin-arg-aprof-bindings=none "$@" -S -o "$work/out.s" 2>"$work/err"
  local status=$?
  sed -i 's/^cc1: /compiler: /' "$work/err"
  return $status
}

# golden NAME OPTIONS...: fails, and says NAME.err
golden() {
  local name=$1
  shift
  if [ -n "${UPDATE:-}" ]; then
    compile "$first" "$@"
    cp "$work/err" "$name.err"
  fi
  for major in $majors; do
    if compile "$major" "$@"; then
      not_ok "$name gcc-$major: is refused"
    elif diff "$name.err" "$work/err" >"$work/diff"; then
      ok "$name gcc-$major"
    else
      not_ok "$name gcc-$major" "$work/diff"
    fi
  done
}

golden attributes attributes.c
golden calls calls.c
golden file -fplugin-arg-aprof-bindings=file.aprof file.c
golden option -fplugin-arg-aprof-binding=x file.c
golden option-value -fplugin-arg-aprof-autoload=maybe file.c
golden option-empty -fplugin-arg-aprof-bindings= file.c
golden no-file -fplugin-arg-aprof-bindings=./nowhere.aprof file.c
golden directory -fplugin-arg-aprof-bindings=../diagnostics file.c
if compile "$first" -fplugin-arg-aprof-bindings=libuw file.c; then :; fi
contains "a mistyped name is no name of a shipped file" \
  "no bindings of the name 'libuw' are shipped; there are: alloc async-h " "$work/err"
contains "and these are listed" " libuv minicoro " "$work/err"

# Nothing is said about a line that means nothing here; verbose lists matches.
echo 'await call:elsewhere
await call:lib_call' >"$work/quiet.aprof"
for major in $majors; do
  check "gcc-$major: a line that matches nothing is no matter" \
    compile "$major" -Wall -Wextra -Werror -fplugin-arg-aprof-bindings="$work/quiet.aprof" file.c
  equal "gcc-$major: and says nothing" "" "$(cat "$work/err")"
  compile "$major" -fplugin-arg-aprof-verbose -fplugin-arg-aprof-bindings="$work/quiet.aprof" file.c
  contains "gcc-$major: verbose says what matched" \
    "note: aprof: call of 'lib_call': 'await call:lib_call' (quiet.aprof:2)" "$work/err"
done

# A | run that reaches nobody is no mistake, and no secret.
cat >"$work/nobody.c" <<'END'
int arm(void *, void (*)(void *));
int use(void *p, void (**f)(void *)) { return arm(p, f[0]); }
END
echo 'create call:arm key=a0 fn=a1 | run key=a0 once' >"$work/nobody.aprof"
for major in $majors; do
  compile "$major" -fplugin-arg-aprof-verbose -fplugin-arg-aprof-bindings="$work/nobody.aprof" \
    "$work/nobody.c"
  contains "gcc-$major: verbose says where a | run reaches nobody" \
    "its '| run' reaches no function of this unit" "$work/err"
done

# Nor is a future that is queued since no `| run' of its line says what it waits for.
while IFS='|' read -r lines note; do
  tr '%' '\n' <<<"${lines//+/|}" >"$work/queued.aprof"
  for major in $majors; do
    compile "$major" -fplugin-arg-aprof-verbose -fplugin-arg-aprof-bindings="$work/queued.aprof" \
      "$work/nobody.c"
    equal "gcc-$major: verbose says of ${lines%%%*}: ${note:-nothing}" "$note" \
      "$(sed -n 's/.*its futures are \(queued until their first run[,:] [^ ]*\).*/\1/p' "$work/err")"
  done
done <<'END'
create call:arm key=a0 fn=a1|queued until their first run: 'ready',
create call:arm key=a0 fn=a1%run def:use key=a0 multi|queued until their first run: 'ready',
create call:arm key=a0|queued until their first run: 'ready',
create call:arm key=a0 fn=a1 + run key=a0|queued until their first run: 'ready',
create call:arm key=a0 fn=a1 background|queued until their first run, whatever
create call:arm key=a0 fn=a1 ready|
create call:arm key=a0 fn=a1 + run key=a0 once=a0|
create call:arm key=a0 + run multi|
create call:arm key=a0 background + run icall:S.f key=obj multi|
END

# Of a callback on two lines, without \`|', the first is warned of: it is created as one that could run.
while IFS='|' read -r wanted lines; do
  tr '%' '\n' <<<"${lines//+/|}" >"$work/apart.aprof"
  for major in $majors; do
    compile "$major" -fplugin-arg-aprof-bindings="$work/apart.aprof" "$work/nobody.c"
    equal "gcc-$major: warnings of $lines" "$wanted" \
      "$(sed -n 's/.*apart.aprof:\([0-9]*\):[0-9]*: \(warning: these futures are queued\|note: their run\).*/\1/p' \
        "$work/err" | xargs)"
  done
done <<'END'
1 2|create call:arm key=a0 fn=a1%run def:use key=a0 multi
2 1|run icall:s.f key=w:obj once%create call:arm key=w:a0
1 2|create call:arm key=a0%run type:"void(void*)" key=a0 once
|create call:arm key=a0 fn=a1 ready%run def:use key=a0 multi
|create call:arm key=a0 fn=a1 + run key=a0 once%run def:use key=a0 multi
|create call:arm key=a0 + run def:use key=a0 multi
|create call:arm key=a0%run def:use key=b:a0 multi
|create call:arm key=a0 fn=a1%run call:resume key=a0 multi
|create call:arm key=a0%run def:use key=a0 once=a0
|create call:arm key=a0%run def:use key=a0 pending=0
|create call:elsewhere key=a0%run def:use key=a0 multi
END

# What two creates say behind their `|' is one line, and so one run.
cat >"$work/shared.c" <<'END'
struct timer { void (*cb)(void *); } *add(void (*)(void *)), *rest(void (*)(void *));
void go(struct timer *t) { t->cb(t); }
END
while read -r runs words; do
  printf 'create call:%s key=ret fn=a0 | run icall:timer.cb %s\n' add 'key=obj multi' rest "$words" \
    >"$work/shared.aprof"
  for major in $majors; do
    compile "$major" -fplugin-arg-aprof-verbose -fplugin-arg-aprof-bindings="$work/shared.aprof" \
      "$work/shared.c"
    equal "gcc-$major: two creates, $words behind one of them" "$runs" \
      "$(grep -c "call of 'cb'" "$work/err")"
  done
done <<'END'
1 key=obj  multi
2 key=r:obj multi
END

# Files of names: an editor's mark at the beginning is none, and what is no name is said where it is.
echo 'void first(void) {} void second(void) {}' >"$work/listed.c"
echo 'async def:@listed.names' >"$work/listed.aprof"
for major in $majors; do
  printf '\xef\xbb\xbffirst\r\nsecond\r\n' >"$work/listed.names"
  compile "$major" -fplugin-arg-aprof-verbose -fplugin-arg-aprof-bindings="$work/listed.aprof" \
    "$work/listed.c"
  equal "gcc-$major: names behind a mark" 2 "$(grep -c "body of" "$work/err")"
  for wrong in '/open(' 'fir\0st'; do
    printf "first\n$wrong\n" >"$work/listed.names"
    compile "$major" -fplugin-arg-aprof-bindings="$work/listed.aprof" "$work/listed.c"
    contains "gcc-$major: no name: $wrong" "listed.names:2:1: error: a file of names has" "$work/err"
  done
done

# Shipped files apply by themselves, to names of their header; users' lines win.
mkdir "$work/include"
cat >"$work/include/uv.h" <<'END'
typedef struct uv_stream_s uv_stream_t;
struct uv_stream_s { int unused; };
int uv_read_stop(uv_stream_t *);
END
cat >"$work/with.c" <<'END'
#include <uv.h>
int stop(uv_stream_t *s) { return uv_read_stop(s); }
END
cat >"$work/without.c" <<'END'
typedef struct uv_stream_s uv_stream_t;
int uv_read_stop(uv_stream_t *);
int stop(uv_stream_t *s) { return uv_read_stop(s); }
END
cat >"$work/attribute.c" <<'END'
#include <uv.h>
__attribute__((aprof("await"))) int uv_read_stop(uv_stream_t *);
int stop(uv_stream_t *s) { return uv_read_stop(s); }
END
cat >"$work/library.c" <<'END'
#include <uv.h>
int uv_read_stop(uv_stream_t *s) { return s != 0; }
int stop(uv_stream_t *s) { return uv_read_stop(s); }
END
echo 'idle call:uv_read_stop' >"$work/mine.aprof"

# matched MAJOR OPTIONS...: the lines that were applied, in one line
matched() {
  local compiler
  compiler=$(gcc_of "$1")
  shift
  $compiler -fplugin="$plugin" -I"$work/include" -fplugin-arg-aprof-verbose "$@" -S \
    -o "$work/out.s" 2>&1 | sed -n "s/.*note: aprof: .* (\(.*\)).*/\1/p" | sed 's/:[0-9]*$//' |
    tr '\n' ' '
}
for major in $majors; do
  export LC_ALL=C
  equal "gcc-$major: a shipped file, where its header is read" "libuv.aprof " \
    "$(matched "$major" "$work/with.c")"
  equal "gcc-$major: not where it is not" "" "$(matched "$major" "$work/without.c")"
  equal "gcc-$major: but where it is named" "libuv.aprof " \
    "$(matched "$major" -fplugin-arg-aprof-bindings=libuv "$work/without.c")"
  equal "gcc-$major: nor in the library itself" "" "$(matched "$major" "$work/library.c")"
  equal "gcc-$major: none switches shipped files off" "" \
    "$(matched "$major" -fplugin-arg-aprof-bindings=none "$work/with.c")"
  equal "gcc-$major: users' files win" "mine.aprof " \
    "$(matched "$major" -fplugin-arg-aprof-bindings="$work/mine.aprof" "$work/with.c")"
  equal "gcc-$major: attributes win" "attribute " "$(matched "$major" "$work/attribute.c")"
done
unset LC_ALL

# A compiler without its plugin.
mkdir "$work/lone"
cp "$plugin" "$work/lone/aprof.so"
plugin=$work/lone/aprof.so
refuse "no plugin for this GCC: refused" compile "$first" file.c
if compile "$first" file.c; then :; fi
contains "no plugin for this GCC: one line names version and remedy" \
  "aprof has no plugin for GCC $first" "$work/err"
finish
