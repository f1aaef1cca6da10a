/* Findings: what the numbers mean, in words; see report.h. */
#include "cli.h"
#include "format.h"
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* How often a wait must have ended for its p99 to say what is usual, and how
   far beyond it a living one is stuck. */
enum { STUCK_COUNT = 20, STUCK_TIMES = 10 };
#define STUCK_LEAST 1000000000u
enum { GROWING_LEAST = 100, GROWING_TIMES = 2 };

const char *const finding_kinds[] = {"held", "stuck", "blocking", "queued", "growing", "lost"};

struct findings {
  struct finding *finding;
  size_t count, room;
};

static void add(struct findings *list, enum finding_kind kind, const struct r_function *f,
                uint64_t weight, char *text) {
  if (list->count == list->room) {
    list->room = list->room ? list->room * 2 : 8;
    list->finding = reallocate(list->finding, list->room, sizeof *list->finding);
  }
  list->finding[list->count++] =
      (struct finding){.kind = kind, .weight = weight, .function = f, .text = text};
}

/* -- who held the loop ----------------------------------------------------- */

static uint64_t longer_than(const struct distribution *d, uint64_t threshold) {
  uint64_t count = 0;
  for (size_t i = 0; i < d->count; i++)
    if (d->bucket[i].lower >= threshold)
      count += d->bucket[i].count;
  return count;
}

uint64_t report_longest_slice(const struct r_function *f) {
  if (f->slice_max != UNKNOWN)
    return f->slice_max;
  return f->slice_of.count ? f->slice_of.bucket[f->slice_of.count - 1].lower : 0;
}

static char *where(const char *place, const char *name, const struct r_function *f) {
  if (!place)
    return print_string("%s", name ? name : "an unknown place");
  if (!name || !strcmp(name, f->name))
    return print_string("%s", place);
  return print_string("%s %s", place, name);
}

static void find_held(struct findings *list, const struct r_function *f, uint64_t threshold) {
  uint64_t worst = report_longest_slice(f);
  if (worst <= threshold)
    return;
  uint64_t times = longer_than(&f->slice_of, threshold);
  char *how_often = print_string("%s time%s over %s", shown_count(times ? times : 1),
                                 times > 1 ? "s" : "", shown_time(threshold));
  char *text;
  if (f->slice_from || f->slice_to) {
    char *from = where(f->slice_from, f->slice_from_name, f);
    char *to = where(f->slice_to, f->slice_to_name, f);
    text = print_string("`%s` held the loop for %s between %s and %s (%s)", f->name,
                        shown_time(worst), from, to, how_often);
    free(from);
    free(to);
  } else
    text =
        print_string("`%s` held the loop for about %s (%s)", f->name, shown_time(worst), how_often);
  free(how_often);
  add(list, FINDING_HELD, f, worst, text);
}

/* -- who is stuck ---------------------------------------------------------- */

static bool is_stuck(const struct r_live *live, const struct r_await *await) {
  if (strcmp(live->state, "waiting") || !strcmp(live->kind, "call") || !await)
    return false;
  if (await->background || !await->waits.count || await->count - await->immediate < STUCK_COUNT)
    return false;
  return live->since >= STUCK_LEAST && live->since / STUCK_TIMES >= await->waits.p99;
}

static const struct r_function *creator(const struct reading *r, const struct r_live *live) {
  for (size_t i = 0; i < r->lives && live->parent; i++)
    if (r->live[i].id == live->parent && r->live[i].function < r->functions)
      return &r->function[r->live[i].function];
  return NULL;
}

struct stuck {
  const struct r_await *await;
  const struct r_function *function, *creator;
  uint64_t count, least, most;
};

static void add_stuck(struct findings *list, const struct stuck *s) {
  char *by =
      s->creator ? print_string(", created by `%s`", s->creator->name) : print_string("%s", "");
  add(list, FINDING_STUCK, s->function, s->most,
      print_string("%s `%s` %s waited over %s (usually %s at most) at %s %s%s",
                   shown_count(s->count), s->function->name,
                   s->count == 1 ? "future has" : "futures have", shown_time(s->least),
                   shown_time(s->await->waits.p99), shown_place(s->await->file, s->await->line),
                   s->await->callee, by));
  free(by);
}

