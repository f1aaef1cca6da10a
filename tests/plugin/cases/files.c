/* Bindings from a file: names, regexes, typedefs, signatures, | run. The header
   that declares them is files.h, the lines are in files.aprof. */
#include "files.h"

#include <stdio.h>

void trace_key(const void *address, const char *name);

/* reaches fn= here */
static void on_read(struct conn *c, int n) { printf("read %d\n", n); }
/* passed as the same typedef elsewhere only */
static void on_other(struct conn *c, int n) { printf("other %d\n", n); }
/* assigned as a typedef */
static int on_timer(void *data) { return data == NULL; }
/* in a table */
static void on_table(struct conn *c, int n) { printf("table %d\n", n); }
/* matches a signature */
static char thread_a(struct pt *pt, int x) { return pt->state == x ? 0 : 3; }
static char thread_b(struct pt *pt) { return 1; }
static unsigned char no_thread(struct pt *pt) { return 1; }
/* cast to fit: has no a0 */
static void on_none() { printf("none\n"); }

void body_by_name(int x) { lib_wait(x); }
void body_by_regex_1(void) {}
void body_by_regex_2(void) {}
void not_a_body(void) {}

static struct {
  int x;
  conn_cb callback;
} table[] = {{1, on_table}};

int main(void) {
  struct conn c = {.fd = 3}, other = {.fd = 4};
  struct pt pt = {0};
  timer_cb timer;
  trace_key(&c, "c");
  trace_key(&other, "other");
  trace_key(&pt, "pt");
  lib_read(&c, 10, on_read);
  lib_fire(&c);
  lib_wrapper(on_other, &other);
  lib_fire(&other);
  timer = on_timer;
  printf("%d\n", timer(&c));
  table[0].callback(&c, 1);
  lib_close(&c, (conn_cb)on_none);
  lib_fire(&c);
  printf("%d\n", thread_a(&pt, 0));
  printf("%d\n", thread_a(&pt, 1));
  printf("%d\n", thread_b(&pt));
  no_thread(&pt);
  body_by_name(1);
  body_by_regex_1();
  body_by_regex_2();
  not_a_body();
  lib_renamed(5);
  lib_fs_open(&c, 1, on_read);
  lib_fs_cleanup(&c);
  lib_poll();
  return 0;
}
/* SPDX-License-Identifier: MIT */
