/* SPDX-License-Identifier: MIT */
/* All addresses of names; see serve-names.h. */
#include "serve-names.h"

#include "read/util.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVERY = 10, ADDRESSES = 1024 }; /* s; of a name */

struct name {
  struct name *next;
  char *text;
  char **address;
  size_t addresses;
};

struct names_up {
  pthread_mutex_t lock;
  pthread_cond_t moved;
  struct name *first;
  unsigned changes;
  bool started, ending;
  int holders; /* who is left frees it */
};

/* -- one look-up ----------------------------------------------------------------------- */

static int by_text(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

static void free_list(char **list, size_t count) {
  for (size_t i = 0; i < count; i++)
    free(list[i]);
  free(list);
}

static char *text_of(const struct addrinfo *a) {
  char text[INET6_ADDRSTRLEN] = "";
  bool six = a->ai_family == AF_INET6;
  const void *at =
      six ? (const void *)&((const struct sockaddr_in6 *)(const void *)a->ai_addr)->sin6_addr
          : (const void *)&((const struct sockaddr_in *)(const void *)a->ai_addr)->sin_addr;
  inet_ntop(a->ai_family, at, text, sizeof text);
  return print_string(six ? "[%s]" : "%s", text);
}

/* False: nobody knows, now. */
static bool look_up(const char *name, char ***list, size_t *count) {
  const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
  struct addrinfo *all = NULL;
  int failed = getaddrinfo(name, NULL, &hints, &all);
  *list = allocate(ADDRESSES, sizeof **list);
  *count = 0;
  for (const struct addrinfo *a = failed ? NULL : all; a && *count < ADDRESSES; a = a->ai_next)
    if (a->ai_family == AF_INET || a->ai_family == AF_INET6)
      (*list)[(*count)++] = text_of(a);
  if (!failed)
    freeaddrinfo(all);
  qsort(*list, *count, sizeof **list, by_text);
  size_t kept = 0;
  for (size_t i = 0; i < *count; i++)
    if (kept && !strcmp((*list)[kept - 1], (*list)[i]))
      free((*list)[i]);
    else
      (*list)[kept++] = (*list)[i];
  *count = kept;
  return !failed || failed == EAI_NONAME;
}

static bool is_same(const struct name *n, char **list, size_t count) {
  bool same = n->addresses == count;
  for (size_t i = 0; same && i < count; i++)
    same = !strcmp(n->address[i], list[i]);
  return same;
}

/* Without the lock; nobody else changes a name, and none goes. */
static void refresh(struct names_up *all, struct name *n) {
  char **list;
  size_t count;
  bool known = look_up(n->text, &list, &count);
  pthread_mutex_lock(&all->lock);
  if (known && !is_same(n, list, count)) {
    free_list(n->address, n->addresses);
    n->address = list;
    n->addresses = count;
    all->changes++;
  } else {
    free_list(list, count);
  }
  pthread_mutex_unlock(&all->lock);
}

/* -- again and again --------------------------------------------------------------------- */

static void release(struct names_up *all) {
  pthread_mutex_lock(&all->lock);
  bool last = --all->holders == 0;
  pthread_mutex_unlock(&all->lock);
  if (!last)
    return;
  for (struct name *n = all->first, *next; n; n = next) {
    next = n->next;
    free_list(n->address, n->addresses);
    free(n->text);
    free(n);
  }
  pthread_mutex_destroy(&all->lock);
  pthread_cond_destroy(&all->moved);
  free(all);
}

static void *look_always(void *context) {
  struct names_up *all = context;
  pthread_mutex_lock(&all->lock);
  while (!all->ending) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += EVERY;
    pthread_cond_timedwait(&all->moved, &all->lock, &until);
    struct name *first = all->first;
    pthread_mutex_unlock(&all->lock);
    for (struct name *n = first; n; n = n->next)
      refresh(all, n);
    pthread_mutex_lock(&all->lock);
  }
  pthread_mutex_unlock(&all->lock);
  release(all);
  return NULL;
}

struct names_up *names_up_new(void) {
  struct names_up *all = allocate(1, sizeof *all);
  pthread_mutex_init(&all->lock, NULL);
  pthread_cond_init(&all->moved, NULL);
  all->holders = 1;
  return all;
}

void names_up_start(struct names_up *all) {
  pthread_t thread;
  if (all->started || !all->first)
    return;
  all->started = true;
  all->holders++;
  if (pthread_create(&thread, NULL, look_always, all)) {
    all->holders--;
    complain("no thread can be made to look up names by: their addresses stay as they are");
    return;
  }
  pthread_detach(thread);
}

void names_up_free(struct names_up *all) {
  if (!all)
    return;
  pthread_mutex_lock(&all->lock);
  all->ending = true;
  pthread_cond_signal(&all->moved);
  pthread_mutex_unlock(&all->lock);
  release(all);
}

static struct name *add(struct names_up *all, const char *name) {
  struct name *n = allocate(1, sizeof *n);
  n->text = print_string("%s", name);
  pthread_mutex_lock(&all->lock);
  n->next = all->first;
  all->first = n;
  pthread_cond_signal(&all->moved);
  pthread_mutex_unlock(&all->lock);
  if (!all->started)
    refresh(all, n);
  return n;
}

char **names_up_of(struct names_up *all, const char *name, size_t *count) {
  struct name *n = all->first;
  while (n && strcmp(n->text, name) != 0)
    n = n->next;
  if (!n)
    n = add(all, name);
  pthread_mutex_lock(&all->lock);
  char **copy = allocate(n->addresses + 1, sizeof *copy);
  for (size_t i = 0; i < n->addresses; i++)
    copy[i] = print_string("%s", n->address[i]);
  *count = n->addresses;
  pthread_mutex_unlock(&all->lock);
  return copy;
}

unsigned names_up_changes(struct names_up *all) {
  pthread_mutex_lock(&all->lock);
  unsigned changes = all->changes;
  pthread_mutex_unlock(&all->lock);
  return changes;
}
