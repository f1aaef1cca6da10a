/*
 * A small HTTP/1.1 server on libuv, as an example of a program to profile.
 *
 *   main.c      options, signals, and the loop that runs ready requests
 *   http.c      connections: read, parse, reply, keep alive
 *   routes.c    what the server can do, one function per route
 *   backend.c   a second service over TCP, on a thread and loop of its own, or in
 *               a process of its own, and the client that asks it
 *   tiers.aprof what counts for which tier, without a change of the code
 *
 * A request is a state machine. Its route function starts something and returns
 * WAITING; the callback of that puts the request back on the ready list
 * (request_wake), which main() empties after each turn of the loop.
 *
 * libuv's own calls are known to aprof already. The annotations below make it
 * speak of requests besides: each has one future, known by its address, from
 * request_new to request_end, and its route's name as a label. Plain functions are
 * spans that tell in which tier the time is (parsing comes before the request, so it
 * is the connection's). They vanish where the plugin is not loaded.
 */
#ifndef SERVER_H
#define SERVER_H

#include <aprof.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

enum { HEAD_MAX = 8 * 1024, BODY_MAX = 64 * 1024, FILE_MAX = 1024 * 1024 };

struct request;
enum step { WAITING, DONE };
typedef enum step (*step_fn)(struct request *);

/* A route function: each call is one run of the request's future, which is not
   over while it returns WAITING. */
#define STEP APROF("run key=a0 pending=0")

struct route {
  const char *method, *path; /* a path that ends in '/' stands for all below it */
  const char *name;          /* the kind of its requests; for --burn */
  step_fn step;
};
extern const struct route routes[];
extern const struct route error_route; /* replies with the request's status */

struct server {
  uv_loop_t loop;
  uv_tcp_t listener;
  uv_signal_t signals[2];
  int stopping;
  struct connection *connections;
  struct request *ready, **ready_end;
  const char *root; /* directory of files and uploads */
  struct backend *backend;
  struct {
    const struct route *route; /* NULL: nobody burns */
    unsigned ms, every, count;
  } burn;
  uint64_t served;
};

struct connection {
  struct server *server;
  struct connection **link, *next;
  struct request *request; /* at most one at a time */
  uv_tcp_t tcp;
  uv_timer_t timer; /* for the route that is running */
  int open_handles, reading, gone;
  unsigned number;
  size_t length;
  char in[HEAD_MAX + BODY_MAX];
};

/* One question to the backend. */
struct fetch {
  uv_tcp_t tcp;
  uv_connect_t connect;
  uv_write_t write;
  struct request *request;
  int status; /* 0, or a libuv error */
  size_t length;
  char question[96], answer[64];
};

struct request {
  struct connection *connection;
  const struct route *route;
  struct request *next_ready;
  int step;    /* the route's own: where to go on */
  int replied; /* the reply is under way: the next wake is the last */
  int keep_alive;
  unsigned status;
  char path[256];
  const char *query; /* "" if none */
  const char *body;  /* in connection->in, as long as the request lives */
  char token[56];    /* traceparent that the client sent (W3C trace context); "" if none */
  size_t body_length, total_length;

  /* What the step that is under way needs. */
  union {
    uv_fs_t fs;
    struct fetch fetch;
  } op;
  ssize_t result;
  uv_file file;

  char *content; /* of the reply; freed with the request */
  size_t content_length;
  uv_write_t write;
  char head[256];
};

/* http.c */
int http_listen(struct server *server, int port);
void http_stop(struct server *server);
enum step request_reply(struct request *request, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
APROF("span tier=reply") enum step request_reply_content(struct request *request, unsigned status);

/* The life of a request, as aprof sees it. */
APROF("create key=ret root ready token=a1")
struct request *request_new(struct connection *connection, const char *token);
APROF("label key=a0 value=a1->name:str")
void request_route(struct request *request, const struct route *route);
APROF("wake key=a0") void request_wake(struct request *request);
APROF("end key=a0") void request_end(struct request *request);

/* backend.c */
struct backend *backend_start(void);       /* on a thread */
struct backend *backend_at(unsigned port); /* another process */
int backend_serve(unsigned port);          /* is that process, until SIGINT or SIGTERM */
void backend_stop(struct backend *backend);
void backend_fetch(struct backend *backend, uv_loop_t *loop, struct request *request);

#endif
/* SPDX-License-Identifier: MIT */
