/* SPDX-License-Identifier: MIT */
/*
 * What differs inside the slowest requests of a recording, as text in 80 columns and as JSON
 * (aprof.tail/1).
 *
 * Purpose: the first line names what makes most of the difference; the table is all of it.
 * Cost: that of ask/tail.h. Locking: none.
 */
#include "ask/tail.h"
#include "ask/blame.h"
#include "asked.h"
#include "format.h"
#include "outputs.h"
#include "read/util.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 10, WHAT = 9, NAME = 36, TIME = 9, SHARE = 7 };

struct options {
  struct slowest_filter filter;
  uint64_t rows; /* 0: all */
};

/* -- the first line -------------------------------------------------------------------- */

static double per(uint64_t part, uint64_t whole) {
  return whole ? (double)part / (double)whole : 0;
}

/* ", 48.4 ms each time instead of 52.0 us" */
static const char *shown_how(const struct tail *t) {
  const struct tail_row *row = &t->cause.all;
  double had = per(row->requests[TAIL_REST], t->count[TAIL_REST]),
         has = per(row->requests[TAIL_SLOW], t->count[TAIL_SLOW]),
         did = per(row->times[TAIL_REST], row->requests[TAIL_REST]),
         does = per(row->times[TAIL_SLOW], row->requests[TAIL_SLOW]),
         was = per(row->time[TAIL_REST], row->times[TAIL_REST]),
         is = per(row->time[TAIL_SLOW], row->times[TAIL_SLOW]);
  if (!t->count[TAIL_REST])
    return "";
  if (t->cause.how == TAIL_ONLY && does >= 1.5)
    return turn_text(", %.1f times in %.0f %% of them, and in %.2g %% of the others", does,
                     100 * has, 100 * had);
  if (t->cause.how == TAIL_ONLY)
    return had > 0
               ? turn_text(", in %.0f %% of them and %.2g %% of the others", 100 * has, 100 * had)
               : turn_text(", in %.0f %% of them and none of the others", 100 * has);
  if (t->cause.how == TAIL_OFTENER)
    return turn_text(", %.1f times instead of %.1f", does, did);
  return turn_text(", %s each time instead of %s", shown_time((uint64_t)llround(is)),
                   shown_time((uint64_t)llround(was)));
}

/* " at db.c:77"; "" where it is not known. */
static const char *shown_at(const struct story *s, uint32_t path) {
  const char *place = asked_place(s, path);
  return *place ? turn_text(" at %s", place) : "";
}

/* "waiting in `pool_get` at db.c:77" */
static const char *shown_row(const struct story *s, const struct tail_cause *c) {
  const struct tail_row *row = c->row;
  const char *more = c->places > 1 ? turn_text(" and %zu more", c->places - 1) : "";
  if (row->what == CRITICAL_UNSEEN)
    return "not seen";
  if (row->path == STORY_NONE)
    return turn_text("queued, by %s", asked_none(row->none));
  const char *verb = row->what == CRITICAL_QUEUED    ? "queued behind"
                     : row->what == CRITICAL_WAITING ? "waiting in"
                                                     : "running";
  return turn_text("%s `%s`%s%s", verb, s->paths[row->path].name, shown_at(s, row->path), more);
}

/* All of the cause; free() it. */
static char *cause_text(const struct story *s, const struct slowest_kind *k, const struct tail *t) {
  double whole = tail_more(t, t->wall);
  struct asked_unit unit = asked_unit(whole);
  const struct tail_cause *c = &t->cause;
  if (!t->count[TAIL_SLOW])
    return print_string("%s: none of the %s is slow", k->name, shown_count(k->count));
  if (!c->row && c->path == STORY_NONE)
    return print_string("%s: the slow ones differ in nothing", k->name);
  char *what = c->row ? print_string("%s%s", shown_row(s, c), shown_how(t))
                      : print_string("in `%s`%s and what it waits for", s->paths[c->path].name,
                                     shown_at(s, c->path));
  char *text =
      t->count[TAIL_REST]
          ? print_string("%s: %s of the %s %s: %s", k->name, asked_change(&unit, c->more),
                         asked_change(&unit, whole), unit.name, what)
          : print_string("%s: %s of %s %s: %s, and there are no others to compare with", k->name,
                         asked_time(&unit, c->more), asked_time(&unit, whole), unit.name, what);
  free(what);
  return text;
}

/* -- the table ------------------------------------------------------------------------- */

