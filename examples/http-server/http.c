/* Connections: read, parse, reply, keep alive. */
#define _GNU_SOURCE /* memmem */
#include "server.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static void next_request(struct connection *connection);

/* ---- connections ---- */

static void on_closed(uv_handle_t *handle) {
  struct connection *connection = handle->data;
  if (--connection->open_handles > 0)
    return;
  *connection->link = connection->next;
  if (connection->next != NULL)
    connection->next->link = connection->link;
  free(connection);
}

/* With a request under way, closes when that has ended. */
static void connection_close(struct connection *connection) {
  connection->gone = 1;
  if (connection->request != NULL || uv_is_closing((uv_handle_t *)&connection->tcp))
    return;
  uv_close((uv_handle_t *)&connection->tcp, on_closed);
  uv_close((uv_handle_t *)&connection->timer, on_closed);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer) {
  struct connection *connection = handle->data;
  (void)suggested;
  *buffer = uv_buf_init(connection->in + connection->length,
                        (unsigned)(sizeof connection->in - connection->length));
}

static void on_read(uv_stream_t *stream, ssize_t length, const uv_buf_t *buffer) {
  struct connection *connection = stream->data;
  (void)buffer;
  if (length < 0) {
    uv_read_stop(stream);
    connection_close(connection);
    return;
  }
  connection->length += (size_t)length;
  if (connection->length == sizeof connection->in) {
    uv_read_stop(stream);
    connection->reading = 0;
  }
  if (connection->request == NULL)
    next_request(connection);
}

static void on_connection(uv_stream_t *listener, int status) {
  static unsigned number;
  struct server *server = listener->data;
  struct connection *connection = status == 0 ? calloc(1, sizeof *connection) : NULL;
  if (connection == NULL)
    return;
  connection->server = server;
  connection->number = number++;
  connection->open_handles = 2;
  connection->link = &server->connections;
  connection->next = server->connections;
  if (connection->next != NULL)
    connection->next->link = &connection->next;
  server->connections = connection;

  uv_tcp_init(&server->loop, &connection->tcp);
  uv_timer_init(&server->loop, &connection->timer);
  connection->tcp.data = connection->timer.data = connection;
  connection->reading = 1;
  if (uv_accept(listener, (uv_stream_t *)&connection->tcp) != 0 ||
      uv_read_start((uv_stream_t *)&connection->tcp, on_alloc, on_read) != 0)
    connection_close(connection);
  else
    uv_tcp_nodelay(&connection->tcp, 1);
}

int http_listen(struct server *server, int port) {
  struct sockaddr_in address;
  int length = sizeof address;
  uv_tcp_init(&server->loop, &server->listener);
  server->listener.data = server;
  uv_ip4_addr("127.0.0.1", port, &address);
  int status = uv_tcp_bind(&server->listener, (struct sockaddr *)&address, 0);
  if (status == 0)
    status = uv_listen((uv_stream_t *)&server->listener, 511, on_connection);
  if (status != 0)
    return status;
  uv_tcp_getsockname(&server->listener, (struct sockaddr *)&address, &length);
  printf("listening on http://127.0.0.1:%d\n", ntohs(address.sin_port));
  return fflush(stdout) == 0 ? 0 : UV_EPIPE;
}

/* No new connections; those there are close as soon as their request has ended. */
void http_stop(struct server *server) {
  uv_close((uv_handle_t *)&server->listener, NULL);
  for (struct connection *connection = server->connections; connection != NULL;
       connection = connection->next)
    if (connection->request == NULL)
      connection_close(connection);
}

/* ---- requests ---- */

struct request *request_new(struct connection *connection, const char *token) {
  struct request *request = calloc(1, sizeof *request);
  if (request == NULL)
    return NULL;
  snprintf(request->token, sizeof request->token, "%s", token);
  request->connection = connection;
  request->keep_alive = 1;
  request->query = request->body = "";
  connection->request = request;
  return request;
}

void request_route(struct request *request, const struct route *route) {
  request->route = route;
}

/* Puts the request on the list of those that main() runs next. */
void request_wake(struct request *request) {
  struct server *server = request->connection->server;
  request->next_ready = NULL;
  *server->ready_end = request;
  server->ready_end = &request->next_ready;
  uv_stop(&server->loop); /* a timer may be due before it waits: then it must not */
}

void request_end(struct request *request) {
  struct connection *connection = request->connection;
  struct server *server = connection->server;
  int keep = request->keep_alive && !connection->gone && !server->stopping;
  server->served++;
  connection->request = NULL;
  connection->length -= request->total_length;
  memmove(connection->in, connection->in + request->total_length, connection->length);
  free(request->content);
  free(request);
  if (!keep) {
    connection_close(connection);
    return;
  }
  if (!connection->reading) {
    connection->reading = 1;
    uv_read_start((uv_stream_t *)&connection->tcp, on_alloc, on_read);
  }
  next_request(connection);
}

static void on_written(uv_write_t *write, int status) {
  struct request *request = write->data;
  if (status != 0)
    request->keep_alive = 0;
  request_wake(request);
}

