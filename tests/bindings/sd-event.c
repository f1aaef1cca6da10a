/* sd-event: a timer that is armed again and again, floating ones, a cancelled one, a pipe,
   deferred calls, a signal, a child, and what runs at the loop's end. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <systemd/sd-event.h>
#include <unistd.h>

#include "count.h"

/* Waits: each run ends one, and so does the end of what waits again after it. */
static struct count ticks = {.name = "on_tick"}, readable = {.name = "on_readable"},
                    deferred = {.name = "on_deferred"}, floating = {.name = "on_floating"},
                    never = {.name = "on_never"}, signalled = {.name = "on_signal"},
                    child = {.name = "on_child"}, leaving = {.name = "on_exit_"};
static int pipes[2], reads;

static void check(int result) {
  if (result < 0)
    abort();
}

static int on_tick(sd_event_source *source, uint64_t usec, void *arg) {
  static int n;
  (void)arg;
  ticks.waits++;
  if (++n == 10) {
    sd_event_source_unref(source);
    ticks.done++;
    return 0;
  }
  check((int)write(pipes[1], "x", 1));
  check(sd_event_source_set_time(source, usec + 1000));
  return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *arg) {
  char c;
  (void)source, (void)events, (void)arg;
  readable.waits++;
  reads++;
  return read(fd, &c, 1) == 1 ? 0 : -1;
}

static int on_deferred(sd_event_source *source, void *arg) {
  (void)arg;
  deferred.done++;
  sd_event_source_unref(source);
  return 0;
}

static int on_floating(sd_event_source *source, uint64_t usec, void *arg) {
  (void)source, (void)usec, (void)arg;
  floating.waits++;
  floating.done++;
  return 0;
}

static int on_never(sd_event_source *source, uint64_t usec, void *arg) {
  (void)source, (void)usec, (void)arg;
  abort();
}

static int on_signal(sd_event_source *source, const struct signalfd_siginfo *info, void *arg) {
  (void)info, (void)arg;
  signalled.waits++;
  signalled.cancelled++;
  sd_event_source_disable_unref(source);
  return 0;
}

static int on_child(sd_event_source *source, const siginfo_t *info, void *loop) {
  (void)source, (void)info;
  child.waits++;
  return sd_event_exit(loop, 7);
}

static int on_exit_(sd_event_source *source, void *arg) {
  (void)source, (void)arg;
  leaving.waits++;
  return 0;
}

static void start_all(sd_event *loop) {
  sd_event_source *source;
  check(sd_event_add_time_relative(loop, &source, CLOCK_MONOTONIC, 1000, 1, on_tick, NULL));
  ticks.created++;
  for (; floating.created < 5; floating.created++)
    check(sd_event_add_time_relative(loop, NULL, CLOCK_MONOTONIC, 2000, 1, on_floating, NULL));
  check(sd_event_add_time_relative(loop, &source, CLOCK_MONOTONIC, 5000, 1, on_never, NULL));
  never.created++;
  sd_event_source_disable_unref(source);
  never.cancelled++;
  never.waits++;
  check(sd_event_add_io(loop, &source, pipes[0], 1 /* EPOLLIN */, on_readable, NULL));
  readable.created++;
  for (; deferred.created < 3; deferred.created++)
    check(sd_event_add_defer(loop, &source, on_deferred, NULL));
  check(sd_event_add_signal(loop, &source, SIGUSR2, on_signal, NULL));
  signalled.created++;
  check(sd_event_add_exit(loop, &source, on_exit_, NULL));
  leaving.created++;
}

int main(void) {
  sd_event *loop;
  sd_event_source *source;
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGCHLD);
  sigaddset(&mask, SIGUSR2);
  sigprocmask(SIG_BLOCK, &mask, NULL);
  check(sd_event_new(&loop));
  check(pipe(pipes));
  start_all(loop);
  raise(SIGUSR2);
  while (reads < 9 || floating.done < 5 || !ticks.done || !signalled.cancelled)
    check(sd_event_run(loop, UINT64_MAX));

  pid_t pid = fork();
  if (pid == 0)
    _exit(0);
  check(sd_event_add_child(loop, &source, pid, WEXITED, on_child, loop));
  child.created++;
  int code = sd_event_loop(loop);

  printf("the loop left with %d\n", code);
  count_print(&ticks);
  count_print(&readable);
  count_print(&deferred);
  count_print(&floating);
  count_print(&never);
  count_print(&signalled);
  count_print(&child);
  count_print(&leaving);
  return 0;
}
/* SPDX-License-Identifier: MIT */
