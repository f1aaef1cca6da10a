/* State Threads: threads that sleep, lock, wait for each other and for a socket, and are
   interrupted. */
#include <errno.h>
#include <st.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "count.h"

static struct count sleeper = {.name = "sleep_some"}, joiner = {.name = "join_one"},
                    locker = {.name = "lock_some"}, echoer = {.name = "echo_some"},
                    interrupted = {.name = "be_interrupted"}, leaver = {.name = "leave_early"},
                    waiter = {.name = "wait_for_ever"};
static st_mutex_t mutex;
static st_cond_t never;

static void *sleep_some(void *arg) {
  for (int i = 0; i < 3; i++) {
    sleeper.waits++;
    st_usleep(1000);
  }
  sleeper.done++;
  return arg;
}

static void *join_one(void *arg) {
  st_thread_t child = st_thread_create(sleep_some, arg, 1, 0);
  sleeper.created++;
  joiner.waits++;
  if (st_thread_join(child, NULL) != 0)
    abort();
  joiner.done++;
  return NULL;
}

static void *lock_some(void *arg) {
  for (int i = 0; i < 2; i++) {
    locker.waits += 2;
    st_mutex_lock(mutex);
    st_usleep(100);
    st_mutex_unlock(mutex);
  }
  locker.done++;
  return arg;
}

static void *echo_some(void *arg) {
  char c;
  echoer.waits++; /* the one that finds the end */
  while (st_read(arg, &c, 1, ST_UTIME_NO_TIMEOUT) == 1) {
    echoer.waits += 2;
    st_write(arg, &c, 1, ST_UTIME_NO_TIMEOUT);
  }
  echoer.done++;
  return NULL;
}

static void *be_interrupted(void *arg) {
  interrupted.waits++;
  if (st_sleep(1000) == 0 || errno != EINTR)
    abort();
  interrupted.done++;
  return arg;
}

static void *leave_early(void *arg) {
  leaver.waits++;
  st_usleep(500);
  leaver.done++;
  st_thread_exit(arg);
  abort();
}

static void *wait_for_ever(void *arg) {
  st_cond_wait(never);
  return arg;
}

static st_thread_t start(struct count *count, void *(*function)(void *), void *arg, int joinable) {
  st_thread_t thread = st_thread_create(function, arg, joinable, 0);
  if (thread == NULL)
    abort();
  count->created++;
  return thread;
}

int main(void) {
  st_thread_t threads[9];
  int n = 0, pair[2];
  char c = 'x';
  if (st_init() != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0)
    return 1;
  mutex = st_mutex_new();
  never = st_cond_new();
  for (int i = 0; i < 2; i++) {
    threads[n++] = start(&joiner, join_one, NULL, 1);
    threads[n++] = start(&locker, lock_some, NULL, 1);
    start(&leaver, leave_early, NULL, 0);
    threads[n++] = start(&leaver, leave_early, NULL, 1);
  }
  threads[n++] = start(&interrupted, be_interrupted, NULL, 1);
  threads[n++] = start(&echoer, echo_some, st_netfd_open_socket(pair[0]), 1);
  start(&waiter, wait_for_ever, NULL, 0);

  st_netfd_t mine = st_netfd_open_socket(pair[1]);
  for (int i = 0; i < 5; i++)
    if (st_write(mine, &c, 1, -1) != 1 || st_read(mine, &c, 1, -1) != 1)
      return 2;
  st_netfd_close(mine);
  st_thread_interrupt(threads[n - 2]);
  while (n > 0)
    st_thread_join(threads[--n], NULL);

  count_print(&sleeper);
  count_print(&joiner);
  count_print(&locker);
  count_print(&echoer);
  count_print(&interrupted);
  count_print(&leaver);
  count_print(&waiter);
  return 0;
}
/* SPDX-License-Identifier: MIT */
