/* Avahi's loop interface on AvahiSimplePoll: a timeout that sets itself again, one that is
   disabled, one that is freed in its callback, and a watch of a pipe they write to. */
#include <avahi-common/simple-watch.h>
#include <avahi-common/timeval.h>
#include <avahi-common/watch.h>
#include <stdlib.h>
#include <unistd.h>

#include "count.h"

/* A timeout waits once more than it runs, or was freed in its last run. */
static struct count ticks = {.name = "on_tick"}, shots = {.name = "on_shot"},
                    never = {.name = "on_never"}, readable = {.name = "on_readable"};
static AvahiSimplePoll *loop;
static const AvahiPoll *api;
static int pipes[2];

static struct timeval in_ms(unsigned ms) {
  struct timeval at;
  return *avahi_elapse_time(&at, ms, 0);
}

static void write_one(void) {
  if (write(pipes[1], "x", 1) != 1)
    abort();
}

static void on_never(AvahiTimeout *timeout, void *arg) {
  (void)timeout, (void)arg;
  abort();
}

static void on_shot(AvahiTimeout *timeout, void *arg) {
  (void)arg;
  shots.waits++;
  write_one();
  api->timeout_free(timeout);
  shots.done++;
}

static void on_tick(AvahiTimeout *timeout, void *arg) {
  const AvahiPoll *table = arg;
  struct timeval at = in_ms(1), soon = in_ms(0);
  write_one();
  if (++ticks.waits == 20)
    return;
  table->timeout_new(table, &soon, on_shot, NULL);
  shots.created++;
  table->timeout_update(timeout, &at);
}

static void on_readable(AvahiWatch *watch, int fd, AvahiWatchEvent event, void *arg) {
  char c;
  (void)watch, (void)event, (void)arg;
  if (read(fd, &c, 1) != 1)
    abort();
  if (++readable.waits == 39)
    avahi_simple_poll_quit(loop);
}

int main(void) {
  if (pipe(pipes) != 0 || (loop = avahi_simple_poll_new()) == NULL)
    return 1;
  api = avahi_simple_poll_get(loop);
  struct timeval at = in_ms(1);
  AvahiWatch *watch = api->watch_new(api, pipes[0], AVAHI_WATCH_IN, on_readable, NULL);
  readable.created++;
  AvahiTimeout *tick = api->timeout_new(api, &at, on_tick, (void *)api);
  ticks.created++;
  AvahiTimeout *disabled = api->timeout_new(api, NULL, on_never, NULL);
  never.created++;
  avahi_simple_poll_loop(loop);

  api->watch_free(watch);
  readable.done++, readable.waits++;
  api->timeout_free(tick);
  ticks.done++, ticks.waits++;
  api->timeout_free(disabled);
  never.done++, never.waits++;
  avahi_simple_poll_free(loop);
  count_print(&ticks);
  count_print(&shots);
  count_print(&never);
  count_print(&readable);
  return 0;
}
/* SPDX-License-Identifier: MIT */
