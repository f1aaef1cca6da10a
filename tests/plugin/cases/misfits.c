/* Null pointers where a line follows them, callbacks that lack the result it asks for, and
   an async body that other lines may mean: the line does not hold, nothing breaks. */
#include <setjmp.h>
#include <stdio.h>

void trace_key(const void *address, const char *name);

struct node {
  int busy;
  struct node *next;
  void (*handler)(void *);
  struct {
    int k;
  } in;
};

__attribute__((noinline)) static void stop(struct node *n) {
  printf("stop %d\n", n != NULL);
}
__attribute__((noinline)) static void start(struct node *n) {
  printf("start %d\n", n != NULL);
}
__attribute__((noinline)) static void timer(struct node *n) {
  printf("timer %d\n", n != NULL);
}
__attribute__((noinline)) static void step(struct node *n) {
  printf("step %d\n", n != NULL);
}
__attribute__((noinline)) static void turn(struct node **n) {
  printf("turn %d\n", n != NULL);
}
/* No warning either that it is compared with NULL. */
__attribute__((noinline, nonnull(1))) static void body(struct node *n) {
  printf("%d\n", n->busy);
}

typedef int callback(void *);
/* Declared: what is passed as their typedef anywhere may come to them. */
static void watch(callback *f, void *a), poll(callback *f, void *a);
__attribute__((noinline)) static void watch(callback *f, void *a) {
  printf("watch %d\n", f && a);
}
__attribute__((noinline)) static void poll(callback *f, void *a) {
  printf("poll %d\n", f && a);
}
static int on_event(void *a) {
  return a == NULL;
}
static void on_void(void *a) {
  printf("void %d\n", a != NULL);
}
static jmp_buf out;
static int on_request(void *a) {
  if (setjmp(out) == 0)
    printf("request %d\n", a != NULL);
  return 0;
}

static int resolved(int x) {
  return x + 1;
}
static int (*resolve_more(void))(int) {
  puts("resolve more");
  return resolved;
}
static int (*resolve(void))(int) {
  return resolved;
}
int indirect(int) __attribute__((ifunc("resolve")));

int main(void) {
  struct node last = {0, NULL, NULL, {3}}, first = {1, &last, on_void, {4}}, *none = NULL;
  callback *volatile called = on_request;
  trace_key(&last, "last");
  trace_key(&first, "first");
  start(NULL), start(&first), start(&last);
  timer(NULL), timer(&first), timer(&last);
  stop(NULL), stop(&first), stop(&last);
  step(NULL), step(&first);
  turn(NULL), turn(&none);
  body(&last), body(&first);
  void (*volatile nothing)(void *) = on_void;
  watch(on_event, &last), watch((callback *)(void (*)(void))on_void, &first);
  poll(on_event, &last), poll((callback *)(void (*)(void))on_void, &first);
  nothing(&first);
  int nobody;
  trace_key(&nobody, "nobody");
  printf("%d %d\n", indirect(1), resolve_more()(2));
  return on_event(&first) + called(&last) + called(&nobody);
}
/* SPDX-License-Identifier: MIT */
