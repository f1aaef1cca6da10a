/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <aprof.h>
#include <stdlib.h>
struct job;
struct holder {
  struct job *j;
  struct job *list[4];
};
#ifdef __cplusplus
extern "C" {
#endif
APROF("create key=ret") struct job *job_new(int);
APROF("end key=a0") void job_free(struct job *);
APROF("await") int job_wait(struct job *);
void job_set(struct job *, int);
int job_ok(const struct job *);
void keep(struct job *);
int test(int);
void take(struct holder *);
#ifdef __cplusplus
}
#endif
#define NEW(n) job_new(n)
#define CHECK(c)                                                                                   \
  do {                                                                                             \
    if (!(c))                                                                                      \
      return -1;                                                                                   \
  } while (0)
static void cleanup_job(struct job **j) {
  if (*j)
    job_free(*j);
}
int f1(int n) {
  struct job *j = NEW(n); /* BAD */
  CHECK(test(n));
  job_wait(j);
  return 0;
}
int f2(int n) {
  struct job *j = NEW(n), *k = NULL;
  int r = -1;
  if (!j)
    goto out;
  k = job_new(2); /* BAD */
  if (!k)
    goto out;
  if (test(n))
    goto out2;
  job_wait(k);
out2:
  r = 0;
out:
  if (j)
    job_free(j);
  return r;
}
int f2_ok(int n) {
  struct job *j = NULL;
  int r = -1;
  if (test(n))
    goto out;
  j = job_new(1);
  if (!j)
    goto out;
  if (test(2))
    goto out;
  r = job_wait(j);
out:
  if (j)
    job_free(j);
  return r;
}
void f3(int n) {
  for (int i = 0; i < n; i++) {
    struct job *j = job_new(i); /* BAD */
    if (test(i))
      continue;
    job_wait(j);
  }
}
void f3_ok(int n) {
  for (int i = 0; i < n; i++) {
    struct job *j = job_new(i);
    if (test(i)) {
      job_free(j);
      continue;
    }
    job_wait(j);
  }
}
int f4(int n) {
  struct job *j = job_new(1); /* BAD */
  switch (n) {
  case 1:
    job_wait(j);
    break;
  case 2:
    job_free(j);
    break;
  default:
    break;
  }
  return 0;
}
int f4_ok(int n) {
  struct job *j = job_new(1);
  switch (n) {
  case 1:
    job_wait(j);
    break;
  case 2:
  default:
    job_free(j);
  }
  return 0;
}
void f5(struct holder *h) {
  h->j = job_new(1);
}
void f6(void) {
  struct holder h;
  h.j = job_new(1);
  take(&h);
}
void f7(void) {
  struct holder h;
  h.j = job_new(1); /* BAD */
  test(1);
}
void f8(int n) {
  struct holder h = {0};
  for (int i = 0; i < 4; i++)
    h.list[i] = job_new(n);
  for (int i = 0; i < 4; i++)
    job_wait(h.list[i]);
}
void f9(void) {
  __attribute__((cleanup(cleanup_job))) struct job *j = job_new(1);
  test(1);
}
void f10(int n) {
  struct job *j;
  if (test(n) && (j = job_new(n)) != NULL)
    job_wait(j);
}
int f11(int n) {
  struct job *j = n ? job_new(n) : NULL; /* BAD */
  if (test(2))
    return 1;
  if (j)
    job_wait(j);
  return 0;
}
static inline struct job *mk(int n) {
  return job_new(n);
}
int f12(int n) {
  struct job *j = mk(n); /* BAD */
  if (test(n))
    return -1;
  return job_wait(j);
}
void f13(void) {
  (void)job_new(1); /* BAD */
}
void f14(int n) {
  struct job *j = job_new(n); // a function that is given it may keep it
  job_set(j, 3);
  if (!job_ok(j))
    return;
  job_wait(j);
}
int f15(int n) {
  struct job *j = job_new(n);
  do {
    if (test(n))
      break;
    job_wait(j);
    return 0;
  } while (0);
  job_free(j);
  return 1;
}
struct job *f16(int n) {
  struct job *j = job_new(n);
  if (!j)
    return NULL;
  if (test(n)) {
    job_free(j);
    return NULL;
  }
  return j;
}
struct job *f17(int n) {
  struct job *j = job_new(n); /* BAD */
  if (!j)
    return NULL;
  if (test(n))
    return NULL;
  return j;
}
void f18(struct job **out) {
  *out = job_new(2);
}
void f19(struct job **out, int n) {
  struct job *j = job_new(2);
  if (n) {
    *out = j;
    return;
  }
  job_free(j);
}
void f20(struct holder *h, int n) {
  struct job *j = job_new(n);
  if (h->j)
    job_free(h->j);
  h->j = j;
}
