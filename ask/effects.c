/* SPDX-License-Identifier: MIT */
/* What findings did to other functions; see findings.h. */
#include "findings.h"

#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>
#include <string.h>

/* The last place is for where inside it a hold went. */
enum { MOST_DELAYED = FINDING_EFFECTS - 1 };
/* Of all queueing: who has less of it goes with the others. */
enum { NOTABLE_PART = 20 };

static bool is_of(const struct view_delayed *d, const struct view_function *f) {
  bool same_file = d->file == f->file || (d->file && f->file && !strcmp(d->file, f->file));
  return !strcmp(d->name, f->name) && d->line == f->line && same_file;
}

static int by_delay(const void *a, const void *b) {
  const struct view_delayed *x = *(const struct view_delayed *const *)a,
                            *y = *(const struct view_delayed *const *)b;
  if (x->delayed != y->delayed)
    return x->delayed > y->delayed ? -1 : 1;
  return strcmp(x->name, y->name);
}

static uint64_t all_queueing(const struct view *v) {
  uint64_t all = 0;
  for (size_t i = 0; i < v->functions; i++)
    if (v->function[i].queued != UNKNOWN)
      add_to(&all, v->function[i].queued);
  return all;
}

/* Names the worst, and counts the others. Of an interval some were delayed before it only. */
static void tell_delayed(struct finding *finding, uint64_t queueing) {
  const struct view_function *f = finding->function;
  const struct view_delayed **list = allocate(f->delays, sizeof *list);
  uint64_t rest = 0;
  size_t delays = 0;
  for (size_t i = 0; i < f->delays; i++)
    if (f->delayed[i].count)
      list[delays++] = &f->delayed[i];
  if (delays)
    qsort(list, delays, sizeof *list, by_delay);
  size_t notable = delays > 0;
  while (notable < delays && list[notable]->delayed >= queueing / NOTABLE_PART)
    notable++;
  notable += notable + 1 == delays; /* a line for the others is none less */
  bool fits = notable == delays && notable <= MOST_DELAYED;
  size_t told = fits || notable < MOST_DELAYED ? notable : MOST_DELAYED - 1;
  for (size_t i = 0; i < told; i++) {
    const struct view_delayed *d = list[i];
    finding->effect[i] = sentence("delayed `%s` %s time%s, %s = %s of all queueing", d->name,
                                  told_count(d->count), d->count == 1 ? "" : "s",
                                  told_time(d->delayed), told_percent(d->delayed, queueing));
  }
  for (size_t i = told; i < delays; i++)
    add_to(&rest, list[i]->delayed);
  if (!fits)
    finding->effect[told] =
        sentence("delayed %s others, %s = %s of all queueing", told_count(delays - told),
                 told_time(rest), told_percent(rest, queueing));
  free(list);
}

/* Holders of the loop together caused half of the function's queueing or more: returns the one that
   caused most. NULL: they did not. */
static const struct view_function *cause_of(const struct view_function *f,
                                            const struct finding *findings, size_t count) {
  const struct view_function *worst = NULL;
  uint64_t all = 0, most = 0;
  for (size_t i = 0; i < count; i++) {
    const struct view_function *holder = findings[i].function;
    for (size_t j = 0; findings[i].kind == FINDING_HELD && !findings[i].alive && j < holder->delays;
         j++) {
      const struct view_delayed *d = &holder->delayed[j];
      if (!is_of(d, f))
        continue;
      add_to(&all, d->delayed);
      if (d->delayed > most) {
        most = d->delayed;
        worst = holder;
      }
    }
  }
  return all >= f->queued / 2 ? worst : NULL;
}

/* A blocking call that took half of a hold or more, of its function or of what it mostly ran,
   explains where inside it the time went. */
static bool is_inside(const struct finding *blocking, const struct finding *held) {
  const struct view_function *f = blocking->function;
  if (held->kind != FINDING_HELD || held->alive || f->process != held->function->process ||
      (f != held->function && !(held->mostly && !strcmp(held->mostly, f->name))))
    return false;
  for (size_t i = 0; i < f->blockings; i++) {
    const struct view_blocking *b = &f->blocking[i];
    char *at = findings_place(b->file, b->line);
    bool here = at && blocking->at && !strcmp(at, blocking->at);
    free(at);
    if (here && b->max != UNKNOWN && b->max >= held->severity / 2)
      return true;
  }
  return false;
}

/* Beneath the hold, before whom it delayed. */
static void tell_inside(struct finding *held, const struct finding *blocking) {
  memmove(held->effect + 1, held->effect, (FINDING_EFFECTS - 1) * sizeof *held->effect);
  held->effect[0] = sentence("%s", blocking->text.parts);
}

/* Futures that never end pile up: the finding about what they wait for tells more. */
static bool is_same_growth(const struct finding *growing, const struct finding *other) {
  return other->alive && other->function == growing->function && other->kind != FINDING_HELD;
}

void findings_effects(const struct view *v, struct finding *findings, size_t count) {
  uint64_t queueing = all_queueing(v);
  for (size_t i = 0; i < count; i++) {
    struct finding *f = &findings[i];
    if (f->kind == FINDING_HELD && !f->alive)
      tell_delayed(f, queueing);
    if (f->kind == FINDING_QUEUED)
      f->cause = cause_of(f->function, findings, count);
    for (size_t j = 0; f->kind == FINDING_GROWING && j < count; j++)
      if (is_same_growth(f, &findings[j]))
        f->cause = f->function;
  }
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; findings[i].kind == FINDING_BLOCKING && j < count; j++)
      if (!findings[j].effect[FINDING_EFFECTS - 1].parts && is_inside(&findings[i], &findings[j])) {
        findings[i].cause = findings[i].function;
        tell_inside(&findings[j], &findings[i]);
        findings[j].rule = findings[i].rule;
      }
}
