/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <coroutine>
#include <memory>
#include <optional>
#include <utility>
#include <vector>
template <typename T>
struct task {
  struct promise_type {
    T v;
    task get_return_object() {
      return task{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    auto initial_suspend() noexcept { return std::suspend_always{}; }
    auto final_suspend() noexcept { return std::suspend_always{}; }
    void return_value(T x) { v = x; }
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> h;
  explicit task(std::coroutine_handle<promise_type> x) : h(x) {}
  task(task &&o) noexcept : h(std::exchange(o.h, {})) {}
  ~task() {
    if (h)
      h.destroy();
  }
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<>) { h.resume(); }
  T await_resume() { return h.promise().v; }
};
template <>
struct task<void> {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<>) {}
  void await_resume() {}
};
task<int> num(int n) {
  co_return n;
}
task<void> log_it(int) {
  co_return;
}
struct svc {
  task<void> flush() { co_return; }
  task<int> get(int n) { co_return n; }
  virtual task<void> close() { co_return; }
  virtual ~svc() = default;
};
task<void> e1(svc &s) {
  s.flush(); /* BAD */
  co_return;
}
task<void> e2(svc &s) {
  co_await s.flush();
  auto n = co_await s.get(1);
  if (n)
    log_it(n); /* BAD */
  co_return;
}
task<void> e3(svc &s) {
  auto t = s.get(1);
  co_await std::move(t);
}
task<void> e4(svc &s, int n) {
  auto t = s.get(1); /* BAD */
  if (n == 3)
    co_return;
  co_await std::move(t);
}
task<void> e5(svc &s) {
  std::vector<task<int>> v;
  v.push_back(s.get(1));
  v.emplace_back(num(2));
  for (auto &t : v)
    co_await t;
}
task<void> e6(svc &s) {
  for (int i = 0; i < 3; i++) {
    s.get(i); /* BAD */
    co_await log_it(i);
  }
}
task<void> e7(svc &s) {
  auto f = [&]() -> task<void> { co_await s.flush(); };
  co_await f();
}
task<void> e8(svc &s) {
  auto f = [&]() -> task<void> { co_await s.flush(); };
  f(); /* BAD */
  co_return;
}
task<int> e9(int n) {
  return num(n);
}
task<void> e10(int n) {
  e9(n); /* BAD */
  co_return;
}
task<void> e11(svc *s) {
  s->close(); /* BAD */
  co_return;
}
task<void> e12(int n) {
  std::optional<task<int>> t;
  t.emplace(num(n));
  co_await *t;
}
task<int> e13(int n) {
  auto t = n ? num(1) : num(2);
  co_return co_await t;
}
task<void> e14(int n) {
  (void)num(n); /* BAD */
  co_return;
}
task<void> e15(int n) {
  switch (n) {
  case 1:
    num(1); /* BAD */
    break;
  case 2:
    co_await num(2);
    break;
  }
}
