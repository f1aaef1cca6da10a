/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
#include <uv.h>
#define NAP(ms) usleep((ms)*1000)
typedef void (*op_t)(int);
static inline void flush_inline(int fd) {
  fdatasync(fd); /* BAD */
}
static void op_a(int n) {
  NAP(n); /* BAD */
}
static void op_b(int n) {
  (void)n;
}
static const struct {
  const char *name;
  op_t op;
} cmds[] = {{"a", op_a}, {"b", op_b}};
static void op_never(int n) {
  sleep(n);
}
static int retry(int fd) {
  for (;;) {
    if (fsync(fd) == 0) /* BAD */
      break;
    if (fd < 0)
      goto out;
  }
out:
  return 0;
}
static void on_t(uv_timer_t *t) {
  int n = t->flags;
  flush_inline(n);
  for (unsigned i = 0; i < 2; i++)
    cmds[i].op(n);
  switch (n) {
  case 1:
    retry(n);
    break;
  default:
    if (n > 3)
      return;
  }
  if (0)
    op_never(1);
  flock(n, LOCK_EX | LOCK_NB);
  flock(n, LOCK_EX); /* BAD */
  FILE *p = popen("x", "r");
  if (p)
    pclose(p); /* BAD */
}
static void *thr(void *d) {
  sleep(1);
  return d;
}
static void on_i(uv_idle_t *i) {
  pthread_t t;
  pthread_create(&t, NULL, thr, NULL);
  pthread_join(t, NULL); /* BAD */
  (void)i;
}
static void on_i2(uv_idle_t *i) {
  pthread_t t;
  pthread_create(&t, NULL, thr, NULL);
  pthread_detach(t);
  (void)i;
}
static int rec(int n) {
  if (n > 3) {
    system("x"); /* BAD */
    return 1;
  }
  return rec(n + 1);
}
static void on_p(uv_prepare_t *p) {
  rec(p->flags);
  struct timespec ts = {0, 1};
  (void)(p->flags ? nanosleep(&ts, NULL) : 0); /* BAD */
}
int shapes(int c) {
  uv_timer_t t;
  uv_idle_t i, i2;
  uv_prepare_t p;
  sleep(1);
  op_never(2);
  uv_timer_start(&t, on_t, 1, 1);
  uv_idle_start(&i, on_i);
  uv_idle_start(&i2, on_i2);
  uv_prepare_start(&p, on_p);
  return c;
}
