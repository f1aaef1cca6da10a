/* SPDX-License-Identifier: MIT */
/* The command's reader on a random program; see command.h. */
#include "command.h"

#include "cli/target.h"
#include "read/model.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ONE ((uint64_t)1 << 32) /* a tick of the virtual clock is a ns */

static bool is_one_of(const char *text, const char *const *list) {
  while (*list && strcmp(text, *list))
    list++;
  return *list != NULL;
}

/* Is the path a span's, or one outside futures? */
static bool is_span(const char *path) {
  const char *last = path;
  for (const char *at = path; (at = strstr(at, " > ")) != NULL; at += 3)
    last = at + 3;
  return !strncmp(last, "span", 4);
}
static bool is_outside(const char *path) {
  return !strncmp(path, "span", 4);
}

/* The rows that both sides have, in the command's terms. */
static void take_rows(const struct rows *from, struct rows *to) {
  static const char *const sums[] = {"created",   "done",   "failed", "cancelled", "detached",
                                     "live",      "queued", "exec",   "wall",      "waiting",
                                     "born_done", "slices", NULL};
  static const char *const of_spans[] = {"exec", "waiting", NULL};
  static const char *const waits[] = {"waiting", "count", "immediate", NULL};
  static const char *const others[] = {"exec",   "idle",   "other",      "elapsed",   "missed",
                                       "reused", "nested", "migrations", "unmatched", NULL};
  for (unsigned i = 0; i < from->count; i++) {
    char place[4096];
    snprintf(place, sizeof place, "%s", from->row[i].name);
    char *bar = strstr(place, " | "), *await;
    if (!bar)
      continue;
    *bar = 0;
    const char *what = bar + 3;
    if (!strncmp(place, "request ", 8))
      continue;
    if (!strncmp(place, "thread ", 7) || !strcmp(place, "health")) {
      if (is_one_of(what, others))
        rows_add(to, place, what, from->row[i].value);
    } else if ((await = strstr(place, " @ ")) != NULL) {
      if (is_one_of(what, waits))
        rows_add(to, await, what, from->row[i].value);
    } else if (is_outside(place) || (is_span(place) && !is_one_of(what, of_spans))) {
      continue;
    } else if (is_one_of(what, sums))
      rows_add(to, "all", what, from->row[i].value);
  }
}

static void add_function(struct rows *rows, const struct model_node *n) {
  rows_add(rows, "all", "created", n->done + n->failed + n->cancelled + n->detached + n->live);
  rows_add(rows, "all", "done", n->done);
  rows_add(rows, "all", "failed", n->failed);
  rows_add(rows, "all", "cancelled", n->cancelled);
  rows_add(rows, "all", "detached", n->detached);
  rows_add(rows, "all", "live", n->live);
  rows_add(rows, "all", "queued", n->queued);
  rows_add(rows, "all", "exec", n->exec);
  rows_add(rows, "all", "waiting", n->waiting);
  rows_add(rows, "all", "wall", n->queued + n->exec + n->waiting);
  rows_add(rows, "all", "born_done", n->born_done);
  rows_add(rows, "all", "slices", n->slices);
}

static void add_span(struct rows *rows, const struct model_node *n) {
  rows_add(rows, "all", "exec", n->exec);
  rows_add(rows, "all", "waiting", n->waiting);
  rows_add(rows, "all", "wall", n->exec + n->waiting);
}

static void add_await(struct rows *rows, const struct model *m, const struct model_node *n) {
  char place[512];
  snprintf(place, sizeof place, " @ %s", m->names->name[n->name].name);
  rows_add(rows, place, "waiting", n->waiting);
  rows_add(rows, place, "count", n->count);
  rows_add(rows, place, "immediate", n->immediate);
}

static void add_thread(struct rows *rows, const struct model_thread *t) {
  char place[64];
  snprintf(place, sizeof place, "thread %d", reader_thread_number(t->tid));
  rows_add(rows, place, "exec", t->exec);
  rows_add(rows, place, "idle", t->idle);
  rows_add(rows, place, "other", t->other);
  rows_add(rows, place, "elapsed", t->exec + t->idle + t->other);
}

static void add_model(struct rows *rows, const struct model *m) {
  for (uint32_t i = 0; i < m->nodes; i++) {
    if (m->node[i].kind == APROF_NODE_FUNCTION)
      add_function(rows, &m->node[i]);
    else if (m->node[i].kind == APROF_NODE_AWAIT)
      add_await(rows, m, &m->node[i]);
    else if (m->node[i].kind == APROF_NODE_SPAN && m->node[i].function != MODEL_NONE)
      add_span(rows, &m->node[i]);
  }
  for (uint32_t i = 0; i < m->threads; i++)
    add_thread(rows, &m->thread[i]);
  rows_add(rows, "health", "missed", m->health.missed_events);
  rows_add(rows, "health", "reused", m->health.reused_keys);
  rows_add(rows, "health", "nested", m->health.nested_events);
  rows_add(rows, "health", "migrations", m->health.migrations);
  rows_add(rows, "health", "unmatched", m->health.unmatched_awaits);
}

unsigned command_differs(const struct rows *expected, FILE *file) {
  struct rows wanted = {0}, got = {0};
  struct found found;
  char pid[32];
  snprintf(pid, sizeof pid, "%d", (int)getpid());
  if (!find_profile(pid, false, &found))
    return 1;
  struct profile *p = profile_read(found.fd, found.what, true, true);
  unsigned differ = 1;
  if (p) {
    struct names *names = names_new(p, 0);
    struct model *m = model_new(p, names, ONE, p->header.virtual_now, false);
    take_rows(expected, &wanted);
    add_model(&got, m);
    differ = rows_differ(&wanted, &got, file);
    model_free(m);
    names_free(names);
  }
  profile_free(p);
  found_release(&found);
  rows_free(&wanted);
  rows_free(&got);
  return differ;
}