struct table {
  const struct story *story;
  const struct tail *tail;
  struct asked_unit unit;
  FILE *out;
};

static void print_times(const struct table *x, const uint64_t *time) {
  const struct tail *t = x->tail;
  double more = tail_more(t, time), whole = tail_more(t, t->wall);
  for (int side = 0; side < TAIL_SIDES; side++)
    print_right(x->out,
                t->count[side] ? asked_time(&x->unit, tail_mean(t, time, (enum tail_side)side))
                               : "-",
                TIME);
  print_right(x->out, asked_change(&x->unit, more), TIME + 1);
  double share = whole > 0 ? 100 * more / whole : NAN;
  print_right(x->out, whole > 0 ? turn_text("%.0f %%", fabs(share) < 0.5 ? 0 : share) : "-", SHARE);
  fputc('\n', x->out);
}

static void print_row(const struct table *x, const struct tail_row *row) {
  print_left(x->out, asked_whats[row->what], WHAT);
  print_left(x->out, asked_row(x->story, row, NAME - 1), NAME);
  print_times(x, row->time);
}

/* The rows that are left out, one for each of what they are. */
static void print_rest(const struct table *x, size_t from) {
  for (int what = 0; what < CRITICAL_WHATS; what++) {
    uint64_t time[TAIL_SIDES] = {0};
    size_t count = 0;
    for (size_t i = from; i < x->tail->rows; i++)
      if (x->tail->row[i].what == what) {
        time[TAIL_REST] += x->tail->row[i].time[TAIL_REST];
        time[TAIL_SLOW] += x->tail->row[i].time[TAIL_SLOW];
        count++;
      }
    if (!count)
      continue;
    print_left(x->out, asked_whats[what], WHAT);
    print_left(x->out, turn_text("%zu more", count), NAME);
    print_times(x, time);
  }
}

/* How many rows have lines of their own: so many at most, and none that makes next to no difference
   and little of the wall. */
static size_t shown_rows(const struct tail *t, const struct options *o) {
  const double least = 0.005;
  double whole = fabs(tail_more(t, t->wall)), wall = tail_mean(t, t->wall, TAIL_SLOW);
  size_t shown = 0;
  if (!o->rows)
    return t->rows;
  while (shown < t->rows && shown < o->rows &&
         (fabs(tail_more(t, t->row[shown].time)) >= least * whole ||
          tail_mean(t, t->row[shown].time, TAIL_SLOW) >= least * wall))
    shown++;
  return shown;
}

static void print_kind(const struct story *s, const struct slowest_kind *k, const struct tail *t,
                       const struct options *o, FILE *out) {
  double slow = tail_mean(t, t->wall, TAIL_SLOW), rest = tail_mean(t, t->wall, TAIL_REST);
  struct table x = {s, t, asked_unit(slow > rest ? slow : rest), out};
  size_t shown = shown_rows(t, o);
  char *cause = cause_text(s, k, t);
  style_set(out, STYLE_TITLE);
  report_print_wrapped(out, cause, 0);
  style_set(out, STYLE_PLAIN);
  free(cause);
  if (!t->count[TAIL_SLOW])
    return;
  char *which = print_string("%s; %s on average, others %s", asked_slow(k, &o->filter),
                             shown_time((uint64_t)llround(slow)),
                             t->count[TAIL_REST] ? shown_time((uint64_t)llround(rest)) : "-");
  report_print_wrapped(out, which, 0);
  free(which);
  style_set(out, STYLE_FAINT);
  fprintf(out, "\n%*s%*s%*s%*s\n", WHAT + NAME, "", TIME, "others", TIME, "slow", TIME + 1, "more");
  style_set(out, STYLE_PLAIN);
  for (size_t i = 0; i < shown; i++)
    print_row(&x, &t->row[i]);
  print_rest(&x, shown);
  print_left(out, turn_text("total, %s", x.unit.name), WHAT + NAME);
  print_times(&x, t->wall);
}

static int print(const struct story *s, const void *options, FILE *out) {
  const struct options *o = options;
  struct slowest *all = slowest_find(s, &o->filter);
  if (!all)
    return OUTPUT_FAILED;
  struct critical *c = critical_new(s);
  style_choose(out);
  for (size_t i = 0; i < all->kinds; i++) {
    struct tail *t = tail_of(s, c, &all->kind[i]);
    if (i)
      fputc('\n', out);
    print_kind(s, &all->kind[i], t, o, out);
    tail_free(t);
  }
  asked_print_source(s, out);
  critical_free(c);
  slowest_free(all);
  return 0;
}

