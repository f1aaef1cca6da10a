/* GNU Pth: threads that sleep, yield, wait for each other, leave by pth_exit and are
   cancelled. */
#include <pth.h>
#include <stdlib.h>

#include "count.h"

static struct count sleeper = {.name = "sleep_some"}, yielder = {.name = "yield_some"},
                    joiner = {.name = "join_one"}, leaver = {.name = "leave_early"},
                    stuck = {.name = "wait_for_ever"};

static void *sleep_some(void *arg) {
  for (int i = 0; i < 3; i++) {
    sleeper.waits++;
    pth_usleep(1000);
  }
  sleeper.done++;
  return arg;
}

static void *yield_some(void *arg) {
  for (int i = 0; i < 5; i++) {
    yielder.waits++;
    pth_yield(NULL);
  }
  yielder.done++;
  return arg;
}

static void *join_one(void *arg) {
  pth_t child = pth_spawn(PTH_ATTR_DEFAULT, yield_some, arg);
  yielder.created++;
  joiner.waits++;
  if (!pth_join(child, NULL))
    abort();
  joiner.done++;
  return NULL;
}

static void *leave_early(void *arg) {
  leaver.waits++;
  pth_usleep(500);
  leaver.done++;
  pth_exit(arg);
  return NULL;
}

static void *wait_for_ever(void *arg) {
  stuck.waits++;
  pth_sleep(1000);
  return arg;
}

int main(void) {
  pth_t threads[9], victim;
  int n = 0;
  pth_init();
  for (int i = 0; i < 3; i++) {
    threads[n++] = pth_spawn(PTH_ATTR_DEFAULT, sleep_some, NULL);
    sleeper.created++;
    threads[n++] = pth_spawn(PTH_ATTR_DEFAULT, join_one, NULL);
    joiner.created++;
    threads[n++] = pth_spawn(PTH_ATTR_DEFAULT, leave_early, NULL);
    leaver.created++;
  }
  victim = pth_spawn(PTH_ATTR_DEFAULT, wait_for_ever, NULL);
  stuck.created++;
  while (n > 0)
    pth_join(threads[--n], NULL);
  if (pth_cancel(victim))
    stuck.cancelled++;
  pth_join(victim, NULL);

  count_print(&sleeper);
  count_print(&yielder);
  count_print(&joiner);
  count_print(&leaver);
  count_print(&stuck);
  pth_exit(NULL); /* as the last thread, and no future */
}
/* SPDX-License-Identifier: MIT */
