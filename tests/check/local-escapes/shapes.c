/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>
struct req {
  uv_write_t w;
  uv_buf_t b;
  int n;
};
static void done(uv_write_t *r, int s) {
  (void)r;
  (void)s;
}
static void fsdone(uv_fs_t *r) {
  uv_fs_req_cleanup(r);
}
static void src(evutil_socket_t f, short w, void *d) {
  (void)f, (void)w;
  (void)d;
}
static void evcb(evutil_socket_t f, short w, void *d) {
  (void)f;
  (void)w;
  (void)d;
}
static void on_close(uv_handle_t *h) {
  (void)h;
}
static struct event_base *base;
static void r1(uv_stream_t *s, ssize_t n, const uv_buf_t *b) {
  struct req r;
  r.b = *b;
  uv_write(&r.w, s, &r.b, 1, done); /* BAD */
  (void)n;
}
static void r2(uv_stream_t *s, ssize_t n, const uv_buf_t *b) {
  struct req *r = (struct req *)malloc(sizeof *r);
  r->b = *b;
  if (n < 0) {
    free(r);
    return;
  }
  uv_write(&r->w, s, &r->b, 1, done);
}
static void r3(uv_timer_t *t) {
  uv_fs_t g;
  uv_fs_stat(t->loop, &g, "/", fsdone); /* BAD */
}
static void r4(uv_timer_t *t) {
  int counter = 0;
  event_base_once(base, -1, EV_TIMEOUT, src, &counter, NULL); /* BAD */
  (void)t;
}
static void r5(uv_timer_t *t) {
  int arr[3] = {0};
  event_base_once(base, -1, EV_TIMEOUT, src, arr, NULL); /* BAD */
  (void)t;
}
static void r6(uv_timer_t *t) {
  static int counter;
  event_base_once(base, -1, EV_TIMEOUT, src, &counter, NULL);
  (void)t;
}
static void helper(uv_stream_t *s, uv_buf_t *b, uv_write_t *r) {
  uv_write(r, s, b, 1, done);
}
static void r8(uv_timer_t *t) {
  uv_write_t w;
  uv_buf_t b = {0};
  helper((uv_stream_t *)t->data, &b, &w); /* BAD */
}
static void r9(uv_timer_t *t) {
  uv_timer_t other;
  uv_timer_init(t->loop, &other);
  uv_timer_start(&other, r4, 1, 0); /* BAD */
}
static void r10(uv_timer_t *t) {
  struct req r;
  uv_write_t *w = &r.w;
  uv_buf_t b = {0};
  uv_write(w, (uv_stream_t *)t->data, &b, 1, done); /* BAD */
}
static void r11(uv_timer_t *t) {
  int flag = 0;
  struct event *e = event_new(base, 1, EV_READ, evcb, &flag); /* BAD */
  event_add(e, NULL);
  (void)t;
}
static void r12(uv_timer_t *t) {
  for (int i = 0; i < 3; i++) {
    uv_write_t w;
    uv_buf_t b = {0};
    if (i)
      uv_write(&w, (uv_stream_t *)t->data, &b, 1, done); /* BAD */
  }
}
static void r13(uv_timer_t *t) {
  struct req r;
  switch (r.n) {
  case 1:
    t->data = &r;
    uv_timer_start(t, r4, 1, 0);
    break; /* one that is looked at in a condition may be waited for */
  default:
    break;
  }
}
static void r14(uv_timer_t *t) {
  struct req r;
  t->data = &r;
  r.n = 1;
  t->data = NULL;
  uv_timer_start(t, r4, 1, 0);
}
static void r15(uv_timer_t *t) {
  int x = 0;
  event_base_once(base, -1, EV_TIMEOUT, src, &x, NULL);
  event_base_dispatch(base);
  (void)t;
}
void all(uv_stream_t *s, uv_timer_t *t, uv_handle_t *h) {
  uv_read_start(s, NULL, r1);
  uv_read_start(s, NULL, r2);
  uv_timer_start(t, r3, 1, 0);
  uv_timer_start(t, r4, 1, 0);
  uv_timer_start(t, r5, 1, 0);
  uv_timer_start(t, r6, 1, 0);
  uv_timer_start(t, r8, 1, 0);
  uv_timer_start(t, r9, 1, 0);
  uv_timer_start(t, r10, 1, 0);
  uv_timer_start(t, r11, 1, 0);
  uv_timer_start(t, r12, 1, 0);
  uv_timer_start(t, r13, 1, 0);
  uv_timer_start(t, r14, 1, 0);
  uv_timer_start(t, r15, 1, 0);
  uv_close(h, on_close);
}
