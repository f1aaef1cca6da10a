/* SPDX-License-Identifier: MIT */
/* Clocks of several processes, aligned by what they did for each other; see traces.h. */
#include "traces.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Starts are told in steps of so many ns, and on one host clocks are one; who has answered may have
   so much left to do; one in so many even more, as it has no processor then. */
enum { STEP = 1000000, BEHIND_ANSWER = 100000, LATE = 8 };
#define SECOND ((int64_t)1000000000)

static const struct view_process *process_at(const struct view *v, uint64_t process) {
  return process < v->processes ? &v->merged[process] : &v->process;
}

/* ns since 1970, by its own clock. */
static bool started(const struct view *v, uint64_t process, int64_t *at) {
  struct tm tm = {0};
  const char *text = process_at(v, process)->started_at;
  const char *rest = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
  if (!rest)
    return false;
  int64_t ns = 0, unit = SECOND;
  for (const char *c = *rest == '.' ? rest + 1 : ""; *c >= '0' && *c <= '9' && unit > 1; c++)
    ns += (*c - '0') * (unit /= 10);
  *at = (int64_t)timegm(&tm) * SECOND + ns;
  return true;
}

static bool begin_of(const struct view *v, const struct trace_part *p, int64_t *at) {
  if (!p->slow || !started(v, p->process, at) || p->slow->begin > BEYOND / 2)
    return false;
  *at += (int64_t)p->slow->begin;
  return true;
}

static bool same_host(const struct view *v, uint64_t a, uint64_t b) {
  const char *one = process_at(v, a)->host, *other = process_at(v, b)->host;
  return one && other && *one && !strcmp(one, other);
}

static struct trace_clock *clock_of(struct traces *all, const struct view *v, uint64_t of,
                                    uint64_t to) {
  for (size_t i = 0; i < all->clocks; i++)
    if (all->clock[i].of == of && all->clock[i].to == to)
      return &all->clock[i];
  all->clock = reallocate(all->clock, all->clocks + 1, sizeof *all->clock);
  struct trace_clock *c = &all->clock[all->clocks++];
  bool one = same_host(v, of, to);
  *c = (struct trace_clock){.of = of,
                            .to = to,
                            .one_host = one,
                            .least = one ? -STEP : INT64_MIN,
                            .most = one ? STEP : INT64_MAX};
  return c;
}

static void add_done(struct trace_clock *c, int64_t most) {
  if (!(c->requests & (c->requests - 1)))
    c->done = reallocate(c->done, c->requests ? 2 * c->requests : 1, sizeof *c->done);
  c->done[c->requests++] = most;
}

/* Whoever was asked began behind, and was done before, who asked: so far its clock may be off. */
static void narrow(struct traces *all, const struct view *v, const struct trace *t) {
  int64_t outer, inner;
  if (!begin_of(v, t->part, &outer))
    return;
  for (size_t i = 1; i < t->parts; i++) {
    const struct trace_part *p = &t->part[i];
    if (p->process == t->part->process || !begin_of(v, p, &inner))
      continue;
    struct trace_clock *c = clock_of(all, v, p->process, t->part->process);
    int64_t least = outer - inner, most = least + (int64_t)(t->part->wall - p->wall);
    c->least = least > c->least ? least : c->least;
    add_done(c, most);
  }
}

static int by_number(const void *a, const void *b) {
  const int64_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static void settle(struct trace_clock *c) {
  qsort(c->done, c->requests, sizeof *c->done, by_number);
  int64_t most = c->done[c->requests / LATE] + BEHIND_ANSWER;
  c->most = most < c->most ? most : c->most;
  c->fits = c->least <= c->most;
  c->behind = c->least / 2 + c->most / 2;
  c->error =
      c->fits ? (uint64_t)(c->most - c->least + 1) / 2 : (uint64_t)(c->least - c->most + 1) / 2;
}

static void place(struct traces *all, const struct view *v, struct trace *t) {
  int64_t outer, inner;
  bool known = begin_of(v, t->part, &outer);
  for (size_t i = 0; i < t->parts; i++) {
    struct trace_part *p = &all->part[t->part - all->part + (ptrdiff_t)i];
    p->placed = known && begin_of(v, p, &inner);
    if (!p->placed)
      continue;
    p->at = inner - outer;
    if (p->process == t->part->process)
      continue;
    const struct trace_clock *c = clock_of(all, v, p->process, t->part->process);
    int64_t room = t->part->wall > p->wall ? (int64_t)(t->part->wall - p->wall) : 0;
    p->at += c->behind;
    p->at = p->at < 0 ? 0 : p->at > room ? room : p->at;
    p->error = c->error < (uint64_t)room ? c->error : (uint64_t)room;
  }
}

static int by_place(const void *a, const void *b) {
  const struct trace_part *x = a, *y = b;
  if (x->placed != y->placed)
    return y->placed - x->placed;
  if (x->placed && x->at != y->at)
    return (x->at > y->at) - (x->at < y->at);
  return (x->wall < y->wall) - (x->wall > y->wall);
}

void traces_align(struct traces *all, const struct view *v) {
  for (size_t i = 0; i < all->count; i++)
    narrow(all, v, &all->of[i]);
  for (size_t i = 0; i < all->clocks; i++)
    settle(&all->clock[i]);
  for (size_t i = 0; i < all->count; i++) {
    struct trace *t = &all->of[i];
    place(all, v, t);
    qsort(&all->part[t->part - all->part + 1], t->parts - 1, sizeof *all->part, by_place);
  }
}
