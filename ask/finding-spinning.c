/* SPDX-License-Identifier: MIT */
/* Who takes the processor and gets nowhere. */
#include "findings.h"

#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

#include <string.h>

/* A function gets nowhere if each of its futures goes on this often, runs for less than this each
   time, and still takes this share (1/N) of its loop. */
enum { TIMES = 10, SHARE = 100 };
#define SHORT_NS 10000u
/* It waited for at most this share (1/N) of the time it was ready. */
enum { READY_SHARE = 100 };
/* What others do, on the loop and on the processors, makes the mean wait so many times as long. */
enum { MEAN_TIMES = 10 };

/* So many goes of it, `took` in all. */
static bool is_in_vain(const struct view_function *f, uint64_t count, uint64_t took,
                       uint64_t elapsed, const struct ask_limits *limits) {
  return count && count >= limits->of[FINDING_SPINNING] && count / TIMES >= f->created &&
         f->exec / count < SHORT_NS && took >= elapsed / SHARE;
}

static const char *mean_time(const struct view_function *f, uint64_t sum, uint64_t count) {
  return told_mark(LACKS(f->lacks, function, exec), told_time(sum / count));
}

/* Takes the text. */
static void add(struct findings *list, const struct view_function *f, uint64_t count,
                const char *file, uint64_t line, struct sentence text) {
  findings_add(list, (struct finding){.kind = FINDING_SPINNING,
                                      .weight = count,
                                      .severity = f->exec,
                                      .count = count,
                                      .function = f,
                                      .at = findings_place(file, line),
                                      .text = text});
}

/* The only future wakes itself. Where there are several, the sums do not say who wakes whom. */
static bool is_alone(const struct view_function *f) {
  uint64_t before = f->live_before == UNKNOWN ? 0 : f->live_before;
  return f->created + before <= 1;
}

static struct sentence waking_text(const struct view_function *f, const struct view_waker *w) {
  const char *times = told_count(w->count), *place = place_text(w->file, w->line);
  const char *each = mean_time(f, f->exec, w->count);
  return is_alone(f)
             ? sentence("`%s` woke itself %s times at %s %s, for %s each time: it polls where "
                        "it could wait",
                        f->name, times, place, w->name, each)
             : sentence("`%s` futures woke each other or themselves %s times at %s %s, for %s "
                        "each time: they poll where they could wait, or hand on very little",
                        f->name, times, place, w->name, each);
}

static void find_waking(struct findings *list, const struct view_function *f, uint64_t elapsed,
                        const struct ask_limits *limits) {
  for (size_t i = 0; i < f->wakers; i++) {
    const struct view_waker *w = &f->waker[i];
    if (w->clock || !w->in || strcmp(w->in, f->name) ||
        !is_in_vain(f, w->count, f->exec, elapsed, limits) || f->waiting / w->count >= SHORT_NS)
      continue;
    add(list, f, w->count, w->file, w->line, waking_text(f, w));
  }
}

static uint64_t wakes_of(const struct view_function *f) {
  uint64_t wakes = 0;
  for (size_t i = 0; i < f->wakers; i++)
    wakes += f->waker[i].clock ? 0 : f->waker[i].count;
  return wakes;
}

/* No time passes until it goes on, as a rule. */
static bool goes_on_at_once(const struct view_await *a) {
  uint64_t mean = a->waiting / a->count;
  return mean < SHORT_NS ||
         (a->waits.count && a->waits.p50 < SHORT_NS && mean / MEAN_TIMES < SHORT_NS);
}

/* An idle function, as a rule: it runs again and again from where it was created, nobody wakes it,
   and no time passes in between. New work may well come that fast. */
static void find_polling(struct findings *list, const struct view_function *f, uint64_t elapsed,
                         const struct ask_limits *limits) {
  for (size_t i = 0; i < f->awaits; i++) {
    const struct view_await *a = &f->await[i];
    if (strcmp(a->kind, "create") || a->background || a->count / TIMES < wakes_of(f) ||
        !is_in_vain(f, a->count, f->exec + a->waiting, elapsed, limits) || !goes_on_at_once(a))
      continue;
    add(list, f, a->count, a->file, a->line,
        sentence("`%s` of %s %s ran %s times for %s, every %s: it polls where it could wait",
                 f->name, place_text(a->file, a->line), a->callee, told_count(a->count),
                 mean_time(f, f->exec, a->count), mean_time(f, f->exec + a->waiting, a->count)));
  }
}

