/* libuEv: timers that run once, repeat, are set again and stopped; a pipe that is hung
   up; an event that another thread posts; a signal. */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <uev/uev.h>
#include <unistd.h>

#include "count.h"

static struct count shot = {.name = "on_shot"}, tick = {.name = "on_tick"},
                    again = {.name = "on_again"}, never = {.name = "on_never"},
                    readable = {.name = "on_readable"}, ring = {.name = "on_ring"},
                    rung = {.name = "on_signal"};
static uev_t stopped, late, bell, alarmed;
static int ends[2];

static void on_never(uev_t *timer, void *arg, int events) {
  (void)timer, (void)arg, (void)events;
  abort();
}

/* It has stopped already: its memory is the callback's. */
static void on_shot(uev_t *timer, void *arg, int events) {
  (void)arg, (void)events;
  shot.waits++;
  shot.done++;
  free(timer);
}

static void shoot(uev_ctx_t *loop) {
  uev_t *timer = malloc(sizeof *timer);
  if (uev_timer_init(loop, timer, on_shot, NULL, 1, 0) != 0)
    abort();
  shot.created++;
}

static void give_up(uev_t *timer) {
  uev_timer_stop(timer);
  uev_timer_stop(timer); /* stopped already: nothing */
  never.cancelled++;
  never.waits++;
}

static void on_tick(uev_t *timer, void *arg, int events) {
  (void)arg, (void)events;
  tick.waits++;
  if (write(ends[1], "x", 1) != 1)
    abort();
  shoot(timer->ctx);
  if (tick.waits < 10)
    return;
  uev_timer_stop(timer);
  tick.cancelled++;
  give_up(&stopped);
  give_up(&late);
  close(ends[1]);
  if (kill(getpid(), SIGUSR2) != 0)
    abort();
}

/* Sets itself again: the same future goes on. */
static void on_again(uev_t *timer, void *arg, int events) {
  (void)arg, (void)events;
  again.waits++;
  if (again.waits == 4) {
    again.done++;
    return;
  }
  if (uev_timer_set(timer, 2, 0) != 0)
    abort();
}

/* The last time libuEv has stopped it: the other end is closed. */
static void on_readable(uev_t *io, void *arg, int events) {
  char byte;
  (void)arg, (void)events;
  bool last = !uev_io_active(io);
  readable.waits++;
  readable.done += last;
  if (read(io->fd, &byte, 1) != 1 && !last)
    abort();
}

static void on_ring(uev_t *event, void *arg, int events) {
  (void)arg, (void)events;
  ring.waits++;
  uev_event_stop(event);
  ring.done++;
}

static void on_signal(uev_t *signal, void *arg, int events) {
  (void)arg, (void)events;
  rung.waits++;
  uev_signal_stop(signal);
  rung.done++;
}

static void *post(void *arg) {
  (void)arg;
  return uev_event_post(&bell) == 0 ? NULL : &bell;
}

int main(void) {
  uev_ctx_t loop;
  uev_t ticker, phoenix, reader;
  pthread_t thread;
  void *failed;
  if (uev_init(&loop) != 0 || pipe(ends) != 0)
    return 1;

  int bad = uev_timer_init(&loop, &ticker, on_tick, NULL, 2, 2);
  tick.created++;
  bad |= uev_timer_start(&ticker); /* active already: it goes on */
  bad |= uev_timer_init(&loop, &phoenix, on_again, NULL, 2, 0);
  again.created++;
  bad |= uev_timer_init(&loop, &stopped, on_never, NULL, 1000000, 0);
  bad |= uev_timer_init(&loop, &late, on_never, NULL, 0, 0); /* not armed yet */
  bad |= uev_timer_set(&late, 1000000, 0);
  never.created += 2;
  bad |= uev_io_init(&loop, &reader, on_readable, NULL, ends[0], UEV_READ);
  readable.created++;
  uev_io_stop(&reader);
  readable.done++;
  readable.waits++;
  bad |= uev_io_start(&reader);
  readable.created++;
  bad |= uev_event_init(&loop, &bell, on_ring, NULL);
  ring.created++;
  bad |= uev_signal_init(&loop, &alarmed, on_signal, NULL, SIGUSR2);
  rung.created++;
  if (bad || pthread_create(&thread, NULL, post, NULL) != 0 || pthread_join(thread, &failed) != 0 ||
      failed)
    return 1;

  if (uev_run(&loop, 0) != 0) /* until nothing is left to watch */
    return 1;
  uev_exit(&loop);

  count_print(&tick);
  count_print(&shot);
  count_print(&again);
  count_print(&never);
  count_print(&readable);
  count_print(&ring);
  count_print(&rung);
  return 0;
}
/* SPDX-License-Identifier: MIT */
