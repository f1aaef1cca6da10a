/* SPDX-License-Identifier: MIT */
/*
 * What the two small servers have in common: a store of values by name, answered in
 * memcached's text protocol (get and set), and a listening socket. The servers differ in
 * how they wait: server-stackful.c has a coroutine with a stack per connection,
 * server-stackless.c a state machine.
 */
#ifndef STORE_H
#define STORE_H

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { KEY_MAX = 250, VALUE_MAX = 8192, BUCKETS = 4096 };

struct item {
  struct item *next;
  char key[KEY_MAX + 1];
  size_t length;
  char value[];
};

static struct item *items[BUCKETS];

static struct item **store_find(const char *key) {
  uint32_t hash = 2166136261u;
  for (const char *c = key; *c != '\0'; c++)
    hash = (hash ^ (unsigned char)*c) * 16777619u;
  struct item **at = &items[hash % BUCKETS];
  while (*at != NULL && strcmp((*at)->key, key) != 0)
    at = &(*at)->next;
  return at;
}

static int store_put(const char *key, const char *value, size_t length) {
  struct item **at = store_find(key), *old = *at, *item = malloc(sizeof *item + length);
  if (item == NULL)
    return -1;
  item->next = old != NULL ? old->next : NULL;
  snprintf(item->key, sizeof item->key, "%s", key);
  memcpy(item->value, value, length);
  item->length = length;
  *at = item;
  free(old);
  return 0;
}

/* A poller that listens on a port that the kernel chooses, and says on which. Of its events
   `data.ptr` is NULL for a connection to be accepted, `the_end` for SIGTERM. */
static char the_end;
static int store_listen(int *listener) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  struct epoll_event event = {.events = EPOLLIN};
  sigset_t stop;
  int poller = epoll_create1(0), fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 256) != 0 ||
      getsockname(fd, (struct sockaddr *)&at, &size) != 0) {
    perror("listen");
    exit(1);
  }
  sigemptyset(&stop);
  sigaddset(&stop, SIGTERM);
  sigprocmask(SIG_BLOCK, &stop, NULL);
  epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  event.data.ptr = &the_end;
  epoll_ctl(poller, EPOLL_CTL_ADD, signalfd(-1, &stop, 0), &event);
  printf("listening on %d\n", ntohs(at.sin_port));
  fflush(stdout);
  *listener = fd;
  return poller;
}

#endif
