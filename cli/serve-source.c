/* SPDX-License-Identifier: MIT */
/* Readings of processes; see serve-source.h. */
#include "serve-source.h"

#include "listing.h"
#include "load.h"
#include "read/util.h"
#include "show/formats.h"
#include "show/slow.h"
#include "show/totals.h"

#include <stdlib.h>
#include <unistd.h>

/* -- metrics ---------------------------------------------------------------------------- */

static void forget_last(struct source *s) {
  for (size_t i = 0; i < s->lasts; i++)
    view_free(s->last[i]);
  free(s->last);
  s->lasts = 0;
  s->last = NULL;
}

/* Of live ones no counter falls. */
static size_t load_live(struct source *s) {
  struct view **view;
  /* Whoever scrapes sees what is not there; said here it would be each time. */
  complain_never(true);
  size_t views = view_load_live(s->of.watch.target, &view);
  complain_never(false);
  for (size_t i = 0; i < views; i++)
    for (size_t j = 0; j < s->lasts; j++)
      view_raise(view[i], s->last[j]);
  for (size_t i = 0; i < views; i++)
    view[i]->process.labels = s->of.labels;
  forget_last(s);
  s->last = view;
  return s->lasts = views;
}

static bool write_metrics(struct source *s, const char *format, FILE *out) {
  struct format_options options = {
      .functions = s->functions, .hosts = s->of.agents != NULL, .memory = &s->memory};
  const struct view **recorded = NULL;
  size_t views = s->of.agents           ? agents_views(s->of.agents, &recorded)
                 : s->of.directory.path ? directory_views(&s->of.directory, &recorded)
                                        : load_live(s);
  struct format_agent *agents = s->of.agents ? agents_states(s->of.agents, &options.agents) : NULL;
  struct format_pushed *pushed = pushes_states(s->pushes, &options.pusheds);
  options.agent = agents;
  options.pushed = pushed;
  format_find(format)->write(recorded ? recorded : (const struct view *const *)s->last, views,
                             &options, out);
  free(pushed);
  free(agents);
  free(recorded);
  return true;
}

static bool write_open(void *source, FILE *out) {
  return write_metrics(source, "openmetrics", out);
}

static bool write_older(void *source, FILE *out) {
  return write_metrics(source, "prometheus", out);
}

struct document *source_metrics(struct source *s, bool open) {
  return latest_get(&s->metrics[open], open ? write_open : write_older, s);
}

/* -- processes ---------------------------------------------------------------------------- */

struct processes {
  const char *target; /* or NULL */
  struct listing found;
};

static void add_process(struct found *found, void *context) {
  struct processes *all = context;
  if (!all->target || found_is(found, all->target))
    listing_add(found, &all->found);
}

static bool write_processes(void *source, FILE *out) {
  struct source *s = source;
  struct processes all = {.target = s->of.watch.target};
  char host[256] = "";
  struct emit e;
  gethostname(host, sizeof host - 1);
  if (s->of.agents)
    agents_list(s->of.agents, &all.found);
  else if (s->of.directory.path)
    directory_list(&s->of.directory, &all.found);
  else
    find_live(add_process, &all);
  emit_begin(&e, out, "aprof.list/1");
  emit_text(&e, "host", host);
  if (s->of.agents)
    agents_json(s->of.agents, &e);
  if (s->pushes)
    pushes_json(s->pushes, &e);
  listing_json(&all.found, &e);
  emit_end(&e);
  listing_release(&all.found);
  return true;
}

struct document *source_processes(struct source *s) {
  return latest_get(&s->processes, write_processes, s);
}

/* -- one process, or several ---------------------------------------------------------------- */

/* The next command of a finding is about a process of this machine. */
static void write_page(const struct source *s, const struct feed_key *key, const struct look *look,
                       bool sources, FILE *out) {
  struct page_options page = s->page;
  char *target = print_string("%lld", (long long)key->process.pid);
  const struct request_filter kind = {.kind = key->kind, .exact = true};
  page.no_source |= !sources;
  page.requests = *key->kind ? &kind : NULL;
  page.target = s->of.directory.path || s->of.agents || !key->process.pid ? NULL : target;
  page.here = !s->of.directory.path && !s->of.agents;
  page.left_out = look->left_out;
  page.moments = &look->moments;
  page_json(look->view, &page, false, out);
  free(target);
}

/* Of live ones each look may tell something else. */
static bool has_moved(struct source *s, uint64_t *moved) {
  if (s->of.directory.path)
    directory_scan(&s->of.directory);
  uint64_t now = s->of.agents           ? agents_moved(s->of.agents)
                 : s->of.directory.path ? s->of.directory.records.moved
                                        : *moved + 1;
  bool has = now != *moved;
  *moved = now;
  return has;
}

bool source_feed(void *source, const struct feed_key *key, uint64_t *moved, bool *last, FILE *out) {
  struct source *s = source;
  struct look look;
  if (!has_moved(s, moved))
    return false;
  bool there = look_begin(&s->of, key, &look);
  if (there)
    write_page(s, key, &look, false, out);
  *last = key->process.pid && (!there || look.is.ended);
  look_end(&look);
  return there;
}

struct showing {
  struct source *source;
  struct shown *shown;
};

static bool write_shown(void *context, FILE *out) {
  const struct showing *showing = context;
  const struct feed_key *key = &showing->shown->key;
  struct look look;
  bool there = look_begin(&showing->source->of, key, &look);
  if (there && showing->shown->as == SHOWN_PAGE)
    write_page(showing->source, key, &look, look.is.own, out);
  else if (there && showing->shown->as == SHOWN_SLOW)
    slow_kept_json(look.view, *key->kind ? key->kind : NULL, out);
  else if (there)
    totals_write(look.view, out);
  showing->shown->left_out = look.left_out;
  look_end(&look);
  return there;
}

static struct shown *shown_of(struct source *s, enum shown_as as, const struct feed_key *key) {
  struct shown *oldest = s->shown;
  for (struct shown *one = s->shown; one < s->shown + SHOWN; one++) {
    if (one->asked && one->as == as && feed_same(&one->key, key))
      return one;
    if (one->asked < oldest->asked)
      oldest = one;
  }
  latest_drop(&oldest->latest);
  oldest->as = as;
  oldest->key = *key;
  return oldest;
}

struct document *source_shown(struct source *s, enum shown_as as, const struct feed_key *key) {
  struct shown *shown = shown_of(s, as, key);
  struct showing showing = {s, shown};
  shown->asked = monotonic_now();
  struct document *d = latest_get(&shown->latest, write_shown, &showing);
  if (d)
    d->left_out = shown->left_out;
  return d;
}

bool source_has_live(struct source *s, const struct process_name *process) {
  struct looked is;
  if (s->of.agents || s->of.directory.path)
    return false;
  watch_begin(&s->of.watch);
  struct view *v = watch_look(&s->of.watch, process, 0, &is);
  bool lives = v && !is.ended;
  view_free(v);
  return lives;
}

void source_close(struct source *s) {
  for (size_t i = 0; i < SHOWN; i++)
    latest_drop(&s->shown[i].latest);
  watch_close(&s->of.watch);
  directory_close(&s->of.directory);
  agents_free(s->of.agents);
  forget_last(s);
  format_memory_free(s->memory);
  latest_drop(&s->metrics[0]);
  latest_drop(&s->metrics[1]);
  latest_drop(&s->processes);
}
