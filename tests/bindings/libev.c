/* libev: timers that run once, repeat, start themselves again and are stopped; a
   pipe; an async watcher; ev_once. */
#include <ev.h>
#include <stdlib.h>
#include <unistd.h>

#include "count.h"

static struct count shot = {.name = "on_shot"}, tick = {.name = "on_tick"},
                    again = {.name = "on_again"}, never = {.name = "on_never"},
                    readable = {.name = "on_readable"}, ring = {.name = "on_ring"},
                    one = {.name = "on_once"};
static int ends[2];
static ev_io reader;
static ev_async bell;
static ev_timer stopped;

static void on_never(struct ev_loop *loop, ev_timer *timer, int events) {
  (void)loop, (void)timer, (void)events;
  never.waits++;
}

static void on_shot(struct ev_loop *loop, ev_timer *timer, int events) {
  (void)loop, (void)events;
  shot.waits++;
  shot.done++;
  free(timer);
}

static void shoot(struct ev_loop *loop, double after) {
  ev_timer *timer = malloc(sizeof *timer);
  ev_timer_init(timer, on_shot, after, 0.);
  ev_timer_start(loop, timer);
  shot.created++;
}

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events) {
  (void)events;
  tick.waits++;
  if (write(ends[1], "x", 1) != 1)
    abort();
  shoot(loop, .001);
  if (tick.waits < 10)
    return;
  ev_timer_stop(loop, timer);
  tick.cancelled++;
  ev_timer_stop(loop, &stopped);
  never.cancelled++;
  never.waits++;
  ev_async_send(loop, &bell);
}

/* Starts itself again: the same future goes on. */
static void on_again(struct ev_loop *loop, ev_timer *timer, int events) {
  (void)events;
  again.waits++;
  if (again.waits == 4) {
    again.done++;
    return;
  }
  ev_timer_set(timer, .002, 0.);
  ev_timer_start(loop, timer);
}

static void on_readable(struct ev_loop *loop, ev_io *io, int events) {
  char byte;
  (void)loop, (void)events;
  readable.waits++;
  if (read(io->fd, &byte, 1) != 1)
    abort();
}

static void on_ring(struct ev_loop *loop, ev_async *async, int events) {
  (void)events;
  ring.waits++;
  ev_async_stop(loop, async);
  ring.done++;
}

static void on_once(int events, void *arg) {
  (void)events, (void)arg;
  one.waits++;
  one.done++;
}

int main(void) {
  struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
  ev_timer ticker, phoenix;
  if (!loop || pipe(ends) != 0)
    return 1;

  ev_timer_init(&ticker, on_tick, .002, .002);
  ev_timer_start(loop, &ticker);
  tick.created++;
  ev_timer_start(loop, &ticker); /* active already: nothing */
  ev_timer_init(&phoenix, on_again, .002, 0.);
  ev_timer_start(loop, &phoenix);
  again.created++;
  ev_timer_init(&stopped, on_never, 1000., 0.);
  ev_timer_start(loop, &stopped);
  never.created++;
  ev_io_init(&reader, on_readable, ends[0], EV_READ);
  ev_io_start(loop, &reader);
  readable.created++;
  ev_async_init(&bell, on_ring);
  ev_async_start(loop, &bell);
  ring.created++;
  for (int i = 0; i < 3; i++) {
    ev_once(loop, -1, 0, .001, on_once, NULL);
    one.created++;
  }

  while (ring.done == 0 || shot.done < 10 || one.done < 3 || again.done == 0 || readable.waits < 10)
    ev_run(loop, EVRUN_ONCE);
  ev_io_stop(loop, &reader);
  readable.done++;
  readable.waits++;
  ev_loop_destroy(loop);

  count_print(&tick);
  count_print(&shot);
  count_print(&again);
  count_print(&never);
  count_print(&readable);
  count_print(&ring);
  count_print(&one);
  return 0;
}
/* SPDX-License-Identifier: MIT */
