/* Calls through fields and assignments to them: icall: and store:. */
#include <stdio.h>

void trace_key(const void *address, const char *name);

struct request;
typedef void (*request_cb)(struct request *, int);
struct request {
  int id;
  union { /* without a name: no part of a path */
    request_cb cb;
    long other;
  };
};
typedef struct stream {
  int fd;
  struct {
    void (*read)(int);
    void (*write)(int);
  } handlers;
  struct request requests[2];
} stream_t;
typedef struct {
  int on;
  void (*wait)(void);
  int (*start)(void (*)(int));
} ops_t;
struct event {
  void (*handler)(int);
  unsigned posted : 1;
  int ready;
};
struct list {
  int n;
  struct {
    struct list *next;
  } head;
};

static void on_request(struct request *r, int x) { printf("request %d %d\n", r->id, x); }
static void on_int(int x) { printf("int %d\n", x); }
static void waits(void) { printf("waits\n"); }
static int starts(void (*f)(int)) { return f == on_int ? 0 : -1; }
static volatile int yes = 1;

static ops_t ops = {1, waits, starts};

/* -- straight, and through a variable */
__attribute__((noinline)) static void straight(struct request *r) { r->cb(r, 1); }
__attribute__((noinline)) static void loaded(struct request *r) {
  request_cb cb = r->cb;
  r->id++;
  if (cb)
    cb(r, 2);
}
__attribute__((noinline)) static void in_a_loop(struct request *r, int n) {
  for (int i = 0; i < n; i++, r++) {
    request_cb cb;
    cb = r->cb;
    if (cb == NULL)
      continue;
    cb(r, 3 + i);
  }
}
/* -- not to be told: the variable or the object has another value by then */
__attribute__((noinline)) static void changed(struct request *r, struct request *other) {
  request_cb cb = r->cb;
  if (yes)
    cb = on_request;
  cb(r, 5);
  cb = r->cb;
  r = other;
  cb(r, 6);
}
__attribute__((noinline)) static void moves_on(struct request *r) {
  request_cb cb = r->cb;
  struct request *end = r + 2;
  do
    cb(r, 7);
  while (++r != end);
}
__attribute__((noinline)) static void leaked(struct request *r) {
  request_cb cb = r->cb, *where = &cb;
  *where = on_request;
  cb(r, 8);
}

/* -- fields of fields, typedefs, tables */
__attribute__((noinline)) static void nested(stream_t *s, int i) {
  s->handlers.read(1);
  s->handlers.write(2); /* another field */
  s->requests[i].cb(&s->requests[i], 9);
}
__attribute__((noinline)) static int table(void) {
  ops.wait();
  ops.on = 0;
  ops.wait();
  return ops.start(on_int) + ops.start(NULL);
}

/* -- assignments */
__attribute__((noinline)) static void posts(struct event *e, struct list *l, int posted) {
  e->posted = 1;
  e->posted = 0;
  e->posted = posted; /* only the run can tell */
  e->ready = 0;
  e->ready = posted;
  l->head.next = NULL;
  l->n = 1;
}

int main(void) {
  static struct request requests[2] = {{1, {on_request}}, {2, {on_request}}};
  static stream_t stream = {3, {on_int, on_int}, {{4, {NULL}}, {5, {on_request}}}};
  static struct event event = {.handler = on_int};
  static struct list list;
  trace_key(&requests[0], "first");
  trace_key(&requests[1], "second");
  trace_key(&stream, "stream");
  trace_key(&stream.requests[1], "inner");
  trace_key(&ops, "ops");
  trace_key(&event, "event");
  trace_key(&list, "list");
  straight(&requests[0]);
  loaded(&requests[0]);
  in_a_loop(requests, 2);
  in_a_loop(stream.requests, 2);
  changed(&requests[0], &requests[1]);
  moves_on(requests);
  leaked(&requests[0]);
  nested(&stream, 1);
  printf("%d\n", table());
  posts(&event, &list, 0);
  posts(&event, &list, 1);
  return 0;
}
/* SPDX-License-Identifier: MIT */