/* Replies with request->content; the request ends once that is written. */
enum step request_reply_content(struct request *request, unsigned status) {
  struct connection *connection = request->connection;
  int keep = request->keep_alive && !connection->server->stopping;
  int length = snprintf(request->head, sizeof request->head,
                        "HTTP/1.1 %u %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                        "Connection: %s\r\n\r\n",
                        status, status < 400 ? "OK" : "Error", request->content_length,
                        keep ? "keep-alive" : "close");
  uv_buf_t buffers[2] = {uv_buf_init(request->head, (unsigned)length),
                         uv_buf_init(request->content, (unsigned)request->content_length)};
  request->replied = 1;
  request->write.data = request;
  if (uv_write(&request->write, (uv_stream_t *)&connection->tcp, buffers, 2, on_written) == 0)
    return WAITING;
  request->keep_alive = 0;
  return DONE;
}

enum step request_reply(struct request *request, unsigned status, const char *format, ...) {
  va_list arguments;
  char text[256];
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  free(request->content);
  request->content = strdup(text);
  request->content_length = request->content != NULL ? strlen(text) : 0;
  return request_reply_content(request, status);
}

/* ---- parsing ---- */

static const struct route *find_route(const char *method, const char *path, unsigned *status) {
  *status = 404;
  for (const struct route *route = routes; route->name != NULL; route++) {
    size_t length = strlen(route->path);
    int below = route->path[length - 1] == '/';
    if (below ? strncmp(path, route->path, length) != 0 : strcmp(path, route->path) != 0)
      continue;
    if (strcmp(method, route->method) == 0)
      return route;
    *status = 405;
  }
  return &error_route;
}

/* One header line, its end cut off. Returns 0 or the status to reply with. */
static unsigned parse_header(struct request *request, const char *line) {
  const char *value = strchr(line, ':');
  if (value == NULL)
    return 400;
  size_t name = (size_t)(value++ - line);
  value += strspn(value, " \t");
  if (name == 14 && strncasecmp(line, "Content-Length", name) == 0) {
    char *end;
    request->body_length = strtoul(value, &end, 10);
    if (strspn(value, "0123456789") == 0 || end[strspn(end, " \t")] != '\0')
      return 400;
    if (request->body_length > BODY_MAX)
      return 413;
  } else if (name == 10 && strncasecmp(line, "Connection", name) == 0) {
    request->keep_alive = strncasecmp(value, "close", 5) != 0;
  } else if (name == 11 && strncasecmp(line, "traceparent", name) == 0) {
    snprintf(request->token, sizeof request->token, "%s", value);
  } else if (name == 17 && strncasecmp(line, "Transfer-Encoding", name) == 0) {
    return 501;
  }
  return 0;
}

/* A head of `length` bytes, with its empty line. Returns 0 or a status. */
APROF("span tier=parse")
static unsigned parse_head(struct request *request, const char *head, size_t length) {
  char copy[HEAD_MAX + 1], method[8], *line, *rest = copy;
  unsigned minor, status;
  int end = 0;
  memcpy(copy, head, length);
  copy[length] = '\0';
  line = strsep(&rest, "\n");
  if (sscanf(line, "%7[A-Z] %255[^ \r] HTTP/1.%1u%n", method, request->path, &minor, &end) != 3 ||
      end == 0)
    return 400;
  request->keep_alive = minor >= 1;
  while ((line = strsep(&rest, "\n")) != NULL) {
    line[strcspn(line, "\r")] = '\0';
    if (*line != '\0' && (status = parse_header(request, line)) != 0)
      return status;
  }
  char *query = strchr(request->path, '?');
  if (query != NULL) {
    *query = '\0';
    request->query = query + 1;
  }
  request->route = find_route(method, request->path, &request->status);
  return 0;
}

/* Starts the request that has arrived in full, if there is one. */
static void next_request(struct connection *connection) {
  size_t head = 0, size = connection->length < HEAD_MAX ? connection->length : HEAD_MAX;
  char *end = memmem(connection->in, size, "\r\n\r\n", 4);
  if (end == NULL && size < HEAD_MAX)
    return;
  struct request parsed = {.keep_alive = 1}, *request;
  unsigned status = 431;
  if (end != NULL) {
    head = (size_t)(end - connection->in) + 4;
    status = parse_head(&parsed, connection->in, head);
  }
  if (status == 0 && connection->length < head + parsed.body_length)
    return;
  request = request_new(connection, parsed.token);
  if (request == NULL) {
    connection_close(connection);
    return;
  }
  memcpy(request->path, parsed.path, sizeof request->path);
  if (parsed.query != NULL)
    request->query = request->path + (parsed.query - parsed.path);
  request_route(request, status == 0 ? parsed.route : &error_route);
  request->status = status == 0 ? parsed.status : status;
  request->keep_alive = status == 0 && parsed.keep_alive;
  request->body = connection->in + head;
  request->body_length = status == 0 ? parsed.body_length : 0;
  request->total_length = status == 0 ? head + request->body_length : connection->length;
  request_wake(request);
}
/* SPDX-License-Identifier: MIT */
