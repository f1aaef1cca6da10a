/* SPDX-License-Identifier: MIT */
/* Rows of what differs; see tail-rows.h. */
#include "tail-rows.h"

#include "ask/blame.h"
#include "format.h"
#include "read/util.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WHAT = 9, NAME = 36, TIME = 9, SHARE = 7 };

bool tail_rows_differ(const struct tail *t) {
  return t->cause.row || t->cause.path != STORY_NONE;
}

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
  if (t->cause.how == TAIL_ONLY) {
    const char *others = had > 0 ? turn_text("%.2g %%", 100 * had) : "none";
    return does >= 1.5 ? turn_text(", %.1f times in %.0f %% of them, and in %s of the others", does,
                                   100 * has, others)
                       : turn_text(", in %.0f %% of them and %s of the others", 100 * has, others);
  }
  if (t->cause.how == TAIL_OFTENER)
    return turn_text(", %.1f times instead of %.1f", does, did);
  return turn_text(", %s each time instead of %s", shown_time(rounded(is)),
                   shown_time(rounded(was)));
}

/* " at db.c:77"; "" where it is not known. */
static const char *shown_at(const struct story *s, uint32_t path) {
  const char *place = asked_place(s, path);
  return *place ? turn_text(" at %s", place) : "";
}

/* " of `on_retry`": what tells it from others of its name; "" where there are none. */
static const char *shown_owner(const struct story *s, const struct tail_cause *c) {
  uint32_t parent = c->apart ? s->paths[c->row->path].parent : STORY_NONE;
  return parent != STORY_NONE && c->row->what != CRITICAL_QUEUED
             ? turn_text(" of `%s`", s->paths[parent].name)
             : "";
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
  return turn_text("%s `%s`%s%s%s", verb, s->paths[row->path].name, shown_owner(s, c),
                   shown_at(s, row->path), more);
}

char *tail_rows_cause(const struct story *s, const char *name, const struct tail *t) {
  double whole = tail_more(t, t->wall);
  struct asked_unit unit = asked_unit(whole);
  const struct tail_cause *c = &t->cause;
  if (!tail_rows_differ(t))
    return print_string("%s: the slow ones differ in nothing", name);
  char *what = c->row ? print_string("%s%s", shown_row(s, c), shown_how(t))
                      : print_string("in `%s`%s and what it waits for", s->paths[c->path].name,
                                     shown_at(s, c->path));
  char *text =
      t->count[TAIL_REST]
          ? print_string("%s: %s of the %s %s: %s", name, asked_change(&unit, c->more),
                         asked_change(&unit, whole), unit.name, what)
          : print_string("%s: %s of %s %s: %s, and there are no others to compare with", name,
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
  bool fits = fabs(share) < 1000; /* of next to nothing it says nothing */
  print_right(x->out, fits ? turn_text("%.0f %%", fabs(share) < 0.5 ? 0 : share) : "-", SHARE);
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
static size_t shown_rows(const struct tail *t, uint64_t rows) {
  const double least = 0.005;
  double whole = fabs(tail_more(t, t->wall)), wall = tail_mean(t, t->wall, TAIL_SLOW);
  size_t shown = 0;
  if (!rows)
    return t->rows;
  while (shown < t->rows && shown < rows &&
         (fabs(tail_more(t, t->row[shown].time)) >= least * whole ||
          tail_mean(t, t->row[shown].time, TAIL_SLOW) >= least * wall))
    shown++;
  return shown;
}

void tail_rows_print(const struct story *s, const struct tail *t, uint64_t rows,
                     const struct tail_heads *heads, FILE *out) {
  double slow = tail_mean(t, t->wall, TAIL_SLOW), rest = tail_mean(t, t->wall, TAIL_REST);
  struct table x = {s, t, asked_unit(slow > rest ? slow : rest), out};
  size_t shown = shown_rows(t, rows);
  style_set(out, STYLE_FAINT);
  fprintf(out, "\n%*s", WHAT + NAME, "");
  print_right(out, cut_middle(heads->others, TIME - 1), TIME);
  print_right(out, cut_middle(heads->slow, TIME - 1), TIME);
  fprintf(out, "%*s\n", TIME + 1, "more");
  style_set(out, STYLE_PLAIN);
  for (size_t i = 0; i < shown; i++)
    print_row(&x, &t->row[i]);
  print_rest(&x, shown);
  print_left(out, turn_text("total, %s", x.unit.name), WHAT + NAME);
  print_times(&x, t->wall);
}

/* -- JSON ------------------------------------------------------------------------------ */

static void emit_side(struct emit *e, const char *name, const struct tail *t,
                      const struct tail_row *row, enum tail_side side) {
  emit_open(e, name, '{');
  emit_number(e, "time_ns", row->time[side]);
  emit_number(e, "times", row->times[side]);
  emit_number(e, "requests", row->requests[side]);
  if (t->count[side])
    emit_float(e, "mean_ns", tail_mean(t, row->time, side), 1);
  else
    emit_null(e, "mean_ns");
  emit_close(e, '}');
}

void tail_rows_emit_cause(struct emit *e, const struct story *s, const char *name,
                          const struct tail *t) {
  static const char *const hows[] = {"longer", "oftener", "only"};
  if (!tail_rows_differ(t)) {
    emit_null(e, "cause");
    return;
  }
  char *text = tail_rows_cause(s, name, t);
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

void tail_rows_emit(struct emit *e, const struct story *s, const struct tail *t) {
  emit_list(e, "rows");
  for (size_t i = 0; i < t->rows; i++) {
    emit_row(e);
    emit_open(e, NULL, '{');
    asked_emit_row(e, s, &t->row[i]);
    emit_side(e, "others", t, &t->row[i], TAIL_REST);
    emit_side(e, "slow", t, &t->row[i], TAIL_SLOW);
    emit_float(e, "more_ns", tail_more(t, t->row[i].time), 1);
    emit_close(e, '}');
  }
  emit_close(e, ']');
}
