/* SPDX-License-Identifier: MIT */
/* Requests as nginx runs them: a function that its core makes and ends them by, and a handler for
   each phase. */
#include <ngx_http.h>

#include <stdlib.h>
#include <string.h>

#include "count.h"

static struct count request = {.name = "ngx_http_process_request"},
                    readable = {.name = "on_readable"}, access_ = {.name = "access_handler"},
                    content = {.name = "content_handler"};

ngx_http_request_t *__attribute__((noipa)) ngx_http_alloc_request(void *c) {
  (void)c;
  return calloc(1, sizeof(ngx_http_request_t));
}

void __attribute__((noipa)) ngx_http_free_request(ngx_http_request_t *r, ngx_int_t rc) {
  (void)rc;
  free(r);
}

static ngx_int_t access_handler(ngx_http_request_t *r) {
  (void)r;
  access_.created++;
  access_.done++;
  return -5;
}

static ngx_int_t content_handler(ngx_http_request_t *r) {
  (void)r;
  content.created++;
  content.done++;
  return 0;
}

static ngx_http_handler_pt phases[] = {access_handler, content_handler};

static void run_phases(ngx_http_request_t *r) {
  for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
    phases[i](r);
  r->done = 1;
}

void __attribute__((noipa)) ngx_http_process_request(ngx_http_request_t *r) {
  r->write_event_handler = run_phases;
  r->write_event_handler(r);
}

static void serve(const char *method) {
  ngx_http_request_t *r = ngx_http_alloc_request(NULL);
  request.created++;
  r->method_name = (ngx_str_t){strlen(method), (unsigned char *)(size_t)method};
  ngx_http_process_request(r);
  ngx_http_free_request(r, 0);
  request.done++;
  request.waits += sizeof phases / sizeof *phases; /* for each handler */
}

/* The handler of an event is another one each time; its future has the name of the first. */
static void on_more(ngx_event_t *ev) {
  (void)ev;
}

static void on_readable(ngx_event_t *ev) {
  ev->handler = on_more;
}

void __attribute__((noipa)) ngx_close_connection(ngx_connection_t *c) {
  c->data = NULL;
}

static void connect(void) {
  static ngx_event_t in, out;
  static ngx_connection_t c = {.read = &in, .write = &out};
  in.handler = on_readable;
  readable.created++;
  for (int i = 0; i < 10; i++) {
    in.handler(&in);
    readable.waits++;
  }
  ngx_close_connection(&c);
  readable.done++;
}

int main(void) {
  for (int i = 0; i < 20; i++)
    serve(i % 4 ? "GET" : "POST");
  for (int i = 0; i < 5; i++)
    connect();
  count_print(&request);
  count_print(&readable);
  count_print(&access_);
  count_print(&content);
  return 0;
}
