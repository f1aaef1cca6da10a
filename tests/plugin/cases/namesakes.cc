/* C++ functions that have the name of a function of C: overloads, methods, templates and
   functions of a namespace that call it. A bare name means the one of C, once. */
#include <cstdio>

struct co {
  int id;
};

extern "C" {
void trace_key(const void *address, const char *name);
void co_switch(co *to);
void co_new(co *what, void (*run)(co *, int));
void co_wait(int ms);
void co_main(co *c);
void co_wake(co *c);
void co_done(co *c);
}

inline void co_switch(co &to) { co_switch(&to); }
inline void co_done(co &c) { co_done(&c); }

namespace wrap {

template <typename T>
void co_new(co *what, T run) {
  ::co_new(what, run);
}
void co_main(co *c) { ::co_main(c); }
void co_wake(co *c) { std::printf("wakes %d\n", c->id); }
struct waiter {
  co *of;
  void co_wait(int ms) const { ::co_wait(ms + of->id); }
  void co_idle() const { std::printf("idle\n"); }
};
void spin(int n) { std::printf("spin %d\n", n); }
void spin(int *n) { spin(*n + 1); }

} // namespace wrap

extern "C" {
__attribute__((noinline)) void co_switch(co *to) { std::printf("to %d\n", to->id); }
__attribute__((noinline)) void co_new(co *what, void (*run)(co *, int)) { run(what, 1); }
__attribute__((noinline)) void co_wait(int ms) { std::printf("waits %d\n", ms); }
__attribute__((noinline)) void co_main(co *c) { std::printf("main %d\n", c->id); }
__attribute__((noinline)) void co_wake(co *c) { wrap::co_wake(c); }
__attribute__((noinline)) void co_done(co *c) { std::printf("done %d\n", c->id); }
}

static void on_co(co *c, int) { std::printf("runs %d\n", c->id); }

int main() {
  co one = {1};
  wrap::waiter waiter = {&one};
  int n = 2;
  trace_key(&one, "one");
  co_switch(one);
  co_switch(&one);
  wrap::co_new(&one, on_co);
  waiter.co_wait(10);
  wrap::co_main(&one);
  co_wake(&one);
  co_done(one);
  waiter.co_idle();
  wrap::spin(&n);
  return 0;
}
/* SPDX-License-Identifier: MIT */
