/* SPDX-License-Identifier: MIT */
/* The table of measures; see measure.h. */
#include "measure.h"
#include "requests.h"

#include <math.h>
#include <string.h>

static double known(uint64_t value) {
  return value == UNKNOWN ? NAN : (double)value;
}

static double ratio(double part, double whole) {
  return whole > 0 ? part / whole : NAN;
}

/* -- of a function ------------------------------------------------------------------- */

static uint64_t number_at(const void *object, size_t at) {
  uint64_t value;
  memcpy(&value, (const char *)object + at, sizeof value);
  return value;
}

static double of_function(const struct measured *m, size_t at) {
  return known(number_at(m->function, at));
}

static double per_future(const struct measured *m, size_t at) {
  uint64_t sum = number_at(m->function, at);
  return sum == UNKNOWN ? NAN : known(ask_per_call(m->v, m->function, sum));
}

static double per_run(const struct measured *m, size_t at) {
  return ratio(of_function(m, at), (double)m->function->slices);
}

static const struct distribution *distribution_at(const void *object, size_t at) {
  return (const struct distribution *)((const char *)object + at);
}

/* `at` is that of the point; the distribution, whose first member tells whether there is any,
   lies a fixed way before it. */
#define POINT(name)                                                                                \
  static double name##_of(const void *object, size_t at) {                                         \
    const struct distribution *d = distribution_at(object, at);                                    \
    return d->count ? (double)d->name : NAN;                                                       \
  }                                                                                                \
  static double function_##name(const struct measured *m, size_t at) {                             \
    return name##_of(m->function, at);                                                             \
  }
#define AWAIT_POINT(name)                                                                          \
  static double await_##name(const struct measured *m, size_t at) {                                \
    return name##_of(m->await, at);                                                                \
  }
POINT(p50)
POINT(p90)
POINT(p95)
POINT(p99)
POINT(p999)
POINT(max)
AWAIT_POINT(p50)
AWAIT_POINT(p90)
AWAIT_POINT(p95)
AWAIT_POINT(p99)
AWAIT_POINT(p999)

/* The longest, one that goes on included. */
static double longest_hold(const struct measured *m, size_t at) {
  uint64_t longest = ask_longest_slice(m->function);
  (void)at;
  for (size_t i = 0; i < m->v->lives; i++) {
    const struct view_live *live = &m->v->live[i];
    if (live->holds > longest && live->function < m->v->functions &&
        &m->v->function[live->function] == m->function)
      longest = live->holds;
  }
  return longest ? (double)longest : NAN;
}

/* -- of an await ----------------------------------------------------------------------- */

static double of_await(const struct measured *m, size_t at) {
  return known(number_at(m->await, at));
}

static double await_mean(const struct measured *m, size_t at) {
  return ratio(of_await(m, at), (double)m->await->count);
}

static double await_per_future(const struct measured *m, size_t at) {
  return known(ask_per_call(m->v, m->function, number_at(m->await, at)));
}

/* -- of requests ------------------------------------------------------------------------- */

#define KIND_POINT(name)                                                                           \
  static double kind_##name(const struct measured *m, size_t at) {                                 \
    return name##_of(m->kind, at);                                                                 \
  }                                                                                                \
  static double tier_##name(const struct measured *m, size_t at) {                                 \
    return name##_of(m->tier, at);                                                                 \
  }
KIND_POINT(p50)
KIND_POINT(p90)
KIND_POINT(p95)
KIND_POINT(p99)
KIND_POINT(p999)

static double of_kind(const struct measured *m, size_t at) {
  return known(number_at(m->kind, at));
}

static double per_request(const struct measured *m, size_t at) {
  return ratio(of_kind(m, at), (double)m->kind->count);
}

static double of_tier(const struct measured *m, size_t at) {
  return known(number_at(m->tier, at));
}

/* Of those that were in it. */
static double in_tier(const struct measured *m, size_t at) {
  return ratio(of_tier(m, at), (double)m->tier->count);
}

static double tier_time(const struct measured *m, size_t at) {
  (void)at;
  return (double)ask_tier_time(m->tier);
}

