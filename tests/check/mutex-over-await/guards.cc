// SPDX-License-Identifier: MIT
// Locks that scopes hold.
#include <aprof.h>
#include <mutex>

APROF_AWAIT void yield_now();

struct Table {
  std::mutex mutex;
  APROF_ASYNC void held() {
    std::lock_guard<std::mutex> guard(mutex);
    yield_now(); /* BAD */
  }
  APROF_ASYNC void apart() {
    { std::lock_guard<std::mutex> guard(mutex); }
    yield_now();
  }
  APROF_ASYNC void given_up() {
    std::unique_lock<std::mutex> guard(mutex);
    guard.unlock();
    yield_now();
  }
  APROF_ASYNC void by_hand() {
    mutex.lock();
    yield_now(); /* BAD */
    mutex.unlock();
  }
};

void use(Table *table) {
  table->held();
  table->apart();
  table->given_up();
  table->by_hand();
}
