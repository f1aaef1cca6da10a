// SPDX-License-Identifier: MIT
// Coroutines of C++20 that hold a lock where they wait.
#include <coroutine>
#include <mutex>

struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int) { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};

struct Wait {
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<>) {}
  int await_resume() { return 1; }
};

static std::mutex mutex;

Task held(int n) {
  std::lock_guard<std::mutex> guard(mutex);
  if (n > co_await Wait{}) /* BAD */
    co_return;
}

Task yielded(int n) {
  std::unique_lock<std::mutex> guard(mutex);
  co_yield n; /* BAD */
  guard.unlock();
  co_yield n;
}

Task apart() {
  int n;
  {
    std::lock_guard<std::mutex> guard(mutex);
    n = 3;
    co_await std::suspend_never{};
  }
  n += co_await Wait{};
  auto later = [n]() -> Task {
    mutex.lock();
    co_await Wait{}; /* BAD */
    mutex.unlock();
  };
  mutex.lock();
  later(); // it gives its stack up: who calls it does not wait
  mutex.unlock();
}
