/* The words and verbs beyond the plain ones: polling, worker, due, no key,
   switch, blocking, helper, awaits of what is a future itself. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>

#define A(text) __attribute__((aprof(text)))

void trace_key(const void *address, const char *name);

struct task {
  int state;
  int wait;
};

/* -- stackless: pending and polling */
A("run key=a0 pending=1 polling=2,3") __attribute__((noinline)) static int step(struct task *t) {
  switch (t->state++) {
  case 0:
    return 1;
  case 1:
    return 2;
  case 2:
    return 3;
  }
  return 0;
}
A("run key=a0 polling=-1") __attribute__((noinline)) static int8_t only_polls(struct task *t) {
  return t->state++ ? 0 : -1;
}
A("run call: key=a0 pending=1 polling=2") __attribute__((noinline)) static int resume(int x) {
  return x;
}

/* -- worker, due, no key */
typedef void (*work)(struct task *);
A("create key=w:a0 fn=a1 | run key=w:a0 worker once")
__attribute__((noinline)) static void pool(struct task *t, work f) {
  f(t);
}
static void on_pool(struct task *t) {
  printf("work %d\n", t->state);
}

A("create key=t:a0 due=a1:ms")
__attribute__((noinline)) static int timer(int id, uint64_t ms) {
  return id + (int)ms;
}
A("create key=t:a0 due=a1->wait:s when=a1!=0")
__attribute__((noinline)) static int later(int id, struct task *t) {
  return id + (t ? t->wait : 0);
}
A("create due=a0:us root") __attribute__((noinline)) static void spawn(int us) {
  printf("spawn %d\n", us);
}
struct moment {
  long sec;
  int usec;
};
A("create due=a0->sec:s+a0->usec:us root")
__attribute__((noinline)) static void until(const struct moment *m) {
  printf("until %ld\n", m ? m->sec : -1);
}
A("create due=a0:s root") __attribute__((noinline)) static void sleepy(double s) {
  printf("sleepy %g\n", s);
}

/* -- switch */
A("switch key=a0") __attribute__((noinline)) static int swap(struct task *to) {
  return to->state;
}
A("switch def: key=*a0 when=a1>0")
__attribute__((noinline)) static int swapper(struct task **to, int x) {
  if (x > 1)
    return 2;
  printf("swapped %d\n", (*to)->state);
  return 1;
}

/* -- blocking and helper */
A("blocking when=a0>1") __attribute__((noinline)) static int nap(int s) {
  return s;
}
A("await") __attribute__((noinline)) static void wait_for(int x) {
  printf("waits %d\n", x);
}
A("helper") __attribute__((noinline)) static void wait_twice(void) {
  wait_for(1);
  wait_for(2);
}

/* -- an await of what is a future itself */
A("async") A("await background") __attribute__((noinline)) static int child(int x) {
  wait_for(x);
  return x;
}
A("async") __attribute__((noinline)) static int parent(struct task *t) {
  int total = child(3); /* at its own line, nothing is suspended here */
  total += step(t);     /* a stackless child */
  wait_twice();
  total += nap(1) + nap(2);
  total += swap(t);
  return total;
}
__attribute__((noinline)) static int outside(void) {
  return child(4);
}

int main(void) {
  static struct task one, two, three = {.wait = 7}, *four = &three;
  trace_key(&one, "one");
  trace_key(&two, "two");
  trace_key(&three, "three");
  for (int i = 0; i < 4; i++)
    printf("step %d\n", step(&one));
  printf("%d\n", only_polls(&two));
  printf("%d\n", only_polls(&two));
  for (int i = 0; i < 3; i++)
    resume(i);
  pool(&two, on_pool);
  timer(1, 0);
  timer(2, 1500);
  timer(3, UINT64_MAX); /* never */
  later(4, &three);
  later(5, NULL);
  three.wait = -1; /* never */
  later(6, &three);
  spawn(12);
  until(&(struct moment){2, 500000});
  until(&(struct moment){2, -1}); /* never */
  until(NULL);
  sleepy(0.25);
  sleepy(-1);
  sleepy(1e300);
  one.state = 0;
  printf("%d\n", parent(&one));
  printf("%d\n", swapper(&four, 0));
  printf("%d\n", swapper(&four, 1));
  printf("%d\n", swapper(&four, 2));
  return outside() - 4;
}
/* SPDX-License-Identifier: MIT */
