/*
 * What the server can do, one function per route. Each is a state machine: a
 * step starts something, says where to go on, and returns WAITING; the callback
 * keeps the result and wakes the request.
 */
#include "server.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --burn: the bug to be found. Holds the loop for some milliseconds. */
APROF("span tier=compute") static void burn(struct request *request) {
  struct server *server = request->connection->server;
  if (server->burn.route != request->route || ++server->burn.count % server->burn.every != 0)
    return;
  uint64_t end = uv_hrtime() + server->burn.ms * UINT64_C(1000000);
  while (uv_hrtime() < end)
    ;
}

static uv_loop_t *loop_of(struct request *request) {
  return &request->connection->server->loop;
}

static enum step fail(struct request *request, ssize_t error) {
  unsigned status = error == UV_ENOENT || error == UV_EISDIR ? 404 : 500;
  return request_reply(request, status, "%s\n", uv_strerror((int)error));
}

STEP static enum step handle_hello(struct request *request) {
  burn(request);
  return request_reply(request, 200, "hello\n");
}

/* ---- /delay: waits for a timer ---- */

static void on_delay(uv_timer_t *timer) {
  struct connection *connection = timer->data;
  request_wake(connection->request);
}

STEP static enum step handle_delay(struct request *request) {
  unsigned ms = 5;
  switch (request->step++) {
  case 0:
    sscanf(request->query, "ms=%5u", &ms);
    uv_timer_start(&request->connection->timer, on_delay, ms, 0);
    return WAITING;
  default:
    burn(request);
    return request_reply(request, 200, "waited\n");
  }
}

/* ---- files: each step awaits one operation of the thread pool ---- */

static void on_file(uv_fs_t *fs) {
  struct request *request = fs->data;
  request->result = fs->result;
  if (fs->fs_type == UV_FS_FSTAT && fs->result == 0)
    request->content_length = fs->statbuf.st_size;
  uv_fs_req_cleanup(fs);
  request_wake(request);
}

/* What the thread pool did not even take comes back as its result. */
static void started(struct request *request, int error) {
  if (error != 0) {
    request->result = error;
    request_wake(request);
  }
}

/* Opens NAME below the root; a name with a '/' or a leading '.' has no file. */
static void open_file(struct request *request, const char *name, int flags) {
  char path[1024];
  request->op.fs.data = request;
  if (*name == '\0' || *name == '.' || strchr(name, '/') != NULL)
    started(request, UV_ENOENT);
  else if (snprintf(path, sizeof path, "%s/%s", request->connection->server->root, name) >=
           (int)sizeof path)
    started(request, UV_ENAMETOOLONG);
  else
    started(request, uv_fs_open(loop_of(request), &request->op.fs, path, flags, 0644, on_file));
}

STEP static enum step handle_file(struct request *request) {
  uv_loop_t *loop = loop_of(request);
  uv_fs_t *fs = &request->op.fs;
  uv_buf_t buffer;
  switch (request->step++) {
  case 0:
    open_file(request, request->path + strlen("/file/"), O_RDONLY);
    return WAITING;
  case 1:
    if (request->result < 0)
      return fail(request, request->result);
    request->file = (uv_file)request->result;
    started(request, uv_fs_fstat(loop, fs, request->file, on_file));
    return WAITING;
  case 2:
    burn(request);
    if (request->result == 0 && request->content_length <= FILE_MAX)
      request->content = malloc(request->content_length + 1);
    if (request->content == NULL) {
      started(request, request->result < 0 ? (int)request->result : UV_EFBIG);
      return WAITING;
    }
    buffer = uv_buf_init(request->content, (unsigned)request->content_length);
    started(request, uv_fs_read(loop, fs, request->file, &buffer, 1, 0, on_file));
    return WAITING;
  case 3:
    request->content_length = request->result < 0 ? 0 : (size_t)request->result;
    request->status = request->result < 0 ? 500 : 200;
    started(request, uv_fs_close(loop, fs, request->file, on_file));
    return WAITING;
  default:
    return request_reply_content(request, request->status);
  }
}

STEP static enum step handle_upload(struct request *request) {
  uv_loop_t *loop = loop_of(request);
  uv_fs_t *fs = &request->op.fs;
  uv_buf_t buffer;
  char name[32];
  switch (request->step++) {
  case 0:
    snprintf(name, sizeof name, "upload.%u", request->connection->number);
    open_file(request, name, O_WRONLY | O_CREAT | O_TRUNC);
    return WAITING;
  case 1:
    if (request->result < 0)
      return fail(request, request->result);
    burn(request);
    request->file = (uv_file)request->result;
    buffer = uv_buf_init((char *)request->body, (unsigned)request->body_length);
    started(request, uv_fs_write(loop, fs, request->file, &buffer, 1, 0, on_file));
    return WAITING;
  case 2:
    request->status = request->result == (ssize_t)request->body_length ? 201 : 500;
    started(request, uv_fs_close(loop, fs, request->file, on_file));
    return WAITING;
  default:
    return request_reply(request, request->status, "%zu bytes\n", request->body_length);
  }
}

/* ---- /quota: asks the backend ---- */

STEP static enum step handle_quota(struct request *request) {
  struct fetch *fetch = &request->op.fetch;
  char token[56]; /* empty where nobody profiles */
  switch (request->step++) {
  case 0:
    aprof_token(token);
    snprintf(fetch->question, sizeof fetch->question, "%u %s\n", request->connection->number,
             token);
    backend_fetch(request->connection->server->backend, loop_of(request), request);
    return WAITING;
  default:
    burn(request);
    if (fetch->status != 0)
      return request_reply(request, 502, "backend: %s\n", uv_strerror(fetch->status));
    else
      return request_reply(request, 200, "%.*s", (int)fetch->length, fetch->answer);
  }
}

STEP static enum step handle_error(struct request *request) {
  return request_reply(request, request->status, "error %u\n", request->status);
}

const struct route routes[] = {
    {"GET", "/hello", "hello", handle_hello},     {"GET", "/delay", "delay", handle_delay},
    {"GET", "/file/", "file", handle_file},       {"GET", "/quota", "quota", handle_quota},
    {"POST", "/upload", "upload", handle_upload}, {NULL, NULL, NULL, NULL},
};
const struct route error_route = {"", "", "error", handle_error};
/* SPDX-License-Identifier: MIT */
