/* SPDX-License-Identifier: MIT */
/* A look at one process or several; see serve-look.h. */
#include "serve-look.h"

#include "read/labels.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More live ones are not looked at, and more functions are not told apart. */
enum { TOGETHER = WATCHED, APART = 100000 };
#define LONGEST ((uint64_t)3 * 3600 * 1000000000) /* that readings reach back */

static void names_of(struct origin *o, struct process_names *all) {
  if (o->agents)
    agents_names(o->agents, all);
  else if (o->directory.path)
    directory_names(&o->directory, all);
  else
    watch_names(&o->watch, all);
}

/* Only who alone writes there tells us of sources. */
static bool is_own(const char *directory) {
  struct stat at;
  return !stat(directory, &at) && at.st_uid == geteuid() && !(at.st_mode & 022);
}

static struct view *look_at(struct origin *o, const struct process_name *process, uint64_t range,
                            struct looked *is) {
  *is = (struct looked){0};
  if (o->agents)
    return agents_look(o->agents, process, range, is);
  if (!o->directory.path) {
    struct view *v = watch_look(&o->watch, process, range, is);
    if (v)
      v->process.labels = o->labels;
    return v;
  }
  is->own = is_own(o->directory.path);
  return directory_look(&o->directory, process, range, is);
}

/* Since the start it is as long as the first one's readings reach back. */
static void add_moments(struct look *look, const struct feed_key *key, const struct view *v,
                        const struct looked *is) {
  struct moments *m = &look->moments;
  if (!m->range) {
    m->range = key->range                     ? key->range
               : v->process.elapsed < LONGEST ? v->process.elapsed + MOMENTS
                                              : LONGEST;
    m->step = m->range / MOMENTS;
  }
  if (is->history)
    history_moments(is->history, m, *key->kind ? key->kind : NULL);
}

/* Of so many, 2^rank or more. */
struct look_part {
  struct view *view;
  unsigned rank;
};

/* What merging left behind would be many times the sum, so that is copied out of it: texts alone
   are lent, by those who gave the views. */
static struct view *sum_of(struct view *v, struct view *other, bool apart) {
  bool alive = v->alive | other->alive, stopped = v->stopped & other->stopped,
       interval = v->is_interval | other->is_interval;
  view_merge(v, other, apart);
  struct view *sum = view_copy(v);
  view_free(other);
  view_free(v);
  sum->alive = alive;
  sum->stopped = stopped;
  sum->is_interval = interval;
  return sum;
}

static void join_last(struct look *look, bool apart) {
  struct look_part *first = &look->part[look->parts - 2];
  first->view = sum_of(first->view, first[1].view, apart);
  first->rank++;
  look->parts--;
}

/* Sums of as many each are put together, so that of a thousand each takes part in ten. */
static void add(struct look *look, struct view *v, const struct looked *is, bool apart) {
  for (size_t i = 0; i < look->parts; i++)
    if (view_shares_process(look->part[i].view, v)) {
      view_free(v);
      return;
    }
  if (look->parts) {
    look->is.ended &= is->ended;
    look->is.own &= is->own;
  } else
    look->is = *is;
  look->part = reallocate(look->part, look->parts + 1, sizeof *look->part);
  look->part[look->parts++] = (struct look_part){v, 0};
  while (look->parts > 1 && look->part[look->parts - 2].rank == look->part[look->parts - 1].rank)
    join_last(look, apart);
}

/* All of them. */
static void add_up(struct look *look, bool apart) {
  while (look->parts > 1)
    join_last(look, apart);
  look->view = look->parts ? look->part->view : NULL;
  free(look->part);
  look->part = NULL;
}

static bool fits(const struct view *v, const char *where) {
  static const char build[] = "build=";
  const char *own = v->process.build_id;
  if (!*where)
    return true;
  return strncmp(where, build, strlen(build)) ? labels_have(v->process.labels, where)
                                              : own && !strcmp(own, where + strlen(build));
}

bool look_begin(struct origin *o, const struct feed_key *key, struct look *look) {
  struct process_names all = {0};
  *look = (struct look){0};
  watch_begin(&o->watch);
  if (o->directory.path)
    directory_scan(&o->directory);
  if (key->process.pid) {
    look->view = look_at(o, &key->process, key->range, &look->is);
    if (look->view)
      add_moments(look, key, look->view, &look->is);
    return look->view != NULL;
  }
  names_of(o, &all);
  if (o->agents && !*key->where)
    look->left_out = agents_left_out(o->agents, key->process.host);
  size_t taken = 0, functions = 0, most = o->agents || o->directory.path ? SIZE_MAX : TOGETHER;
  for (size_t i = 0; i < all.count; i++) {
    struct looked is;
    if (!process_fits(&key->process, all.of[i].host, all.of[i].pid))
      continue;
    if (taken == most || (key->apart && functions > APART)) {
      look->left_out++;
      continue;
    }
    struct view *v = look_at(o, &all.of[i], key->range, &is);
    if (!v || !fits(v, key->where)) {
      view_free(v);
      continue;
    }
    taken++;
    functions += v->functions;
    add_moments(look, key, v, &is);
    add(look, v, &is, key->apart);
  }
  free(all.of);
  add_up(look, key->apart);
  return look->view != NULL;
}

void look_end(struct look *look) {
  view_free(look->view);
}
