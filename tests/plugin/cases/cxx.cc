/* C++ by name: namespaces, methods, templates, lambdas, mangled names: cxx.aprof. */
#include <cctype>
#include <cstdio>

extern "C" void trace_key(const void *address, const char *name);

namespace net {

struct job {
  int id;
};
typedef void (*job_fn)(job *);

struct loop {
  void post(job *j, job_fn f) { f(j); }
};

template <typename T>
__attribute__((noinline)) void later(T *what, void (*f)(T *)) {
  f(what);
}

struct timer {
  job_fn function;
  job own{7};
  explicit timer(job_fn f) : function(f) {}
  ~timer() { std::printf("timer gone\n"); }
};

struct watcher {
  void (*handler)(watcher *);
};
__attribute__((noinline)) void watch(watcher *w) { w->handler(w); }

struct task {
  virtual ~task() {}
  __attribute__((noinline)) void wait(int n) { std::printf("waits %d\n", n); }
  virtual void body(int n) {
    wait(n);
    if (n == 2)
      throw n;
  }
};

template <typename T>
struct fiber {
  T left;
  __attribute__((noinline)) bool step() { return --left > 0; }
};

struct stepper {
  int n;
  __attribute__((noinline)) int operator()() { return n++; }
};

__attribute__((noinline)) void anon(int x) { std::printf("anon %d\n", x); }
__attribute__((noinline)) void file_sync() { std::printf("sync\n"); }

} // namespace net

static void on_job(net::job *j) { std::printf("job %d\n", j->id); }
static void on_watch(net::watcher *w) { std::printf("watch %d\n", w != nullptr); }

int main() {
  net::job job{1};
  net::loop loop;
  net::watcher watcher{on_watch};
  net::task task;
  net::fiber<long> fiber{2};
  net::stepper stepper{0};
  trace_key(&job, "job");
  trace_key(&watcher, "watcher");
  trace_key(&stepper, "stepper");
  loop.post(&job, on_job);
  loop.post(&job, [](net::job *j) { std::printf("lambda %d\n", j->id); });
  net::later(&job, on_job);
  net::later<net::job>(&job, [](net::job *j) { std::printf("later %d\n", j->id); });
  {
    net::timer timer(on_job);
    trace_key(&timer, "timer");
    timer.function(&job);
  }
  net::watch(&watcher);
  task.body(1);
  try {
    task.body(2);
  } catch (int n) {
    std::printf("caught %d\n", n);
  }
  while (fiber.step())
    ;
  stepper();
  stepper();
  net::anon(3);
  net::file_sync();
  return 0;
}
/* SPDX-License-Identifier: MIT */
