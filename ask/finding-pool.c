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
/* A few waits were this many times shorter, so the work itself does not take that long: at most one
   of so many, else that is how its time varies. Where more and more wait any length is as
   frequent, and half of them take too long for any work. */
enum { LUCKY_TIMES = 3, LUCKY_SHARE = 20, LUCKY_GROWING = 5 };
#define GROWING_NS 100000000u

/* Sums over futures without a parent. A program marks its requests so (`root`), and makes few
   others before its loop. */
struct sums {
  uint64_t made, wall;
};

/* What waits for most of the time of these without any child that covers it: they themselves, or
   what they set going. */
struct bare {
  size_t function;
  uint64_t waiting; /* 0: none */
};

static bool is_function(const struct view *v, const struct view_path *path) {
  return !path->is_await && path->function < v->functions && !view_is_span(path);
}

static void add_roots(const struct view *v, struct sums *sum) {
  for (size_t i = 0; i < v->paths; i++) {
    const struct view_path *path = &v->path[i];
    if (!is_function(v, path) || view_above(v, path))
      continue;
    add_to(&sum[path->function].made, path->created);
    add_to(&sum[path->function].wall, path->wall == UNKNOWN ? 0 : path->wall);
  }
}

/* By paths of functions: what each waited, less the lives of what it made. Children that live at
   once cover a moment twice, so this is the least that is covered by none. */
static uint64_t *bare_of_paths(const struct view *v) {
  uint64_t *waiting = allocate(v->paths + 1, sizeof *waiting);
  uint64_t *covered = allocate(v->paths + 1, sizeof *covered);
  for (size_t i = 0; i < v->paths; i++) {
    const struct view_path *path = &v->path[i], *above = view_above(v, path);
    if (!above)
      continue;
    if (path->is_await && !path->background && ask_waits_outside(path))
      add_to(&waiting[above - v->path], path->waiting);
    else if (is_function(v, path) && path->wall != UNKNOWN)
      add_to(&covered[above - v->path], path->wall);
  }
  for (size_t i = 0; i < v->paths; i++)
    waiting[i] -= covered[i] < waiting[i] ? covered[i] : waiting[i];
  free(covered);
  return waiting;
}

/* Paths of functions, by the function of their root. */
struct by_root {
  size_t *path;  /* those of one root's function are together, */
  size_t *first; /* from here up to the next one's, by function */
};

static struct by_root by_root(const struct view *v) {
  struct by_root r = {allocate(v->paths + 1, sizeof *r.path),
                      allocate(v->functions + 2, sizeof *r.first)};
  size_t *root = allocate(v->paths + 1, sizeof *root);
  for (size_t i = 0; i < v->paths; i++) {
    size_t parent = v->path[i].parent; /* an earlier one */
    root[i] = parent != SIZE_MAX ? root[parent] : v->path[i].function;
    if (is_function(v, &v->path[i]) && root[i] < v->functions)
      r.first[root[i] + 2]++;
  }
  for (size_t i = 2; i < v->functions + 2; i++)
    r.first[i] += r.first[i - 1];
  for (size_t i = 0; i < v->paths; i++)
    if (is_function(v, &v->path[i]) && root[i] < v->functions)
      r.path[r.first[root[i] + 1]++] = i;
  free(root);
  return r;
}

/* Of those without a parent and of this function. `sums`: zeros, one for each function, and left
   so. */
static struct bare most_bare(const struct view *v, size_t root, const struct by_root *r,
                             const uint64_t *bare, uint64_t enough, uint64_t *sums) {
  struct bare most = {0};
  for (size_t i = r->first[root]; i < r->first[root + 1]; i++)
    add_to(&sums[v->path[r->path[i]].function], bare[r->path[i]]);
  struct bare own = {root, sums[root]};
  for (size_t i = r->first[root]; i < r->first[root + 1]; i++) {
    size_t function = v->path[r->path[i]].function;
    if (sums[function] > most.waiting)
      most = (struct bare){function, sums[function]};
    sums[function] = 0;
  }
  return own.waiting >= enough ? own : most; /* nearer to who reads this */
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

/* "of all at it.c:8, until woken at it.c:9", or whose wait it is, where it is another's. */
static const char *shown_wait(const struct view *v, const struct view_function *f,
                              const struct view_await *own, const struct view_path *beneath) {
  const struct view_waker *by = beneath ? NULL : woken_by(f);
  bool its = beneath && &v->function[beneath->function] == f;
  return beneath
             ? turn_text("of all%s%s%s at %s %s", its ? "" : " those of `",
                         its ? "" : v->function[beneath->function].name, its ? "" : "`",
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

/* Each future waits there several times: which of them it is that takes long is not known. */
static bool waits_several_times(const struct view_function *f, const struct view_await *at) {
  return at->count / 3 * 2 >= f->created;
}

/* Waits are as long as they are for who waits for something to be free, and not as work varies.
   Where each future has several of them, for this and that, any number may be short. */
static bool is_crowded(const struct view_function *f, const struct view_await *at) {
  const struct distribution *d = &at->waits;
  uint64_t lucky = 0, all = findings_longer(d, 0);
  for (size_t i = 0; i < d->count && d->bucket[i].lower * LUCKY_TIMES <= d->p50; i++)
    add_to(&lucky, d->bucket[i].count);
  return lucky && (waits_several_times(f, at) ||
                   lucky <= all / (d->p50 < GROWING_NS ? LUCKY_SHARE : LUCKY_GROWING));
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  struct sums *sum = allocate(v->functions + 1, sizeof *sum);
  uint64_t *bare_of = bare_of_paths(v), *zeros = allocate(v->functions + 1, sizeof *zeros);
  struct by_root roots = by_root(v);
  (void)limits;
  add_roots(v, sum);
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    if (f->unmeasured || sum[i].made < LEAST_COUNT)
      continue;
    struct bare most = most_bare(v, i, &roots, bare_of, sum[i].wall / 100 * PERCENT, zeros);
    uint64_t bare = most.waiting, each = bare / sum[i].made, life = sum[i].wall / sum[i].made;
    const struct view_function *waits = bare ? &v->function[most.function] : NULL;
    const struct view_await *at = waits && !waits->unmeasured ? longest(waits) : NULL;
    /* More than its life: several wait at once. */
    if (!at || !at->waits.count || each < LEAST_NS || each < life / 100 * PERCENT || each > life ||
        !is_crowded(waits, at))
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
                      "`%s`%s: %s of the %s of each future are waits %s no child of it "
                      "covers, most %s, where the shortest took %s: %sa pool or queue that is "
                      "too small, or what nothing describes",
                      f->name, shown_kind(v, f),
                      told_mark(LACKS(f->lacks, function, wall), told_time(each)), told_time(life),
                      waits == f ? "that" : turn_text("of `%s`, which", waits->name),
                      shown_wait(v, waits, at, beneath), told_time(where->waits.bucket[0].lower),
                      waits_several_times(waits, at) ? "a slow answer, " : "")});
  }
  free(roots.path);
  free(roots.first);
  free(zeros);
  free(bare_of);
  free(sum);
}

const struct finding_row finding_pool = {.judge = judge, .next = NEXT_FUNCTION, .cost = COST_LIVES};
