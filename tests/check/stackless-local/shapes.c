/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <aprof.h>
#include <stddef.h>
/* contiki-like pt with switch, plus computed goto variant, plus state enum machines */
struct pt {
  int lc;
  void *lbl;
};
struct st {
  struct pt pt;
  int n, x;
  int state;
};
#define PT_THREAD(x) APROF("run key=a0 pending=0") char x
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
#define PT_YIELD(p)                                                                                \
  do {                                                                                             \
    pt_flag = 0;                                                                                   \
    (p)->lc = __LINE__;                                                                            \
  case __LINE__:                                                                                   \
    if (pt_flag == 0)                                                                              \
      return 0;                                                                                    \
  } while (0)
#define GT_BEGIN(p)                                                                                \
  {                                                                                                \
    if ((p)->lbl)                                                                                  \
      goto *(p)->lbl;
#define CAT2(a, b) a##b
#define CAT(a, b) CAT2(a, b)
#define GT_WAIT(p, c)                                                                              \
  do {                                                                                             \
    CAT(l_, __LINE__) : (p)->lbl = &&CAT(l_, __LINE__);                                            \
    if (!(c))                                                                                      \
      return 0;                                                                                    \
  } while (0)
#define GT_END(p)                                                                                  \
  (p)->lbl = NULL;                                                                                 \
  return 3;                                                                                        \
  }
#ifdef __cplusplus
extern "C" {
#endif
int ready(int);
int measure(void);
void use(int);
void usep(const char *);
void fill(int *);
int *find(int);
#ifdef __cplusplus
}
#endif
PT_THREAD(a1(struct pt *p, struct st *s)) {
  int n, i;
  PT_BEGIN(p);
  for (i = 0; i < 3; i++) { /* BAD */
    n = measure();
    PT_WAIT(p, ready(1));
    use(n); /* BAD */
  }
  PT_END(p);
}
PT_THREAD(a1_ok(struct pt *p, struct st *s)) {
  static int n, i;
  PT_BEGIN(p);
  for (i = 0; i < 3; i++) {
    n = measure();
    PT_WAIT(p, ready(1));
    use(n);
  }
  PT_END(p);
}
PT_THREAD(a2(struct pt *p, struct st *s)) {
  int n = 0;
  PT_BEGIN(p);
  n = measure();
  PT_YIELD(p);
  if (n > 3) /* BAD */
    use(2);
  PT_END(p);
}
PT_THREAD(a3(struct pt *p, struct st *s)) {
  PT_BEGIN(p);
  while (1) {
    int k;
    k = measure();
    use(k);
    PT_YIELD(p);
    use(k); /* BAD */
  }
  PT_END(p);
}
PT_THREAD(a3_ok(struct pt *p, struct st *s)) {
  PT_BEGIN(p);
  while (1) {
    int k;
    k = measure();
    use(k);
    PT_YIELD(p);
    {
      int k2 = measure();
      use(k2);
    }
  }
  PT_END(p);
}
PT_THREAD(a4(struct pt *p, struct st *s)) {
  int *q;
  PT_BEGIN(p);
  q = find(3);
  PT_WAIT(p, ready(1));
  *q = 2; /* BAD */
  PT_END(p);
}
PT_THREAD(a5(struct pt *p, struct st *s)) {
  int v[4];
  int w;
  PT_BEGIN(p);
  v[0] = measure();
  fill(&w);
  PT_WAIT(p, ready(1));
  use(v[0]); /* BAD */
  use(w);    /* BAD */
  PT_END(p);
}
PT_THREAD(a6(struct pt *p, struct st *s)) {
  struct {
    int a, b;
  } v;
  PT_BEGIN(p);
  v.a = measure();
  PT_WAIT(p, ready(1));
  use(v.a); /* BAD */
  PT_END(p);
}
PT_THREAD(a6_ok(struct pt *p, struct st *s)) {
  struct {
    int a, b;
  } v;
  PT_BEGIN(p);
  v.a = measure();
  use(v.a);
  PT_WAIT(p, ready(1));
  v.a = measure();
  use(v.a);
  PT_END(p);
}
PT_THREAD(g1(struct pt *p)) {
  int n;
  GT_BEGIN(p)
  n = measure();
  GT_WAIT(p, ready(1));
  use(n); /* BAD */
  GT_END(p)
}
PT_THREAD(g1_ok(struct pt *p)) {
  int n;
  GT_BEGIN(p)
  n = measure();
  use(n);
  GT_WAIT(p, ready(1));
  n = measure();
  use(n);
  GT_END(p)
}
PT_THREAD(sw(struct st *s)) {
  int n = 0;
  switch (s->state) {
  case 0:
    n = measure();
    s->state = 1;
    return 0;
  case 1:
    use(n); // has a value from above each time
    s->state = 2;
    return 0;
  default:
    return 3;
  }
}
PT_THREAD(sw_ok(struct st *s)) {
  int n = measure();
  switch (s->state) {
  case 0:
    s->n = n;
    s->state = 1;
    return 0;
  case 1:
    use(n);
    s->state = 2;
    return 0;
  default:
    return 3;
  }
}
PT_THREAD(sw_ok2(struct st *s)) {
  int n = 0, rc;
  switch (s->state) {
  case 0:
    rc = measure();
    if (rc)
      n = 1;
    use(n);
    s->state = 1;
    return 0;
  case 1:
    rc = measure();
    use(rc);
    use(n);
    return 3;
  default:
    return 3;
  }
}
PT_THREAD(a7(struct pt *p, struct st *s)) {
  int n;
  PT_BEGIN(p);
  if (ready(7)) {
    n = measure();
    PT_WAIT(p, ready(n > 3)); /* BAD */
  }
  PT_END(p);
}
PT_THREAD(a8_ok(struct pt *p, struct st *s)) {
  int n;
  PT_BEGIN(p);
  while (ready(1)) {
    PT_YIELD(p);
    n = measure();
    use(n);
    if (n > 4)
      continue;
    if (n > 3)
      break;
  }
  PT_END(p);
}
PT_THREAD(a9(struct pt *p, struct st *s)) {
  int n, total = 0;
  PT_BEGIN(p);
  for (s->x = 0; s->x < 3; s->x++) {
    PT_YIELD(p);
    n = measure();
    total += n; /* BAD */
  }
  use(total);
  PT_END(p);
}
PT_THREAD(a10(struct pt *p, struct st *s)) {
  int n;
  PT_BEGIN(p);
  switch (measure()) {
  case 1:
    n = 1;
    break;
  case 2:
    n = 2;
    break;
  default:
    n = 3;
  }
  use(n);
  PT_END(p);
}
PT_THREAD(a11(struct pt *p, struct st *s)) {
  const char *name = "a";
  PT_BEGIN(p);
  usep(name);
  PT_YIELD(p);
  usep(name);
  PT_END(p);
}
PT_THREAD(a12(struct pt *p, struct st *s)) {
  const char *name = "a";
  PT_BEGIN(p);
  name = "b";
  PT_YIELD(p);
  usep(name); /* BAD */
  PT_END(p);
}
