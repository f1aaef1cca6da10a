/* SPDX-License-Identifier: MIT */
/*
 * Critical paths of requests, on average, and what if awaits took another time: as text in 80
 * columns and as JSON (aprof.path/1).
 *
 * Purpose: what the wall of a kind consists of, each moment once; what a change would be worth.
 * Cost: that of ask/tail.h and ask/what-if.h. Locking: none.
 */
#include "ask/tail.h"
#include "ask/what-if.h"
#include "asked.h"
#include "format.h"
#include "outputs.h"
#include "read/util.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 10, WHAT = 9, NAME = 40, TIME = 9, SHARE = 7, TIMES = 8, RUN = 22 };

struct options {
  struct slowest_filter filter;
  uint64_t rows; /* 0: all */
  struct what_if what_if;
};

static bool only_slow(const struct options *o) {
  return o->filter.percent > 0 || o->filter.over;
}

/* As tail_of sums up one side: here all of them, or the slow ones alone. */
static struct tail *sum_up(const struct story *s, struct critical *c, const struct slowest_kind *k,
                           const struct options *o) {
  struct slowest_kind side = *k;
  side.count = only_slow(o) ? k->slow : k->count;
  side.slow = 0;
  return tail_of(s, c, &side);
}

/* -- text ------------------------------------------------------------------------------ */

static void print_numbers(const struct tail *t, const struct asked_unit *unit, uint64_t time,
                          const struct tail_row *row, FILE *out) {
  double count = (double)t->count[TAIL_REST];
  print_right(out, asked_time(unit, (double)time / count), TIME);
  print_right(out, shown_share(time, t->wall[TAIL_REST]), SHARE);
  if (row) {
    print_right(out, turn_text("%.2f", (double)row->times[TAIL_REST] / count), TIMES);
    print_right(out, shown_share(row->requests[TAIL_REST], t->count[TAIL_REST]), SHARE);
  }
  fputc('\n', out);
}

static void print_row(const struct story *s, const struct tail *t, const struct asked_unit *unit,
                      const struct tail_row *row, FILE *out) {
  print_left(out, asked_whats[row->what], WHAT);
  print_left(out, asked_row(s, row, NAME - 1), NAME);
  print_numbers(t, unit, row->time[TAIL_REST], row, out);
}

/* Some have lines of their own: so many at most, and none that is next to nothing. */
static size_t shown_rows(const struct tail *t, const struct options *o) {
  size_t shown = 0;
  if (!o->rows)
    return t->rows;
  while (shown < t->rows && shown < o->rows &&
         t->row[shown].time[TAIL_REST] >= t->wall[TAIL_REST] / 200)
    shown++;
  return shown;
}

/* "-28.0 %" */
static const char *shown_change_of(double part, double whole) {
  double percent = whole > 0 ? 100 * part / whole : 0;
  return turn_text("%+.1f %%", fabs(percent) < 0.05 ? 0 : percent);
}

static void print_rows(const struct story *s, const struct tail *t, const struct options *o,
                       FILE *out) {
  struct asked_unit unit = asked_unit(tail_mean(t, t->wall, TAIL_REST));
  size_t shown = shown_rows(t, o);
  uint64_t rest = 0;
  style_set(out, STYLE_FAINT);
  fprintf(out, "%*s%*s%*s%*s%*s\n", WHAT + NAME, "", TIME, "mean", SHARE, "", TIMES, "times", SHARE,
          "in");
  style_set(out, STYLE_PLAIN);
  for (size_t i = 0; i < shown; i++)
    print_row(s, t, &unit, &t->row[i], out);
  for (size_t i = shown; i < t->rows; i++)
    rest += t->row[i].time[TAIL_REST];
  if (shown < t->rows) {
    print_left(out, turn_text("and %zu more: --top 0", t->rows - shown), WHAT + NAME);
    print_numbers(t, &unit, rest, NULL, out);
  }
  print_left(out, turn_text("total, %s", unit.name), WHAT + NAME);
  print_numbers(t, &unit, t->wall[TAIL_REST], NULL, out);
}

static void print_run(const char *name, const struct what_if_numbers *n,
                      const struct what_if_numbers *before, FILE *out) {
  print_left(out, name, RUN);
  print_right(out, shown_time(n->p50), TIME + 2);
  print_right(out, shown_time(n->p95), TIME + 2);
  print_right(out, shown_time(rounded(n->mean)), TIME + 2);
  print_right(out, shown_time(rounded(n->busy)), TIME + 2);
  print_right(out, before ? shown_change_of(n->mean - before->mean, before->mean) : "-", TIME + 2);
  fputc('\n', out);
}

