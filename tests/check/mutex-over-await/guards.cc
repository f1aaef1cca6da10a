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
  APROF_ASYNC void not_yet() {
    std::unique_lock<std::mutex> guard(mutex, std::defer_lock);
    yield_now();
  }
  APROF_ASYNC void of_none() {
    std::unique_lock<std::mutex> guard;
    yield_now();
  }
  APROF_ASYNC void swapped() {
    std::unique_lock<std::mutex> guard(mutex), other;
    guard.swap(other);
    other.unlock();
    yield_now();
  }
  APROF_ASYNC void kept() {
    std::unique_lock<std::mutex> guard(mutex);
    yield_now(); /* BAD */
  }
  APROF_ASYNC void again() {
    std::unique_lock<std::mutex> guard(mutex);
    guard.unlock();
    yield_now();
    guard.lock();
    yield_now(); /* BAD */
  }
  APROF_ASYNC void tried() {
    if (!mutex.try_lock())
      yield_now();
    else
      mutex.unlock();
    if (mutex.try_lock()) {
      yield_now(); /* BAD */
      mutex.unlock();
    }
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
  table->not_yet();
  table->of_none();
  table->swapped();
  table->kept();
  table->again();
  table->tried();
  table->by_hand();
}

// One of the program's own.
struct Holder {
  explicit Holder(Table &table) : table(table) { table.mutex.lock(); }
  ~Holder() { table.mutex.unlock(); }
  Table &table;
};

APROF_ASYNC void own_guard(Table &table) {
  { Holder holder(table); }
  yield_now();
  Holder holder(table);
  yield_now(); /* BAD */
}
