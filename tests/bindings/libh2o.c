/* libh2o on its own loop: an HTTP server that answers at once, after a while and piece
   by piece, its clients, an echo server on plain sockets and its client, a timer that is
   taken back, messages from another thread. */
#include <h2o.h>
#include <h2o/http1client.h>
#include <h2o/multithread.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>

#include "count.h"

enum { GETS = 4, PIECES = 3, ECHOES = 5, MESSAGES = 1 };

static struct count now = {.name = "on_now"}, later = {.name = "on_later"},
                    pieces = {.name = "on_pieces"}, due = {.name = "on_due"},
                    never = {.name = "on_never"}, client = {.name = "on_connect"},
                    accepted = {.name = "on_accept"}, http_accepted = {.name = "on_http_accept"},
                    echo = {.name = "on_echo"}, echoed = {.name = "on_echoed"},
                    linked = {.name = "on_linked"}, sent = {.name = "on_sent"},
                    answered = {.name = "on_answer"}, message = {.name = "on_message"};
static h2o_globalconf_t config;
static h2o_context_t context;
static h2o_accept_ctx_t accept_ctx = {.ctx = &context};
static h2o_timeout_t five_ms, one_hour;
static h2o_timeout_entry_t forgotten;

/* -- requests ------------------------------------------------------------------------ */

static int on_now(h2o_handler_t *self, h2o_req_t *request) {
  (void)self;
  now.created++;
  now.done++;
  request->res.status = 200;
  h2o_send_inline(request, H2O_STRLIT("now"));
  return 0;
}

struct delay {
  h2o_timeout_entry_t timer;
  h2o_req_t *request;
};

static void on_due(h2o_timeout_entry_t *timer) {
  struct delay *delay = H2O_STRUCT_FROM_MEMBER(struct delay, timer, timer);
  due.done++;
  due.waits++;
  later.done++;
  later.waits++;
  delay->request->res.status = 200;
  h2o_send_inline(delay->request, H2O_STRLIT("later"));
}

static int on_later(h2o_handler_t *self, h2o_req_t *request) {
  struct delay *delay = h2o_mem_alloc_pool(&request->pool, sizeof *delay);
  (void)self;
  later.created++;
  memset(delay, 0, sizeof *delay);
  delay->request = request;
  delay->timer.cb = on_due;
  due.created++;
  h2o_timeout_link(context.loop, &five_ms, &delay->timer);
  return 0;
}

struct stream {
  h2o_generator_t super;
  int left;
};

static void send_piece(struct stream *stream, h2o_req_t *request) {
  h2o_iovec_t text = h2o_iovec_init(H2O_STRLIT("piece"));
  stream->left--;
  h2o_send(request, &text, 1, stream->left ? H2O_SEND_STATE_IN_PROGRESS : H2O_SEND_STATE_FINAL);
}

static void on_proceed(h2o_generator_t *self, h2o_req_t *request) {
  struct stream *stream = (struct stream *)self;
  pieces.waits++;
  pieces.done += stream->left == 1;
  send_piece(stream, request);
}

static int on_pieces(h2o_handler_t *self, h2o_req_t *request) {
  struct stream *stream = h2o_mem_alloc_pool(&request->pool, sizeof *stream);
  (void)self;
  pieces.created++;
  *stream = (struct stream){{on_proceed, NULL}, PIECES};
  request->res.status = 200;
  h2o_start_response(request, &stream->super);
  send_piece(stream, request);
  return 0;
}

static void on_http_accept(h2o_socket_t *listener, const char *error) {
  h2o_socket_t *peer = error ? NULL : h2o_evloop_socket_accept(listener);
  http_accepted.waits++;
  if (peer)
    h2o_accept(&accept_ctx, peer);
}

/* -- clients of HTTP ------------------------------------------------------------------- */

static int on_body(h2o_http1client_t *c, const char *error) {
  client.waits++;
  h2o_buffer_consume(&c->sock->input, c->sock->input->size);
  if (error && error != h2o_http1client_error_is_eos)
    abort();
  client.done += error != NULL;
  return 0;
}

static h2o_http1client_body_cb on_head(h2o_http1client_t *c, const char *error, int minor,
                                       int status, h2o_iovec_t reason, h2o_header_t *headers,
                                       size_t count, int head_length) {
  (void)c, (void)minor, (void)reason, (void)headers, (void)count, (void)head_length;
  client.waits++;
  if (error || status != 200)
    abort();
  return on_body;
}

static h2o_http1client_head_cb on_connect(h2o_http1client_t *c, const char *error,
                                          h2o_iovec_t **parts, size_t *count, int *is_head) {
  client.waits++;
  if (error)
    abort();
  *parts = c->data;
  *count = 1;
  *is_head = 0;
  return on_head;
}

static void get(h2o_http1client_ctx_t *http, h2o_iovec_t *request, uint16_t port) {
  client.created++;
  h2o_http1client_connect(NULL, request, http, h2o_iovec_init(H2O_STRLIT("127.0.0.1")), port, 0,
                          on_connect);
}

/* -- plain sockets --------------------------------------------------------------------- */

static void on_sent(h2o_socket_t *socket, const char *error) {
  (void)socket, (void)error;
  sent.done++;
  sent.waits++;
}

static void on_echo(h2o_socket_t *peer, const char *error) {
  echo.waits++;
  if (error) {
    echo.done++;
    h2o_socket_close(peer);
    return;
  }
  sent.created++;
  h2o_iovec_t text = h2o_iovec_init(peer->input->bytes, peer->input->size);
  h2o_socket_write(peer, &text, 1, on_sent);
  h2o_buffer_consume(&peer->input, peer->input->size);
}

