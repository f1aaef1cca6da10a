/* SPDX-License-Identifier: MIT */
/* Processes that somebody looks at; see serve-watch.h. */
#include "serve-watch.h"

#include "followed.h"
#include "read/util.h"
#include "serve-document.h"
#include "load.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST ((uint64_t)3 * 3600 * 1000000000)
/* Processes; bytes of each; looks of one are that far apart, in times of what one costs. */
enum { MOST = 8, MEMORY = 32 << 20, APART = 10 };

struct watched {
  struct watched *next;
  int64_t again, asked; /* monotonic ns; again: not before that */
  bool own;             /* see struct looked */
  struct followed of;
};

static void release(struct watched *w) {
  followed_close(&w->of);
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
  if (!followed_open(&w->of, found, LONGEST, MEMORY)) {
    release(w);
    return;
  }
  struct stat st;
  w->own = !fstat(w->of.fd, &st) && st.st_uid == geteuid();
  search->found = w;
}

static struct watched *find(struct watch *all, int64_t pid) {
  struct watched *w = all->first;
  while (w && w->of.pid != pid)
    w = w->next;
  /* One that has ended may have left its number to another. */
  if (w && !w->of.ended)
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
  if (w->of.ended || now < w->again)
    return;
  followed_read(&w->of, profile_state(w->of.fd, &w->of.header) != PROFILE_LIVE);
  int64_t looked = monotonic_now();
  w->again = looked + APART * (looked - now);
}

struct view *watch_look(struct watch *all, int64_t pid, uint64_t range, struct looked *looked) {
  /* Whoever asks is told; said here it would be each time. */
  complain_never(true);
  struct watched *w = find(all, pid);
  if (w)
    read_again(w);
  struct view *v = w ? history_over(w->of.history, range) : NULL;
  complain_never(false);
  if (!v)
    return NULL;
  w->asked = monotonic_now();
  *looked = (struct looked){w->of.ended, w->own};
  return v;
}

void watch_close(struct watch *all) {
  while (all->first)
    drop(all, all->first);
}