/* These calls watch a descriptor, which their callback has to read. */
static bool is_watch(const char *callee) {
  static const char *const calls[] = {"event_add", "ev_io_start", "g_unix_fd_add",
                                      "g_io_add_watch"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (!strncmp(callee, calls[i], strlen(calls[i])))
      return true;
  return false;
}

/* The callback runs in each turn of a loop that never waits. A reader with a faster peer does so,
   too, but reading takes a system call, which costs more than these many events of ours, timed as
   they happen: a callback that mostly takes less does not read. (A byte of a pipe: 4 to 5.) */
enum { READ_EVENTS = 3 };

static bool makes_no_call(const struct view *v, const struct view_function *f) {
  return v->health.event_cost != UNKNOWN && v->health.event_cost_timed && f->slice_of.count &&
         f->slice_of.p50 < v->health.event_cost * READ_EVENTS;
}

static void find_ignoring(struct findings *list, const struct view *v,
                          const struct view_function *f, uint64_t elapsed,
                          const struct ask_limits *limits) {
  if (!makes_no_call(v, f))
    return;
  for (size_t i = 0; i < f->awaits; i++) {
    const struct view_await *a = &f->await[i];
    if (strcmp(a->kind, "create") || !a->background || !is_watch(a->callee) ||
        !is_in_vain(f, a->count, f->exec + a->waiting, elapsed, limits) ||
        a->waiting / a->count >= SHORT_NS)
      continue;
    add(list, f, a->count, a->file, a->line,
        sentence("`%s` of %s %s ran %s times for %s, every %s: what it watches is ready all the "
                 "time, and it does not read it",
                 f->name, place_text(a->file, a->line), a->callee, told_count(a->count),
                 told_mark(LACKS(f->lacks, function, slice_of), told_time(f->slice_of.p50)),
                 mean_time(f, f->exec + a->waiting, a->count)));
  }
}

/* The function gave way and was ready again at once, so it hardly waited until it went on. As a
   rule a function of the library made it ready. Where nothing tells of that the wait is short, and
   what went on made no call of the system, as whoever was waited for would need. */
static void find_yielding(struct findings *list, const struct view *v,
                          const struct view_function *f, uint64_t elapsed,
                          const struct ask_limits *limits) {
  for (size_t i = 0; i < f->awaits; i++) {
    const struct view_await *a = &f->await[i];
    bool was_ready = a->waiting <= f->queued / READY_SHARE;
    bool untold = a->count / TIMES >= wakes_of(f) && a->count && view_is_outside(a->kind) &&
                  a->waiting / a->count < SHORT_NS && makes_no_call(v, f);
    if (strcmp(a->kind, "await") || a->background || (!was_ready && !untold) ||
        !is_in_vain(f, a->count, f->exec + (was_ready ? 0 : a->waiting), elapsed, limits))
      continue;
    add(list, f, a->count, a->file, a->line,
        sentence("`%s` gave way %s times at %s %s and was ready again at once, after %s each "
                 "time: it polls where it could wait",
                 f->name, told_count(a->count), place_text(a->file, a->line), a->callee,
                 mean_time(f, f->exec, a->count)));
  }
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  uint64_t elapsed = ask_loop(v).elapsed;
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    if (f->unmeasured)
      continue;
    find_waking(list, f, elapsed, limits);
    find_polling(list, f, elapsed, limits);
    find_ignoring(list, v, f, elapsed, limits);
    find_yielding(list, v, f, elapsed, limits);
  }
}

const struct finding_row finding_spinning = {
    .limit = {"spins", 0, OPTION_COUNT, 0, "N",
              .text = "So often waking itself for nothing is a finding (default 1000)"},
    .judge = judge,
    .next = NEXT_FUNCTION,
    .cost = COST_LOOP};
