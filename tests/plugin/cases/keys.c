/* Every kind of value, word and condition, on calls and bodies. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define A(text) __attribute__((aprof(text)))

void trace_key(const void *address, const char *name);

struct inner {
  int id;
  struct {
    short hidden;
  };
  unsigned bits : 3;
};
struct request {
  struct inner in;
  struct inner *other;
  void (*callback)(struct request *, int);
  int member;
};
typedef void (*done_cb)(struct request *, int);

static struct inner far_away = {77, {5}, 6};
static struct request one = {.in = {42, {-3}, 5}, .other = &far_away};

int current_task(void) { return 1234; }

A("create key=a0 fn=a1 ok=ret==0 | run key=a0 once")
__attribute__((noinline)) int start(struct request *r, done_cb callback) {
  r->callback = callback;
  return r->member;
}
A("create key=w:a0->in.id fn=a-1 when=a1!=0 rearm background root")
__attribute__((noinline)) void arm(void *unused, int really, done_cb callback) {}

A("create key=*a0 ok=ret>=0") __attribute__((noinline)) int make(struct request **out) {
  *out = &one;
  return 5;
}
A("run key=(a0,a1)") __attribute__((noinline)) static void pair(struct request *r, int n) {}
A("run key=n:a0 multi") __attribute__((noinline)) static void many(long n) {}
A("run key=a0->other->hidden once=a0->in.bits&4!=0")
__attribute__((noinline)) static void fields(struct request *r) { r->in.bits = 1; r = NULL; }
A("run key=a0 once=ret==3") __attribute__((noinline)) static int returns(char c) { return c - 'a'; }
A("run key=current_task()") __attribute__((noinline)) static void task(void) {}
A("run key=self") __attribute__((noinline)) static void myself(void) {}
A("run key=owner(a0,request,in.id)->member") __attribute__((noinline)) static void owner(int *id) {}
A("run key=a0->in.bits&6") __attribute__((noinline)) static void bits(struct request *r) {}
A("run key=a-2 pending=0,7") __attribute__((noinline)) static int stackless(int a, int b) {
  switch (b) {
  case 0:
    return 0;
  case 1:
    return 7;
  }
  return 1;
}
A("async") A("run key=a0") __attribute__((noinline)) static void both(int id) {}

A("wake key=any:a0 when=a0!=0") __attribute__((noinline)) int wake(void *r) { return 0; }
A("wake key=(a0,ret)") __attribute__((noinline)) int wake_late(long id) { return 9; }
A("wake key=cur") __attribute__((noinline)) void wake_me(void) {}
A("end key=a0 how=failed ok=ret when=a1>2") __attribute__((noinline)) int end(long id, int x) {
  return x - 3;
}
A("end key=cur how=cancelled") __attribute__((noinline)) void end_me(void) {}
A("end key=a1->other->id") __attribute__((noinline)) void end_field(int x, struct request *r) {}
A("idle") __attribute__((noinline)) int poll_it(void) { return 1; }
A("run call: key=a0 once=ret<0") __attribute__((noinline)) int resume_it(long id) { return (int)id - 5; }
A("run call: key=a0 pending=1") __attribute__((noinline)) int step(long id) { return id == 5; }
A("await names") __attribute__((noinline)) void named(void) {}
A("await background when=a0") __attribute__((noinline)) void accepts(int x) {}

/* Two lines of one body nest. */
A("run key=x:a0") A("run key=y:a0 once") __attribute__((noinline)) static void twice(int id) {}

static void on_done(struct request *r, int status) { printf("on_done %d\n", status); }

int main(void) {
  struct request *r, *created;
  volatile int slot[2] = {0, 0};
  trace_key(&one, "one");
  trace_key((void *)myself, "myself");
  printf("start %d\n", start(&one, on_done));
  one.member = 1;
  start(&one, on_done);
  one.callback(&one, 3);
  arm(&one, 0, on_done);
  created = &one;
  make(&created);
  slot[0] = make(&r);
  pair(r, 8);
  many(-5);
  fields(&one);
  printf("%d\n", returns('c') + returns('d'));
  task();
  myself();
  one.member = 99;
  owner(&one.in.id);
  bits(&one);
  printf("%d\n", stackless(3, 0) + stackless(4, 1) + stackless(5, 2));
  both(6);
  wake(NULL);
  wake(&one);
  wake_late(4);
  wake_me();
  end(1, 2);
  end(1, 3);
  end(1, 4);
  end_me();
  end_field(0, &one);
  poll_it();
  resume_it(4);
  resume_it(5);
  step(4);
  step(5);
  named();
  accepts(0);
  accepts(1);
  twice(2);
  return slot[0] - 5;
}
/* SPDX-License-Identifier: MIT */
