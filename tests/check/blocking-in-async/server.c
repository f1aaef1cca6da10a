/* SPDX-License-Identifier: MIT */
/* A server, and what its callbacks come to in other units. Lines that are found say BAD. */
#include "log.h"

#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

static void on_timer(uv_timer_t *timer) {
  (void)timer;
  sleep(1); /* BAD */
  waitpid(-1, NULL, WNOHANG);
  waitpid(-1, NULL, WNOHANG | WUNTRACED);
  waitpid(-1, NULL, 0); /* BAD */
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer) {
  (void)stream, (void)buffer;
  audit(count);
  save(1);
}

/* A thread of the pool may block, and so may what nobody calls back. */
static void work(uv_work_t *request) {
  (void)request;
  store(1);
}

static void after(uv_work_t *request, int status) {
  (void)request, (void)status;
}

static void meant(uv_idle_t *idle) {
  (void)idle;
  usleep(1); /* aprof: meant */
  /* aprof: meant(blocking-in-async) */
  usleep(1);
  usleep(1); /* BAD. aprof: meant(another-rule) */
}

static int never(int flags) {
  return waitpid(-1, NULL, flags);
}

static void on_exit_cb(uv_process_t *process, int64_t status, int signal) {
  (void)process, (void)status, (void)signal;
  never(WNOHANG); /* which flags it has is not known there */
  uv_fs_t request;
  uv_fs_stat(uv_default_loop(), &request, "/", NULL); /* BAD */
}

int serve(uv_loop_t *loop, uv_stream_t *stream, uv_timer_t *timer, uv_idle_t *idle,
          uv_work_t *request, uv_process_t *process) {
  uv_process_options_t options = {0};
  options.exit_cb = on_exit_cb;
  sleep(1);
  uv_timer_start(timer, on_timer, 1, 0);
  uv_read_start(stream, NULL, on_read);
  uv_idle_start(idle, meant);
  uv_queue_work(loop, request, work, after);
  uv_spawn(loop, process, &options);
  store(0);
  return uv_run(loop, UV_RUN_DEFAULT);
}