/* -- JSON ------------------------------------------------------------------------------ */

static void emit_side(struct emit *e, const char *name, const struct tail_row *row,
                      enum tail_side side) {
  emit_open(e, name, '{');
  emit_number(e, "time_ns", row->time[side]);
  emit_number(e, "times", row->times[side]);
  emit_number(e, "requests", row->requests[side]);
  emit_close(e, '}');
}

static void emit_cause(struct emit *e, const struct story *s, const struct slowest_kind *k,
                       const struct tail *t) {
  static const char *const hows[] = {"longer", "oftener", "only"};
  if (!t->cause.row && t->cause.path == STORY_NONE) {
    emit_null(e, "cause");
    return;
  }
  char *text = cause_text(s, k, t);
  emit_open(e, "cause", '{');
  emit_text(e, "text", text);
  emit_text(e, "how", t->cause.row ? hows[t->cause.how] : NULL);
  emit_float(e, "more_ns", t->cause.more, 1);
  if (t->cause.row)
    asked_emit_row(e, s, t->cause.row);
  else
    asked_emit_row(e, s, &(struct tail_row){.what = CRITICAL_EXEC, .path = t->cause.path});
  emit_number(e, "places", t->cause.places);
  emit_bool(e, "beneath", !t->cause.row);
  emit_close(e, '}');
  free(text);
}

static void emit_kind(struct emit *e, const struct story *s, const struct slowest_kind *k,
                      const struct tail *t) {
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "kind", k->name);
  emit_number(e, "partial", k->partial);
  emit_number(e, "failed", k->failed);
  emit_maybe(e, "threshold_ns", k->threshold, k->slow != 0);
  emit_number(e, "others", t->count[TAIL_REST]);
  emit_number(e, "slow", t->count[TAIL_SLOW]);
  emit_number(e, "others_wall_ns", t->wall[TAIL_REST]);
  emit_number(e, "slow_wall_ns", t->wall[TAIL_SLOW]);
  emit_float(e, "more_ns", tail_more(t, t->wall), 1);
  emit_cause(e, s, k, t);
  emit_list(e, "rows");
  for (size_t i = 0; i < t->rows; i++) {
    emit_row(e);
    emit_open(e, NULL, '{');
    asked_emit_row(e, s, &t->row[i]);
    emit_side(e, "others", &t->row[i], TAIL_REST);
    emit_side(e, "slow", &t->row[i], TAIL_SLOW);
    emit_float(e, "more_ns", tail_more(t, t->row[i].time), 1);
    emit_close(e, '}');
  }
  emit_close(e, ']');
  emit_close(e, '}');
}

static int write_json(const struct story *s, const void *options, FILE *out) {
  const struct options *o = options;
  struct slowest *all = slowest_find(s, &o->filter);
  struct emit e;
  if (!all)
    return OUTPUT_FAILED;
  struct critical *c = critical_new(s);
  emit_begin(&e, out, "aprof.tail/1");
  asked_emit_source(&e, s);
  emit_list(&e, "kinds");
  for (size_t i = 0; i < all->kinds; i++) {
    struct tail *t = tail_of(s, c, &all->kind[i]);
    emit_kind(&e, s, &all->kind[i], t);
    tail_free(t);
  }
  emit_close(&e, ']');
  emit_end(&e);
  critical_free(c);
  slowest_free(all);
  return 0;
}

/* -- as an output ---------------------------------------------------------------------- */

static const struct option_row own[] = {{"top", 'n', OPTION_COUNT, offsetof(struct options, rows),
                                         "N",
                                         .text = "Show N rows of each kind (default 10; 0: all)"},
                                        {0}};

const struct output output_tail = {
    .name = "tail",
    .summary = "what differs inside the slowest requests: why they are slow",
    .about = "Shows what the slowest requests of each kind spent their time on, and the others did "
             "not: the mean of the slow ones less the mean of the others, path by path along their "
             "critical paths. The first line names what makes most of it; the rows add up to all "
             "of it.",
    .option = own,
    .size = sizeof(struct options),
    .defaults = &(const struct options){.rows = ROWS},
    .asks_slowest = true,
    .slowest = offsetof(struct options, filter),
    .fault = asked_fault,
    .story_text = print,
    .story_json = write_json};
