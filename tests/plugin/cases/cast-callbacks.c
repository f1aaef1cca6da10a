/* Callbacks cast to the type that a library wants, as C programs do: they are called with what
   that type says, whatever they take it for. One of an argument that cannot be it is left
   alone, and so is one whose key could be looked for in another's memory. */
#include <stdio.h>

void trace_key(const void *address, const char *name);

struct timer;
typedef void (*timer_cb)(struct timer *);
struct timer {
  int id, active;
  timer_cb cb;
};
struct session {
  struct timer timer;
  const char *name;
};
typedef void (*generic)(void *);

__attribute__((noinline)) static void timer_start(struct timer *t, timer_cb cb) {
  t->cb = cb;
  t->active = 1;
}
__attribute__((noinline)) static void watch(struct timer *t, timer_cb cb) { t->cb = cb; }

static void on_session(struct session *s) { printf("%s\n", s->name); }
static void on_anything(void *p) { printf("anything %d\n", p != NULL); }
static void on_number(unsigned long address) { printf("number %d\n", address != 0); }
static void on_fraction(double d) { printf("fraction %d\n", d != d); }
static void on_generic(void *p) { printf("generic %d\n", p != NULL); }
static void on_line(void *p) { printf("line %d\n", *(int *)p); }

static struct entry {
  const char *name;
  generic handler;
} table[] = {{"line", on_line}, {"timer", on_generic}};

static void fire(struct timer *t) {
  t->active = 0;
  t->cb(t);
}

static struct session sessions[6];

int main(void) {
  static const generic watchers[] = {on_line, on_generic};
  static struct timer line = {7, 1, NULL};
  sessions[0].name = "session";
  for (int i = 0; i < 6; i++)
    trace_key(&sessions[i].timer, "timer");
  trace_key(&line, "line");
  timer_start(&sessions[0].timer, (timer_cb)on_session);
  timer_start(&sessions[1].timer, (timer_cb)on_anything);
  timer_start(&sessions[2].timer, (timer_cb)(void (*)(void))on_number);
  timer_start(&sessions[3].timer, (timer_cb)table[1].handler);
  if (line.id == 0)
    timer_start(&sessions[4].timer, (timer_cb)(void (*)(void))on_fraction);
  watch(&sessions[5].timer, (timer_cb)watchers[1]);
  for (int i = 0; i < 4; i++)
    fire(&sessions[i].timer);
  sessions[5].timer.cb(&sessions[5].timer);
  table[0].handler(&line);
  return 0;
}
/* SPDX-License-Identifier: MIT */
