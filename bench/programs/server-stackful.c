/* SPDX-License-Identifier: MIT */
/*
 * A small server with a coroutine per connection. Every function that can suspend is async,
 * and some more, as in programs that mark all of them (QEMU's coroutine_fn): nine async calls
 * to a request, of which one most often suspends.
 */
#define _GNU_SOURCE
#include <aprof.h>

#include "coroutine.h"
#include "store.h"

struct connection {
  struct coroutine coroutine;
  int fd, over;
  size_t begin, end; /* of what was read and not yet used */
  char in[2 * VALUE_MAX];
};

static int poller;
static void *scheduler;

/* The one place where a connection suspends: until its socket is readable or writable. */
APROF_AWAIT static void wait_for(struct connection *c, uint32_t events) {
  struct epoll_event event = {.events = events | EPOLLONESHOT, .data.ptr = c};
  epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &event);
  coroutine_switch(&c->coroutine.top, scheduler);
}

APROF_ASYNC static ssize_t receive(struct connection *c) {
  if (c->begin == c->end)
    c->begin = c->end = 0;
  for (;;) {
    ssize_t got = recv(c->fd, c->in + c->end, sizeof c->in - c->end, 0);
    if (got > 0)
      c->end += (size_t)got;
    if (got >= 0 || errno != EAGAIN)
      return got;
    wait_for(c, EPOLLIN);
  }
}

APROF_ASYNC static int read_line(struct connection *c, char *line, size_t room) {
  for (;;) {
    char *from = c->in + c->begin, *end = memchr(from, '\n', c->end - c->begin);
    if (end != NULL && (size_t)(end - from) < room) {
      memcpy(line, from, (size_t)(end - from));
      line[end - from] = '\0';
      c->begin += (size_t)(end - from) + 1;
      return 1;
    }
    if (end != NULL || receive(c) <= 0)
      return 0;
  }
}

APROF_ASYNC static int read_bytes(struct connection *c, char *to, size_t count) {
  while (c->end - c->begin < count)
    if (receive(c) <= 0)
      return 0;
  memcpy(to, c->in + c->begin, count);
  c->begin += count;
  return 1;
}

APROF_ASYNC static int write_all(struct connection *c, const char *from, size_t count) {
  while (count > 0) {
    ssize_t sent = send(c->fd, from, count, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN)
      return 0;
    if (sent < 0) {
      wait_for(c, EPOLLOUT);
      continue;
    }
    from += sent;
    count -= (size_t)sent;
  }
  return 1;
}

APROF_ASYNC static struct item *look_up(const char *key) {
  return *store_find(key);
}

APROF_ASYNC static size_t print_head(char *to, size_t room, const struct item *item) {
  return (size_t)snprintf(to, room, "VALUE %s 0 %zu\r\n", item->key, item->length);
}

APROF_ASYNC static size_t print_body(char *to, const struct item *item) {
  memcpy(to, item->value, item->length);
  memcpy(to + item->length, "\r\n", 2);
  return item->length + 2;
}

APROF_ASYNC static int do_get(struct connection *c, const char *key) {
  char out[VALUE_MAX + KEY_MAX + 64];
  size_t length = 0;
  struct item *item = look_up(key);
  if (item != NULL) {
    length = print_head(out, sizeof out, item);
    length += print_body(out + length, item);
  }
  memcpy(out + length, "END\r\n", 5);
  return write_all(c, out, length + 5);
}

APROF_ASYNC static int do_set(struct connection *c, const char *key, size_t length) {
  char value[VALUE_MAX + 2];
  if (length > VALUE_MAX || !read_bytes(c, value, length + 2) || store_put(key, value, length))
    return 0;
  return write_all(c, "STORED\r\n", 8);
}

APROF_ASYNC static int command(struct connection *c, const char *line) {
  char key[KEY_MAX + 1];
  size_t length;
  if (sscanf(line, "get %250s", key) == 1)
    return do_get(c, key);
  if (sscanf(line, "set %250s %*u %*u %zu", key, &length) == 2)
    return do_set(c, key, length);
  return write_all(c, "ERROR\r\n", 7);
}

APROF_ASYNC static int request(struct connection *c) {
  char line[KEY_MAX + 100];
  return read_line(c, line, sizeof line) && command(c, line);
}

APROF_ASYNC static void serve(void *argument) {
  struct connection *c = argument;
  while (request(c))
    ;
}

static void start(void *argument) {
  struct connection *c = argument;
  serve(c);
  c->over = 1;
  coroutine_switch(&c->coroutine.top, scheduler);
}

static void resume(struct connection *c) {
  coroutine_switch(&scheduler, c->coroutine.top);
  if (c->over) {
    close(c->fd);
    free(c->coroutine.stack);
    free(c);
  }
}

static void accept_one(int listener) {
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK), on = 1;
  struct connection *c = fd >= 0 ? calloc(1, sizeof *c) : NULL;
  struct epoll_event event = {.events = 0, .data.ptr = c};
  if (c == NULL || coroutine_init(&c->coroutine, start, c) != 0)
    return;
  c->fd = fd;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  resume(c);
}

int main(void) {
  int listener;
  struct epoll_event events[64];
  poller = store_listen(&listener);
  for (;;) {
    int ready = epoll_wait(poller, events, 64, -1);
    for (int i = 0; i < ready; i++)
      if (events[i].data.ptr == NULL)
        accept_one(listener);
      else if (events[i].data.ptr == &the_end)
        return 0;
      else
        resume(events[i].data.ptr);
  }
}
