/* SPDX-License-Identifier: MIT */
/* Other servers; see serve-agents.h. */
#include "serve-agents.h"

#include "serve-agent.h"
#include "serve-document.h"
#include "show/formats.h"

#include <stdlib.h>

enum { MOST = 20000 }; /* processes */
/* Rounds while somebody looks, s; lists are looked at, s; so many are asked at once, and of those
   that did not answer last time. */
enum { WATCHED_EVERY = 2, LIST_EVERY = 2, AT_ONCE = 8, AT_ONCE_DOUBTFUL = 8 };
/* Bytes of answers on their way beyond which nobody is asked. */
#define HELD ((size_t)64 << 20)

static const char *const states[] = {"new", "answers", "slow", "gone", "other version", "wrong"};

/* -- which there are ---------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b) {
  return !strcmp(a ? a : "", b ? b : "");
}

static bool takes(struct agent *a, struct agent_list *list) {
  for (size_t i = 0; i < list->entries; i++) {
    struct agent_entry *e = &list->entry[i];
    if (same_text(a->is.name, e->name) && same_text(a->is.url, e->url) &&
        same_text(a->is.token, e->token) && same_text(a->is.labels, e->labels) &&
        same_text(a->is.connect, e->connect))
      return true;
  }
  return false;
}

/* Those that are in both stay as they are. */
static void set_list(struct agents *all, struct agent_list *list) {
  for (struct agent **at = &all->first; *at;) {
    struct agent *a = *at;
    if (takes(a, list))
      at = &a->next;
    else {
      *at = a->next;
      agent_free(a);
    }
  }
  struct agent **end = &all->first;
  while (*end)
    end = &(*end)->next;
  for (size_t i = 0; i < list->entries; i++) {
    bool there = false;
    for (const struct agent *a = all->first; a; a = a->next)
      there |= same_text(a->is.name, list->entry[i].name);
    if (there)
      continue;
    struct agent *a = allocate(1, sizeof *a);
    *a = (struct agent){.all = all, .is = list->entry[i]};
    list->entry[i] = (struct agent_entry){0};
    *end = a;
    end = &a->next;
  }
  all->records.moved++;
}

static bool read_list(struct agents *all) {
  struct agent_list list;
  bool good = agent_list_read(&all->sources, &list);
  if (good)
    set_list(all, &list);
  agent_list_release(&list);
  return good;
}

struct agents *agents_new(struct agent_sources sources, uint64_t every, size_t memory) {
  struct agents *all = allocate(1, sizeof *all);
  *all = (struct agents){.sources = sources, .every = every, .period = (int64_t)every};
  all->records = (struct records){.most = MOST, .memory = memory};
  all->pulls = pulls_new();
  if (all->pulls && read_list(all))
    return all;
  agents_free(all);
  return NULL;
}

void agents_free(struct agents *all) {
  if (!all)
    return;
  for (struct agent *a = all->first, *next; a; a = next) {
    next = a->next;
    agent_free(a);
  }
  records_close(&all->records);
  pulls_free(all->pulls);
  free(all->sources.from);
  free(all->sources.token);
  free(all->sources.known);
  names_up_free(all->sources.names);
  free(all);
}

/* So many at once: answers of many would fill memory, and wait for each other until all are slow.
   Those that did not answer last time take no place of the others'. */
static void start_due(struct agents *all, int64_t now) {
  size_t asked[2] = {0};
  for (const struct agent *a = all->first; a; a = a->next)
    asked[agent_is_doubtful(a)] += a->pull != NULL;
  while (pulls_held(all->pulls) < HELD) {
    struct agent *first[2] = {NULL};
    for (struct agent *a = all->first; a; a = a->next) {
      struct agent **at = &first[agent_is_doubtful(a)];
      if (!a->pull && a->due <= now && (!*at || a->due < (*at)->due))
        *at = a;
    }
    struct agent *next = first[0] && asked[0] < AT_ONCE            ? first[0]
                         : first[1] && asked[1] < AT_ONCE_DOUBTFUL ? first[1]
                                                                   : NULL;
    if (!next)
      return;
    asked[agent_is_doubtful(next)]++;
    agent_start(next);
  }
}

size_t agents_memory(void) {
  return (size_t)(memory_at_most() / 4);
}

