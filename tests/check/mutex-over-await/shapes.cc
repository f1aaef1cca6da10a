/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <aprof.h>
#include <coroutine>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
APROF_AWAIT void yield_now();
void plain();
bool test(int);
struct T {
  std::mutex m;
  std::shared_mutex s;
  std::recursive_mutex r;
  int n;
};
APROF_ASYNC void c1(T &t) {
  std::scoped_lock l(t.m);
  yield_now(); /* BAD */
}
APROF_ASYNC void c2(T &t) {
  std::scoped_lock l{t.m, t.r};
  yield_now(); /* BAD */
}
APROF_ASYNC void c3(T &t) {
  std::lock_guard l{t.m};
  yield_now(); /* BAD */
}
APROF_ASYNC void c4(T &t) {
  std::unique_lock l{t.m};
  if (test(1)) {
    l.unlock();
    yield_now();
    l.lock();
  }
  plain();
}
APROF_ASYNC void c5(T &t) {
  std::shared_lock l{t.s};
  yield_now(); /* BAD */
}
APROF_ASYNC void c6(T &t) {
  if (std::unique_lock l{t.m, std::try_to_lock}; l.owns_lock()) {
    plain();
  }
  yield_now();
}
APROF_ASYNC void c7(T &t) {
  if (std::lock_guard l{t.m}; t.n > 3) {
    yield_now(); /* BAD */
  }
  yield_now();
}
APROF_ASYNC void c8(T &t) {
  auto f = [&] {
    std::lock_guard l{t.m};
    plain();
  };
  f();
  yield_now();
}
APROF_ASYNC void c9(T &t) {
  std::lock_guard l{t.m};
  auto f = [&] { yield_now(); };
  f(); /* BAD */
}
APROF_ASYNC void c10(T &t) {
  for (int i = 0; i < 3; i++) {
    std::lock_guard l{t.m};
    if (test(i))
      continue;
    if (test(2))
      break;
    plain();
  }
  yield_now();
}
APROF_ASYNC void c11(T &t) {
  try {
    std::lock_guard l{t.m};
    plain();
  } catch (...) {
    yield_now();
  }
  yield_now();
}
APROF_ASYNC void c12(T &t) {
  t.m.lock();
  std::lock_guard l{t.m, std::adopt_lock};
  yield_now(); /* BAD */
}
APROF_ASYNC void c13(T &t) {
  auto l = std::unique_lock<std::mutex>(t.m);
  yield_now(); /* BAD */
}
APROF_ASYNC void c14(T &t) {
  auto l = std::make_unique<std::lock_guard<std::mutex>>(t.m);
  l.reset();
  yield_now();
}
class Guard {
  std::mutex &m_;

public:
  explicit Guard(std::mutex &m) : m_(m) { m_.lock(); }
  ~Guard() { m_.unlock(); }
};
APROF_ASYNC void c15(T &t) {
  Guard g(t.m);
  yield_now(); /* BAD */
}
APROF_ASYNC void c16(T &t) {
  {
    Guard g(t.m);
    plain();
  }
  yield_now();
}
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
Task c17(T &t) {
  std::lock_guard l{t.m};
  co_await Wait{}; /* BAD */
}
Task c18(T &t) {
  {
    std::lock_guard l{t.m};
    t.n++;
  }
  co_await Wait{};
}
Task c19(T &t) {
  std::unique_lock l{t.m};
  while (t.n < 3) {
    co_await Wait{}; /* BAD */
  }
  l.unlock();
  co_await Wait{};
}
Task c20(T &t) {
  std::unique_lock l{t.m};
  int n = t.n;
  l.unlock();
  switch (n) {
  case 1:
    co_await Wait{};
    break;
  default:
    co_return;
  }
}
struct Base {
  T &t;
  std::unique_lock<std::mutex> grab() { return std::unique_lock<std::mutex>(t.m); }
};
Task c21(Base &b) {
  auto l = b.grab();
  co_await Wait{}; /* BAD */
}
Task c22(Base &b) {
  { auto l = b.grab(); }
  co_await Wait{};
}
template <typename F>
void locked(T &t, F &&f) {
  std::lock_guard l{t.m};
  f();
}
APROF_ASYNC void c23(T &t) {
  locked(t, [] { plain(); });
  yield_now();
}
namespace ns {
template <class M>
struct MyLock {
  M &m;
  MyLock(M &x) : m(x) { m.lock(); }
  ~MyLock() { m.unlock(); }
};
} // namespace ns
APROF_ASYNC void c24(T &t) {
  ns::MyLock<std::mutex> l(t.m);
  yield_now(); // what a template calls of its T is not seen
}
APROF_ASYNC void c25(T &t) {
  ns::MyLock l{t.m};
  plain();
  yield_now(); // what a template calls of its T is not seen
}
APROF_ASYNC void c26(T &t) {
  std::unique_lock<std::mutex> l(t.m, std::defer_lock);
  l.lock();
  yield_now(); /* BAD */
}
APROF_ASYNC void c27(T &t) {
  std::unique_lock<std::mutex> l(t.m, std::defer_lock);
  if (l.try_lock()) {
    yield_now(); /* BAD */
  }
}
// Guards that take over, give up for a while, or say what they have.
APROF_ASYNC void c28(T &t) {
  t.m.lock();
  {
    std::lock_guard<std::mutex> l(t.m, std::adopt_lock);
    plain();
  }
  yield_now();
}
APROF_ASYNC void c29(T &t) {
  t.m.lock();
  std::lock_guard<std::mutex> l(t.m, std::adopt_lock);
  yield_now(); /* BAD */
}
class Unguard {
  std::mutex &m_;

public:
  explicit Unguard(std::mutex &m) : m_(m) { m_.unlock(); }
  ~Unguard() { m_.lock(); }
};
APROF_ASYNC void c30(T &t) {
  t.m.lock();
  {
    Unguard u(t.m);
    yield_now();
  }
  t.m.unlock();
  yield_now();
}
APROF_ASYNC void c31(T &t) {
  t.m.lock();
  {
    Unguard u(t.m);
    plain();
  }
  yield_now(); /* BAD */
  t.m.unlock();
}
APROF_ASYNC void c32(T &t) {
  if (std::unique_lock<std::mutex> l(t.m, std::try_to_lock); l) {
    yield_now(); /* BAD */
  }
}
APROF_ASYNC void c33(T &t) {
  std::unique_lock<std::mutex> l(t.m, std::try_to_lock);
  if (!l.owns_lock()) {
    yield_now();
    return;
  }
  plain();
}
template <typename F>
void guarded(T &t, F f) {
  std::lock_guard l{t.m};
  f(); /* BAD */
}
APROF_ASYNC void c34(T &t) {
  guarded(t, [] { yield_now(); });
}
