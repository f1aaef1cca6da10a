// APROF_REQUEST in C++: what is thrown out of the block has failed, what is caught in it has not.
extern "C" {
#include <aprof.h>
}
#include <cstdio>
#include <stdexcept>

struct Held {
  int n;
  ~Held() {
    APROF_REQUEST("released")
      std::printf("released %d\n", n);
  }
};

template <typename T> static T handle(const char *name, T n) {
  APROF_REQUEST(name) {
    Held held = {(int)n};
    if (n == 1)
      return 10;
    try {
      if (n == 2)
        throw std::runtime_error("two");
    } catch (const std::exception &e) {
      std::printf("caught %s inside\n", e.what());
    }
    if (n == 3)
      throw std::runtime_error("three");
  }
  return n;
}

int main() {
  for (int i = 0; i < 4; i++)
    try {
      std::printf("%d\n", handle("all", i));
    } catch (const std::exception &e) {
      std::printf("caught %s\n", e.what());
    }
  auto lambda = [](long n) {
    APROF_REQUEST("lambda")
      std::printf("%ld\n", n);
  };
  lambda(handle("long", 7L));
  return 0;
}
// SPDX-License-Identifier: MIT