void agents_tick(struct agents *all) {
  int64_t now = monotonic_now();
  if (now - all->listed > LIST_EVERY * SECOND) {
    all->listed = now;
    if (agent_list_changed(&all->sources))
      read_list(all);
    all->period = agents_period(all);
  }
  for (struct agent *a = all->first; a; a = a->next)
    if (!agent_counts(a))
      records_leave(&all->records, a);
  start_due(all, now);
}

bool agents_are_asking(const struct agents *all) {
  int64_t now = monotonic_now();
  for (const struct agent *a = all->first; a; a = a->next)
    if (a->pull || a->due <= now)
      return true;
  return false;
}

int agents_poll(struct agents *all, struct pollfd *fds, size_t count, int ms) {
  int64_t now = monotonic_now(), due = now + LIST_EVERY * SECOND;
  for (const struct agent *a = all->first; a; a = a->next)
    if (!a->pull && a->due < due)
      due = a->due > now ? a->due : now + SECOND / 100; /* it waits for its turn */
  int wait = due <= now ? 0 : (int)((due - now) / 1000000 + 1);
  return pulls_poll(all->pulls, fds, count, ms < 0 || wait < ms ? wait : ms);
}

/* -- what is asked ------------------------------------------------------------------------ */

/* Somebody looks now: rounds come closer. */
static void note_look(struct agents *all) {
  int64_t now = monotonic_now(), soon = now + WATCHED_EVERY * SECOND;
  bool first = !agents_are_watched(all);
  all->asked = now;
  for (struct agent *a = all->first; first && a; a = a->next)
    if (!a->pull && a->due > soon)
      a->due = soon;
}

struct view *agents_look(struct agents *all, const struct process_name *process, uint64_t range,
                         struct looked *is) {
  const struct recorded *r = records_find(&all->records, process);
  note_look(all);
  if (!r)
    return NULL;
  is->ended = !r->here && agent_counts(r->teller);
  is->history = r->history;
  struct view *v = history_over(r->history, range);
  v->alive = r->here;
  return v;
}

size_t agents_views(struct agents *all, const struct view ***view) {
  size_t views = 0;
  *view = allocate(all->records.count + 1, sizeof **view);
  for (struct recorded *r = all->records.first; r; r = r->next)
    if (r->here)
      (*view)[views++] = history_now(r->history);
  return views;
}

void agents_names(struct agents *all, struct process_names *names) {
  note_look(all);
  for (struct recorded *r = all->records.first; r; r = r->next)
    if (r->here)
      process_add(names, r->host, r->pid);
}

void agents_list(struct agents *all, struct listing *list) {
  note_look(all);
  for (struct recorded *r = all->records.first; r; r = r->next)
    if (r->here) {
      recorded_list(r, list);
      list->row[list->rows - 1].state = "live";
    }
}

size_t agents_left_out(const struct agents *all, const char *host) {
  size_t sum = 0;
  for (const struct agent *a = all->first; a; a = a->next)
    sum += !*host || a->passes_on || !strcmp(host, a->is.name) ? a->left_out : 0;
  return sum;
}

uint64_t agents_moved(const struct agents *all) {
  return all->records.moved;
}

static size_t processes_of(const struct agent *a) {
  size_t count = 0;
  for (const struct recorded *r = a->all->records.first; r; r = r->next)
    count += r->teller == a && r->here;
  return count;
}

void agents_json(const struct agents *all, struct emit *e) {
  int64_t now = monotonic_now();
  emit_open(e, "hosts", '[');
  for (const struct agent *a = all->first; a; a = a->next) {
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "name", a->is.name);
    emit_text(e, "url", a->is.url);
    emit_text(e, "labels", a->is.labels);
    emit_text(e, "state", states[a->state]);
    emit_text(e, "says", a->says);
    emit_maybe(e, "age_ns", (uint64_t)(now - a->answered), a->answered != 0);
    emit_bool(e, "counted", agent_counts(a));
    emit_number(e, "processes", processes_of(a));
    emit_number(e, "left_out", a->left_out);
    emit_close(e, '}');
  }
  emit_close(e, ']');
}

struct format_agent *agents_states(const struct agents *all, size_t *count) {
  int64_t now = monotonic_now();
  struct format_agent *state = NULL;
  *count = 0;
  for (const struct agent *a = all->first; a; a = a->next) {
    state = reallocate(state, *count + 1, sizeof *state);
    state[(*count)++] =
        (struct format_agent){a->is.name, a->is.url, a->state == AGENT_ANSWERS,
                              a->answered ? (uint64_t)(now - a->answered) : UNKNOWN, a->left_out};
  }
  return state;
}
