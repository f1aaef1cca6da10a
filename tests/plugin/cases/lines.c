/* Several lines on one call, awaits in all kinds of statements. */
#include <stdio.h>
#include <stdlib.h>

#define A(text) __attribute__((aprof(text)))

typedef void (*body)(long);

A("await") __attribute__((noinline)) int get(int x) { return x; }
A("await") __attribute__((noinline)) double real(double x) { return x / 2; }
struct pair {
  long a, b, c;
};
A("await") __attribute__((noinline)) struct pair both(long a) {
  struct pair p = {a, a + 1, a + 2};
  return p;
}
/* a call that is an end, a creation, a run and an await at once */
A("await")
A("run call: key=r:a0 once")
A("end key=e:a0")
A("wake key=late:ret ok=ret>0")
A("create key=c:a0 fn=a1 ok=ret!=0 | run key=c:a0 once")
__attribute__((noinline)) int everything(long key, body f) {
  f(key);
  return (int)key;
}
static void on_key(long key) { printf("on_key %ld\n", key); }

static volatile int global = 1;
static struct pair memory;

A("async") int statements(int n) {
  int array[4] = {get(1), get(2)};
  int total = get(n) ? get(n + 1) : get(n + 2);
  for (int i = get(0); i < get(2); i += get(1))
    total += array[i];
  while (get(total) > 100)
    total--;
  do
    total++;
  while (get(0));
  switch (get(n)) {
  case 3:
    total += get(3) && get(0) && get(9);
    break;
  default:
    total = 0;
  }
  global = get(global);
  memory = both(n);
  memory.b += both(4).c;
  total += (int)real(get(8)) + ({ int x = get(5); x; });
  (void)get(1);
  return get(total) + (int)memory.b;
}

int main(void) {
  printf("%d\n", statements(3));
  printf("%d\n", everything(7, on_key));
  everything(0, on_key);
  return 0;
}
/* SPDX-License-Identifier: MIT */
