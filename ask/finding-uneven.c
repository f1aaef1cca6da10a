/* SPDX-License-Identifier: MIT */
/* Loops that run the same functions, of which one has the work and others have next to none. */
#include "findings.h"

#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>
#include <string.h>

/* A loop is loaded from this part of its time on, idle up to that; half of the loops are idle. */
enum { LOADED_PERCENT = 60, IDLE_PERCENT = 15 };
/* Of what a loop runs this part is of functions that the other one runs, too: else it does other
   work. The function that tells it ran so often, so many times as often as on any idle one. */
enum { SAME_TENTHS = 8, LEAST_RUNS = 100, TIMES = 4 };
/* The loops have lived so long, and the idle ones for most of the time of the loaded one. */
#define LEAST_NS 1000000000u
enum { LIVED_PART = 2 };

static bool is_same(const struct view_ran *a, const struct view_ran *b) {
  bool file = a->file == b->file || (a->file && b->file && !strcmp(a->file, b->file));
  return a->line == b->line && file && !strcmp(a->name, b->name);
}

static const struct view_ran *find_ran(const struct view_loop *loop, const struct view_ran *as) {
  for (size_t i = 0; i < loop->rans; i++)
    if (is_same(&loop->ran[i], as))
      return &loop->ran[i];
  return NULL;
}

static uint64_t exec_of(const struct view_loop *loop, const struct view_loop *like) {
  uint64_t exec = 0;
  for (size_t i = 0; i < loop->rans; i++)
    if (!like || find_ran(like, &loop->ran[i]))
      add_to(&exec, loop->ran[i].exec);
  return exec;
}

/* Most of what each runs is of functions that the other runs, too. */
static bool are_alike(const struct view_loop *a, const struct view_loop *b) {
  uint64_t all = exec_of(a, NULL), other = exec_of(b, NULL);
  return a->process == b->process && all && other && exec_of(a, b) / SAME_TENTHS >= all / 10 &&
         exec_of(b, a) / SAME_TENTHS >= other / 10;
}

/* That it was busy for; where no poller is described, what it ran, which is the least. */
static uint64_t shown(const struct view_loop *loop) {
  return loop->busy == UNKNOWN ? loop->thread->exec : loop->busy;
}

/* What others had the processors for is nobody's load. UNKNOWN: it is no loop. */
static uint64_t worked(const struct view_loop *loop) {
  if (!loop->thread || loop->thread->is_pool)
    return UNKNOWN;
  uint64_t delay = loop->thread->run_delay, time = shown(loop);
  return delay == UNKNOWN ? time : time > delay ? time - delay : 0;
}

static bool is_over(uint64_t time, const struct view_loop *loop, unsigned percent) {
  return time != UNKNOWN && time >= loop->elapsed / 100 * percent;
}

/* Neither by what is known of its futures, nor of its processor. */
static bool is_idle(const struct view_loop *loop) {
  return !is_over(worked(loop), loop, IDLE_PERCENT) &&
         !(loop->busy == UNKNOWN && is_over(loop->thread->worked, loop, IDLE_PERCENT));
}

/* Loops like the loaded one. */
struct group {
  size_t all, idle;
  uint64_t most; /* that an idle one was busy for, ns; of: */
  uint64_t whole;
};

static struct group group_of(const struct view *v, const struct view_loop *loaded) {
  struct group g = {0};
  for (size_t i = 0; i < v->loops; i++) {
    const struct view_loop *loop = &v->loop[i];
    if (loop == loaded || worked(loop) == UNKNOWN || loop->elapsed < LEAST_NS ||
        loop->elapsed < loaded->elapsed / LIVED_PART || !are_alike(loaded, loop))
      continue;
    g.all++;
    if (!is_idle(loop))
      continue;
    g.idle++;
    if (!g.whole || shown(loop) > g.most) {
      g.most = shown(loop);
      g.whole = loop->elapsed;
    }
  }
  return g;
}

/* The most runs of the function on an idle loop of the group; UNKNOWN: on one it never ran. */
static uint64_t runs_elsewhere(const struct view *v, const struct view_loop *loaded,
                               const struct view_ran *as) {
  uint64_t most = 0;
  for (size_t i = 0; i < v->loops; i++) {
    const struct view_loop *loop = &v->loop[i];
    if (loop == loaded || worked(loop) == UNKNOWN || !is_idle(loop) || !are_alike(loaded, loop))
      continue;
    const struct view_ran *ran = find_ran(loop, as);
    if (!ran)
      return UNKNOWN;
    most = ran->slices > most ? ran->slices : most;
  }
  return most;
}

static const struct view_function *function_of(const struct view *v, const struct view_loop *loop,
                                               const struct view_ran *ran) {
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    struct view_ran its = {.name = f->name, .file = f->file, .line = f->line};
    if ((f->process == UNKNOWN || f->process == loop->process) && is_same(&its, ran))
      return f;
  }
  return NULL;
}

/* The function that takes most of its time and tells it; the busiest one is first. */
static const struct view_ran *evidence(const struct view *v, const struct view_loop *loaded,
                                       uint64_t *elsewhere) {
  for (size_t i = 0; i < loaded->rans; i++) {
    const struct view_ran *ran = &loaded->ran[i];
    *elsewhere = runs_elsewhere(v, loaded, ran);
    if (ran->slices >= LEAST_RUNS && *elsewhere != UNKNOWN && ran->slices / TIMES >= *elsewhere)
      return ran;
  }
  return NULL;
}

static void add(struct findings *list, const struct view *v, const struct view_loop *loaded,
                const struct group *g) {
  uint64_t elsewhere = 0;
  const struct view_ran *ran = evidence(v, loaded, &elsewhere);
  const struct view_function *f = ran ? function_of(v, loaded, ran) : NULL;
  if (!f)
    return;
  char *place = findings_place(f->file, f->line);
  bool others = g->idle > 1;
  findings_add(
      list, (struct finding){
                .kind = FINDING_UNEVEN,
                .weight = worked(loaded),
                .severity = UNKNOWN,
                .count = ran->slices,
                .function = f,
                .at = place,
                .text = sentence(
                    "loop %lld %s for %s of its time and %s%s like it for %s%s: `%s` "
                    "(%s) ran %s times there, and %s%s; the work is not spread over loops",
                    (long long)loaded->tid, loaded->busy == UNKNOWN ? "ran futures" : "was busy",
                    told_percent(shown(loaded), loaded->elapsed), told_count(g->idle),
                    others ? " others" : " other", told_percent(g->most, g->whole),
                    others ? " at most" : "", f->name, place ? place : "?", told_count(ran->slices),
                    told_count(elsewhere), others ? " at most on those" : " on that")});
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  const struct view_loop *most = NULL;
  (void)limits;
  for (size_t i = 0; i < v->loops; i++) {
    const struct view_loop *loop = &v->loop[i];
    bool loaded = loop->elapsed >= LEAST_NS && is_over(worked(loop), loop, LOADED_PERCENT);
    /* Its futures load it, not what it does beside them. */
    loaded = loaded && exec_of(loop, NULL) >= worked(loop) / 2;
    if (loaded && (!most || worked(loop) > worked(most)) && group_of(v, loop).idle)
      most = loop;
  }
  if (!most)
    return;
  struct group g = group_of(v, most);
  if (2 * g.idle >= g.all + 1)
    add(list, v, most, &g);
}

const struct finding_row finding_uneven = {.judge = judge, .next = NEXT_FUNCTION};
