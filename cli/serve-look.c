/* SPDX-License-Identifier: MIT */
/* A look at one process or several; see serve-look.h. */
#include "serve-look.h"

#include "read/labels.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* More are not put together: each costs what one does. */
enum { TOGETHER = WATCHED };
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

static void add(struct look *look, struct view *v, const struct looked *is, bool apart) {
  struct view *whole = look->view;
  bool again = whole && view_shares_process(whole, v);
  if (!whole || again) {
    look->view = whole ? whole : v;
    look->is = whole ? look->is : *is;
    if (again)
      view_free(v);
    return;
  }
  bool alive = whole->alive | v->alive, stopped = whole->stopped & v->stopped,
       interval = whole->is_interval | v->is_interval;
  view_merge(whole, v, apart);
  whole->alive = alive;
  whole->stopped = stopped;
  whole->is_interval = interval;
  look->is.ended &= is->ended;
  look->is.own &= is->own;
  look->lent = reallocate(look->lent, look->lents + 1, sizeof(struct view *));
  look->lent[look->lents++] = v;
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
  if (o->directory.path)
    directory_scan(&o->directory);
  if (key->process.pid) {
    look->view = look_at(o, &key->process, key->range, &look->is);
    if (look->view)
      add_moments(look, key, look->view, &look->is);
    return look->view != NULL;
  }
  names_of(o, &all);
  size_t taken = 0;
  for (size_t i = 0; i < all.count; i++) {
    struct looked is;
    if (!process_fits(&key->process, all.of[i].host, all.of[i].pid))
      continue;
    if (taken == TOGETHER) {
      look->left_out++;
      continue;
    }
    struct view *v = look_at(o, &all.of[i], key->range, &is);
    if (!v || !fits(v, key->where)) {
      view_free(v);
      continue;
    }
    taken++;
    add_moments(look, key, v, &is);
    add(look, v, &is, key->apart);
  }
  free(all.of);
  return look->view != NULL;
}

void look_end(struct look *look) {
  view_free(look->view);
  for (size_t i = 0; i < look->lents; i++)
    view_free(look->lent[i]);
  free(look->lent);
}