static void find_stuck(struct findings *list, const struct reading *r) {
  struct stuck *stuck = allocate(r->lives, sizeof *stuck);
  size_t count = 0;
  for (size_t i = 0; i < r->lives; i++) {
    const struct r_live *live = &r->live[i];
    const struct r_function *f =
        live->function < r->functions ? &r->function[live->function] : NULL;
    const struct r_await *await = f ? reading_await(f, live->place, live->callee) : NULL;
    size_t at = 0;
    if (!is_stuck(live, await))
      continue;
    while (at < count && stuck[at].await != await)
      at++;
    if (at == count)
      stuck[count++] = (struct stuck){await, f, creator(r, live), 0, live->since, live->since};
    stuck[at].count += live->count;
    if (live->since < stuck[at].least)
      stuck[at].least = live->since;
    if (live->since > stuck[at].most)
      stuck[at].most = live->since;
  }
  for (size_t i = 0; i < count; i++)
    add_stuck(list, &stuck[i]);
  free(stuck);
}

/* -- calls that block ------------------------------------------------------ */

static void find_blocking(struct findings *list, const struct r_function *f, uint64_t threshold) {
  for (size_t i = 0; i < f->blockings; i++) {
    const struct r_blocking *b = &f->blocking[i];
    if (b->held <= threshold)
      continue;
    char *worst = b->max != UNKNOWN ? print_string(", %s at worst", shown_time(b->max))
                                    : print_string("%s", "");
    add(list, FINDING_BLOCKING, f, b->held,
        print_string("`%s` calls %s, which blocks, at %s: %s of loop time (%s time%s%s)", f->name,
                     b->callee, shown_place(b->file, b->line), shown_time(b->held),
                     shown_count(b->count), b->count == 1 ? "" : "s", worst));
    free(worst);
  }
}

/* -- the rest -------------------------------------------------------------- */

static void find_queued(struct findings *list, const struct r_function *f, uint64_t threshold) {
  if (!f->queued_of.count || f->queued_of.p99 <= threshold)
    return;
  add(list, FINDING_QUEUED, f, f->queued_of.p99,
      print_string("`%s` was ready but did not run: one time in a hundred for over %s "
                   "(%s in all)",
                   f->name, shown_time(f->queued_of.p99), shown_time(f->queued)));
}

static void find_growing(struct findings *list, const struct r_function *f,
                         const struct reading *earlier) {
  for (size_t i = 0; earlier && i < earlier->functions; i++) {
    const struct r_function *before = &earlier->function[i];
    bool same = before->line == f->line && !strcmp(before->name, f->name) &&
                !strcmp(before->file ? before->file : "", f->file ? f->file : "");
    if (!same)
      continue;
    if (f->live >= before->live + GROWING_LEAST && f->live >= before->live * GROWING_TIMES)
      add(list, FINDING_GROWING, f, f->live - before->live,
          print_string("`%s` grows: %s lived at the beginning, %s at the end", f->name,
                       shown_count(before->live), shown_count(f->live)));
    return;
  }
}

static void find_lost(struct findings *list, const struct reading *r) {
  if (r->lost_futures)
    add(list, FINDING_LOST, NULL, r->lost_futures,
        print_string("%s futures are in no number here: the profile was full; raise memory: in "
                     "APROF_OPTIONS",
                     shown_count(r->lost_futures)));
  if (r->lost_events)
    add(list, FINDING_LOST, NULL, r->lost_events,
        print_string("%s events were lost: the profile was full; raise memory: in APROF_OPTIONS",
                     shown_count(r->lost_events)));
}

static int by_kind(const void *a, const void *b) {
  const struct finding *x = a, *y = b;
  if (x->kind != y->kind)
    return x->kind < y->kind ? -1 : 1;
  if (x->weight != y->weight)
    return x->weight > y->weight ? -1 : 1;
  return strcmp(x->text, y->text);
}

struct finding *report_findings(const struct reading *r, const struct reading *earlier,
                                uint64_t threshold, size_t *count) {
  struct findings list = {0};
  for (size_t i = 0; i < r->functions; i++) {
    find_held(&list, &r->function[i], threshold);
    find_blocking(&list, &r->function[i], threshold);
    find_queued(&list, &r->function[i], threshold);
    find_growing(&list, &r->function[i], earlier);
  }
  find_stuck(&list, r);
  find_lost(&list, r);
  if (list.count)
    qsort(list.finding, list.count, sizeof *list.finding, by_kind);
  *count = list.count;
  return list.finding;
}

void report_findings_free(struct finding *findings, size_t count) {
  for (size_t i = 0; i < count; i++)
    free(findings[i].text);
  free(findings);
}
