// SPDX-License-Identifier: MIT
// Coroutines of C++20 that begin when they are awaited, and others.
#include <coroutine>
#include <utility>

template <typename Initial>
struct TaskOf {
  struct promise_type {
    TaskOf get_return_object() { return {}; }
    Initial initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_value(int) {}
    void unhandled_exception() {}
  };
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<>) {}
  int await_resume() { return 1; }
  void start() {}
};
using Lazy = TaskOf<std::suspend_always>;
using Eager = TaskOf<std::suspend_never>;

static Lazy count(int n) {
  co_return n;
}

static Eager begin(int n) {
  co_return n;
}

static void spawn(Lazy &&task) {
  task.start();
}

static Lazy passed() {
  return count(1);
}

Lazy drops(int n) {
  count(n); /* BAD */
  begin(n);
  auto lost = count(n); /* BAD */
  if (n > 3)
    co_return 0;
  co_return co_await lost;
}

Lazy awaits(int n) {
  auto kept = count(n), moved = count(n), started = count(n);
  int sum = co_await count(n) + co_await kept + co_await std::move(moved);
  started.start();
  spawn(count(2));
  co_return sum;
}

void use(int n) {
  drops(n).start();
  spawn(awaits(n));
  spawn(passed());
}

// A generator is asked by whoever wants what it yields.
struct Numbers {
  struct promise_type {
    Numbers get_return_object() { return {}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int) { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  int *begin() { return nullptr; }
  int *end() { return nullptr; }
};

static Numbers numbers() {
  co_yield 1;
}

Lazy in_a_try(int n) {
  auto task = count(n);
  auto all = numbers();
  int sum = 0;
  for (int i : numbers())
    sum += i;
  try {
    task.start();
  } catch (...) {
    sum = 0;
  }
  co_return sum;
}
