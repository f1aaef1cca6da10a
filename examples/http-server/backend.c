/*
 * The backend: a service over TCP on a thread and a loop of its own, or in a process
 * of its own. A client sends one line, a number and the token of the request that
 * asks, and gets one line back some milliseconds later. And the client side:
 * backend_fetch, one connection per question.
 */
#include "server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THINK_MS = 2 };

struct backend {
  uv_thread_t thread;
  int here; /* on that thread */
  uv_loop_t loop;
  uv_tcp_t listener;
  uv_async_t stop;
  uv_signal_t signals[2]; /* of the process of its own */
  struct sockaddr_in address;
};

/* ---- the service ---- */

struct client {
  uv_tcp_t tcp;
  uv_timer_t timer;
  uv_write_t write;
  int open_handles, asked;
  size_t length;
  char line[128];
};

/* A question is a request of this service, which goes on with the token of who asks:
   so recordings of both processes know it for one. */
APROF("create key=q:ret root ready token=a1")
static struct client *question_new(struct client *client, const char *token) {
  (void)token;
  client->asked = 1;
  return client;
}

APROF("end key=q:a0") static void question_end(struct client *client) {
  client->asked = 0;
}

static void on_client_closed(uv_handle_t *handle) {
  struct client *client = handle->data;
  if (--client->open_handles == 0)
    free(client);
}

static void client_close(struct client *client) {
  if (uv_is_closing((uv_handle_t *)&client->tcp))
    return;
  if (client->asked)
    question_end(client);
  uv_close((uv_handle_t *)&client->tcp, on_client_closed);
  uv_close((uv_handle_t *)&client->timer, on_client_closed);
}

static void on_answer_written(uv_write_t *write, int status) {
  (void)status;
  client_close(write->data);
}

APROF("run key=q:a0 multi") static void answer(struct client *client) {
  int length = snprintf(client->line, sizeof client->line, "quota %lu\n",
                        strtoul(client->line, NULL, 10) * 100 + 42);
  uv_buf_t buffer = uv_buf_init(client->line, (unsigned)length);
  client->write.data = client;
  if (uv_write(&client->write, (uv_stream_t *)&client->tcp, &buffer, 1, on_answer_written) != 0)
    client_close(client);
}

static void on_thought(uv_timer_t *timer) {
  answer(timer->data);
}

APROF("run key=q:a0 multi") static void think(struct client *client) {
  uv_timer_start(&client->timer, on_thought, THINK_MS, 0);
}

static void on_client_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
  struct client *client = handle->data;
  (void)suggested;
  *buffer = uv_buf_init(client->line + client->length,
                        (unsigned)(sizeof client->line - 1 - client->length));
}

static void on_question(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
  struct client *client = stream->data;
  (void)buffer;
  if (length < 0) {
    client_close(client);
    return;
  }
  client->length += (size_t)length;
  char *end = memchr(client->line, '\n', client->length);
  if (end != NULL) {
    char *token = memchr(client->line, ' ', (size_t)(end - client->line));
    *end = '\0';
    uv_read_stop(stream);
    think(question_new(client, token != NULL ? token + 1 : NULL));
  }
}

static void on_client(uv_stream_t *listener, int status) {
  struct client *client = status == 0 ? calloc(1, sizeof *client) : NULL;
  if (client == NULL)
    return;
  client->open_handles = 2;
  uv_tcp_init(listener->loop, &client->tcp);
  uv_timer_init(listener->loop, &client->timer);
  client->tcp.data = client->timer.data = client;
  if (uv_accept(listener, (uv_stream_t *)&client->tcp) != 0 ||
      uv_read_start((uv_stream_t *)&client->tcp, on_client_alloc, on_question) != 0)
    client_close(client);
}

static void on_stop(uv_async_t *stop) {
  struct backend *backend = stop->data;
  uv_close((uv_handle_t *)&backend->listener, NULL);
  uv_close((uv_handle_t *)&backend->stop, NULL);
}

static void run(void *argument) {
  struct backend *backend = argument;
  uv_run(&backend->loop, UV_RUN_DEFAULT);
  uv_loop_close(&backend->loop);
}

