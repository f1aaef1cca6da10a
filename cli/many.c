/* SPDX-License-Identifier: MIT */
/* Several targets as views; see many.h. */
#include "many.h"

#include "ask/story-view.h"
#include "read/clock.h"
#include "read/util.h"
#include "target.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

const struct many_pull *many_pull;

bool many_is_url(const char *target) {
  const char *scheme = strstr(target, "://");
  return scheme && strcspn(target, "/") == (size_t)(scheme + 1 - target);
}

void many_add(struct many *m, struct view *v) {
  m->view = reallocate(m->view, m->is.views + 1, sizeof *m->view);
  m->view[m->is.views++] = v;
}

void many_add_missing(struct many *m, const char *name, const char *says) {
  m->missing = reallocate(m->missing, m->is.missings + 1, sizeof *m->missing);
  m->missing[m->is.missings++] =
      (struct output_missing){print_string("%s", name), print_string("%s", says)};
}

/* It is of none that there is already. */
static bool is_new(const struct many *m, const struct view *v, const char *target) {
  for (size_t i = 0; i < m->is.views; i++)
    if (view_shares_process(m->view[i], v)) {
      complain("%s is of a process that another target is of, too", target);
      return false;
    }
  return true;
}

static bool add_story(struct many *m, const char *target) {
  struct story_error why;
  struct story *s = story_open(target, &why);
  if (!s) {
    complain("%s", why.text);
    return false;
  }
  m->story = reallocate(m->story, m->stories + 1, sizeof *m->story);
  m->story[m->stories++] = s;
  many_add(m, ask_story_view(s, NULL, target));
  return true;
}

static bool add_totals(struct many *m, const char *target) {
  struct view *v = view_load(target, &(struct view_request){0});
  if (v && is_new(m, v, target)) {
    many_add(m, v);
    return true;
  }
  view_free(v);
  return false;
}

static bool add(struct many *m, const char *target, struct output_from *from) {
  if (many_is_url(target)) {
    from->from = reallocate(from->from, from->froms + 1, sizeof *from->from);
    from->from[from->froms++] = target;
    return true;
  }
  if (story_is(target))
    return add_story(m, target);
  if (!is_of_processes(target))
    return add_totals(m, target);
  return load_add_named(&m->load, target) || load_add(&m->load, target);
}

/* Those of other servers are asked before and behind the time, whoever measures it. */
static bool measure(struct many *m, const struct output_from *from, uint64_t span) {
  m->pulled = from->froms ? many_pull->begin(from) : NULL;
  if (from->froms && !m->pulled)
    return false;
  uint64_t begin = clock_monotonic();
  if (!load_finish(&m->load))
    return false;
  for (size_t i = 0; i < m->load.views; i++)
    many_add(m, m->load.view[i]);
  m->load.views = 0;
  uint64_t passed = clock_monotonic() - begin;
  if (m->pulled && passed < span)
    poll(NULL, 0, (int)((span - passed) / 1000000 + 1));
  if (m->pulled)
    many_pull->end(m->pulled, m, span);
  return true;
}

bool many_open(struct many *m, const char *const *target, size_t targets, struct output_from *from,
               uint64_t span) {
  *m = (struct many){.load.span = span};
  bool added = true;
  for (size_t i = 0; added && i < targets; i++)
    added = add(m, target[i], from);
  if (added && !targets && !from->froms)
    load_add_live(&m->load);
  if (!added || !measure(m, from, span))
    return false;
  if (!m->is.views) {
    for (size_t i = 0; i < m->is.missings; i++)
      complain("%s: %s", m->missing[i].name, m->missing[i].says);
    complain(targets || from->froms ? "there is no process to compare"
                                    : "no live process is profiled");
    return false;
  }
  m->is.view = (const struct view *const *)m->view;
  m->is.missing = m->missing;
  return true;
}

void many_release(struct many *m) {
  for (size_t i = 0; i < m->is.views; i++)
    view_free(m->view[i]);
  for (size_t i = 0; i < m->stories; i++)
    story_free(m->story[i]);
  for (size_t i = 0; i < m->is.missings; i++) {
    free((char *)m->missing[i].name);
    free((char *)m->missing[i].says);
  }
  if (m->pulled)
    many_pull->close(m->pulled);
  load_release(&m->load);
  free(m->view);
  free(m->story);
  free(m->missing);
}
