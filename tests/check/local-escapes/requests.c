/* SPDX-License-Identifier: MIT */
/* Requests and data that callbacks come to when their maker has returned. */
#include <event2/event.h>
#include <stdlib.h>
#include <uv.h>

static void on_written(uv_write_t *request, int status) {
  (void)request, (void)status;
}

static void start(uv_stream_t *stream, uv_buf_t *buffer) {
  uv_write_t request;
  uv_write(&request, stream, buffer, 1, on_written); /* BAD */
}

static void untold(uv_stream_t *stream, uv_buf_t *buffer) {
  uv_write_t request;
  uv_fs_t waited;
  uv_fs_stat(stream->loop, &waited, "/", NULL); /* aprof: meant(blocking-in-async) */
  uv_write(&request, stream, buffer, 1, NULL);  /* BAD */
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *got) {
  uv_buf_t buffer = uv_buf_init(got->base, (unsigned)count);
  static uv_write_t kept;
  uv_write_t *made = (uv_write_t *)malloc(sizeof *made);
  start(stream, &buffer);
  untold(stream, &buffer);
  uv_write(&kept, stream, &buffer, 1, on_written);
  uv_write(made, stream, &buffer, 1, on_written);
}

static void on_timer(uv_timer_t *timer) {
  uv_timer_t once, ended;
  uv_timer_init(timer->loop, &once);
  uv_timer_init(timer->loop, &ended);
  uv_timer_start(&once, on_timer, 1, 0);
  uv_run(timer->loop, UV_RUN_ONCE);
  uv_timer_start(&ended, on_timer, 1, 0);
  uv_timer_stop(&ended);
}

struct client {
  int number;
};

static void on_event(evutil_socket_t socket, short what, void *data);

static void begin(struct event_base *base, event_callback_fn callback, void *data) {
  event_base_once(base, 0, EV_READ, callback, data, NULL);
}

/* It is called back by what begin() is given. */
static void on_alias(evutil_socket_t socket, short what, void *data) {
  struct event_base *base = (struct event_base *)data;
  struct client client = {1}, *alias = &client, *either = &client;
  char name[8] = "";
  if (what)
    either = (struct client *)calloc(1, sizeof *either);
  event_base_once(base, socket, EV_READ, on_event, alias, NULL); /* BAD */
  event_base_once(base, socket, EV_READ, on_event, name, NULL);  /* BAD */
  event_base_once(base, socket, EV_READ, on_event, either, NULL);
}

static void on_member(uv_async_t *async) {
  struct client client = {1};
  static struct client kept;
  uv_timer_t *timer = (uv_timer_t *)malloc(sizeof *timer),
             *other = (uv_timer_t *)malloc(sizeof *other);
  timer->data = &client; /* BAD */
  uv_timer_start(timer, on_timer, 1, 0);
  other->data = &client;
  other->data = &kept;
  async->data = &client;
  async->data = NULL;
}

static void on_event(evutil_socket_t socket, short what, void *data) {
  struct event_base *base = (struct event_base *)data;
  struct client client = {1}, *long_lived = (struct client *)calloc(1, sizeof *long_lived);
  struct timeval soon = {1, 0};
  (void)what;
  event_base_once(base, socket, EV_READ, on_event, &client, &soon); /* BAD */
  event_base_once(base, socket, EV_READ, on_event, long_lived, &soon);
}

/* It may wait for it: behind a condition that is false at once, or in a loop that asks it. */
static void on_idle(uv_idle_t *idle) {
  uv_timer_t timer, asked;
  uv_timer_init(idle->loop, &timer);
  uv_timer_init(idle->loop, &asked);
  uv_timer_start(&timer, on_timer, 1, 0);
  while (idle->data)
    uv_run(idle->loop, UV_RUN_ONCE);
}

static void on_prepare(uv_prepare_t *prepare) {
  struct client asked = {1};
  struct event_base *base = (struct event_base *)prepare->data;
  event_base_once(base, 0, EV_READ, on_event, &asked, NULL);
  while (asked.number)
    ;
}

/* main() may wait for it, in its loop. */
int main(void) {
  uv_loop_t *loop = uv_default_loop();
  uv_timer_t timer;
  uv_stream_t *stream = (uv_stream_t *)calloc(1, sizeof(uv_tcp_t));
  struct event_base *base = event_base_new();
  uv_timer_init(loop, &timer);
  uv_timer_start(&timer, on_timer, 1, 0);
  uv_read_start(stream, NULL, on_read);
  uv_idle_start((uv_idle_t *)calloc(1, sizeof(uv_idle_t)), on_idle);
  uv_prepare_start((uv_prepare_t *)calloc(1, sizeof(uv_prepare_t)), on_prepare);
  event_base_once(base, 0, EV_READ, on_event, base, NULL);
  begin(base, on_alias, base);
  uv_async_init(loop, (uv_async_t *)calloc(1, sizeof(uv_async_t)), on_member);
  return uv_run(loop, UV_RUN_DEFAULT);
}

/* -- by way of others, which take what lies in it ----------------------------------------- */

struct parcel {
  uv_work_t work;
  int n;
};

static void parcel_done(uv_work_t *work, int status) {
  (void)work, (void)status;
}

static void parcel_send(uv_loop_t *loop, struct parcel *parcel) {
  parcel->n = 1;
  uv_queue_work(loop, &parcel->work, NULL, parcel_done);
}

static void later(struct event_base *base, event_callback_fn callback, void *data) {
  event_base_once(base, 0, EV_READ, callback, data, NULL);
}

static void on_check(uv_check_t *check) {
  struct parcel parcel, *alias = &parcel, *many = (struct parcel *)calloc(2, sizeof *many);
  parcel_send(check->loop, &parcel);                           /* BAD */
  uv_queue_work(check->loop, &alias->work, NULL, parcel_done); /* BAD */
  for (int i = 0; i < 2; i++)
    uv_queue_work(check->loop, &many[i].work, NULL, parcel_done);
  parcel_send(check->loop, many);
  parcel_send(check->loop, &many[1]);
}

static void on_check_data(uv_check_t *check) {
  struct client client = {1}, *kept = (struct client *)calloc(1, sizeof *kept);
  later((struct event_base *)check->data, on_event, &client); /* BAD */
  later((struct event_base *)check->data, on_event, kept);
}

void check_start(uv_check_t *check) {
  uv_check_start(check, on_check);
  uv_check_start(check + 1, on_check_data);
}