static void print_what_if(const struct what_if_kind *k, const struct options *o, bool shared,
                          FILE *out) {
  const struct what_if_numbers *run = k->run;
  char *what = print_string("%s", "");
  for (size_t i = 0; i < o->what_if.count; i++) {
    const struct what_if_factor *f = &o->what_if.of[i];
    char *longer = print_string("%s%s`%.*s` took %.3g of its time", what, i ? ", " : "",
                                (int)f->length, f->name, f->factor);
    free(what);
    what = longer;
  }
  char *title = print_string("if %s%s:", what, only_slow(o) ? "; all requests" : "");
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  report_print_wrapped(out, title, 0);
  style_set(out, STYLE_FAINT);
  fprintf(out, "%*s%*s%*s%*s%*s%*s\n", RUN, "", TIME + 2, "p50", TIME + 2, "p95", TIME + 2, "mean",
          TIME + 2, "on loops", TIME + 2, "change");
  style_set(out, STYLE_PLAIN);
  print_run("as recorded", &run[WHAT_IF_RECORDED], NULL, out);
  print_run("replayed as it was", &run[WHAT_IF_REPLAYED], &run[WHAT_IF_RECORDED], out);
  print_run("replayed so", &run[WHAT_IF_CHANGED], &run[WHAT_IF_REPLAYED], out);
  if (shared)
    report_print_wrapped(out,
                         "Only requests that were kept are changed: what the others hold on loops "
                         "stays as it was, so the change is less than it would be.",
                         0);
  free(title);
  free(what);
}

static void print_kind(const struct story *s, struct critical *c, const struct slowest_kind *k,
                       const struct options *o, FILE *out) {
  struct tail *t = sum_up(s, c, k, o);
  char *title = only_slow(o)
                    ? print_string("%s, %s", k->name, asked_slow(k, &o->filter))
                    : print_string("%s: %s, p50 %s, p95 %s, longest %s", k->name,
                                   shown_count(k->count), shown_time(slowest_percentile(k, 50)),
                                   shown_time(slowest_percentile(k, 95)),
                                   shown_time(k->count ? slowest_wall(k->request[0]) : UNKNOWN));
  style_set(out, STYLE_TITLE);
  report_print_wrapped(out, title, 0);
  style_set(out, STYLE_PLAIN);
  free(title);
  if (t->count[TAIL_REST])
    print_rows(s, t, o, out);
  tail_free(t);
}

static int print(const struct story *s, const void *options, FILE *out) {
  const struct options *o = options;
  struct slowest *all = slowest_find(s, &o->filter);
  struct what_if_kind *what_if = NULL;
  if (!all || (o->what_if.count && !(what_if = what_if_replay(s, all, &o->what_if)))) {
    slowest_free(all);
    return OUTPUT_FAILED;
  }
  struct critical *c = critical_new(s);
  style_choose(out);
  bool any = false;
  for (size_t i = 0; i < all->kinds; i++) {
    if (!all->kind[i].count)
      continue; /* its partial ones are counted below */
    if (any)
      fputc('\n', out);
    any = true;
    print_kind(s, c, &all->kind[i], o, out);
    if (what_if && all->kind[i].count)
      print_what_if(&what_if[i], o, s->shared, out);
  }
  if (what_if) {
    fputc('\n', out);
    report_print_wrapped(
        out,
        "Replayed: requests arrive when they did, what runs takes as long as it did "
        "or its share, each loop has one queue, first in first out; other waits "
        "take as long as they did.",
        0);
  }
  asked_print_source(s, out);
  critical_free(c);
  free(what_if);
  slowest_free(all);
  return 0;
}

/* -- JSON ------------------------------------------------------------------------------ */

static void emit_rows(struct emit *e, const struct story *s, const struct tail *t) {
  emit_list(e, "rows");
  for (size_t i = 0; i < t->rows; i++) {
    const struct tail_row *row = &t->row[i];
    emit_row(e);
    emit_open(e, NULL, '{');
    asked_emit_row(e, s, row);
    emit_number(e, "time_ns", row->time[TAIL_REST]);
    emit_number(e, "times", row->times[TAIL_REST]);
    emit_number(e, "requests", row->requests[TAIL_REST]);
    emit_close(e, '}');
  }
  emit_close(e, ']');
}

