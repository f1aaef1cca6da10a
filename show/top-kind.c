/* SPDX-License-Identifier: MIT */
/* All about requests of one kind: their times, tiers and functions, those that go on, and the
   slowest; see top.h. */
#include "format.h"
#include "read/util.h"
#include "top.h"

#include <stdlib.h>
#include <string.h>

enum { DATE = 11, CLOCK = 12 }; /* "2026-11-23T", "14:03:11.204" */

struct page {
  struct sheet *s;
  const struct view *v;
  const struct view_kind *k;
  unsigned lacks;
};

const struct view_kind *top_find_kind(const struct view *v, const char *key) {
  for (size_t i = 0; i < v->kinds; i++) {
    char *own = top_kind_key(&v->kind[i]);
    bool is = !strcmp(own, key);
    free(own);
    if (is)
      return &v->kind[i];
  }
  return NULL;
}

static void add_sums(const struct page *p) {
  const struct view_kind *k = p->k;
  bool lacks = LACKS(p->lacks, kind, wall.sum);
  char *text = print_string(
      "%s/s, %s live, wall %s each; member time %s each: queued %s, exec %s, waiting %s",
      top_rate(k->count, top_span(p->v)), shown_count(k->live),
      shown_mark(lacks, shown_short(ask_each(k->wall.sum, k->count))),
      shown_mark(lacks, shown_short(ask_each(k->member, k->count))),
      shown_share(k->queued.sum, k->member), shown_share(k->exec.sum, k->member),
      shown_share(k->waiting.sum, k->member));
  sheet_wrapped(p->s, "", text, NULL);
  free(text);
  if (k->failed || k->after) {
    text = print_string("%s failed; %s futures ran on after the end of theirs, for %s",
                        shown_count(k->failed), shown_count(k->after), shown_time(k->after_exec));
    sheet_wrapped(p->s, "", text, NULL);
    free(text);
  }
}

static void add_times(const struct page *p) {
  const struct view_kind *k = p->k;
  const struct {
    const char *what;
    const struct view_amount *of;
  } row[] = {{"wall, from beginning to end", &k->wall},
             {"queued, of all its futures", &k->queued},
             {"exec", &k->exec},
             {"waiting", &k->waiting}};
  bool lacks = LACKS(p->lacks, kind, wall.of);
  if (k->wall.of.count)
    top_title(p->s, "TIMES OF A REQUEST", "     P50     P90     P99    P999   WORST");
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const struct distribution *d = &row[i].of->of;
    if (!d->count)
      continue;
    bool edge = row[i].of->max == UNKNOWN;
    const char *number[] = {
        shown_mark(lacks, shown_short(d->p50)), shown_mark(lacks, shown_short(d->p90)),
        shown_mark(lacks, shown_short(d->p99)), shown_mark(lacks, shown_short(d->p999)),
        turn_text("%s%s", edge ? "<" : "", shown_short(edge ? d->max : row[i].of->max))};
    top_line(p->s, row[i].what, number, sizeof number / sizeof *number, NULL);
  }
}

/* -- tiers and functions -------------------------------------------------------------------- */

/* Of those requests that were in it; what is queued is in no tier. */
static void add_tiers(const struct page *p) {
  const struct view_kind *k = p->k;
  if (!k->tiers)
    return;
  bool wide = p->s->width >= 100;
  top_title(p->s, "TIERS",
            wide ? "   SHARE  EXEC/1  WAIT/1     P50     P99  RATE/S CALLS/1"
                 : "   SHARE  EXEC/1  WAIT/1     P50     P99");
  for (size_t i = 0; i < k->tiers; i++) {
    const struct view_tier *t = &k->tier[i];
    struct top_numbers n;
    top_number(&n, p->v, &(struct top_row){.kind = k, .tier = t});
    const char *number[] = {shown_share(ask_tier_time(t), k->member),
                            shown_mark(n.lacks_exec, shown_short(n.exec_each)),
                            shown_mark(n.lacks_waiting, shown_short(n.waiting_each)),
                            shown_mark(n.lacks_points, shown_short(n.p50)),
                            shown_mark(n.lacks_points, shown_short(n.p99)),
                            top_rate(t->count, top_span(p->v)),
                            t->count ? turn_text("%.1f", (double)t->calls.sum / (double)t->count)
                                     : "-"};
    top_line(p->s, t->name, number, wide ? 7 : 5, NULL);
  }
  const char *other[] = {shown_share(k->other_exec + k->other_waiting, k->member),
                         shown_short(ask_each(k->other_exec, k->count)),
                         shown_short(ask_each(k->other_waiting, k->count)), "", ""};
  top_line(p->s, "(no tier)", other, sizeof other / sizeof *other, NULL);
}

