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
/* Between the two there is next to nothing: one of so many slow ones, over this many times; or
   half of them, where the slow ones are as good as alike: this part of them within a quarter of
   their middle; or any number, where that part is within a tenth of it, so many times as many as in
   a range right before. What a busy machine adds has a tail, and no second middle. */
enum { BETWEEN_SHARE = 5, BETWEEN = 4, BETWEEN_ALIKE = 2, TENTHS_ALIKE = 8 };
enum { QUARTER = 4, TENTH = 10, PEAK = 4 };
#define SLOW_NS 20000000u
/* Of a timer, which takes as long as it is told to, at most one of so many are slow; and so many
   waits at most are thought to be behind one long hold. */
enum { ONE_OF_TIMED = 50, BEHIND_HOLD = 8 };

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

static uint64_t counted_near(const struct bucket *b, size_t buckets, uint64_t from, uint64_t to) {
  uint64_t count = 0;
  for (size_t i = 0; i < buckets; i++)
    if (b[i].lower >= from && b[i].lower <= to)
      count += b[i].count;
  return count;
}

/* The slow ones, of so many, have a speed. */
static bool have_speed(const struct bucket *b, size_t buckets, uint64_t middle, uint64_t slow,
                       uint64_t between) {
  uint64_t alike = slow / 10 * TENTHS_ALIKE, part = middle / TENTH;
  uint64_t peak = counted_near(b, buckets, middle - part, middle + part);
  if (between <= slow / BETWEEN_SHARE)
    return true;
  if (between <= slow / BETWEEN_ALIKE &&
      counted_near(b, buckets, middle - middle / QUARTER, middle + middle / QUARTER) >= alike)
    return true;
  return peak >= alike && peak / PEAK >= counted_near(b, buckets, middle / 2, middle - 2 * part);
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
        slow_count > all / 10 * TENTHS_MOST)
      continue;
    struct speeds s = {all, slow_count, middle(b, i), middle(b + slow, d->count - slow)};
    if (!have_speed(b, d->count, s.slow, slow_count, between))
      continue;
    if (s.slow < SLOW_NS || s.slow < 2 * BETWEEN * s.fast || s.slow * slow_count <= most ||
        s.slow * slow_count < time / TIME_SHARE)
      continue;
    most = s.slow * slow_count;
    *found = s;
  }
  return most != 0;
}

/* Who waits for what it called or made is told by that. */
static bool may_be(const struct view_await *a) {
  return !a->background && view_is_outside(a->kind) && a->waits.count;
}

static bool is_timed(const struct view_function *f, const struct view_await *a) {
  return f->lateness.is && f->lateness.count && !strcmp(a->kind, "create");
}

/* A held loop makes all slow that it has. */
static bool may_be_held(const struct view *v, const struct speeds *s) {
  uint64_t holds = 0;
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    uint64_t longer = findings_longer(&f->slice_of, s->slow / 2);
    holds += longer ? longer : ask_longest_slice(f) >= s->slow / 2;
  }
  return holds * BEHIND_HOLD >= s->slow_count;
}

static int by_end(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

/* Whoever waited as something stalled (a machine too busy, a peer that was stopped) went on
   together. The slowest requests tell, if most of the slow waits are theirs. */
static bool is_stall(const struct view *v, const struct speeds *s) {
  uint64_t count = 0, moments = 0, first = 0, *ends;
  for (size_t i = 0; i < v->kinds; i++)
    count += v->kind[i].slows;
  ends = allocate(count + 1, sizeof *ends);
  count = 0;
  for (size_t i = 0; i < v->kinds; i++)
    for (size_t j = 0; j < v->kind[i].slows; j++) {
      const struct view_slow *slow = &v->kind[i].slow[j];
      if (slow->wall >= s->slow / 2 && slow->wall / 2 <= s->slow)
        ends[count++] = plus(slow->begin, slow->wall);
    }
  qsort(ends, count, sizeof *ends, by_end);
  for (size_t i = 0; i < count; i++)
    if (!moments || ends[i] - first > s->slow / QUARTER) {
      first = ends[i];
      moments++;
    }
  free(ends);
  return count >= LEAST_SLOW && count >= s->slow_count / 2 && moments < LEAST_SLOW;
}

static void add(struct findings *list, const struct view_function *f, const struct view_await *a,
                const struct speeds *s) {
  bool itself = !strcmp(a->callee, f->name);
  const char *fast = told_percent(s->count - s->slow_count, s->count);
  findings_add(list,
               (struct finding){
                   .kind = FINDING_TWO_SPEEDS,
                   .weight = s->slow * s->slow_count,
                   .severity = s->slow * s->slow_count,
                   .count = s->slow_count,
                   .function = f,
                   .at = findings_place(a->file, a->line),
                   .text = sentence(
                       "`%s` waits at two speeds at %s%s%s%s: %s near %s, %s (%s of %s) near %s",
                       f->name, place_text(a->file, a->line), itself ? "" : " ",
                       itself ? "" : a->callee, is_timed(f, a) ? ", for a time" : "", fast,
                       told_mark(LACKS(f->lacks, await, waits), told_time(s->fast)),
                       told_percent(s->slow_count, s->count), told_count(s->slow_count),
                       told_count(s->count), told_time(s->slow)),
               });
}

static bool are_same(const struct speeds *a, const struct speeds *b) {
  return a->slow <= 2 * b->slow && b->slow <= 2 * a->slow && a->slow_count <= 2 * b->slow_count &&
         b->slow_count <= 2 * a->slow_count;
}

/* The same wait, seen by who returned to wait for it. */
static bool is_told(const struct findings *list, size_t from, const struct speeds *s) {
  for (size_t i = from; i < list->count; i++) {
    const struct finding *f = &list->finding[i];
    if (are_same(s, &(struct speeds){.slow_count = f->count, .slow = f->weight / f->count}))
      return true;
  }
  return false;
}

/* What it set going waits at these speeds, too: that is where it hurts. */
static bool is_of_another(const struct view *v, size_t function, const struct speeds *s) {
  for (size_t i = 0; i < v->paths; i++) {
    const struct view_path *path = &v->path[i];
    struct speeds its;
    if (path->is_await && path->await && may_be(path->await) &&
        findings_is_beneath(v, path, function) && has_two(&path->await->waits, &its) &&
        are_same(s, &its))
      return true;
  }
  return false;
}

static void find(struct findings *list, const struct view *v, bool returns, size_t from) {
  struct speeds s = {0};
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].awaits; j++) {
      const struct view_function *f = &v->function[i];
      const struct view_await *a = &f->await[j];
      if (returns != !strcmp(a->kind, "return") || !may_be(a) || !has_two(&a->waits, &s) ||
          (is_timed(f, a) && s.slow_count > s.count / ONE_OF_TIMED) || may_be_held(v, &s) ||
          (returns && is_told(list, from, &s)) || is_of_another(v, i, &s) || is_stall(v, &s))
        continue;
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
