#!/bin/bash
# SPDX-License-Identifier: MIT
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

# says NAME WHAT EXPECTED EXPRESSION: of each run's totals
says() {
  local major level
  value "out-$1-"*/*.json "(file, *[$4])" >values.txt
  for major in $majors; do
    for level in -O0 -O2; do
      equal "$1: gcc-$major $level: $2" "$3" "$(sed -n "s|^out-$1-$major$level/[^ ]* ||p" values.txt)"
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
  '["on_ask","open_both",false] ["on_watch","open_both",true]' \
  '*sorted({(x.name, a.callee, a.background): [x.name, a.callee, a.background]
            for x in t.functions if x.name != "task" for a in x.awaits}.values())'

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
says freed "runs and their waker" '[10,40,250,[["ready",10,50]]]' \
  '*([*pick(x, "done cancelled queued_ns"), [pick(w, "name count queued_ns") for w in x.wakers]] for x in t.functions)'

# Commands that go through one table have their own names, by one line.
program commands <<'END'
run icall:command.proc key=cmd:a0 fn=obj->proc once
--
struct client { int n; };
struct command { const char *name; void (*proc)(struct client *); };
NOINLINE void getCommand(struct client *c) { pass(3); }
NOINLINE void setCommand(struct client *c) { pass(5); }
static struct command table[] = {{"get", getCommand}, {"set", setCommand}};
int main(void) {
  struct client c[2];
  for (int i = 0; i < 40; i++)
    table[i % 4 == 3].proc(&c[i % 2]);
  return 0;
}
END
says commands "calls and time of each" '["getCommand",30,30,90] ["setCommand",10,10,50]' \
  '*sorted(pick(x, "name created done exec_ns") for x in t.functions)'

# A time by the program's own clock; one that is past is due at once, one beyond reason never.
program deadlines <<'END'
create call:arm key=a0 fn=a1 due=a2:us-now_us:us | run key=a0 once
--
static unsigned long now_us = 1700000000000000;
typedef void callback(void *);
NOINLINE void arm(void *p, callback *f, unsigned long at) { __asm__ volatile("" : : "r"(&now_us) : "memory"); }
NOINLINE void on_time(void *p) { pass(1000); }
NOINLINE void on_past(void *p) { pass(1000); }
NOINLINE void on_never(void *p) { pass(1000); }
int main(void) {
  arm(&now_us, on_time, now_us + 7);
  pass(10000), on_time(&now_us);
  arm(&now_us, on_past, now_us - 7);
  pass(10000), on_past(&now_us);
  arm(&now_us, on_never, -1ul);
  pass(10000), on_never(&now_us);
  return 0;
}
END
says deadlines "waiting, and queued from when it was due" '3 [10000,0] true true [7000,3000]' \
  'len(f), pick(f.on_never, "waiting_ns queued_ns"), f.on_past.waiting_ns <= 1, f.on_past.queued_ns >= 9999,
   pick(f.on_time, "waiting_ns queued_ns")'

# Of functions that one line creates, and of coroutines that all wait by one call, some wait for new work.
program background <<'END'
create call:task_new key=a0 fn=a1 | run key=a0 multi
run    def:accept_task key=a0 multi background
await  call:co_wait
async  def:request_co
async  def:accept_co background
--
typedef void task(void *);
NOINLINE void task_new(void *p, task *f) { __asm__ volatile(""); }
NOINLINE void accept_task(void *p) { pass(1); }
NOINLINE void stream_task(void *p) { pass(1); }
NOINLINE void co_wait(int n) { pass(n); }
static void NOINLINE wait_for(int n) { co_wait(n); }
NOINLINE void request_co(void) { co_wait(10); wait_for(20); }
NOINLINE void accept_co(void) { co_wait(30); wait_for(40); }
int main(void) {
  int a, b;
  task_new(&a, accept_task), task_new(&b, stream_task);
  pass(5), accept_task(&a), stream_task(&b);
  request_co(), accept_co();
  return 0;
}
END
says background "whose waits are for new work" \
  '["accept_co",[true]] ["accept_task",[true]] ["request_co",[false]] ["stream_task",[false]]' \
  '*sorted([x.name, sorted({a.background for a in x.awaits})] for x in t.functions)'

# What is stored tells what a task becomes; a variable tells which list it is on; a type tells what is in it.
program names <<'END'
create store:task.process=on_stream key=obj fn=a0 | run key=a0 multi
end    store:task.process=NULL key=obj
wake   call:append key=(struct task *)a1->self when=a0==&queue.run
--
struct task { struct task *self; void (*process)(struct task *); };
static struct { struct task *idle, *run; } queue;
static void on_stream(struct task *t) { pass(1); }
static void on_other(struct task *t) { pass(1); }
NOINLINE void append(struct task **list, void *t) { *list = t; }
int main(void) {
  struct task one = {&one, 0}, other = {&other, 0};
  one.process = on_stream;
  other.process = on_other;
  for (int i = 0; i < 4; i++) {
    append(i % 2 ? &queue.run : &queue.idle, &one);
    pass(10);
    one.process(&one), other.process(&other);
  }
  one.process = 0, other.process = 0;
  return 0;
}
END
says names "one task, woken every other time" '["on_stream",1,1,4,20,24]' \
  '*(pick(x, "name created done exec_ns queued_ns waiting_ns") for x in t.functions)'
finish
