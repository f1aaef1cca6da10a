/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <aprof.h>
struct pt {
  int lc;
};
#define PT_BEGIN(p)                                                                                \
  {                                                                                                \
    char pt_flag = 1;                                                                              \
    (void)pt_flag;                                                                                 \
    switch ((p)->lc) {                                                                             \
    case 0:
#define PT_END(p)                                                                                  \
  }                                                                                                \
  pt_flag = 0;                                                                                     \
  (p)->lc = 0;                                                                                     \
  return 3;                                                                                        \
  }
#define PT_WAIT(p, c)                                                                              \
  do {                                                                                             \
    (p)->lc = __LINE__;                                                                            \
  case __LINE__:                                                                                   \
    if (!(c))                                                                                      \
      return 0;                                                                                    \
  } while (0)
int ready(int);
int measure();
void use(int);
class Blinker {
  pt p_;
  int level;

public:
  APROF("run key=a0 pending=0") int run() {
    int n;
    pt *p = &p_;
    PT_BEGIN(p);
    n = measure();
    PT_WAIT(p, ready(1));
    use(n); /* BAD */
    PT_END(p);
  }
  APROF("run key=a0 pending=0") int run_ok() {
    pt *p = &p_;
    PT_BEGIN(p);
    level = measure();
    PT_WAIT(p, ready(1));
    use(level);
    PT_END(p);
  }
};
int use_it(Blinker &b) {
  return b.run() + b.run_ok();
}
APROF("run key=a0 pending=0") int lam(pt *p) {
  bool done;
  PT_BEGIN(p);
  done = false;
  while (!ready(2)) {
    PT_WAIT(p, ready(1));
    done = true;
  }
  PT_END(p);
  return done;
}
