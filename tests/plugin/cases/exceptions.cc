// C++: exceptions, destructors, methods, virtual calls, templates, lambdas.
#include <cstdio>
#include <stdexcept>

#define A(text) __attribute__((aprof(text)))

A("await") void wait_for(int what);
__attribute__((noinline)) void wait_for(int what) {
  std::printf("waits %d\n", what);
  if (what > 5)
    throw std::runtime_error("too long");
}
A("await") int quiet(int what) noexcept;
__attribute__((noinline)) int quiet(int what) noexcept { return what + 1; }

struct Held {
  const char *name;
  explicit Held(const char *n) : name(n) {}
  ~Held() { std::printf("released %s\n", name); }
};

namespace space {
struct Base {
  int value = 1;
  A("async") Base();
  A("async") virtual ~Base();
  A("async") virtual int work(int x);
  A("async") int plain(int x) const;
  A("async") static int fixed(int x);
};
Base::Base() { std::printf("Base\n"); }
Base::~Base() { std::printf("~Base\n"); }
int Base::work(int x) {
  Held held("base");
  wait_for(x);
  return quiet(x) + value;
}
int Base::plain(int x) const { return x + value; }
int Base::fixed(int x) { return x; }
struct Derived : Base {
  A("async") int work(int x) override;
};
int Derived::work(int x) {
  Held held("derived");
  return Base::work(x) + 1;
}
} // namespace space

template <typename T> A("async") T twice(T x) {
  wait_for((int)x);
  return x + x;
}

A("async") int catches(int x) {
  try {
    wait_for(x);
    return 1;
  } catch (const std::exception &e) {
    std::printf("caught %s\n", e.what());
    wait_for(1);
    return 2;
  }
}

A("async") int caught_outside(int x) {
  Held held("outer");
  return catches(x) + (wait_for(x), 1);
}

struct Value {
  int x;
  explicit Value(int v) : x(v) {}
  Value(const Value &other) : x(other.x + 1) {}
  ~Value() { x = 0; }
};
A("async") Value by_reference(int x) {
  Value v(x);
  wait_for(x);
  return v;
}
A("async") Value chosen(bool c, Value v) {
  Value other(7);
  return c ? v : other;
}

A("async") constexpr int constant(int x) { return x * 2; }
static_assert(constant(4) == 8, "still constant");

A("async") auto deduced(int x) -> int { return x; }

typedef int (*callback)(int);
A("create key=a1 fn=a0 | run key=a0 once") __attribute__((noinline)) int call(callback f, int x) {
  return f(x);
}

int main() {
  {
    space::Derived d;
    space::Base *base = &d;
    std::printf("%d\n", base->work(2));
    try {
      base->work(6);
    } catch (const std::runtime_error &) {
      std::printf("caught\n");
    }
    std::printf("%d\n", d.plain(3) + space::Base::fixed(4));
  }
  std::printf("%d\n", twice(2));
  std::printf("%g\n", twice(1.5));
  std::printf("%d\n", catches(1));
  std::printf("%d\n", catches(6));
  try {
    caught_outside(7);
  } catch (...) {
    std::printf("caught\n");
  }
  std::printf("%d\n", by_reference(3).x);
  std::printf("%d\n", chosen(true, Value(1)).x);
  std::printf("%d\n", chosen(false, Value(2)).x);
  volatile int four = 4; // else some levels compute it while compiling
  std::printf("%d\n", constant(four));
  std::printf("%d\n", deduced(5));
  auto lambda = [](int x) A("async") { return quiet(x); };
  std::printf("%d\n", lambda(1));
  std::printf("%d\n", call([](int x) { return quiet(x); }, 2));
}
/* SPDX-License-Identifier: MIT */
