/* SPDX-License-Identifier: MIT */
/* A function that runs so often that the loop has time for little else. */
#include "findings.h"

#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

/* A storm: the function runs so often a second, so many times as often as any other, no longer than
   this each time, and takes this share of the loop. Where no other runs nothing is out of
   proportion, unless others are ready to run. */
enum { RATE = 1000, TIMES = 10, SHARE = 4, OTHERS_LEAST = 10 };
#define SHORT_NS 1000000u

/* The two functions that ran most often; NULL: there are none. */
struct often {
  const struct view_function *most, *next;
};

static struct often most_often(const struct view *v) {
  struct often o = {0};
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    if (!o.most || f->slices > o.most->slices) {
      o.next = o.most;
      o.most = f;
    } else if (!o.next || f->slices > o.next->slices)
      o.next = f;
  }
  return o;
}

/* How often any other ran, at most. */
static uint64_t next_often(const struct often *o, const struct view_function *f) {
  const struct view_function *other = f == o->most ? o->next : o->most;
  return other ? other->slices : 0;
}

/* Futures of other functions have been ready for so long, and the loop has not come to them. */
static bool starves(const struct view *v, const struct view_function *f, uint64_t long_time) {
  for (size_t i = 0; i < v->lives; i++)
    if ((view_is(&v->live[i], "queued") || !v->live[i].state) && v->live[i].since >= long_time &&
        v->live[i].function < v->functions && &v->function[v->live[i].function] != f)
      return true;
  return false;
}

static bool is_told(const struct findings *list, const struct view_function *f) {
  for (size_t i = 0; i < list->count; i++)
    if (list->finding[i].function == f && list->finding[i].kind == FINDING_SPINNING)
      return true;
  return false;
}

/* The place that made it run most often: where its work is begun again. */
static const struct view_await *begun_at(const struct view_function *f) {
  const struct view_await *most = NULL;
  for (size_t i = 0; i < f->awaits; i++)
    if (!most || f->await[i].count > most->count)
      most = &f->await[i];
  return most;
}

/* The time that the loop had for its program, which is at least what futures ran: others had the
   processors for the rest, or the profiler had it, which so many short runs make much of. */
static uint64_t own_time(const struct view *v, const struct loop *loop) {
  uint64_t gone = loop->run_delay == UNKNOWN ? 0 : loop->run_delay;
  for (size_t i = 0; i < v->threads; i++)
    if (!v->thread[i].is_pool && v->thread[i].cost != UNKNOWN)
      add_to(&gone, v->thread[i].cost);
  return plus(gone, loop->exec) < loop->elapsed ? loop->elapsed - gone : loop->exec;
}

/* It ran so often and took so much, for so short each time. */
static bool is_often(const struct view_function *f, const struct loop *loop, uint64_t own,
                     uint64_t other) {
  return !f->unmeasured && f->slices && f->slices / TIMES >= other && loop->elapsed &&
         f->slices / RATE >= loop->elapsed / 1000000000u && f->loop_exec >= own / SHARE &&
         f->loop_exec / f->slices <= SHORT_NS;
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  struct loop loop = ask_loop(v);
  struct often often = most_often(v);
  uint64_t own = own_time(v, &loop);
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    uint64_t other = next_often(&often, f);
    if (!is_often(f, &loop, own, other) || is_told(list, f) ||
        (other < OTHERS_LEAST && !starves(v, f, limits->of[FINDING_STUCK])))
      continue;
    const struct view_await *at = begun_at(f);
    char *place = findings_place(f->file, f->line);
    findings_add(list, (struct finding){
                           .kind = FINDING_STORM,
                           .weight = f->loop_exec,
                           .severity = f->loop_exec,
                           .count = f->slices,
                           .function = f,
                           .text = sentence(
                               "`%s` (%s) ran %s times, %s a second and %s%s%s%s%s%s", f->name,
                               place ? place : "?", told_count(f->slices),
                               told_count(rounded((double)f->slices * 1e9 / (double)loop.elapsed)),
                               other ? told_count(f->slices / other) : "no other ran",
                               other ? " times as often as any other" : "",
                               at ? ", mostly from " : "", at ? place_text(at->file, at->line) : "",
                               at ? " " : "", at ? at->callee : ""),
                           .at = place});
  }
}

const struct finding_row finding_storm = {.judge = judge, .next = NEXT_FUNCTION, .cost = COST_LOOP};
