/* Values that are calls, several keys, and every form of a | run: values.aprof. */
#include <stdio.h>
#include <stdlib.h>

void trace_key(const void *address, const char *name);

/* -- an event that the callback does not see */
typedef void (*ev_cb)(void *);
struct ev {
  ev_cb callback;
  void *argument;
};
static int asked;
ev_cb ev_callback(const struct ev *e) { return asked++, e->callback; }
static inline void *ev_argument(const struct ev *e) { return e->argument; }
unsigned char ev_number(struct ev *e, long plus) { return (unsigned char)(e ? plus : 0); }
struct ev *ev_new(ev_cb callback, void *argument) {
  static struct ev e;
  e = (struct ev){callback, argument};
  return &e;
}
void ev_wake(struct ev *e) { (void)e; }
void ev_free(struct ev *e) { e->callback = NULL; }

static void on_event(void *argument) { printf("event %d\n", *(int *)argument); }

/* -- | run */
struct item {
  void (*fn)(struct item *);
};
typedef void (*done_cb)(struct item *, int);
void post(struct item *i, void (*f)(struct item *)) { f(i); }
void send(struct item *i, void (*f)(struct item *)) { f(i); }
void submit(struct item *i) { (void)i; }
void enqueue(struct item *i) { (void)i; }
void park(struct item *i) { (void)i; }

static void on_post(struct item *i) { printf("posted %d\n", i != NULL); }
static void on_send(struct item *i) { printf("sent %d\n", i != NULL); }
static void on_done(struct item *i, int n) { printf("done %d %d\n", i != NULL, n); }
static void on_item(struct item *i) { printf("item %d\n", i != NULL); }

/* -- an object that is asked for by its number, and may be gone by then */
static struct item *known;
struct item *source_find(int number) { return asked++, number == 1 ? known : NULL; }
int source_add(struct item *i) {
  known = i;
  return i->fn ? 1 : 2;
}

/* -- bodies that mean wake and end */
typedef void (*close_cb)(struct item *);
static void on_ring(struct item *i) { printf("ring %d\n", i != NULL); }
static void on_close(struct item *i) { printf("close %d\n", i != NULL); }
static void on_gone(struct item *i) { printf("gone %d\n", i != NULL); }

int main(void) {
  int number = 7;
  struct item item = {on_item};
  done_cb done = on_done;
  trace_key(&number, "number");
  trace_key(&item, "item");
  trace_key((void *)on_event, "on_event");
  struct ev *e = ev_new(on_event, &number);
  ev_wake(e);
  e->callback(e->argument);
  ev_free(e);
  post(&item, on_post);
  send(&item, on_send);
  submit(&item);
  done(&item, 1);
  enqueue(&item);
  item.fn(&item);
  park(&item);
  source_add(&item);
  source_add(&(struct item){NULL});
  close_cb gone = on_gone;
  on_ring(&item);
  on_close(&item);
  on_close(NULL);
  gone(&item);
  printf("%d\n", asked);
  return 0;
}
/* SPDX-License-Identifier: MIT */
