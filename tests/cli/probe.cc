// SPDX-License-Identifier: MIT
// Something of C++ to watch: a method, its members, names in namespaces, a template; 50 times.
#include <cstdio>
#include <string>

namespace shop {
int most = 9;
enum class color { red, green };
struct item {
  std::string name;
  int left;
};
class shelf {
  int held = 0;

public:
  static int made;
  shelf() { made++; }
  __attribute__((noinline)) int take(const item &what, color which);
};
int shelf::made = 0;

int shelf::take(const item &what, color which) {
  held += what.left;
  std::fprintf(stderr, "%d", held % 2 + static_cast<int>(which)); // taken
  return held;
}

template <typename T>
__attribute__((noinline)) T twice(T of) {
  std::fprintf(stderr, "%d", static_cast<int>(of) % 2);
  int also = static_cast<int>(of) + 1;
  std::fprintf(stderr, "%d", also); // of each
  return of + of;
}
} // namespace shop

int main() {
  shop::shelf shelf;
  shop::item item{"tea", 2};
  int sum = 0;
  if (std::getchar() < 0)
    return 1;
  for (int i = 0; i < 50; i++) {
    item.left = i % 2 ? 2 : 5;
    sum += shelf.take(item, i % 5 ? shop::color::green : shop::color::red);
    sum += shop::twice(i) + static_cast<int>(shop::twice(i * 1.0));
  }
  std::puts("half");
  std::puts("done");
  std::fflush(stdout);
  return std::getchar() < 0 || sum == 1;
}
