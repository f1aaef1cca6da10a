// Spans in C++: exceptions, methods, templates; what is thrown past a span closes it.
#include <cstdio>
#include <stdexcept>

#define A(text) __attribute__((aprof(text)))
#define NOINLINE __attribute__((noinline))

A("await tier=wait") void wait_for(int what);
NOINLINE void wait_for(int what) {
  std::printf("waits %d\n", what);
  if (what > 5)
    throw std::runtime_error("too long");
}

struct Held {
  ~Held() { std::printf("released\n"); }
};

struct Parser {
  A("span tier=parse") int run(int x) {
    Held held;
    wait_for(x);
    return x + 1;
  }
  A("span") virtual ~Parser() {}
};

template <typename T> A("span") T twice(T x) {
  if (x > 3)
    throw x;
  return x + x;
}

A("span call: tier=outer") NOINLINE int outer(int x) {
  Parser parser;
  return parser.run(x) + twice(x);
}

A("request label=a0:int") int handle(int x) {
  try {
    return outer(x);
  } catch (const std::exception &e) {
    std::printf("caught %s\n", e.what());
  }
  return 0;
}

int main(int argc, char **) {
  for (int x : {1, 9, 4})
    try {
      std::printf("%d\n", handle(x));
    } catch (int y) {
      std::printf("threw %d\n", y);
    }
  auto lambda = [](int x) A("span tier=lambda") { return x; };
  return lambda(argc - 1);
}
// SPDX-License-Identifier: MIT
