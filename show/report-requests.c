/* SPDX-License-Identifier: MIT */
/* The report: requests by kind; see report.h. */
#include "report.h"

#include "ask/requests.h"
#include "format.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

enum { KIND_WIDTH = 16, COUNT_WIDTH = 6, TIME_WIDTH = 6, SHARE_WIDTH = 6, ROWS = 5 };

/* What of a kind is not as it was: a thread had shed it. */
static unsigned lacks_of(const struct view *v) {
  return view_lacks(v, v->shed);
}

static uint64_t point(const struct distribution *d, uint64_t value) {
  return d->count ? value : UNKNOWN;
}

static void print_shares(const struct view_kind *k, bool lacks, FILE *out) {
  fputs(" =", out);
  print_right(out, shown_mark(lacks, shown_share(k->queued.sum, k->member)), SHARE_WIDTH);
  print_right(out, shown_mark(lacks, shown_share(k->exec.sum, k->member)), SHARE_WIDTH + 1);
  print_right(out, shown_mark(lacks, shown_share(k->waiting.sum, k->member)), SHARE_WIDTH + 2);
}

/* " db 66 fs 10": as many as have room, of which none is below 1 %. */
static void print_tiers(const struct view *v, const struct view_kind *k, size_t column, FILE *out) {
  for (size_t i = 0; i < k->tiers; i++) {
    uint64_t time = ask_tier_time(&k->tier[i]);
    const char *share = shown_mark(v->shed != 0, shown_share(time, k->member));
    char *text = print_string(" %s %s", k->tier[i].name, share);
    size_t width = shown_width(text);
    bool fits = column + width <= FORMAT_WIDTH && time >= k->member / 100;
    if (fits)
      fputs(text, out);
    column += width;
    free(text);
    if (!fits)
      return;
  }
}

static void print_kind(const struct view *v, const struct view_kind *k, FILE *out) {
  unsigned lacks = lacks_of(v);
  const struct distribution *wall = &k->wall.of;
  bool points = LACKS(lacks, kind, wall.of), times = LACKS(lacks, kind, wall.sum);
  print_left(out, cut_middle(ask_kind_name(v, k), KIND_WIDTH - 1), KIND_WIDTH);
  print_right(out, shown_count(k->count), COUNT_WIDTH);
  print_right(out, shown_mark(points, shown_short_in(v, point(wall, wall->p50))), TIME_WIDTH + 1);
  print_right(out, shown_mark(points, shown_short_in(v, point(wall, wall->p99))), TIME_WIDTH + 1);
  print_right(out, shown_mark(times, shown_short_in(v, ask_each(k->wall.sum, k->count))),
              TIME_WIDTH + 1);
  print_shares(k, times, out);
  print_tiers(v, k, KIND_WIDTH + COUNT_WIDTH + 3 * TIME_WIDTH + 2 + 2 + 3 * SHARE_WIDTH + 3, out);
  fputc('\n', out);
}

static void print_title(FILE *out) {
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  print_left(out, "requests", KIND_WIDTH);
  print_right(out, "count", COUNT_WIDTH);
  print_right(out, "p50", TIME_WIDTH + 1);
  print_right(out, "p99", TIME_WIDTH + 1);
  print_right(out, "wall", TIME_WIDTH + 1);
  fputs(" = queued + exec + waiting  tiers", out);
  style_set(out, STYLE_PLAIN);
  fputc('\n', out);
}

/* Of an interval not all kinds are. */
static bool is_active(const struct view_kind *k) {
  return k->count || k->live;
}

/* It has next to nothing of the time of all: a signal's, a listener's own. */
static bool is_minor(const struct view *v, const struct view_kind *k) {
  uint64_t all = 0;
  for (size_t i = 0; i < v->kinds; i++)
    add_to(&all, v->kind[i].member);
  return k->member < all / 200;
}

/* What the columns do not say. That some go on is no line of its own: aprof ps shows them. */
static void print_rest(const struct view *v, FILE *out) {
  uint64_t after = 0, after_exec = 0, live = 0, failed = 0;
  for (size_t i = 0; i < v->kinds; i++) {
    add_to(&after, v->kind[i].after);
    add_to(&after_exec, v->kind[i].after_exec);
    add_to(&live, v->kind[i].live);
    add_to(&failed, v->kind[i].failed);
  }
  char *text = print_string("%s", "");
#define ADD(known, ...)                                                                            \
  if (known) {                                                                                     \
    char *one = print_string(__VA_ARGS__),                                                         \
         *both = print_string("%s%s%s", text, *text ? "; " : "", one);                             \
    free(one);                                                                                     \
    free(text);                                                                                    \
    text = both;                                                                                   \
  }
  ADD(failed, "%s failed", shown_count(failed));
  ADD(live && (*text || after || v->health.lost_requests), "%s still going on", shown_count(live));
  ADD(after, "%s future%s ran on after the end of theirs, for %s", shown_count(after),
      after == 1 ? "" : "s", shown_time(after_exec));
  ADD(v->health.lost_requests, "%s had no room, and are in none of these numbers",
      shown_count(v->health.lost_requests));
  ADD(v->health.lost_shares, "%s futures lost track of theirs", shown_count(v->health.lost_shares));
#undef ADD
  if (*text)
    report_print_wrapped(out, text, 0);
  free(text);
}

