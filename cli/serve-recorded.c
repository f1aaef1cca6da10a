/* SPDX-License-Identifier: MIT */
/* Processes that others tell of; see serve-recorded.h. */
#include "serve-recorded.h"

#include "show/formats.h"

#include <stdlib.h>

#define LONGEST ((uint64_t)3 * 3600 * 1000000000)

static void release(struct recorded *r) {
  history_free(r->history);
  free(r->host);
  free(r->own_host);
  free(r);
}

static struct recorded **at_end(struct records *all) {
  struct recorded **at = &all->first;
  while ((*at)->next)
    at = &(*at)->next;
  return at;
}

static size_t last_of(const struct recorded *r) {
  const struct view *v = history_now(r->history);
  return v ? arena_size(&v->arena) : 0;
}

static size_t lasts(const struct records *all) {
  size_t sum = 0;
  for (const struct recorded *r = all->first; r; r = r->next)
    sum += last_of(r);
  return sum;
}

/* Beside its last one each has as much as the others. */
static void share_memory(struct records *all) {
  size_t used = lasts(all), spare = used < all->memory ? (all->memory - used) / all->count : 0;
  for (struct recorded *r = all->first; r; r = r->next)
    history_limit(r->history, last_of(r) + spare);
}

static void make_room(struct records *all) {
  if (all->count < all->most)
    return;
  struct recorded **last = at_end(all);
  release(*last);
  *last = NULL;
  all->count--;
  all->forgotten++;
}

static bool same_text(const char *a, const char *b) {
  return a && b && !strcmp(a, b);
}

static bool is_of(const struct recorded *r, const struct view *v) {
  const struct view_process *known = &history_now(r->history)->process;
  return known->pid == v->process.pid && same_text(known->started_at, v->process.started_at) &&
         same_text(r->own_host, v->process.host);
}

static struct recorded *make(struct records *all, const struct view *v, const char *host,
                             const void *teller) {
  struct recorded *r = allocate(1, sizeof *r);
  make_room(all);
  *r = (struct recorded){.next = all->first, .teller = teller};
  r->own_host = print_string("%s", v->process.host);
  r->host = print_string("%s", host ? host : v->process.host);
  r->history = history_new(LONGEST, all->memory);
  all->count++;
  return all->first = r;
}

static void move_to_front(struct records *all, struct recorded **at) {
  struct recorded *r = *at;
  *at = r->next;
  r->next = all->first;
  all->first = r;
}

static void forget(struct records *all, struct recorded **at) {
  struct recorded *r = *at;
  *at = r->next;
  release(r);
  all->count--;
  all->moved++;
}

struct recorded *records_add(struct records *all, struct view *v, const char *host, int64_t pid,
                             const void *teller) {
  struct recorded **at = &all->first, *r, *none = NULL;
  while (*at && !is_of(*at, v))
    at = &(*at)->next;
  if (*at && (*at)->teller != teller && !(*at)->here) {
    forget(all, at);
    at = &none;
  }
  const struct view *last = *at ? history_now((*at)->history) : NULL;
  if (*at && ((*at)->teller != teller || last->process.elapsed > v->process.elapsed)) {
    view_free(v);
    return NULL;
  }
  r = *at;
  if (r)
    move_to_front(all, at);
  else
    r = make(all, v, host, teller);
  r->pid = pid ? pid : v->process.pid;
  v->process.host = arena_text(&v->arena, r->host);
  if (last)
    view_raise(v, last);
  history_add(r->history, v);
  share_memory(all);
  r->here = true;
  all->moved++;
  return r;
}

/* One more is as large as the others are, as far as one knows. */
static bool is_full(const struct records *all) {
  size_t used = lasts(all);
  return all->count >= all->most || (all->count && used + used / all->count > all->memory);
}

bool records_make_room(struct records *all) {
  while (is_full(all)) {
    struct recorded **oldest = NULL;
    for (struct recorded **at = &all->first; *at; at = &(*at)->next)
      oldest = (*at)->here ? oldest : at;
    if (!oldest)
      return false;
    forget(all, oldest);
    all->forgotten++;
  }
  return true;
}

void records_leave(struct records *all, const void *teller) {
  for (struct recorded *r = all->first; r; r = r->next)
    if (r->teller == teller && r->here) {
      r->here = false;
      all->moved++;
    }
}

void records_forget(struct records *all, const void *teller) {
  for (struct recorded **at = &all->first; *at;)
    if ((*at)->teller == teller)
      forget(all, at);
    else
      at = &(*at)->next;
}

void records_close(struct records *all) {
  for (struct recorded *r = all->first, *next; r; r = next) {
    next = r->next;
    release(r);
  }
  *all = (struct records){0};
}

struct recorded *records_find(const struct records *all, const struct process_name *wanted) {
  for (struct recorded *r = all->first; r; r = r->next)
    if (process_fits(wanted, r->host, r->pid))
      return r;
  return NULL;
}

void recorded_list(const struct recorded *r, struct listing *list) {
  const struct view *v = history_now(r->history);
  double since = counted_since(&v->process);
  list->row = reallocate(list->row, list->rows + 1, sizeof *list->row);
  struct listed *row = &list->row[list->rows++];
  *row =
      (struct listed){.name = print_string("%s", v->process.name),
                      .host = print_string("%s", r->host),
                      .build = v->process.build_id ? print_string("%s", v->process.build_id) : NULL,
                      .labels = v->process.labels ? print_string("%s", v->process.labels) : NULL,
                      .state = "done",
                      .pid = (int32_t)r->pid,
                      .started = (int64_t)rounded(since * 1e9),
                      .memory = v->health.memory};
  for (size_t j = 0; j < v->functions; j++) {
    row->created = plus(row->created, v->function[j].created);
    row->live = plus(row->live, v->function[j].live);
  }
}
