/* SPDX-License-Identifier: MIT */
/*
 * The same server without stacks: a connection is a state machine that is called again
 * when its socket is ready, and each request is a future of its own, whose steps are the
 * calls of one function.
 */
#define _GNU_SOURCE
#include <aprof.h>

#include "store.h"

enum step { PENDING, DONE };

struct request {
  int step;
  char key[KEY_MAX + 1];
  size_t need; /* bytes of a value that are still to come, its line end too */
  size_t sent, length;
  char out[VALUE_MAX + KEY_MAX + 64];
};

struct connection {
  int fd, over;
  struct request *request;
  size_t begin, end;
  char in[2 * VALUE_MAX];
};

static int poller;

static enum step failed(struct connection *c) {
  c->over = 1;
  return DONE;
}

static enum step wait_for(struct connection *c, uint32_t events) {
  struct epoll_event event = {.events = events | EPOLLONESHOT, .data.ptr = c};
  epoll_ctl(poller, EPOLL_CTL_MOD, c->fd, &event);
  return PENDING;
}

static void answer_get(struct request *r) {
  struct item *item = *store_find(r->key);
  r->length = 0;
  if (item != NULL) {
    r->length = (size_t)snprintf(r->out, sizeof r->out, "VALUE %s 0 %zu\r\n", r->key, item->length);
    memcpy(r->out + r->length, item->value, item->length);
    r->length += item->length;
    memcpy(r->out + r->length, "\r\n", 2);
    r->length += 2;
  }
  memcpy(r->out + r->length, "END\r\n", 5);
  r->length += 5;
}

static void answer(struct request *r, const char *text) {
  r->length = strlen(text);
  memcpy(r->out, text, r->length);
}

/* Has a line come? Then it is parsed: what is to be done next. 0: not yet. */
static int parse_line(struct connection *c, struct request *r) {
  char line[KEY_MAX + 100], *from = c->in + c->begin, *end = memchr(from, '\n', c->end - c->begin);
  size_t length;
  if (end == NULL)
    return 0;
  snprintf(line, sizeof line, "%.*s", (int)(end - from), from);
  c->begin += (size_t)(end - from) + 1;
  if (sscanf(line, "get %250s", r->key) == 1) {
    answer_get(r);
    return 3;
  }
  if (sscanf(line, "set %250s %*u %*u %zu", r->key, &length) == 2 && length <= VALUE_MAX) {
    r->need = length + 2;
    return 2;
  }
  answer(r, "ERROR\r\n");
  return 3;
}

/* 1: something came; 0: nothing yet; -1: never. */
static int receive(struct connection *c) {
  if (c->begin == c->end)
    c->begin = c->end = 0;
  ssize_t got = recv(c->fd, c->in + c->end, sizeof c->in - c->end, 0);
  if (got > 0)
    c->end += (size_t)got;
  return got > 0 ? 1 : got < 0 && errno == EAGAIN ? 0 : -1;
}

APROF("run key=a0 pending=0")
static enum step progress(struct request *r, struct connection *c) {
  for (;;) {
    int got;
    ssize_t sent;
    switch (r->step) {
    case 0: /* the line */
      if ((r->step = parse_line(c, r)) != 0)
        continue;
      if ((got = receive(c)) < 0)
        return failed(c);
      if (got == 0)
        return wait_for(c, EPOLLIN);
      continue;
    case 2: /* the value */
      if (c->end - c->begin >= r->need) {
        if (store_put(r->key, c->in + c->begin, r->need - 2) != 0)
          return failed(c);
        c->begin += r->need;
        answer(r, "STORED\r\n");
        r->step = 3;
        continue;
      }
      if ((got = receive(c)) < 0)
        return failed(c);
      if (got == 0)
        return wait_for(c, EPOLLIN);
      continue;
    default: /* the answer */
      sent = send(c->fd, r->out + r->sent, r->length - r->sent, MSG_NOSIGNAL);
      if (sent < 0)
        return errno == EAGAIN ? wait_for(c, EPOLLOUT) : failed(c);
      r->sent += (size_t)sent;
      if (r->sent == r->length)
        return DONE;
    }
  }
}

static struct request *request_new(void) {
  struct request *r = malloc(sizeof *r);
  if (r != NULL)
    r->step = 0, r->sent = 0;
  return r;
}

/* Requests one after the other, until one has to wait. */
static void resume(struct connection *c) {
  while (!c->over) {
    if (c->request == NULL && (c->request = request_new()) == NULL)
      break;
    if (progress(c->request, c) == PENDING)
      return;
    free(c->request);
    c->request = NULL;
  }
  close(c->fd);
  free(c->request);
  free(c);
}

static void accept_one(int listener) {
  int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK), on = 1;
  struct connection *c = fd >= 0 ? calloc(1, sizeof *c) : NULL;
  struct epoll_event event = {.events = 0, .data.ptr = c};
  if (c == NULL)
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
