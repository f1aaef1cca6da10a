/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <aprof.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#ifdef __cplusplus
extern "C" {
#endif
APROF_AWAIT void yield_now(void);
void plain(void);
int test(int);
int work(void);
APROF_AWAIT int wait_for(int *p);
#ifdef __cplusplus
}
#define TL thread_local
#else
#define TL _Thread_local
#endif
struct ctx {
  int depth;
  int *last;
  struct ctx *up;
};
static TL struct ctx cur;
static TL struct ctx *curp;
static __thread char buf[64];
TL int tls_int;
static inline int *err_ptr(void) {
  return &errno;
}
static inline struct ctx *my_ctx(void) {
  return &cur;
}
static struct ctx *my_ctx2(void) {
  return my_ctx();
}
struct hold {
  int *e;
};
APROF_ASYNC void t1(void) {
  struct ctx *c = &cur;
  c->depth++;
  yield_now();
  c->depth--; /* BAD */
}
APROF_ASYNC void t2(void) {
  int *d = &cur.depth;
  yield_now();
  *d = 2; /* BAD */
}
APROF_ASYNC void t3(void) {
  char *b = buf + 4;
  yield_now();
  b[0] = 1; /* BAD */
}
APROF_ASYNC void t4(void) {
  char *b = &buf[4];
  yield_now();
  b[0] = 1; /* BAD */
}
APROF_ASYNC void t5(void) {
  struct ctx *c = my_ctx2();
  yield_now();
  c->depth--; /* BAD */
}
APROF_ASYNC void t6(int n) {
  struct ctx *c = my_ctx();
  for (int i = 0; i < n; i++) {
    c->depth++; /* BAD */
    yield_now();
  }
}
APROF_ASYNC void t6_ok(int n) {
  for (int i = 0; i < n; i++) {
    struct ctx *c = my_ctx();
    c->depth++;
    yield_now();
  }
}
APROF_ASYNC void t7(void) {
  struct hold h;
  h.e = &errno;
  yield_now();
  *h.e = 1; /* BAD */
}
APROF_ASYNC void t8(void) {
  struct ctx *c;
  c = &cur;
  struct ctx *d = c;
  yield_now();
  d->depth--; /* BAD */
}
APROF_ASYNC void t9(int n) {
  struct ctx *c = &cur;
  if (n) {
    yield_now();
    c = &cur;
  }
  c->depth++;
}
APROF_ASYNC int t10(int n) {
  int *e = err_ptr();
  switch (n) {
  case 1:
    yield_now();
    break;
  case 2:
    return *e;
  default:
    return 0;
  }
  return *e; /* BAD */
}
APROF_ASYNC void t11(void) {
  int e = errno;
  yield_now();
  errno = e;
}
APROF_ASYNC void t12(void) {
  struct ctx c = cur;
  yield_now();
  cur = c;
}
APROF_ASYNC void t13(void) {
  struct ctx *c = curp;
  yield_now();
  c->depth++;
}
APROF_ASYNC void t14(struct ctx *o) {
  o->last = &errno;
  yield_now();
  *o->last = 3; /* BAD */
}
APROF_ASYNC void t15(int n) {
  int *p = n ? &tls_int : &cur.depth;
  yield_now();
  *p = 1; /* BAD */
}
APROF_ASYNC void t16(void) {
  int *p = &tls_int;
  wait_for(p);
}
APROF_ASYNC void t17(void) {
  int *p = &tls_int;
  if (test(*p))
    goto out;
  yield_now();
  return;
out:
  *p = 2;
}
APROF_ASYNC void t18(void) {
  int *p = &tls_int;
  if (test(*p))
    goto out;
  yield_now();
out:
  *p = 2; /* BAD */
}
APROF_ASYNC void t19(void) {
  int *p;
  do {
    p = &tls_int;
    *p = 1;
    yield_now();
  } while (test(1));
  p = &tls_int;
  *p = 2;
}
static pthread_key_t key;
APROF_ASYNC void t20(void) {
  struct ctx *c = (struct ctx *)pthread_getspecific(key);
  yield_now();
  c->depth++;
}
APROF_ASYNC void t21(void) {
  int *e = __errno_location();
  yield_now();
  *e = 2; /* BAD */
}
/* A member that is an array, a list of members, a member behind a call. */
static TL struct named {
  char name[8];
  int n;
} named;
static struct named *my_named(void) {
  return &named;
}
APROF_ASYNC void t22(void) {
  char *name = named.name;
  yield_now();
  name[0] = 1; /* BAD */
}
APROF_ASYNC void t23(void) {
  struct hold h = {&tls_int}, none = {NULL};
  yield_now();
  none.e = h.e; /* BAD */
}
APROF_ASYNC void t24(void) {
  int *n = &my_named()->n, m = my_named()->n;
  yield_now();
  *n = m; /* BAD */
}
