/* SPDX-License-Identifier: MIT */
/* Connections; see serve-client.h. */
#include "serve-client.h"

#include "read/util.h"
#include "serve-document.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define SECOND ((int64_t)1000000000)
enum { ROOM = 1200, OTHERS = 64, SPARE = 16 };

static const int64_t most_seconds[CLIENT_STATES] = {
    [CLIENT_ASKS] = 15, [CLIENT_IDLE] = 90, [CLIENT_TAKES] = 60, [CLIENT_LISTENS] = 60};

void clients_open(struct clients *c) {
  struct rlimit limit;
  c->room = ROOM;
  if (getrlimit(RLIMIT_NOFILE, &limit))
    return;
  rlim_t wanted = ROOM + OTHERS;
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  if (limit.rlim_cur < wanted)
    c->room = limit.rlim_cur > 2 * OTHERS ? limit.rlim_cur - OTHERS : OTHERS;
}

void client_becomes(struct client *c, enum client_state state) {
  if (c->state == CLIENT_CUT)
    return;
  c->state = state;
  c->since = c->all->clock;
}

/* MHD sees the end of the connection and clears up. */
static void cut(struct client *c) {
  client_becomes(c, CLIENT_CUT);
  shutdown(c->fd, SHUT_RDWR);
}

static struct client *next_to_go(const struct clients *all) {
  struct client *found = NULL;
  for (struct client *c = all->first; c; c = c->next)
    if (c->state != CLIENT_CUT && (!found || c->state < found->state ||
                                   (c->state == found->state && c->since < found->since)))
      found = c;
  return found;
}

static void add(struct clients *all, struct MHD_Connection *connection, void **socket_context) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  struct client *goes = all->count + SPARE >= all->room ? next_to_go(all) : NULL;
  if (goes)
    cut(goes);
  struct client *c = allocate(1, sizeof *c);
  c->fd = info->connect_fd;
  c->all = all;
  c->next = all->first;
  if (c->next)
    c->next->before = c;
  all->first = c;
  all->count++;
  client_becomes(c, CLIENT_ASKS);
  *socket_context = c;
}

static void drop(struct clients *all, struct client *c) {
  *(c->before ? &c->before->next : &all->first) = c->next;
  if (c->next)
    c->next->before = c->before;
  all->count--;
  free(c);
}

void clients_notify(void *clients, struct MHD_Connection *connection, void **socket_context,
                    enum MHD_ConnectionNotificationCode what) {
  if (what == MHD_CONNECTION_NOTIFY_STARTED)
    add(clients, connection, socket_context);
  else if (*socket_context) {
    drop(clients, *socket_context);
    *socket_context = NULL;
  }
}

struct client *client_of(struct MHD_Connection *connection) {
  return MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

void clients_sweep(struct clients *all, size_t (*held)(void), size_t too_much) {
  int64_t now = monotonic_now(), passed = now - all->swept;
  struct client *longest = NULL;
  all->clock += passed < SECOND ? passed : SECOND;
  all->swept = now;
  for (struct client *c = all->first; c; c = c->next) {
    if (c->state == CLIENT_CUT)
      continue;
    if (all->clock - c->since > most_seconds[c->state] * SECOND)
      cut(c);
    else if (c->state >= CLIENT_TAKES && (!longest || c->since < longest->since))
      longest = c;
  }
  if (longest && held() > too_much)
    cut(longest);
}
