/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <aprof.h>
#include <cerrno>
#include <coroutine>
#include <string>
#include <vector>
struct Ctx {
  int depth;
  std::string name;
  static thread_local Ctx cur;
  static Ctx &current() { return cur; }
  void enter() {}
};
thread_local Ctx Ctx::cur;
thread_local std::vector<int> tv;
thread_local int ti;
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
struct Wait {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<>) {}
  int await_resume() { return 1; }
};
Task d1() {
  auto &c = Ctx::current();
  co_await Wait{};
  c.depth++; /* BAD */
}
Task d2() {
  int &e = errno;
  co_await Wait{};
  e = 0; /* BAD */
}
Task d3() {
  Ctx *c = &Ctx::cur;
  co_await Wait{};
  c->enter(); /* BAD */
}
Task d4() {
  auto &v = tv;
  v.push_back(1);
  co_await Wait{};
  v.clear(); /* BAD */
}
Task d4_ok() {
  auto v = tv;
  v.push_back(1);
  co_await Wait{};
  v.clear();
}
Task d5() {
  {
    auto &c = Ctx::current();
    c.depth++;
  }
  co_await Wait{};
  auto &c = Ctx::current();
  c.depth--;
}
Task d6() {
  static thread_local int n;
  int *p = &n;
  co_await Wait{};
  ++*p; /* BAD */
}
Task d7() {
  int copy = ti;
  co_await Wait{};
  ti = copy;
}
Task d8() {
  const int &r = ti;
  for (int i = 0; i < 3; i++) {
    if (r > 3) /* BAD */
      co_return;
    co_await Wait{};
  }
}
