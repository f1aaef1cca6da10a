/* SPDX-License-Identifier: MIT */
/* Findings among the futures alive: those alike are one; see findings.h. */
#include "findings.h"

#include "live.h"
#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>
#include <string.h>

static int by_id(const void *a, const void *b) {
  const struct view_live *x = *(const struct view_live *const *)a,
                         *y = *(const struct view_live *const *)b;
  return x->id < y->id ? -1 : x->id > y->id;
}

/* The function of the future that created this one, if that lives. `ids`: all that
   live, by their ids. */
static const struct view_function *creator(const struct view *v, const struct view_live *const *ids,
                                           const struct view_live *live) {
  const struct view_live key = {.id = live->parent}, *wanted = &key;
  const struct view_live *const *found =
      live->parent ? bsearch(&wanted, ids, v->lives, sizeof *ids, by_id) : NULL;
  return found && (*found)->function < v->functions ? &v->function[(*found)->function] : NULL;
}

static int compare_text(const char *a, const char *b) {
  return strcmp(a ? a : "", b ? b : "");
}

static int compare_address(const void *a, const void *b) {
  return (const char *)a < (const char *)b ? -1 : (const char *)a > (const char *)b;
}

/* Alike: of one function, and stuck in one await, or else created at one place. */
static int by_likeness(const void *a, const void *b) {
  const struct alike *x = a, *y = b;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  if (x->function != y->function)
    return compare_address(x->function, y->function);
  return x->by_await ? compare_address(x->await, y->await)
                     : compare_text(x->created_at, y->created_at);
}

static void add_alike(struct findings *list, const struct alike *g) {
  const char *by = g->creator ? g->creator->name : g->created_by;
  const char *at = g->created_at;
  const char *creator = by && at ? turn_text(", created by `%s` at %s", by, at)
                        : by     ? turn_text(", created by `%s`", by)
                        : at     ? turn_text(", created at %s", at)
                                 : "";
  struct finding finding = {.kind = g->kind,
                            .weight = g->most,
                            .severity = g->most,
                            .count = g->count,
                            .alive = true,
                            .shed = g->shed,
                            .function = g->function,
                            .created_at = at,
                            .created_by = by};
  finding_rows[g->kind]->tell(g, creator, &finding);
  if (finding.text.parts && !finding.at)
    finding.at = at ? print_string("%s", at) : findings_place(g->function->file, g->function->line);
  if (finding.text.parts)
    findings_add(list, finding);
}

/* True if the future is a finding, alone for now: the first row in the table that claims it has it.
   Where events were lost nobody knows what the future has done since. */
static bool classify(const struct live_case *c, struct alike *alike) {
  const struct view_live *live = c->live;
  for (enum finding_kind kind = 0; kind < FINDINGS; kind++) {
    const struct finding_row *row = finding_rows[kind];
    if (!row->claims || (c->view->health.lost_events && !row->despite_loss))
      continue;
    *alike = (struct alike){.kind = kind,
                            .view = c->view,
                            .limits = c->limits,
                            .function = c->function,
                            .await = live->await,
                            .created_at = live->created_at,
                            .created_by = live->created_by,
                            .held_by = live->held_by,
                            .held_from = live->held_from,
                            .tid = live->tid,
                            .ended = ask_ended(c->view),
                            .shed = live->shed,
                            .lacks = live->lacks,
                            .count = live->count,
                            .least = live->since_min,
                            .most = live->since};
    if (row->claims(c, alike))
      return true;
  }
  return false;
}

static size_t merge(struct alike *group, size_t count) {
  size_t kept = 0;
  qsort(group, count, sizeof *group, by_likeness);
  for (size_t i = 0; i < count; i++) {
    struct alike *last = kept ? &group[kept - 1] : NULL;
    if (!last || by_likeness(last, &group[i])) {
      group[kept++] = group[i];
      continue;
    }
    last->count += group[i].count;
    last->shed |= group[i].shed;
    last->lacks |= group[i].lacks;
    if (group[i].least < last->least)
      last->least = group[i].least;
    if (group[i].most > last->most)
      last->most = group[i].most;
    if (!last->creator)
      last->creator = group[i].creator;
  }
  return kept;
}

void findings_of_live(struct findings *list, const struct view *v,
                      const struct ask_limits *limits) {
  struct alike *alike = allocate(v->lives + 1, sizeof *alike);
  const struct view_live **ids = allocate(v->lives, sizeof *ids);
  size_t count = 0;
  for (size_t i = 0; i < v->lives; i++)
    ids[i] = &v->live[i];
  qsort(ids, v->lives, sizeof *ids, by_id);
  for (size_t i = 0; i < v->lives; i++) {
    struct live_case c = {.view = v, .live = &v->live[i], .limits = limits};
    if (c.live->function >= v->functions)
      continue;
    c.function = &v->function[c.live->function];
    if (classify(&c, &alike[count]))
      alike[count++].creator = creator(v, ids, c.live);
  }
  count = merge(alike, count);
  for (size_t i = 0; i < count; i++)
    add_alike(list, &alike[i]);
  free(ids);
  free(alike);
}
