/* Calls that end who runs and do not come back (here they do, to be seen): noreturn, and
   end beside await; and an await behind which a pool thread goes on. */
#include <stdio.h>
#include <stdlib.h>

void trace_key(const void *address, const char *name);

static int self, other;
__attribute__((noinline)) static int *task_self(void) {
  return &self;
}
__attribute__((noinline)) static void co_exit(void) {
  puts("exit");
}
__attribute__((noinline)) static void task_exit(int x) {
  printf("task_exit %d\n", x);
}
__attribute__((noinline)) static void co_leave(void) {
  puts("leave");
}
__attribute__((noinline)) static int co_maybe(int x) {
  return printf("maybe %d\n", x);
}
__attribute__((noinline)) static void co_wait(void) {
  puts("wait");
}
__attribute__((noinline)) static int co_join(int *task) {
  return task == &self;
}
__attribute__((noinline)) static void co_kill(int *task) {
  printf("kill %d\n", *task);
}
__attribute__((noinline)) static void co_end(void) {
  puts("end");
}
__attribute__((noinline)) static void pool_begin(void) {
  puts("pool");
}
__attribute__((noreturn, noinline, aprof("end key=cur how=failed"))) static void
co_fail(int status) {
  exit(status);
}

int main(void) {
  trace_key(&self, "self");
  trace_key(&other, "other");
  co_exit();
  task_exit(1);
  co_leave();
  printf("%d\n", co_maybe(0) + co_maybe(1));
  co_wait();
  printf("%d %d\n", co_join(&self), co_join(&other));
  co_kill(&other);
  co_end();
  pool_begin();
  co_fail(task_self() != &self);
}
/* SPDX-License-Identifier: MIT */
