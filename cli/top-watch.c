/* SPDX-License-Identifier: MIT */
/* Live processes over time; see top-watch.h. */
#include "top-watch.h"

#include "followed.h"
#include "read/clock.h"
#include "read/util.h"
#include "show/report.h"
#include "target.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SECOND ((uint64_t)1000000000)
#define LONGEST (60 * SECOND)
enum {
  MEMORY = 64 << 20, /* of each process */
  SEARCH = 2,        /* seconds between searches for new ones */
  OTHERS = 5,        /* looks, of which one is at those that nobody looks at */
  ENDED = 20,        /* so many are kept */
};

struct top_watched {
  struct followed of;
  int end;             /* tells the end of the process; -1: nothing does */
  struct view *window; /* what was given out last */
};

struct top_watch {
  struct top_watched **one;
  size_t count;
  bool all;
  uint64_t searched, looks;
  struct top_process *row;
};

/* -- which there are -------------------------------------------------------------------- */

static void release(struct top_watched *w) {
  view_free(w->window);
  followed_close(&w->of);
  if (w->end >= 0)
    close(w->end);
  free(w);
}

static bool is_known(const struct top_watch *all, int fd) {
  struct stat mine, other;
  if (fstat(fd, &mine))
    return true;
  for (size_t i = 0; i < all->count; i++)
    if (!fstat(all->one[i]->of.fd, &other) && mine.st_dev == other.st_dev &&
        mine.st_ino == other.st_ino)
      return true;
  return false;
}

static void add(struct top_watch *all, struct top_watched *w) {
  all->one = reallocate(all->one, all->count + 1, sizeof *all->one);
  all->one[all->count++] = w;
}

/* False after a message. */
static bool add_found(struct top_watch *all, const struct found *found) {
  struct top_watched *w = allocate(1, sizeof *w);
  w->end = -1;
  if (!followed_open(&w->of, found, LONGEST, MEMORY)) {
    release(w);
    return false;
  }
  if (found->state == PROFILE_LIVE)
    w->end = (int)syscall(SYS_pidfd_open, (pid_t)followed_pid(&w->of), 0);
  else
    followed_read(&w->of, true);
  add(all, w);
  return true;
}

static void add_live(struct found *found, void *context) {
  struct top_watch *all = context;
  if (!is_known(all, found->fd))
    add_found(all, found);
}

static void forget_ended(struct top_watch *all, int64_t pid) {
  size_t ended = 0;
  for (size_t i = 0; i < all->count; i++)
    ended += all->one[i]->of.ended;
  for (size_t i = 0; ended > ENDED && i < all->count;)
    if (all->one[i]->of.ended && all->one[i]->of.header.pid != pid) {
      release(all->one[i]);
      memmove(&all->one[i], &all->one[i + 1], (--all->count - i) * sizeof *all->one);
      ended--;
    } else
      i++;
}

struct top_watch *top_watch_new(const char *target) {
  struct top_watch *all = allocate(1, sizeof *all);
  all->all = !target;
  if (!target)
    return all;
  struct found found;
  bool added = find_profile(target, false, &found);
  if (added) {
    added = add_found(all, &found);
    found_release(&found);
  }
  if (added)
    return all;
  top_watch_free(all);
  return NULL;
}

void top_watch_free(struct top_watch *all) {
  for (size_t i = 0; i < all->count; i++)
    release(all->one[i]);
  free(all->one);
  free(all->row);
  free(all);
}

/* -- looking ------------------------------------------------------------------------------ */

/* Its profile tells of one that has become another program, too; of one that has another number for
   itself it cannot. */
static bool has_ended(const struct top_watched *w) {
  struct pollfd end = {.fd = w->end, .events = POLLIN};
  if (w->end >= 0 && poll(&end, 1, 0) == 1)
    return true;
  return followed_pid(&w->of) == w->of.header.pid &&
         profile_state(w->of.fd, &w->of.header) != PROFILE_LIVE;
}

static void look(struct top_watched *w) {
  if (w->of.ended)
    return;
  view_free(w->window);
  w->window = NULL;
  followed_read(&w->of, has_ended(w));
}

void top_watch_look(struct top_watch *all, int64_t pid) {
  uint64_t now = clock_monotonic();
  if (all->all && (!all->searched || now - all->searched >= SEARCH * SECOND)) {
    find_live(add_live, all);
    all->searched = now;
  }
  for (size_t i = 0; i < all->count; i++) {
    struct top_watched *w = all->one[i];
    if (!pid || w->of.header.pid == pid || !history_now(w->of.history) || all->looks % OTHERS == 0)
      look(w);
  }
  all->looks++;
  forget_ended(all, pid);
}

static enum top_state state_of(const struct followed *f) {
  return f->ended ? TOP_ENDED : f->stopped ? TOP_STOPPED : TOP_RUNS;
}

const struct top_process *top_watch_rows(struct top_watch *all, uint64_t window, size_t *count) {
  free(all->row);
  all->row = allocate(all->count + 1, sizeof *all->row);
  for (size_t i = 0; i < all->count; i++) {
    struct top_watched *w = all->one[i];
    const struct view *whole = history_now(w->of.history);
    view_free(w->window);
    w->window = history_over(w->of.history, window);
    if (w->window) {
      char *directory = report_directory(w->window);
      report_shorten(w->window, directory);
      free(directory);
    }
    all->row[i] = (struct top_process){.pid = w->of.header.pid,
                                       .seen = followed_pid(&w->of),
                                       .name = whole ? whole->process.name : w->of.header.name,
                                       .state = state_of(&w->of),
                                       .view = w->window,
                                       .whole = whole};
  }
  *count = all->count;
  return all->row;
}
