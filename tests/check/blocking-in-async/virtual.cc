// SPDX-License-Identifier: MIT
// Methods that others override, and coroutines.
#include <coroutine>
#include <unistd.h>
#include <uv.h>

struct Sink {
  virtual ~Sink() = default;
  virtual void write() = 0;
  virtual void close() {}
  virtual void sync() { usleep(1); } // nobody calls it
};

struct Disk : Sink {
  void write() override { fsync(1); } /* BAD */
  void close() override { fdatasync(1); } /* BAD */
};

struct Cached : Disk {
  void write() override {}
};

static void on_idle(uv_idle_t *idle) {
  Sink *sink = static_cast<Sink *>(idle->data);
  sink->write();
  sink->close();
}

void idle_start(uv_idle_t *idle) {
  idle->data = idle->flags ? new Disk : new Cached;
  uv_idle_start(idle, on_idle);
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

Task waits(int count) {
  while (count-- > 0) {
    int n = co_await Wait{};
    if (n > 1)
      sleep(1); /* BAD */
  }
  co_return;
}

Task waits_for_nothing() {
  sleep(1);
  co_return;
}