static struct backend *listening(unsigned port) {
  struct backend *backend = calloc(1, sizeof *backend);
  int length = sizeof backend->address;
  if (backend == NULL)
    return NULL;
  uv_loop_init(&backend->loop);
  uv_async_init(&backend->loop, &backend->stop, on_stop);
  uv_tcp_init(&backend->loop, &backend->listener);
  backend->stop.data = backend;
  uv_ip4_addr("127.0.0.1", (int)port, &backend->address);
  if (uv_tcp_bind(&backend->listener, (struct sockaddr *)&backend->address, 0) != 0 ||
      uv_listen((uv_stream_t *)&backend->listener, 511, on_client) != 0 ||
      uv_tcp_getsockname(&backend->listener, (struct sockaddr *)&backend->address, &length) != 0)
    return NULL; /* the program ends */
  return backend;
}

struct backend *backend_start(void) {
  struct backend *backend = listening(0);
  if (backend == NULL || uv_thread_create(&backend->thread, run, backend) != 0)
    return NULL;
  backend->here = 1;
  return backend;
}

struct backend *backend_at(unsigned port) {
  struct backend *backend = calloc(1, sizeof *backend);
  if (backend != NULL)
    uv_ip4_addr("127.0.0.1", (int)port, &backend->address);
  return backend;
}

static void on_backend_signal(uv_signal_t *signal, int number) {
  struct backend *backend = signal->data;
  (void)number;
  for (int i = 0; i < 2; i++)
    uv_close((uv_handle_t *)&backend->signals[i], NULL);
  on_stop(&backend->stop);
}

int backend_serve(unsigned port) {
  static const int numbers[2] = {SIGINT, SIGTERM};
  struct backend *backend = listening(port);
  if (backend == NULL)
    return -1;
  for (int i = 0; i < 2; i++) {
    uv_signal_init(&backend->loop, &backend->signals[i]);
    backend->signals[i].data = backend;
    uv_signal_start(&backend->signals[i], on_backend_signal, numbers[i]);
  }
  printf("backend on port %d\n", ntohs(backend->address.sin_port));
  fflush(stdout);
  run(backend);
  free(backend);
  return 0;
}

void backend_stop(struct backend *backend) {
  if (backend->here) {
    uv_async_send(&backend->stop);
    uv_thread_join(&backend->thread);
  }
  free(backend);
}

/* ---- the client ---- */

static void on_fetch_closed(uv_handle_t *handle) {
  struct fetch *fetch = handle->data;
  request_wake(fetch->request);
}

static void fetch_close(struct fetch *fetch, int status) {
  if (uv_is_closing((uv_handle_t *)&fetch->tcp))
    return;
  fetch->status = status;
  uv_close((uv_handle_t *)&fetch->tcp, on_fetch_closed);
}

static void on_fetch_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
  struct fetch *fetch = handle->data;
  (void)suggested;
  *buffer =
      uv_buf_init(fetch->answer + fetch->length, (unsigned)(sizeof fetch->answer - fetch->length));
}

static void on_answer(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
  struct fetch *fetch = stream->data;
  (void)buffer;
  if (length < 0) {
    fetch_close(fetch, (int)length);
    return;
  }
  fetch->length += (size_t)length;
  if (memchr(fetch->answer, '\n', fetch->length) != NULL)
    fetch_close(fetch, 0);
}

static void on_asked(uv_write_t *write, int status) {
  struct fetch *fetch = write->data;
  if (status != 0)
    fetch_close(fetch, status);
}

static void on_connected(uv_connect_t *connect, int status) {
  struct fetch *fetch = connect->data;
  uv_stream_t *stream = connect->handle;
  uv_buf_t buffer = uv_buf_init(fetch->question, (unsigned)strlen(fetch->question));
  if (status == 0)
    status = uv_write(&fetch->write, stream, &buffer, 1, on_asked);
  if (status == 0)
    status = uv_read_start(stream, on_fetch_alloc, on_answer);
  if (status != 0)
    fetch_close(fetch, status);
}

/* Asks fetch->question; wakes the request when the answer is there and the
   connection closed, or with fetch->status != 0. */
void backend_fetch(struct backend *backend, uv_loop_t *loop, struct request *request) {
  struct fetch *fetch = &request->op.fetch;
  fetch->request = request;
  uv_tcp_init(loop, &fetch->tcp);
  fetch->tcp.data = fetch->connect.data = fetch->write.data = fetch;
  int status = uv_tcp_connect(&fetch->connect, &fetch->tcp,
                              (const struct sockaddr *)&backend->address, on_connected);
  if (status != 0)
    fetch_close(fetch, status);
}
/* SPDX-License-Identifier: MIT */
