/* What a line may name beside its arguments: variables, functions, enumerators, types, and a list of
   names in a file of its own. */
#include <stdio.h>
void trace_key(const void *address, const char *name);
struct T { int id; struct T *f; void (*cb)(void *); };
enum { STATE_OPEN = 2 };
struct pool { struct T active; int n; } g;
static struct T *hidden;
static long now_us(void) { return 1000; }
unsigned now_ms = 50;
typedef struct { struct T *process; void (*fn)(void *); } task;
static void io_cb(void *p) { printf("io_cb\n"); (void)p; }
static void other_cb(void *p) { printf("other\n"); (void)p; }
__attribute__((noinline)) void use(struct T *t, void *v) { (void)t; (void)v; __asm__ volatile(""); }
__attribute__((noinline)) void opaque(void *self, void *v) { (void)self; (void)v;__asm__ volatile(""); }
__attribute__((noinline)) void state(int s, void *v) { (void)s; (void)v; __asm__ volatile("");}
__attribute__((noinline)) void timer(void *v, unsigned long at) { (void)v; (void)at; __asm__ volatile("");}
__attribute__((noinline)) void dispatch(struct T *t) { t->cb(t); }
__attribute__((noinline)) void listed_one(void) { __asm__ volatile("");}
__attribute__((noinline)) void listed_two(void) { __asm__ volatile("");}
__attribute__((noinline)) void set(task *k, void (*f)(void *)) { k->fn = io_cb; k->fn = other_cb; k->fn = f; }
int main(void) {
  struct T t = {7, &g.active, io_cb}, u = {8, &t, other_cb};
  task k;
  hidden = &u;
  trace_key(&g.active, "active"); trace_key(&t, "t"); trace_key(&u, "u"); trace_key(&g, "g");trace_key(io_cb, "io_cb");
  use(&g.active, &t); use(&t, &u); use(&u, &t); 
  opaque(&u, &t);
  state(2, &t); state(1, &u);
  timer(&t, 60000); timer(&u, 10); timer(&g, -1ul);
  dispatch(&t); dispatch(&u);
  trace_key(&k, "k");
  set(&k, io_cb);
  listed_one(); listed_two();
  return 0;
}
/* SPDX-License-Identifier: MIT */
