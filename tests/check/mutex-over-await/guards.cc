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
  table->by_hand();
}
