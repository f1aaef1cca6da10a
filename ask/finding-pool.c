/* SPDX-License-Identifier: MIT */
/* Requests that wait for what no future of theirs stands for: a pool, a queue. */
#include "findings.h"
#include "requests.h"

#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>
#include <string.h>

/* At least so many futures wait for this share of their lives, and for so long each. */
enum { LEAST_COUNT = 50, PERCENT = 50 };
#define LEAST_NS 5000000u
/* Some waits were this many times shorter, so the work itself does not take that long. */
enum { LUCKY_TIMES = 3 };

/* Sums over futures without a parent. A program marks its requests so (`root`), and makes few
   others before its loop. */
struct sums {
  uint64_t made, wall, waiting, covered; /* covered: by the lives of what they made, ns */
};

/* Children that live at once cover a moment twice, so this is the least that is covered by none. */
static void add_paths(const struct view *v, struct sums *sum) {
  for (size_t i = 0; i < v->paths; i++) {
    const struct view_path *path = &v->path[i];
    const struct view_path *above = view_above(v, path);
    if (path->function >= v->functions || view_is_span(path) || (above && view_above(v, above)))
      continue;
    if (path->is_await) {
      if (above && !path->background && ask_waits_outside(path))
        add_to(&sum[path->function].waiting, path->waiting);
    } else if (!above) {
      add_to(&sum[path->function].made, path->created);
      add_to(&sum[path->function].wall, path->wall == UNKNOWN ? 0 : path->wall);
    } else if (above->function < v->functions && path->wall != UNKNOWN) {
      add_to(&sum[above->function].covered, path->wall);
    }
  }
}

/* A timer's wait is as long as it is meant to be. */
static const struct view_await *longest(const struct view_function *f) {
  const struct view_await *most = NULL;
  for (size_t i = 0; i < f->awaits; i++)
    if (view_is_outside(f->await[i].kind) && !f->await[i].background &&
        (!most || f->await[i].waiting > most->waiting))
      most = &f->await[i];
  return f->lateness.is && f->lateness.count ? NULL : most;
}

/* Who ends most of its waits; NULL: it is not known. */
static const struct view_waker *woken_by(const struct view_function *f) {
  const struct view_waker *most = NULL;
  for (size_t i = 0; i < f->wakers; i++)
    if (!f->waker[i].clock && f->waker[i].file && (!most || f->waker[i].count > most->count))
      most = &f->waker[i];
  return most;
}

/* Of what it set going, that which waited for most of the time: where it hurts. NULL: that is not
   known. */
static const struct view_path *waits_beneath(const struct view *v, size_t function, uint64_t bare) {
  const struct view_path *most = NULL;
  for (size_t i = 0; i < v->paths; i++) {
    const struct view_path *path = &v->path[i];
    if (path->is_await && !path->background && path->place && path->await &&
        path->await->waits.count && ask_waits_outside(path) && path->waiting >= bare / 2 &&
        (!most || path->waiting > most->waiting) && findings_is_beneath(v, path, function))
      most = path;
  }
  return most;
}

/* "at it.c:8, until woken at it.c:9", or whose wait it is. */
static const char *shown_wait(const struct view *v, const struct view_function *f,
                              const struct view_await *own, const struct view_path *beneath) {
  const struct view_waker *by = beneath ? NULL : woken_by(f);
  return beneath
             ? turn_text("of all those of `%s` at %s %s", v->function[beneath->function].name,
                         beneath->place, beneath->name)
             : turn_text("of all at %s%s%s", place_text(own->file, own->line),
                         by ? ", until woken at " : "", by ? place_text(by->file, by->line) : "");
}

/* " (GET /item)": whose time it is, where one kind of requests is of that function; of several how
   many. */
static const char *shown_kind(const struct view *v, const struct view_function *f) {
  const struct view_kind *one = NULL;
  size_t kinds = 0;
  for (size_t i = 0; i < v->kinds; i++)
    if (v->kind[i].count && v->kind[i].line == f->line && !strcmp(v->kind[i].function, f->name)) {
      one = &v->kind[i];
      kinds++;
    }
  return kinds > 1              ? turn_text(" (%s kinds of requests)", told_count(kinds))
         : one && one->labelled ? turn_text(" (requests %s)", one->kind)
                                : "";
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  struct sums *sum = allocate(v->functions + 1, sizeof *sum);
  (void)limits;
  add_paths(v, sum);
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    const struct view_await *at = longest(f);
    uint64_t bare = sum[i].waiting > sum[i].covered ? sum[i].waiting - sum[i].covered : 0;
    if (f->unmeasured || sum[i].made < LEAST_COUNT || !at || !at->waits.count)
      continue;
    uint64_t each = bare / sum[i].made, life = sum[i].wall / sum[i].made;
    if (each < LEAST_NS || each < life / 100 * PERCENT ||
        at->waits.bucket[0].lower * LUCKY_TIMES > at->waits.p50)
      continue;
    const struct view_path *beneath = waits_beneath(v, i, bare);
    const struct view_await *where = beneath ? beneath->await : at;
    findings_add(
        list, (struct finding){
                  .kind = FINDING_POOL,
                  .weight = bare,
                  .severity = bare,
                  .count = sum[i].made,
                  .function = f,
                  .at = findings_place(where->file, where->line),
                  .text = sentence(
                      "`%s`%s: %s of the %s of each future are waits that no child of it "
                      "covers, most %s, where the shortest took %s: a pool or queue that is "
                      "too small, or what nothing describes",
                      f->name, shown_kind(v, f),
                      told_mark(LACKS(f->lacks, function, wall), told_time(each)), told_time(life),
                      shown_wait(v, f, at, beneath), told_time(where->waits.bucket[0].lower))});
  }
  free(sum);
}

const struct finding_row finding_pool = {.judge = judge, .next = NEXT_FUNCTION, .cost = COST_LIVES};