static void emit_run(struct emit *e, const char *name, const struct what_if_numbers *n) {
  emit_open(e, name, '{');
  emit_number(e, "p50_ns", n->p50);
  emit_number(e, "p95_ns", n->p95);
  emit_number(e, "p99_ns", n->p99);
  emit_float(e, "mean_ns", n->mean, 1);
  emit_float(e, "busy_ns", n->busy, 1);
  emit_float(e, "queued_ns", n->queued, 1);
  emit_close(e, '}');
}

static void emit_what_if(struct emit *e, const struct what_if_kind *k) {
  if (!k || !k->kind->count) {
    emit_null(e, "what_if");
    return;
  }
  emit_open(e, "what_if", '{');
  emit_run(e, "recorded", &k->run[WHAT_IF_RECORDED]);
  emit_run(e, "replayed", &k->run[WHAT_IF_REPLAYED]);
  emit_run(e, "changed", &k->run[WHAT_IF_CHANGED]);
  emit_close(e, '}');
}

static void emit_factors(struct emit *e, const struct what_if *w) {
  emit_open(e, "factors", '[');
  for (size_t i = 0; i < w->count; i++) {
    char *name = print_string("%.*s", (int)w->of[i].length, w->of[i].name);
    emit_open(e, NULL, '{');
    emit_text(e, "await", name);
    emit_float(e, "factor", w->of[i].factor, 6);
    emit_close(e, '}');
    free(name);
  }
  emit_close(e, ']');
}

static void emit_kind(struct emit *e, const struct story *s, struct critical *c,
                      const struct slowest_kind *k, const struct what_if_kind *what_if,
                      const struct options *o) {
  struct tail *t = sum_up(s, c, k, o);
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "kind", k->name);
  emit_number(e, "partial", k->partial);
  emit_number(e, "requests", t->count[TAIL_REST]);
  emit_number(e, "wall_ns", t->wall[TAIL_REST]);
  emit_maybe(e, "p50_ns", slowest_percentile(k, 50), k->count != 0);
  emit_maybe(e, "p95_ns", slowest_percentile(k, 95), k->count != 0);
  emit_maybe(e, "p99_ns", slowest_percentile(k, 99), k->count != 0);
  emit_rows(e, s, t);
  emit_what_if(e, what_if);
  emit_close(e, '}');
  tail_free(t);
}

static int write_json(const struct story *s, const void *options, FILE *out) {
  const struct options *o = options;
  struct slowest *all = slowest_find(s, &o->filter);
  struct what_if_kind *what_if = NULL;
  struct emit e;
  if (!all || (o->what_if.count && !(what_if = what_if_replay(s, all, &o->what_if)))) {
    slowest_free(all);
    return OUTPUT_FAILED;
  }
  struct critical *c = critical_new(s);
  emit_begin(&e, out, "aprof.path/1");
  asked_emit_source(&e, s);
  emit_factors(&e, &o->what_if);
  emit_list(&e, "kinds");
  for (size_t i = 0; i < all->kinds; i++)
    emit_kind(&e, s, c, &all->kind[i], what_if ? &what_if[i] : NULL, o);
  emit_close(&e, ']');
  emit_end(&e);
  critical_free(c);
  free(what_if);
  slowest_free(all);
  return 0;
}

/* -- as an output ---------------------------------------------------------------------- */

static char *take_what_if(void *options, const char *text) {
  return what_if_take(&((struct options *)options)->what_if, text);
}

static const struct option_row own[] = {
    {"what-if", 0, OPTION_OWN, 0, "AWAIT=FACTOR", .take = take_what_if,
     .text = "Replay requests with that await (or function: its name, its place) taking FACTOR of "
             "its time, as pool_get=0.5; may be given 8 times"},
    {"top", 'n', OPTION_COUNT, offsetof(struct options, rows), "N",
     .text = "Show N rows of each kind (default 10; 0: all)"},
    {0}};

const struct output output_path = {
    .name = "path",
    .summary = "critical paths of requests, and what a faster await would be worth",
    .about = "Shows what the wall of requests consists of, each moment once: walked back from the "
             "end, a wait that a part of the same request ended is what that did meanwhile. Of all "
             "requests of a kind, or, with --slowest or --over, of the slow ones.",
    .option = own,
    .size = sizeof(struct options),
    .defaults = &(const struct options){.rows = ROWS},
    .asks_slowest = true,
    .slowest = offsetof(struct options, filter),
    .fault = asked_fault,
    .story_text = print,
    .story_json = write_json};
