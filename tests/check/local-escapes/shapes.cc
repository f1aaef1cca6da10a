/* SPDX-License-Identifier: MIT */
/* The same in other shapes: loops, choices, macros, helpers, scopes. */
#include <functional>
#include <string>
#include <uv.h>
struct Conn {
  uv_stream_t *s;
  std::string out;
  void send() {
    uv_write_t w;
    uv_buf_t b = uv_buf_init(out.data(), out.size());
    uv_write(&w, s, &b, 1, [](uv_write_t *, int) {}); /* BAD */
  }
  void send_ok() {
    auto *w = new uv_write_t;
    uv_buf_t b = uv_buf_init(out.data(), out.size());
    uv_write(w, s, &b, 1, [](uv_write_t *w, int) { delete w; });
  }
};
static void tick(uv_timer_t *t) {
  Conn c{(uv_stream_t *)t->data, {}};
  c.send();
  c.send_ok();
  Conn d;
  uv_work_t *r = new uv_work_t;
  r->data = &d; /* BAD */
  uv_queue_work(
      t->loop, r, [](uv_work_t *) {}, [](uv_work_t *, int) {});
}
int shapes() {
  uv_timer_t t;
  uv_timer_start(&t, tick, 1, 1);
  return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
