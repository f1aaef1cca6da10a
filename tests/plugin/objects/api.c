/* The public header beside events of this unit. */
#include <aprof.h>
#include <stdio.h>

APROF_AWAIT void wait_for(int x);
void wait_for(int x) { (void)x; }
#ifdef EVENTS
APROF_ASYNC
#endif
int serve(int x) {
  wait_for(x);
  return aprof_snapshot();
}
int main(void) {
  aprof_clock_advance(5);
  printf("%d %d %d %d\n", serve(1), aprof_enable(1), aprof_reset(), aprof_clock_now() == 0);
  return 0;
}
/* SPDX-License-Identifier: MIT */
