#!/bin/bash
# Words whose effect only a whole program shows: small ones on the virtual clock, each with the
# lines about it and what its totals must say.
. "$(dirname "$0")/../lib.sh"
cd "$work" || exit 1

# program NAME: standard input is lines, `--` and C; built and run by each compiler, -O0 and -O2
program() {
  local name=$1 major level
  sed '/^--$/,$d' >"$name.aprof" < <(tee "$name.all")
  { printf '#include <aprof.h>\n#define pass(ns) aprof_clock_advance(ns)\n'
    printf '#define NOINLINE __attribute__((noinline))\n'
    sed '1,/^--$/d' "$name.all"; } >"$name.c"
  for major in $majors; do
    for level in -O0 -O2; do
      check "$name: gcc-$major $level" "$(gcc_of "$major")" -std=gnu11 -Wall -Wextra -Werror \
        -Wno-unused-parameter $level -fplugin="$plugin" -fplugin-arg-aprof-bindings="./$name.aprof" \
        -I"$src/rt/include" "$name.c" -o "$name-$major$level"
      rm -rf "out-$name-$major$level"
      mkdir "out-$name-$major$level"
      APROF_OPTIONS="dir:out-$name-$major$level,clock:virtual" "./$name-$major$level" >/dev/null
    done
  done
}

# says NAME WHAT EXPECTED FILTER: of each run's totals
says() {
  local major level
  for major in $majors; do
    for level in -O0 -O2; do
      equal "$1: gcc-$major $level: $2" "$3" "$(jq -c "$4" "out-$1-$major$level"/*.json)"
    done
  done
}

# A create inside a helper keeps its `background': its waits, and none of the others there.
program helper <<'END'
create call:watch key=w:a0 fn=a1 background | run key=w:a0 multi
create call:ask   key=q:a0 fn=a1 | run key=q:a0 once
helper call:/^open_/
--
typedef void callback(void *);
static callback *watching, *asking;
NOINLINE void watch(void *p, callback *f) { watching = f; }
NOINLINE void ask(void *p, callback *f) { asking = f; }
static void on_watch(void *p) { pass(1); }
static void on_ask(void *p) { pass(1); }
NOINLINE void open_both(void *p) { watch(p, on_watch); ask(p, on_ask); }
NOINLINE __attribute__((aprof("async"))) void task(void *p) { open_both(p); }
int main(void) {
  int one, other;
  open_both(&one);
  pass(10);
  watching(&one), asking(&one);
  task(&other);
  pass(20);
  watching(&other), asking(&other);
  return 0;
}
END
says helper "which waits are for new work" \
  '[["on_ask","open_both",false],["on_watch","open_both",true]]' '[.functions[] |
  select(.name != "task") | .name as $f | [.awaits[] | [$f, .callee, .background]] | unique[]] | sort'

# Who woke what never ran is not among those that futures ran for.
program freed <<'END'
create call:ask    key=a0 fn=a1 | run key=a0 once
wake   call:ready  key=a0
end    call:forget key=a0 how=cancelled
--
typedef void callback(void *);
NOINLINE void ask(void *p, callback *f) { __asm__ volatile(""); }
NOINLINE void ready(void *p) { __asm__ volatile(""); }
NOINLINE void forget(void *p) { __asm__ volatile(""); }
static void on_answer(void *p) { pass(1); }
int main(void) {
  char p[50];
  for (int i = 0; i < 50; i++) {
    ask(p + i, on_answer);
    pass(10);
    ready(p + i);
    pass(5);
    if (i % 5 == 0)
      on_answer(p + i);
    else
      forget(p + i);
  }
  return 0;
}
END
says freed "runs and their waker" '[10,40,250,[["ready",10,50]]]' '.functions[] |
  [.done, .cancelled, .queued_ns, [.wakers[] | [.name, .count, .queued_ns]]]'
finish