static double tier_mean(const struct measured *m, size_t at) {
  return ratio(tier_time(m, at), (double)m->tier->count);
}

/* -- of the process ---------------------------------------------------------------------- */

static double of_process(const struct measured *m, size_t at) {
  return known(number_at(m->v, at));
}

static double busy(const struct measured *m, size_t at) {
  struct loop loop = ask_loop(m->v);
  (void)at;
  return loop.has_idle ? 100 * ratio((double)(loop.elapsed - loop.idle), (double)loop.elapsed)
                       : NAN;
}

static double overhead(const struct measured *m, size_t at) {
  (void)at;
  return m->v->health.overhead < 0 ? NAN : m->v->health.overhead;
}

static double findings(const struct measured *m, size_t at) {
  (void)at;
  return measure_findings(m->v, &ask_defaults, NULL);
}

double measure_findings(const struct view *v, const struct ask_limits *limits, const char *kind) {
  size_t count, of_kind = 0;
  struct finding *list = ask_findings(v, limits, &count);
  for (size_t i = 0; i < count; i++)
    of_kind += !kind || !strcmp(kind, finding_kinds[list[i].kind]);
  findings_free(list, count);
  return (double)of_kind;
}

/* clang-format off */

#define F(member) offsetof(struct view_function, member)
#define A(member) offsetof(struct view_await, member)
#define K(member) offsetof(struct view_kind, member)
#define T(member) offsetof(struct view_tier, member)
#define POINTS(name, member, what)                                                                 \
  {name ".p50", MEASURE_FUNCTION, UNIT_TIME, function_p50, F(member), F(member), false, what ": half are shorter"},    \
  {name ".p90", MEASURE_FUNCTION, UNIT_TIME, function_p90, F(member), F(member), false, what ": 90 % are shorter"},    \
  {name ".p95", MEASURE_FUNCTION, UNIT_TIME, function_p95, F(member), F(member), false, what ": 95 % are shorter"},    \
  {name ".p99", MEASURE_FUNCTION, UNIT_TIME, function_p99, F(member), F(member), false, what ": 99 % are shorter"},    \
  {name ".p999", MEASURE_FUNCTION, UNIT_TIME, function_p999, F(member), F(member), false, what ": 99.9 % are shorter"}
#define COUNT(name, member, says) {name, MEASURE_FUNCTION, UNIT_COUNT, of_function, F(member), F(member), true, says}
#define TOTAL(name, member, says) {name, MEASURE_FUNCTION, UNIT_TIME, of_function, F(member), F(member), true, says}
#define MEAN(name, member, says) {name, MEASURE_FUNCTION, UNIT_TIME, per_future, F(member), F(member), false, says}
#define RUN(name, member, says) {name, MEASURE_FUNCTION, UNIT_TIME, per_run, F(member), F(member), false, says}
#define MAXIMUM(name, member, says) {name, MEASURE_FUNCTION, UNIT_TIME, of_function, F(member), F(member), false, says}

