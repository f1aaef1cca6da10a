/* SPDX-License-Identifier: MIT */
/* Processes that somebody looks at; see serve-watch.h. */
#include "serve-watch.h"

#include "load.h"
#include "read/follow.h"
#include "read/history.h"
#include "read/util.h"
#include "serve-document.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND ((int64_t)1000000000)
#define LONGEST ((uint64_t)3 * 3600 * 1000000000)
/* Processes; bytes of each; looks of one are that far apart, in times of what one costs. */
enum { MOST = 8, MEMORY = 32 << 20, APART = 10 };

struct watched {
  struct watched *next;
  int64_t pid, looked, again, asked; /* monotonic ns; again: not before that */
  int fd;
  struct looked is;
  struct aprof_header header;
  struct follow *follow;
  struct history *history;
};

static void release(struct watched *w) {
  history_free(w->history);
  follow_free(w->follow);
  close(w->fd);
  free(w);
}

static void drop(struct watch *all, struct watched *w) {
  struct watched **at = &all->first;
  while (*at != w)
    at = &(*at)->next;
  *at = w->next;
  release(w);
}

/* The one that has waited longest for somebody to ask. */
static void make_room(struct watch *all) {
  struct watched *oldest = NULL;
  size_t count = 0;
  for (struct watched *w = all->first; w; w = w->next, count++)
    if (!oldest || w->asked < oldest->asked)
      oldest = w;
  if (count >= MOST)
    drop(all, oldest);
}

struct search {
  struct watch *all;
  int64_t pid;
  struct watched *found;
};

static void add(struct found *found, void *context) {
  struct search *search = context;
  if (search->found || found->pid != search->pid ||
      (search->all->target && !found_is(found, search->all->target)))
    return;
  struct watched *w = allocate(1, sizeof *w);
  *w = (struct watched){.pid = found->pid, .fd = fcntl(found->fd, F_DUPFD_CLOEXEC, 0)};
  if (w->fd >= 0 && profile_read_header(w->fd, found->what, &w->header, true))
    w->follow = follow_new(w->fd, found->what);
  if (!w->follow) {
    release(w);
    return;
  }
  struct stat st;
  w->is.own = !fstat(w->fd, &st) && st.st_uid == geteuid();
  w->history = history_new(LONGEST, MEMORY);
  search->found = w;
}

static struct watched *find(struct watch *all, int64_t pid) {
  struct watched *w = all->first;
  while (w && w->pid != pid)
    w = w->next;
  /* One that has ended may have left its number to another. */
  if (w && !w->is.ended)
    return w;
  struct search search = {all, pid, NULL};
  find_live(add, &search);
  if (!search.found)
    return w;
  if (w)
    drop(all, w);
  make_room(all);
  search.found->next = all->first;
  return all->first = search.found;
}

static void read_again(struct watched *w) {
  int64_t now = monotonic_now();
  if (w->is.ended || now < w->again)
    return;
  w->is.ended = profile_state(w->fd, &w->header) != PROFILE_LIVE;
  const struct view_request how = {.reason = w->is.ended ? "recovered" : "request"};
  struct view *v = follow_view(w->follow, &how, w->is.ended);
  if (v) {
    v->alive = !w->is.ended;
    v->stopped = !w->is.ended && find_is_stopped(w->pid);
    history_add(w->history, v);
  }
  w->looked = monotonic_now();
  w->again = w->looked + APART * (w->looked - now);
}

struct view *watch_look(struct watch *all, int64_t pid, uint64_t range, struct looked *looked) {
  /* Whoever asks is told; said here it would be each time. */
  complain_never(true);
  struct watched *w = find(all, pid);
  if (w)
    read_again(w);
  struct view *now = w ? history_now(w->history) : NULL;
  struct view *window = now && range ? history_window(w->history, range) : NULL;
  complain_never(false);
  if (!now)
    return NULL;
  w->asked = monotonic_now();
  *looked = w->is;
  return window ? window : view_copy(now);
}

void watch_close(struct watch *all) {
  while (all->first)
    drop(all, all->first);
}
