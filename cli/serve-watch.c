/* SPDX-License-Identifier: MIT */
/* Processes that somebody looks at; see serve-watch.h. */
#include "serve-watch.h"

#include "followed.h"
#include "load.h"
#include "read/names.h"
#include "read/util.h"
#include "serve-document.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONGEST ((uint64_t)3 * 3600 * 1000000000)
/* Bytes of all their history; looks of one are that far apart, in times of what one costs. */
enum { MEMORY = 256 << 20, APART = 10 };

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
  all->count--;
  release(w);
}

void watch_begin(struct watch *all) {
  all->began = monotonic_now();
}

/* Those that have waited longest for somebody to ask. Views of this look borrow from the others. */
static void make_room(struct watch *all) {
  while (all->count >= WATCHED) {
    struct watched *oldest = all->first;
    for (struct watched *w = all->first; w; w = w->next)
      if (w->asked < oldest->asked)
        oldest = w;
    if (oldest->asked >= all->began)
      return;
    drop(all, oldest);
  }
}

static void add(struct watch *all, struct watched *w) {
  make_room(all);
  w->next = all->first;
  all->first = w;
  all->count++;
  for (struct watched *one = all->first; one; one = one->next)
    history_limit(one->of.history, MEMORY / all->count);
}

struct search {
  struct watch *all;
  int64_t pid;
  struct watched *found;
};

static void try(struct found *found, void *context) {
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
  find_live(try, &search);
  if (!search.found)
    return w;
  if (w)
    drop(all, w);
  add(all, search.found);
  return search.found;
}

static void read_again(struct watched *w) {
  int64_t now = monotonic_now();
  if (w->of.ended || now < w->again)
    return;
  followed_read(&w->of, profile_state(w->of.fd, &w->of.header) != PROFILE_LIVE);
  int64_t looked = monotonic_now();
  w->again = looked + APART * (looked - now);
}

/* As the list has it, for which nothing but the header was read. */
static const char *host_of(struct aprof_header *header) {
  clean_text(header->host);
  return header->host;
}

struct view *watch_look(struct watch *all, const struct process_name *process, uint64_t range,
                        struct looked *looked) {
  /* Whoever asks is told; said here it would be each time. */
  complain_never(true);
  struct watched *w = find(all, process->pid);
  if (w && !process_fits(process, host_of(&w->of.header), process->pid))
    w = NULL;
  if (w)
    read_again(w);
  struct view *v = w ? history_over(w->of.history, range) : NULL;
  complain_never(false);
  if (!v)
    return NULL;
  w->asked = monotonic_now();
  *looked = (struct looked){w->of.ended, w->own, w->of.history};
  return v;
}

struct naming {
  const struct watch *watch;
  struct process_names *all;
};

static bool has(const struct process_names *all, int64_t pid) {
  size_t i = 0;
  while (i < all->count && all->of[i].pid != pid)
    i++;
  return i < all->count;
}

static void name(struct found *found, void *context) {
  const struct naming *n = context;
  struct aprof_header header;
  if (found->pid && !has(n->all, found->pid) &&
      (!n->watch->target || found_is(found, n->watch->target)) &&
      profile_read_header(found->fd, found->what, &header, true))
    process_add(n->all, host_of(&header), found->pid);
}

void watch_names(const struct watch *watch, struct process_names *all) {
  struct naming naming = {watch, all};
  complain_never(true);
  find_live(name, &naming);
  complain_never(false);
}

void watch_close(struct watch *all) {
  while (all->first)
    drop(all, all->first);
}
