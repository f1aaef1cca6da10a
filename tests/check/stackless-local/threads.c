/* SPDX-License-Identifier: MIT */
/* Protothreads: their locals are gone when they go on. */
#include <aprof.h>

struct thread {
  int line, count;
};
enum { WAITING, ENDED };
#define THREAD APROF("run key=a0 pending=0") int
#define BEGIN(t)                                                                                   \
  char yielded = 1;                                                                                \
  (void)yielded;                                                                                   \
  switch ((t)->line) {                                                                             \
  case 0:
#define UNTIL(t, condition)                                                                        \
  do {                                                                                             \
    yielded = 0;                                                                                   \
    (t)->line = __LINE__;                                                                          \
    /* fall through */                                                                             \
  case __LINE__:                                                                                   \
    if (yielded == 0 || !(condition))                                                              \
      return WAITING;                                                                              \
  } while (0)
#define END(t)                                                                                     \
  }                                                                                                \
  (t)->line = 0;                                                                                   \
  return ENDED

int ready(int), measure(void);
void use(int), fill(int *);

THREAD loses(struct thread *t) {
  int first, again, twice, whole;
  BEGIN(t);
  first = measure();
  again = measure();
  use(first);
  UNTIL(t, ready(1));
  use(first); /* BAD */
  again = measure();
  use(again);
  for (twice = 0; twice < 3; twice++) { /* BAD */
    UNTIL(t, ready(2));
  }
  whole = measure();
  UNTIL(t, ready(whole)); /* BAD */
  END(t);
}

struct timer {
  int start, length;
};

static int over(struct timer *timer) {
  return measure() - timer->start > timer->length;
}

static void begin(struct timer *timer, int length) {
  timer->start = measure();
  timer->length = length;
}

long to_number(const char *text, const char **rest);

THREAD fills(struct thread *t) {
  const char *rest;
  BEGIN(t);
  use((int)to_number("1", &rest));
  UNTIL(t, ready(4));
  use((int)to_number("2", &rest) + *rest);
  END(t);
}

THREAD loses_by_address(struct thread *t) {
  struct timer timer, other;
  BEGIN(t);
  begin(&timer, 3);
  begin(&other, 3);
  UNTIL(t, over(&timer)); /* BAD */
  begin(&other, 3);
  use(over(&other));
  END(t);
}

THREAD keeps(struct thread *t) {
  static int kept;
  int before = measure(), inside, filled;
  BEGIN(t);
  kept = measure();
  t->count = measure();
  inside = measure();
  use(inside);
  UNTIL(t, ready(t->count));
  use(kept);
  use(before);
  inside = measure();
  use(inside);
  fill(&filled);
  use(filled);
  UNTIL(t, ready(kept));
  END(t);
}

/* It waits for nothing: a plain one with a switch. */
int plain(struct thread *t) {
  int first = 0;
  switch (t->line) {
  case 0:
    first = measure();
    /* fall through */
  case 1:
    return first;
  }
  return 0;
}

void copy(void *, const void *, unsigned long);
void show(const char *);

THREAD fills_an_array(struct thread *t) {
  char name[8], other[8];
  BEGIN(t);
  copy(name, "one", 4);
  copy(other, "one", 4);
  UNTIL(t, ready(5));
  show(name); /* BAD */
  copy(other, "two", 4);
  show(other);
  END(t);
}
