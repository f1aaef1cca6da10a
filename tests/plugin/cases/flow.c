/* Functions that reach fn= by way of fields, wrappers and variables: flow.aprof. */
#include <stdio.h>

void trace_key(const void *address, const char *name);

/* -- a handler without a typedef, put into a struct that is registered */
struct timer {
  void *cookie;
  void (*handler)(void *);
};
void timer_register(struct timer *t) { t->handler(t); }
static void on_assigned(void *t) { printf("assigned %d\n", t != NULL); }
static void on_initialized(void *t) { printf("initialized %d\n", t != NULL); }
static void on_wrapped(void *t) { printf("wrapped %d\n", t != NULL); }
static void on_variable(void *t) { printf("variable %d\n", t != NULL); }
static void on_neither(void *t) { printf("neither %d\n", t != NULL); } /* of the same type */
static void arm(struct timer *t, void (*handler)(void *)) {
  void (*again)(void *) = handler;
  t->handler = again;
  timer_register(t);
}

/* -- an untyped parameter, and a wrapper around it */
void submit(void *what, void *function) { ((void (*)(void *))function)(what); }
static void on_direct(void *p) { printf("direct %d\n", p != NULL); }
static void on_table(void *p) { printf("table %d\n", p != NULL); }
static void on_chosen(void *p) { printf("chosen %d\n", p != NULL); }
static void post(void *what, void *function) { submit(what, function); }
static void (*const table[])(void *) = {on_table};
static void (*choose(int x))(void *) { return x ? on_chosen : on_table; }

/* -- what a macro stores */
struct work {
  int queued;
  void (*func)(struct work *);
};
static void on_work(struct work *w) { printf("work %d\n", w->queued); }

/* -- through a table of operations */
struct ops {
  void (*start)(void *, struct ops *);
};
static void starts(void *function, struct ops *o) { ((void (*)(struct ops *))function)(o); }
static void on_start(struct ops *o) { printf("start %d\n", o != NULL); }

int main(void) {
  struct timer timer = {.handler = on_initialized};
  struct work work;
  struct ops ops = {starts};
  void (*variable)(void *) = on_variable;
  trace_key(&timer, "timer");
  trace_key(&work, "work");
  trace_key(&ops, "ops");
  timer_register(&timer);
  timer.handler = on_assigned;
  timer_register(&timer);
  arm(&timer, on_wrapped);
  timer.handler = variable;
  timer_register(&timer);
  on_neither(&timer);
  submit(&timer, on_direct);
  post(&timer, table[0]);
  post(&timer, choose(1));
  work.func = on_work;
  work.queued = 1;
  work.func(&work);
  ops.start(on_start, &ops);
  return 0;
}
/* SPDX-License-Identifier: MIT */
