/* Protothreads: functions called again until they no longer return PENDING. */
#include "hazard.h"

const bool children_may_exit = true;
const bool work_is_simple = true;

enum { PENDING, FINISHED, THREADS = 16 };

struct proto {
  int line;
  unsigned number, i, ticks;
  unsigned long sum;
  struct proto *child;
};

#define PROTO APROF("run key=a0 pending=0") static __attribute__((noinline)) int
#define BEGIN(p)                                                                                   \
  switch ((p)->line) {                                                                             \
  case 0:
#define WAIT_UNTIL(p, condition)                                                                   \
  do {                                                                                             \
    (p)->line = __LINE__;                                                                          \
    __attribute__((fallthrough));                                                                  \
  case __LINE__:                                                                                   \
    if (!(condition))                                                                              \
      return PENDING;                                                                              \
  } while (0)
#define END(p)                                                                                     \
  }                                                                                                \
  (p)->line = 0;                                                                                   \
  return FINISHED

PROTO child(struct proto *p) {
  BEGIN(p);
  p->ticks = 0;
  WAIT_UNTIL(p, ++p->ticks > 2);
  call_hook();
  p->sum += p->number;
  END(p);
}

PROTO parent(struct proto *p) {
  BEGIN(p);
  for (p->i = 0; p->i < 3; p->i++) {
    p->child->number = p->number + p->i;
    WAIT_UNTIL(p, child(p->child) == FINISHED);
    call_hook();
    p->sum += p->child->sum;
  }
  END(p);
}

unsigned long work(unsigned rounds) {
  unsigned long sum = 0;
  for (unsigned round = 0; round < rounds; round++) {
    struct proto all[THREADS] = {{0}}, children[THREADS] = {{0}};
    int over[THREADS] = {0};
    for (unsigned i = 0; i < THREADS; i++) {
      all[i].number = round + i;
      all[i].child = &children[i];
    }
    for (unsigned left = THREADS; left > 0;)
      for (unsigned i = 0; i < THREADS; i++)
        if (!over[i] && parent(&all[i]) == FINISHED) {
          over[i] = 1;
          left--;
        }
    for (unsigned i = 0; i < THREADS; i++)
      sum += all[i].sum;
  }
  return sum;
}
/* SPDX-License-Identifier: MIT */
