/* SPDX-License-Identifier: MIT */
/* Waits that are mostly short, and now and then many times as long. */
#include "findings.h"

#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>
#include <string.h>

/* The slow ones: this often of all at least, one of so many and at most one of so few; and with
   this part of all the time. What others on the machine do to a loop makes less than SLOW_NS. */
enum { LEAST_COUNT = 100, LEAST_SLOW = 4, ONE_OF_MOST = 400, TENTHS_MOST = 4, TIME_SHARE = 20 };
/* Between the two there is next to nothing: one of so many slow ones, over this many times. */
enum { BETWEEN_SHARE = 5, BETWEEN = 4 };
#define SLOW_NS 20000000u

struct speeds {
  uint64_t count, slow_count, fast, slow; /* ns */
};

static uint64_t counted(const struct bucket *b, size_t from, size_t to) {
  uint64_t count = 0;
  for (size_t i = from; i < to; i++)
    count += b[i].count;
  return count;
}

static uint64_t middle(const struct bucket *b, size_t buckets) {
  return buckets_percentile(b, buckets, 500, HISTOGRAM_NO_MAX);
}

/* At the widest gap, by the time behind it. */
static bool has_two(const struct distribution *d, struct speeds *found) {
  const struct bucket *b = d->bucket;
  uint64_t all = counted(b, 0, d->count), most = 0, time = 0;
  for (size_t i = 0; i < d->count; i++)
    add_to(&time, b[i].lower * b[i].count);
  for (size_t i = 1; all >= LEAST_COUNT && i < d->count; i++) {
    size_t slow = i;
    while (slow < d->count && b[slow].lower < b[i - 1].lower * BETWEEN)
      slow++;
    uint64_t slow_count = counted(b, slow, d->count), between = counted(b, i, slow);
    if (slow_count < LEAST_SLOW || slow_count < all / ONE_OF_MOST ||
        slow_count > all / 10 * TENTHS_MOST || between > slow_count / BETWEEN_SHARE)
      continue;
    struct speeds s = {all, slow_count, middle(b, i), middle(b + slow, d->count - slow)};
    if (s.slow < SLOW_NS || s.slow < 2 * BETWEEN * s.fast || s.slow * slow_count <= most ||
        s.slow * slow_count < time / TIME_SHARE)
      continue;
    most = s.slow * slow_count;
    *found = s;
  }
  return most != 0;
}

/* One that waits for a time is as slow as that is long, a held loop makes all slow, and who waits
   for what it called or made is told by that. */
static bool may_be(const struct view_function *f, const struct view_await *a) {
  bool timed = f->lateness.is && f->lateness.count;
  return !a->background && ask_is_outside(a->kind) && !(timed && !strcmp(a->kind, "create")) &&
         a->waits.count;
}

static uint64_t longest_hold(const struct view *v) {
  uint64_t most = 0;
  for (size_t i = 0; i < v->functions; i++) {
    uint64_t slice = ask_longest_slice(&v->function[i]);
    most = slice > most ? slice : most;
  }
  return most;
}

static void add(struct findings *list, const struct view_function *f, const struct view_await *a,
                const struct speeds *s) {
  bool itself = !strcmp(a->callee, f->name);
  const char *fast = told_percent(s->count - s->slow_count, s->count);
  findings_add(
      list,
      (struct finding){
          .kind = FINDING_TWO_SPEEDS,
          .weight = s->slow * s->slow_count,
          .severity = s->slow * s->slow_count,
          .count = s->slow_count,
          .function = f,
          .at = findings_place(a->file, a->line),
          .text = sentence("`%s` waits at two speeds at %s%s%s: %s near %s, %s (%s of %s) near %s",
                           f->name, place_text(a->file, a->line), itself ? "" : " ",
                           itself ? "" : a->callee, fast,
                           told_mark(LACKS(f->lacks, await, waits), told_time(s->fast)),
                           told_percent(s->slow_count, s->count), told_count(s->slow_count),
                           told_count(s->count), told_time(s->slow)),
      });
}

/* The same wait, seen by who returned to wait for it. */
static bool is_told(const struct findings *list, size_t from, const struct speeds *s) {
  for (size_t i = from; i < list->count; i++) {
    uint64_t slow = list->finding[i].weight / list->finding[i].count,
             count = list->finding[i].count;
    if (slow <= 2 * s->slow && s->slow <= 2 * slow && count <= 2 * s->slow_count &&
        s->slow_count <= 2 * count)
      return true;
  }
  return false;
}

static void find(struct findings *list, const struct view *v, bool returns, size_t from) {
  uint64_t held = longest_hold(v);
  struct speeds s = {0};
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].awaits; j++) {
      const struct view_function *f = &v->function[i];
      const struct view_await *a = &f->await[j];
      if (returns == !strcmp(a->kind, "return") && may_be(f, a) && has_two(&a->waits, &s) &&
          s.slow > 2 * held && !(returns && is_told(list, from, &s)))
        add(list, f, a, &s);
    }
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  size_t from = list->count;
  (void)limits;
  find(list, v, false, from);
  find(list, v, true, from);
}

const struct finding_row finding_two_speeds = {.judge = judge, .next = NEXT_FUNCTION};
