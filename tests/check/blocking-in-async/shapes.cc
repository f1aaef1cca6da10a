/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <unistd.h>
#include <uv.h>
using namespace std::chrono_literals;
struct Backend {
  virtual ~Backend() = default;
  virtual void save() = 0;
};
struct FileBackend final : Backend {
  void save() override { ::fsync(3); /* BAD */ }
};
template <typename T>
struct Store {
  T t;
  void commit() { t.write(); }
};
struct W {
  void write() { usleep(1); } // what a template calls of its T is not seen
};
static void cb(uv_timer_t *) {
  std::this_thread::sleep_for(1ms); /* BAD */
  std::unique_ptr<Backend> b = std::make_unique<FileBackend>();
  b->save();
  Store<W> s;
  s.commit();
  auto l = [](int n) {
    sleep(n); /* BAD */
  };
  l(1);
  auto never = [](int n) { sleep(n); };
  (void)never;
  std::future<int> f = std::async([] { return 1; });
  f.get(); /* BAD */
  std::thread t([] { usleep(1); });
  t.join(); /* BAD */
  std::mutex m;
  std::condition_variable cv;
  std::unique_lock lk(m);
  cv.wait(lk); /* BAD */
}
template <class F>
void with(F &&f) {
  f();
}
template <class T>
int of_c(T n) {
  return (int)usleep(n); /* BAD */
}
int wait(int *); // of C, with the name of a method
static void cb3(uv_check_t *) {
  with([] { fsync(5); }); /* BAD */
  with([] {});
  of_c(3L);
  std::promise<int> p;
  std::shared_future<int> f = p.get_future().share();
  f.wait(); /* BAD */
}
struct Dtor {
  ~Dtor() { fsync(1); /* BAD */ }
};
static void cb2(uv_idle_t *) {
  Dtor d;
  (void)d;
  std::thread([] { sleep(3); }).detach();
}
struct Server {
  uv_async_t a;
  void on() { nap(); }
  void nap() { usleep(1); /* BAD */ }
  void start(uv_loop_t *l) {
    a.data = this;
    uv_async_init(l, &a, [](uv_async_t *x) { static_cast<Server *>(x->data)->on(); });
  }
};
int shapes() {
  uv_timer_t t;
  uv_idle_t i;
  uv_check_t c;
  uv_timer_start(&t, cb, 1, 0);
  uv_idle_start(&i, cb2);
  uv_check_start(&c, cb3);
  Server s;
  s.start(uv_default_loop());
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