static void on_accept(h2o_socket_t *listener, const char *error) {
  h2o_socket_t *peer = error ? NULL : h2o_evloop_socket_accept(listener);
  accepted.waits++;
  if (!peer)
    return;
  echo.created++;
  h2o_socket_read_start(peer, on_echo);
}

static void on_echoed(h2o_socket_t *socket, const char *error) {
  (void)socket, (void)error;
  echoed.done++;
  echoed.waits++;
}

static void say(h2o_socket_t *socket) {
  static h2o_iovec_t hello = {H2O_STRLIT("hello")};
  echoed.created++;
  h2o_socket_write(socket, &hello, 1, on_echoed);
}

static void on_answer(h2o_socket_t *socket, const char *error) {
  answered.waits++;
  if (error)
    abort();
  h2o_buffer_consume(&socket->input, socket->input->size);
  if (answered.waits < ECHOES) {
    say(socket);
    return;
  }
  answered.done++;
  h2o_socket_close(socket);
}

static void on_linked(h2o_socket_t *socket, const char *error) {
  linked.done++;
  linked.waits++;
  if (error)
    abort();
  answered.created++;
  h2o_socket_read_start(socket, on_answer);
  say(socket);
}

/* -- the rest ---------------------------------------------------------------------------- */

static void on_never(h2o_timeout_entry_t *timer) {
  (void)timer;
}

static void on_message(h2o_multithread_receiver_t *receiver, h2o_linklist_t *messages) {
  (void)receiver;
  message.waits++;
  while (!h2o_linklist_is_empty(messages))
    h2o_linklist_unlink(messages->next);
}

static void *send_message(void *receiver) {
  static h2o_multithread_message_t empty;
  h2o_multithread_send_message(receiver, &empty);
  return NULL;
}

static h2o_socket_t *listen_at(h2o_socket_cb callback, struct sockaddr_in *at) {
  socklen_t length = sizeof *at;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  memset(at, 0, sizeof *at);
  at->sin_family = AF_INET;
  at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (fd < 0 || bind(fd, (struct sockaddr *)at, length) != 0 || listen(fd, 16) != 0 ||
      getsockname(fd, (struct sockaddr *)at, &length) != 0)
    abort();
  h2o_socket_t *listener = h2o_evloop_socket_create(context.loop, fd, H2O_SOCKET_FLAG_DONT_READ);
  h2o_socket_read_start(listener, callback);
  return listener;
}

static void handler(h2o_hostconf_t *host, const char *path,
                    int (*on_req)(h2o_handler_t *, h2o_req_t *)) {
  h2o_create_handler(h2o_config_register_path(host, path, 0), sizeof(h2o_handler_t))->on_req =
      on_req;
}

static bool busy(void) {
  return client.done < 3 * GETS || answered.done < 1 || echo.done < 1 || message.waits < MESSAGES;
}

int main(void) {
  static h2o_iovec_t requests[3][GETS];
  const char *texts[] = {"GET /now HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
                         "GET /later HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
                         "GET /pieces HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"};
  h2o_multithread_receiver_t receiver;
  struct sockaddr_in http_at, echo_at;
  pthread_t other;

  h2o_config_init(&config);
  h2o_hostconf_t *host =
      h2o_config_register_host(&config, h2o_iovec_init(H2O_STRLIT("default")), 65535);
  handler(host, "/now", on_now);
  handler(host, "/later", on_later);
  handler(host, "/pieces", on_pieces);
  h2o_context_init(&context, h2o_evloop_create(), &config);
  accept_ctx.hosts = config.hosts;
  h2o_timeout_init(context.loop, &five_ms, 5);
  h2o_timeout_init(context.loop, &one_hour, 3600000);
  h2o_http1client_ctx_t http = {.loop = context.loop, .io_timeout = &one_hour};

  http_accepted.created++;
  accepted.created++;
  h2o_socket_t *http_listener = listen_at(on_http_accept, &http_at);
  h2o_socket_t *listener = listen_at(on_accept, &echo_at);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < GETS; j++) {
      requests[i][j] = h2o_iovec_init(texts[i], strlen(texts[i]));
      get(&http, &requests[i][j], ntohs(http_at.sin_port));
    }
  linked.created++;
  if (!h2o_socket_connect(context.loop, (struct sockaddr *)&echo_at, sizeof echo_at, on_linked))
    return 1;
  never.created++;
  forgotten.cb = on_never;
  h2o_timeout_link(context.loop, &one_hour, &forgotten);
  never.cancelled++;
  never.waits++;
  h2o_timeout_unlink(&forgotten);
  message.created++;
  h2o_multithread_register_receiver(context.queue, &receiver, on_message);
  if (pthread_create(&other, NULL, send_message, &receiver) != 0)
    return 1;

  while (busy())
    h2o_evloop_run(context.loop, 1000);

  pthread_join(other, NULL);
  message.done++;
  message.waits++; /* what it waited for comes no more */
  h2o_multithread_unregister_receiver(context.queue, &receiver);
  accepted.done++;
  accepted.waits++;
  http_accepted.done++;
  http_accepted.waits++;
  h2o_socket_close(listener);
  h2o_socket_close(http_listener);

  struct count *all[] = {&now,           &later, &pieces, &due,    &never, &client,   &accepted,
                         &http_accepted, &echo,  &echoed, &linked, &sent,  &answered, &message};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    count_print(all[i]);
  return 0;
}
/* SPDX-License-Identifier: MIT */
