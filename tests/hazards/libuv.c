/* Callbacks of libuv, with no annotation but on the two that handle something:
   timers, a pipe that is written and read, and work on its thread pool. */
#include "hazard.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <uv.h>

const bool children_may_exit = false;
const bool work_is_simple = false;

struct round {
  unsigned long sum;
  unsigned left;
  uv_pipe_t in, out;
  uv_write_t write;
  uv_timer_t timer;
  uv_work_t job;
  char text[64];
};

APROF_ASYNC static __attribute__((noinline)) unsigned long handle(unsigned n) {
  call_hook();
  return small_future(n);
}

static void on_closed(uv_handle_t *handle) { (void)handle; }

static void done(struct round *r) {
  if (--r->left != 0)
    return;
  uv_close((uv_handle_t *)&r->in, on_closed);
  uv_close((uv_handle_t *)&r->out, on_closed);
  uv_close((uv_handle_t *)&r->timer, on_closed);
}

static void on_alloc(uv_handle_t *handle, size_t size, uv_buf_t *buffer) {
  (void)size;
  struct round *r = handle->data;
  *buffer = uv_buf_init(r->text, sizeof r->text);
}

static void on_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *buffer) {
  struct round *r = stream->data;
  for (ssize_t i = 0; i < n; i++)
    r->sum += handle((unsigned char)buffer->base[i]);
  uv_read_stop(stream);
  done(r);
}

static void on_written(uv_write_t *write, int status) {
  struct round *r = write->data;
  must(status == 0, "uv_write");
  r->sum += handle(1);
  done(r);
}

static void on_timer(uv_timer_t *timer) {
  struct round *r = timer->data;
  r->sum += handle(2);
  done(r);
}

static void in_pool(uv_work_t *job) { ((struct round *)job->data)->text[63] = 1; }

static void after_pool(uv_work_t *job, int status) {
  struct round *r = job->data;
  must(status == 0, "uv_queue_work");
  r->sum += handle(3);
  done(r);
}

static unsigned long one_round(uv_loop_t *loop) {
  struct round r = {.left = 4};
  int ends[2];
  static char hello[] = "hello";
  uv_buf_t buffer = uv_buf_init(hello, 5);
  must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  uv_pipe_init(loop, &r.in, 0);
  uv_pipe_init(loop, &r.out, 0);
  uv_timer_init(loop, &r.timer);
  must(uv_pipe_open(&r.in, ends[0]) == 0 && uv_pipe_open(&r.out, ends[1]) == 0, "uv_pipe_open");
  r.in.data = r.timer.data = r.write.data = r.job.data = &r;
  must(uv_read_start((uv_stream_t *)&r.in, on_alloc, on_read) == 0, "uv_read_start");
  must(uv_write(&r.write, (uv_stream_t *)&r.out, &buffer, 1, on_written) == 0, "uv_write");
  must(uv_timer_start(&r.timer, on_timer, 0, 0) == 0, "uv_timer_start");
  must(uv_queue_work(loop, &r.job, in_pool, after_pool) == 0, "uv_queue_work");
  uv_run(loop, UV_RUN_DEFAULT);
  return r.sum;
}

unsigned long work(unsigned rounds) {
  unsigned long sum = 0;
  uv_loop_t loop;
  must(uv_loop_init(&loop) == 0, "uv_loop_init");
  for (unsigned i = 0; i < rounds; i++)
    sum += one_round(&loop) + i;
  must(uv_loop_close(&loop) == 0, "uv_loop_close");
  return sum;
}
/* SPDX-License-Identifier: MIT */