size_t report_print_requests(const struct view *v, const struct report_options *options,
                             FILE *out) {
  bool all = options->all || options->has_rows;
  size_t most = options->all || options->has_rows ? v->kinds : ROWS, active = 0, shown = 0;
  if (options->has_rows && options->functions)
    most = options->functions;
  for (size_t i = 0; i < v->kinds; i++)
    active += is_active(&v->kind[i]);
  if (!active)
    return 0;
  print_title(out);
  for (size_t i = 0; i < v->kinds && shown < most; i++)
    if (is_active(&v->kind[i]) && (all || shown == 0 || !is_minor(v, &v->kind[i]))) {
      print_kind(v, &v->kind[i], out);
      shown++;
    }
  print_rest(v, out);
  return active - shown;
}

/* -- one kind, with all that is known of it ------------------------------------------- */

enum { TIER_WIDTH = 15, COLUMN_WIDTH = 9 };

static void print_cells(const char *name, const char *const *cell, size_t cells, FILE *out) {
  fputs("  ", out);
  print_left(out, cut_middle(name, TIER_WIDTH - 1), TIER_WIDTH);
  for (size_t i = 0; i < cells; i++)
    print_right(out, cell[i], COLUMN_WIDTH);
  fputc('\n', out);
}

static void print_amount(const struct view *v, const char *name, const struct view_amount *a,
                         const struct view_kind *k, bool is_part, FILE *out) {
  unsigned lacks = lacks_of(v);
  const struct distribution *d = &a->of;
  bool points = LACKS(lacks, kind, wall.of), times = LACKS(lacks, kind, wall.sum);
  const char *cell[] = {is_part ? shown_mark(times, shown_share(a->sum, k->member)) : "",
                        shown_mark(times, shown_short_in(v, ask_each(a->sum, k->count))),
                        shown_mark(points, shown_short_in(v, point(d, d->p50))),
                        shown_mark(points, shown_short_in(v, point(d, d->p99))),
                        shown_mark(LACKS(lacks, kind, wall.max), shown_short_in(v, a->max))};
  print_cells(name, cell, sizeof cell / sizeof *cell, out);
}

/* Of those requests that were in it, while spans were not shed: they are before all else. */
static void print_tier(const struct view *v, const struct view_tier *t, const struct view_kind *k,
                       FILE *out) {
  const struct distribution *d = &t->wall.of;
  bool part = v->shed != 0;
  const char *cell[] = {shown_mark(part, shown_share(ask_tier_time(t), k->member)),
                        shown_mark(part, shown_count(t->count)),
                        shown_mark(part, shown_count(t->calls.sum)),
                        shown_mark(part, shown_short_in(v, ask_each(t->exec.sum, t->count))),
                        shown_mark(part, shown_short_in(v, ask_each(t->waiting.sum, t->count))),
                        shown_mark(part, shown_short_in(v, point(d, d->p50))),
                        shown_mark(part, shown_short_in(v, point(d, d->p99)))};
  print_cells(t->name, cell, sizeof cell / sizeof *cell, out);
}

static void print_whole(const struct view *v, const struct view_kind *k, FILE *out) {
  static const char *const columns[] = {"share", "mean", "p50", "p99", "worst"};
  char *title = print_string("%s: %s%s, %s failed, %s live  (%s, %s)", ask_kind_name(v, k),
                             shown_count(k->count), k->implicit ? ", begun by no root" : "",
                             shown_count(k->failed), shown_count(k->live), k->function,
                             place_text(k->file, k->line));
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  report_print_wrapped(out, title, 0);
  style_set(out, STYLE_PLAIN);
  free(title);
  print_cells("", columns, sizeof columns / sizeof *columns, out);
  print_amount(v, "wall", &k->wall, k, false, out);
  print_amount(v, "queued", &k->queued, k, true, out);
  print_amount(v, "exec", &k->exec, k, true, out);
  print_amount(v, "waiting", &k->waiting, k, true, out);
  if (!k->tiers)
    return;
  static const char *const tier[] = {"share",  "requests", "calls", "exec/1",
                                     "wait/1", "wall p50", "p99"};
  fputc('\n', out);
  print_cells("tier", tier, sizeof tier / sizeof *tier, out);
  for (size_t i = 0; i < k->tiers; i++)
    print_tier(v, &k->tier[i], k, out);
  bool part = v->shed != 0;
  const char *other[] = {shown_mark(part, shown_share(k->other_exec + k->other_waiting, k->member)),
                         "", "",
                         shown_mark(part, shown_short_in(v, ask_each(k->other_exec, k->count))),
                         shown_mark(part, shown_short_in(v, ask_each(k->other_waiting, k->count)))};
  print_cells("(no tier)", other, sizeof other / sizeof *other, out);
}

void report_print_kinds(const struct view *v, FILE *out) {
  for (size_t i = 0; i < v->kinds; i++)
    if (is_active(&v->kind[i]))
      print_whole(v, &v->kind[i], out);
}