const struct measure measures[] = {
    COUNT("futures", created, "futures made"),
    COUNT("failed", failed, "of these, failed"),
    COUNT("cancelled", cancelled, "of these, cancelled"),
    COUNT("live", live, "of these, alive at the end"),
    COUNT("runs", slices, "times that it held the loop"),
    TOTAL("exec.total", exec, "time that its futures ran"),
    MEAN("exec.mean", exec, "the same, per future"),
    RUN("exec.run", exec, "the same, per run"),
    POINTS("exec", exec_of, "what an ended future ran"),
    MAXIMUM("exec.max", exec_max, "the most that one ran"),
    TOTAL("queued.total", queued, "time that they were ready and did not run"),
    MEAN("queued.mean", queued, "the same, per future"),
    RUN("queued.run", queued, "the same, per run"),
    POINTS("queued", queued_of, "a time in the queue"),
    {"queued.max", MEASURE_FUNCTION, UNIT_TIME, function_max, F(queued_of), F(queued_of), false, "the longest, as near as its histogram says"},
    TOTAL("waiting.total", waiting, "time that they waited"),
    MEAN("waiting.mean", waiting, "the same, per future"),
    TOTAL("wall.total", wall, "all of their lives"),
    MEAN("wall.mean", wall, "the same, per future"),
    POINTS("wall", wall_of, "the life of an ended future"),
    MAXIMUM("wall.max", wall_max, "the longest"),
    TOTAL("children.total", children_exec, "what futures beneath them ran"),
    MEAN("children.mean", children_exec, "the same, per future"),
    POINTS("slice", slice_of, "a hold of the loop"),
    MAXIMUM("slice.max", slice_max, "the longest that ended"),
    {"hold.max", MEASURE_FUNCTION, UNIT_TIME, longest_hold, 0, F(slice_max), false, "the longest, one that goes on included"},
    {"wait.count", MEASURE_AWAIT, UNIT_COUNT, of_await, A(count), A(count), true, "waits that ended"},
    {"wait.total", MEASURE_AWAIT, UNIT_TIME, of_await, A(waiting), A(waiting), true, "time in them"},
    {"wait.mean", MEASURE_AWAIT, UNIT_TIME, await_mean, A(ended), A(waiting), false, "the same, per wait"},
    {"wait.future", MEASURE_AWAIT, UNIT_TIME, await_per_future, A(waiting), A(waiting), false, "the same, per future of the one that waits"},
    {"wait.p50", MEASURE_AWAIT, UNIT_TIME, await_p50, A(waits), A(waits), false, "half are shorter"},
    {"wait.p90", MEASURE_AWAIT, UNIT_TIME, await_p90, A(waits), A(waits), false, "90 % are shorter"},
    {"wait.p95", MEASURE_AWAIT, UNIT_TIME, await_p95, A(waits), A(waits), false, "95 % are shorter"},
    {"wait.p99", MEASURE_AWAIT, UNIT_TIME, await_p99, A(waits), A(waits), false, "99 % are shorter"},
    {"wait.p999", MEASURE_AWAIT, UNIT_TIME, await_p999, A(waits), A(waits), false, "99.9 % are shorter"},
    {"wait.max", MEASURE_AWAIT, UNIT_TIME, of_await, A(max), A(max), false, "the longest that ended"},
    {"request.count", MEASURE_REQUEST, UNIT_COUNT, of_kind, K(count), K(count), true, "requests that ended"},
    {"request.failed", MEASURE_REQUEST, UNIT_COUNT, of_kind, K(failed), K(failed), true, "of these, failed"},
    {"request.live", MEASURE_REQUEST, UNIT_COUNT, of_kind, K(live), K(live), true, "that go on at the end"},
    {"request.total", MEASURE_REQUEST, UNIT_TIME, of_kind, K(wall.sum), K(wall.sum), true, "from their beginnings to their ends"},
    {"request.mean", MEASURE_REQUEST, UNIT_TIME, per_request, K(wall.sum), K(wall.sum), false, "the same, per request"},
    {"request.queued", MEASURE_REQUEST, UNIT_TIME, per_request, K(queued.sum), K(queued.sum), false, "its futures were ready, per request"},
    {"request.exec", MEASURE_REQUEST, UNIT_TIME, per_request, K(exec.sum), K(exec.sum), false, "its futures ran, per request"},
    {"request.waiting", MEASURE_REQUEST, UNIT_TIME, per_request, K(waiting.sum), K(waiting.sum), false, "its futures waited, per request"},
    {"request.p50", MEASURE_REQUEST, UNIT_TIME, kind_p50, K(wall.of), K(wall.of), false, "half are shorter"},
    {"request.p90", MEASURE_REQUEST, UNIT_TIME, kind_p90, K(wall.of), K(wall.of), false, "90 % are shorter"},
    {"request.p95", MEASURE_REQUEST, UNIT_TIME, kind_p95, K(wall.of), K(wall.of), false, "95 % are shorter"},
    {"request.p99", MEASURE_REQUEST, UNIT_TIME, kind_p99, K(wall.of), K(wall.of), false, "99 % are shorter"},
    {"request.p999", MEASURE_REQUEST, UNIT_TIME, kind_p999, K(wall.of), K(wall.of), false, "99.9 % are shorter"},
    {"request.max", MEASURE_REQUEST, UNIT_TIME, of_kind, K(wall.max), K(wall.max), false, "the longest that ended"},
    {"tier.count", MEASURE_TIER, UNIT_COUNT, of_tier, T(count), T(count), true, "requests that were in it"},
    {"tier.calls", MEASURE_TIER, UNIT_COUNT, in_tier, T(calls.sum), T(calls.sum), false, "entries from outside, per request that was in it"},
    {"tier.total", MEASURE_TIER, UNIT_TIME, tier_time, T(exec.sum), T(exec.sum), true, "running and waiting in it"},
    {"tier.mean", MEASURE_TIER, UNIT_TIME, tier_mean, T(exec.sum), T(exec.sum), false, "the same, per request that was in it"},
    {"tier.exec", MEASURE_TIER, UNIT_TIME, in_tier, T(exec.sum), T(exec.sum), false, "running in it, per request that was"},
    {"tier.waiting", MEASURE_TIER, UNIT_TIME, in_tier, T(waiting.sum), T(waiting.sum), false, "waiting in it, per request that was"},
    {"tier.p50", MEASURE_TIER, UNIT_TIME, tier_p50, T(wall.of), T(wall.of), false, "what a request was in it as a whole: half are shorter"},
    {"tier.p90", MEASURE_TIER, UNIT_TIME, tier_p90, T(wall.of), T(wall.of), false, "90 % are shorter"},
    {"tier.p95", MEASURE_TIER, UNIT_TIME, tier_p95, T(wall.of), T(wall.of), false, "95 % are shorter"},
    {"tier.p99", MEASURE_TIER, UNIT_TIME, tier_p99, T(wall.of), T(wall.of), false, "99 % are shorter"},
    {"tier.p999", MEASURE_TIER, UNIT_TIME, tier_p999, T(wall.of), T(wall.of), false, "99.9 % are shorter"},
    {"tier.max", MEASURE_TIER, UNIT_TIME, of_tier, T(wall.max), T(wall.max), false, "the longest of one request"},
    {"elapsed", MEASURE_PROCESS, UNIT_TIME, of_process, offsetof(struct view, process.elapsed), 0, false, "the length of the profile"},
    {"loop.busy", MEASURE_PROCESS, UNIT_SHARE, busy, 0, 0, false, "of the loops' time what is not idle"},
    {"overhead", MEASURE_PROCESS, UNIT_SHARE, overhead, 0, 0, false, "what the profiler cost"},
    {"events", MEASURE_PROCESS, UNIT_COUNT, of_process, offsetof(struct view, health.events), 0, false, "events recorded"},
    {"lost.futures", MEASURE_PROCESS, UNIT_COUNT, of_process, offsetof(struct view, health.lost_futures), 0, false, "futures in no number"},
    {"lost.events", MEASURE_PROCESS, UNIT_COUNT, of_process, offsetof(struct view, health.lost_events), 0, false, "events in no number"},
    {"findings", MEASURE_FINDINGS, UNIT_COUNT, findings, 0, 0, false, "findings; behind a kind's name those of it"},
};
const size_t measure_count = sizeof measures / sizeof *measures;

/* clang-format on */

const struct measure *measure_find(const char *name) {
  for (size_t i = 0; i < measure_count; i++)
    if (!strcmp(measures[i].name, name))
      return &measures[i];
  return NULL;
}

double measure_get(const struct measure *measure, const struct measured *m) {
  bool counts = measure->unit != UNIT_TIME;
  if (m->function && m->function->unmeasured && !counts)
    return NAN;
  return measure->get(m, measure->at);
}

bool measure_lacks(const struct measure *measure, const struct measured *m) {
  const struct layout *layout = measure->of == MEASURE_AWAIT ? &layout_await : &layout_function;
  if (m->kind) {
    layout = measure->of == MEASURE_TIER ? &layout_tier : &layout_kind;
    return (view_lacks(m->v, m->v->shed) & field_lack(layout, measure->field)) != 0;
  }
  return m->function && (m->function->lacks & field_lack(layout, measure->field)) != 0;
}
