/* SPDX-License-Identifier: MIT */
/* Of nginx what its bindings name. */
#ifndef NGX_HTTP_H
#define NGX_HTTP_H

#include <stddef.h>

typedef long ngx_int_t;
typedef struct {
  size_t len;
  unsigned char *data;
} ngx_str_t;
typedef struct ngx_event_s ngx_event_t;
typedef struct ngx_http_request_s ngx_http_request_t;
typedef void (*ngx_event_handler_pt)(ngx_event_t *ev);
typedef void (*ngx_http_event_handler_pt)(ngx_http_request_t *r);
typedef ngx_int_t (*ngx_http_handler_pt)(ngx_http_request_t *r);

struct ngx_event_s {
  void *data;
  ngx_event_handler_pt handler;
  unsigned posted, timedout;
};
struct ngx_http_request_s {
  ngx_http_event_handler_pt read_event_handler, write_event_handler;
  ngx_str_t method_name;
  unsigned done;
};

typedef struct {
  void *data;
  ngx_event_t *read, *write;
} ngx_connection_t;

void ngx_close_connection(ngx_connection_t *c);
ngx_http_request_t *ngx_http_alloc_request(void *c);
void ngx_http_process_request(ngx_http_request_t *r);
void ngx_http_free_request(ngx_http_request_t *r, ngx_int_t rc);

#endif
