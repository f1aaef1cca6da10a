/* A loop that never rests, for a fifth of a second, by what SPINS names: an idle handle that
   nobody stops, or a descriptor that is ready and never read. READS: it is read, byte by byte. */
#define UV 1
#define EV 2
#define EVENT 3
#include <stdio.h>
#include <time.h>
#include <unistd.h>
#if SPINS == UV
#include <uv.h>
#elif SPINS == EV
#include <ev.h>
#else
#include <event2/event.h>
#endif

/* The clock is looked at now and then: to look at it takes longer than what is tested. */
static int is_over(void) {
  static time_t end_s;
  static long end_ns;
  static unsigned runs;
  struct timespec now;
  if (runs++ % 64)
    return 0;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (runs == 1) {
    end_ns = (now.tv_nsec + 200000000) % 1000000000;
    end_s = now.tv_sec + (end_ns < now.tv_nsec);
  }
  return now.tv_sec > end_s || (now.tv_sec == end_s && now.tv_nsec > end_ns);
}

#if SPINS == UV
static void on_idle(uv_idle_t *idle) {
  if (is_over())
    uv_stop(idle->loop);
}

int main(void) {
  uv_idle_t idle;
  uv_idle_init(uv_default_loop(), &idle);
  uv_idle_start(&idle, on_idle);
  uv_run(uv_default_loop(), UV_RUN_DEFAULT);
  return 0;
}
#elif SPINS == EV
static void on_idle(struct ev_loop *loop, ev_idle *idle, int events) {
  (void)idle, (void)events;
  if (is_over())
    ev_break(loop, EVBREAK_ALL);
}

int main(void) {
  struct ev_loop *loop = EV_DEFAULT;
  ev_idle idle;
  ev_idle_init(&idle, on_idle);
  ev_idle_start(loop, &idle);
  ev_run(loop, 0);
  return 0;
}
#else
static struct event_base *base;

static void on_idle(evutil_socket_t fd, short events, void *arg) {
  (void)fd, (void)events, (void)arg;
#ifdef READS
  char byte;
  if (read(fd, &byte, 1) != 1 || write(((int *)arg)[1], &byte, 1) != 1)
    event_base_loopbreak(base);
#endif
  if (is_over())
    event_base_loopbreak(base);
}

int main(void) {
  int ends[2];
  if (pipe(ends) || write(ends[1], "x", 1) != 1)
    return 1;
  base = event_base_new();
  struct event *event = event_new(base, ends[0], EV_READ | EV_PERSIST, on_idle, ends);
  event_add(event, NULL);
  event_base_dispatch(base);
  return 0;
}
#endif
/* SPDX-License-Identifier: MIT */
