/* Callbacks that another unit gives to a create, known here by their type: likely.aprof. */
#include <stdio.h>

struct tick {
  int id;
};
struct item {
  int id;
};

extern void trace_key(const void *, const char *);
void tick_start(struct tick *, void (*)(struct tick *));
void post(void *, void (*)(void *));
void both(struct item *, void (*)(struct item *, int), void (*)(struct item *, char));
void reads(struct item *, void (*)(struct item *));
void named(struct item *, void (*)(struct item *, long));
void unnamed(struct item *);

void on_tick(struct tick *);
void on_const(const struct tick *);
int on_result(struct tick *);
void on_post(void *);
void on_both(struct item *, int);
void on_read(struct item *);
void on_named(struct item *, long);

/* It may be one: public, and of the type. */
void on_tick(struct tick *t) { printf("tick %d\n", t->id); }
/* Of another type, or nobody else's, or of a type that tells nothing, or with a key that
   would follow a stranger's pointer, or with futures that any body may run. */
void on_const(const struct tick *t) { printf("const %d\n", t->id); }
int on_result(struct tick *t) { return t->id; }
static void own_tick(struct tick *t) { printf("own %d\n", t->id); }
void on_post(void *p) { printf("post %d\n", p != NULL); }
void on_both(struct item *i, int n) { printf("both %d\n", i->id + n); }
void on_read(struct item *i) { printf("read %d\n", i->id); }
void on_named(struct item *i, long n) { printf("named %ld\n", i->id + n); }

int main(void) {
  struct tick tick = {1};
  struct item item = {2};
  trace_key(&tick, "tick");
  trace_key(&item, "item");
  on_tick(&tick);
  on_const(&tick);
  own_tick(&tick);
  on_post(&tick);
  on_both(&item, 1);
  on_read(&item);
  on_named(&item, 1);
  return on_result(&tick) - 1;
}
/* SPDX-License-Identifier: MIT */
