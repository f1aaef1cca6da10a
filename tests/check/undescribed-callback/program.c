/* SPDX-License-Identifier: MIT */
/* A library of which my.aprof describes a part. */
#include "loop.h"

#include <signal.h>
#include <stdlib.h>

static void on_event(void *data) {
  (void)data;
}

static int compare(const void *a, const void *b) {
  return *(const int *)a - *(const int *)b;
}

int main(void) {
  int list[2] = {2, 1};
  loop_watch(on_event, NULL);
  loop_defer(on_event, NULL); /* BAD */
  loop_each(on_event, NULL);  /* aprof: meant */
  loop_name("main");
  qsort(list, 2, sizeof *list, compare);
  return 0;
}
