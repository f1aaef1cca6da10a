/* SPDX-License-Identifier: MIT */
/* Futures that wait far longer than is usual where they wait. */
#include "findings.h"

#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

#include <string.h>

/* How long something usually takes, and what that time is. */
struct usual {
  uint64_t time; /* 0: nobody knows */
  const char *is, *of;
};

/* Without histograms it is the longest wait, which is at least the p99; without that the mean. */
static struct usual usual_wait(const struct view_await *await) {
  uint64_t ended = await->count > await->immediate ? await->count - await->immediate : 0;
  if (ended < USUAL_COUNT)
    return (struct usual){0};
  if (await->waits.count)
    return (struct usual){await->waits.p99, "usually", "at most"};
  if (await->max != UNKNOWN)
    return (struct usual){await->max, "the others", "at most"};
  return (struct usual){await->ended / ended, "the others", "on average"};
}

static struct usual usual_life(const struct view_function *f) {
  uint64_t usual = findings_usual_life(f);
  return (struct usual){usual, f->wall_of.count ? "such a life usually takes" : "such a life took",
                        "at most"};
}

/* What is usual at this await. Where too few waits have ended there, how long a life of the
   function usually takes. */
static struct usual usual_of(const struct view_function *f, const struct view_await *await) {
  struct usual wait = usual_wait(await);
  return wait.time ? wait : usual_life(f);
}

/* A future that waits for its call is not stuck: the callee is the one to name. Nor is one that
   waits for a time still to come. */
static bool is_stuck(const struct view_live *live, const struct view_function *f,
                     const struct view_await *await, uint64_t limit) {
  if (!view_is(live, "waiting") || !await || await->background)
    return false;
  if (live->aside || live->due || (live->kind && !strcmp(live->kind, "call")))
    return false;
  struct usual usual = usual_of(f, await);
  return usual.time && live->since_min >= findings_far_beyond(usual.time, limit);
}

/* The future was met in its first run since profiling began, so nobody knows whether it waits for
   new work. */
static bool began_before(const struct view *v, const struct view_live *live) {
  return v->process.epoch > 1 && live->kind && !strcmp(live->kind, "run");
}

static bool claims(const struct live_case *c, struct alike *g) {
  g->by_await = true;
  return is_stuck(c->live, c->function, c->live->await, c->limits->of[FINDING_STUCK]) &&
         !began_before(c->view, c->live);
}

static void tell(const struct alike *g, const char *by, struct finding *finding) {
  struct usual usual = usual_of(g->function, g->await);
  finding->at = findings_place(g->await->file, g->await->line);
  finding->text = sentence(
      "%s `%s` %s waited over %s (%s %s %s) at %s %s%s", told_count(g->count), g->function->name,
      g->count == 1 ? "future has" : "futures have", findings_time(g, g->least), usual.is,
      told_mark(LACKS(g->lacks, function, wall_of), told_time(usual.time)), usual.of,
      place_text(g->await->file, g->await->line), g->await->callee, by);
}

const struct finding_row finding_stuck = {
    .limit = {"stuck", 0, OPTION_MS, 0, "TIME",
              .text =
                  "A wait ten times the usual, and this long, is a finding; as is a future that "
                  "is ready this long and never ran (default 1s)"},
    .claims = claims,
    .tell = tell};
