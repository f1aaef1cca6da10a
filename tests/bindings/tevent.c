/* tevent: requests whose subrequests sleep, one after the other and with failures; timers, an
   immediate that is scheduled twice, a pipe. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/time.h>

#include <talloc.h>
#include <tevent.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "count.h"

/* A callback that belongs to a request lets it run inside itself: one more wait of the
   callback, and one of the request whose end calls back. */
static struct count fetch = {.name = "fetch_send"}, slept = {.name = "fetch_slept"},
                    batch = {.name = "batch_send"}, fetched = {.name = "batch_fetched"},
                    timers = {.name = "on_timer"}, readable = {.name = "on_readable"},
                    now = {.name = "on_immediate"};
static unsigned failed;
static int pipes[2];

struct work {
  struct tevent_context *loop;
  int n;
};

static void fetch_slept(struct tevent_req *);
static void batch_fetched(struct tevent_req *);

/* Sleeps 1 ms; each fourth fails. */
static struct tevent_req *fetch_send(TALLOC_CTX *memory, struct tevent_context *loop, int n) {
  struct work *work;
  struct tevent_req *request = tevent_req_create(memory, &work, struct work);
  fetch.created++;
  work->n = n;
  struct tevent_req *sleep = tevent_wakeup_send(work, loop, tevent_timeval_current_ofs(0, 1000));
  if (tevent_req_nomem(sleep, request))
    return tevent_req_post(request, loop);
  tevent_req_set_callback(sleep, fetch_slept, request);
  slept.created++;
  return request;
}

static void fetch_slept(struct tevent_req *sleep) {
  struct tevent_req *request = tevent_req_callback_data(sleep, struct tevent_req);
  struct work *work = tevent_req_data(request, struct work);
  if (!tevent_wakeup_recv(sleep))
    abort();
  TALLOC_FREE(sleep);
  slept.done++;
  slept.waits += 2;
  fetch.waits += 2;
  if (work->n % 4 == 3) {
    failed++;
    tevent_req_error(request, EIO);
  } else {
    fetch.done++;
    tevent_req_done(request);
  }
}

/* Eight fetches, one after the other. */
static struct tevent_req *batch_send(TALLOC_CTX *memory, struct tevent_context *loop) {
  struct work *work;
  struct tevent_req *request = tevent_req_create(memory, &work, struct work);
  batch.created++;
  work->loop = loop;
  tevent_req_set_callback(fetch_send(work, loop, work->n++), batch_fetched, request);
  fetched.created++;
  return request;
}

static void batch_fetched(struct tevent_req *part) {
  struct tevent_req *request = tevent_req_callback_data(part, struct tevent_req);
  struct work *work = tevent_req_data(request, struct work);
  TALLOC_FREE(part);
  fetched.done++;
  fetched.waits += 2;
  batch.waits++;
  if (work->n == 8) {
    batch.done++;
    tevent_req_done(request);
    return;
  }
  tevent_req_set_callback(fetch_send(work, work->loop, work->n++), batch_fetched, request);
  fetched.created++;
}

static void on_immediate(struct tevent_context *loop, struct tevent_immediate *self, void *arg) {
  (void)loop, (void)self, (void)arg;
  now.done++;
}

static void on_readable(struct tevent_context *loop, struct tevent_fd *self, uint16_t flags,
                        void *arg) {
  char c;
  (void)loop, (void)self, (void)flags, (void)arg;
  readable.waits++;
  if (read(pipes[0], &c, 1) != 1)
    abort();
}

static void on_timer(struct tevent_context *loop, struct tevent_timer *self, struct timeval at,
                     void *arg) {
  (void)self, (void)at;
  timers.done++;
  timers.waits++;
  if (write(pipes[1], "x", 1) != 1)
    abort();
  if (timers.created < 10) {
    tevent_add_timer(loop, loop, tevent_timeval_current_ofs(0, 500), on_timer, arg);
    timers.created++;
  }
}

int main(void) {
  struct tevent_context *loop = tevent_context_init(NULL);
  struct tevent_immediate *immediate = tevent_create_immediate(loop);
  struct tevent_req *requests[3];
  if (pipe(pipes) != 0)
    return 1;
  struct tevent_fd *watch = tevent_add_fd(loop, loop, pipes[0], TEVENT_FD_READ, on_readable, NULL);
  readable.created++;
  tevent_schedule_immediate(immediate, loop, on_immediate, NULL);
  tevent_schedule_immediate(immediate, loop, on_immediate, NULL);
  now.created++;
  tevent_add_timer(loop, loop, tevent_timeval_current_ofs(0, 500), on_timer, NULL);
  timers.created++;
  for (int i = 0; i < 3; i++)
    requests[i] = batch_send(loop, loop);
  for (int i = 0; i < 3; i++)
    if (!tevent_req_poll(requests[i], loop))
      return 2;
  while (readable.waits < 10)
    tevent_loop_once(loop);
  TALLOC_FREE(watch);
  readable.cancelled++;
  readable.waits++;
  talloc_free(loop);

  printf("of %u fetches %u are done, %u failed\n", fetch.created, fetch.done, failed);
  count_print(&slept);
  count_print(&batch);
  count_print(&fetched);
  count_print(&timers);
  count_print(&readable);
  count_print(&now);
  return 0;
}
/* SPDX-License-Identifier: MIT */