static void add_function(const struct page *p, const struct beneath_function *b) {
  struct top_numbers n;
  top_number(&n, p->v, &(struct top_row){.function = &b->part});
  const char *exec = n.exec == TOP_UNKNOWN ? "?" : shown_share(n.exec, top_span(p->v));
  const char *number[] = {top_rate(n.ended, top_span(p->v)), shown_mark(n.lacks_exec, exec),
                          shown_mark(n.lacks_queued, shown_short(n.queued_each)),
                          shown_mark(n.lacks_waiting, shown_short(n.waiting_each)),
                          shown_count(n.live)};
  if (n.ended || n.live || n.runs)
    top_line(p->s, b->whole->name, number, sizeof number / sizeof *number, b->whole);
}

static void add_functions(const struct page *p) {
  const struct view_function *root = ask_root_of(p->v, p->k);
  struct beneath all = ask_beneath(p->v);
  size_t kinds = root ? ask_kinds_of_root(p->v, root) : 0;
  if (root)
    top_title(p->s, kinds > 1 ? "FUNCTIONS, OF ALL KINDS THAT BEGIN THERE" : "FUNCTIONS",
              "  RATE/S    EXEC QUEUED/1 WAIT/1    LIVE");
  for (size_t i = 0; root && i < all.functions; i++)
    if (all.function[i].root == root)
      add_function(p, &all.function[i]);
  ask_beneath_free(&all);
}

/* -- one by one ------------------------------------------------------------------------------ */

static void add_live(const struct page *p) {
  bool any = false;
  for (size_t i = 0; i < p->v->pendings; i++) {
    const struct view_pending *one = &p->v->pending[i];
    if (strcmp(one->kind, p->k->kind) != 0 || strcmp(one->function, p->k->function) != 0)
      continue;
    if (!any)
      top_title(p->s, "LIVE", "     AGE FUTURES");
    any = true;
    const struct view_live *at = ask_holder(p->v, one);
    char *what = at ? print_string("%s %s %s", at->name, shown_state(at),
                                   at->place ? base_name(at->place) : "")
                    : print_string("%s", "its futures are not listed");
    const char *number[] = {shown_short(one->age), shown_count(one->members)};
    top_line(p->s, what, number, sizeof number / sizeof *number, NULL);
    free(what);
  }
}

/* "14:03:11.204  db 66% fs 10%" */
static char *told(const struct view_slow *slow) {
  bool whole = slow->began_at && strlen(slow->began_at) > DATE + CLOCK;
  char *text = print_string("%.*s", CLOCK, whole ? slow->began_at + DATE : "-");
  for (size_t i = 0; i < slow->tiers; i++) {
    const struct view_slow_tier *t = &slow->tier[i];
    char *longer = print_string("%s%s%s %s", text, i ? " " : "  ", t->name,
                                shown_share(plus(t->exec, t->waiting), slow->member));
    free(text);
    text = longer;
  }
  if (slow->failed || slow->trace) {
    char *longer = print_string("%s%s%s%s", text, slow->failed ? "  failed" : "",
                                slow->trace ? "  trace " : "", slow->trace ? slow->trace : "");
    free(text);
    text = longer;
  }
  return text;
}

/* Of the last minutes, whatever the window: a shorter one has few, or none. */
static void add_slowest(const struct page *p, const struct view_kind *k) {
  if (k->slows) {
    sheet_row(p->s, print_string("%s", ""), NULL);
    sheet_row(p->s,
              print_string(SHEET_TITLE
                           "SLOWEST" SHEET_FAINT
                           "    WALL  QUEUED    EXEC WAITING  BEGAN, UTC    TIERS, last minutes"),
              NULL);
  }
  for (size_t i = 0; i < k->slows; i++) {
    const struct view_slow *slow = &k->slow[i];
    char *numbers = print_string(
             "%15s %7s %7s %7s  ", shown_short(slow->wall), shown_share(slow->queued, slow->member),
             shown_share(slow->exec, slow->member), shown_share(slow->waiting, slow->member)),
         *text = told(slow);
    size_t used = shown_width(numbers), room = p->s->width > used + 8 ? p->s->width - used : 8;
    sheet_row(p->s, print_string("%s%s", numbers, cut_right(text, room)), NULL);
    free(numbers);
    free(text);
  }
}

void top_kind_page(struct sheet *s, const struct top_look *look, const struct top_process *of) {
  const struct view *v = of->view;
  struct page p = {
      .s = s, .v = v, .k = top_find_kind(v, look->kind), .lacks = view_lacks(v, v->shed)};
  top_head_line(s, look, of);
  if (!p.k) {
    s->title = print_string("%.*s", (int)strcspn(look->kind, "\n"), look->kind);
    sheet_row(s, print_string("there were no such requests in this time"), NULL);
    return;
  }
  s->title = print_string(
      "%s  %s", cut_middle(ask_kind_name(v, p.k), s->width / 2),
      cut_left(p.k->file ? place_text(p.k->file, p.k->line) : p.k->function, s->width / 2 - 3));
  add_sums(&p);
  add_times(&p);
  const struct view_kind *whole = of->whole ? top_find_kind(of->whole, look->kind) : NULL;
  add_slowest(&p, whole ? whole : p.k);
  add_tiers(&p);
  add_functions(&p);
  add_live(&p);
}
