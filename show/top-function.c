/* SPDX-License-Identifier: MIT */
/* All about one function: its times, what it awaits, who calls it, which of it live; see top.h. */
#include "ask/live.h"
#include "format.h"
#include "read/util.h"
#include "top.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 64 };

struct page {
  struct sheet *s;
  const struct top_process *p;
  const struct view *v;
  const struct view_function *f;
};

static const struct view_function *named(const struct view *v, const char *name) {
  for (size_t i = 0; name && i < v->functions; i++)
    if (!strcmp(v->function[i].name, name))
      return &v->function[i];
  return NULL;
}

const struct view_function *top_find_function(const struct view *v, const char *key) {
  const char *name = strrchr(key, '\n') + 1;
  for (size_t i = 0; i < v->functions; i++) {
    char *own = strcmp(v->function[i].name, name) ? NULL : top_key(&v->function[i]);
    bool is = own && !strcmp(own, key);
    free(own);
    if (is)
      return &v->function[i];
  }
  return NULL;
}

/* -- times ---------------------------------------------------------------------------- */

static void add_times(const struct page *p) {
  const struct view_function *f = p->f;
  const struct {
    const char *what;
    const struct distribution *of;
    bool lacks;
  } row[] = {{"runs (holds of its loop)", &f->slice_of, LACKS(f->lacks, function, slice_of)},
             {"exec of a future", &f->exec_of, LACKS(f->lacks, function, exec_of)},
             {"queued before a run", &f->queued_of, LACKS(f->lacks, function, queued_of)},
             {"life of a future", &f->wall_of, LACKS(f->lacks, function, wall_of)}};
  const uint64_t worst[] = {f->slice_max, f->exec_max, UNKNOWN, f->wall_max};
  if (f->slice_of.count || f->exec_of.count || f->queued_of.count || f->wall_of.count)
    top_title(p->s, "TIMES", "     P50     P90     P99    P999   WORST");
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    const struct distribution *d = row[i].of;
    if (!d->count)
      continue;
    char *edge = print_string("%s%s", worst[i] == UNKNOWN ? "<" : "", shown_short(d->max));
    const char *number[] = {shown_mark(row[i].lacks, shown_short(d->p50)),
                            shown_mark(row[i].lacks, shown_short(d->p90)),
                            shown_mark(row[i].lacks, shown_short(d->p99)),
                            shown_mark(row[i].lacks, shown_short(d->p999)),
                            shown_mark(row[i].lacks, edge)};
    top_line(p->s, row[i].what, number, 5, NULL);
    free(edge);
  }
  if (f->slice_max != UNKNOWN && f->slice_between[0])
    sheet_row(p->s,
              print_string("longest run: %s .. %s", cut_left(f->slice_between[0], 30),
                           f->slice_between[1] ? cut_left(f->slice_between[1], 30) : "?"),
              NULL);
}

/* -- awaits --------------------------------------------------------------------------- */

static int by_waiting(const void *a, const void *b) {
  const struct view_await *x = *(const struct view_await *const *)a,
                          *y = *(const struct view_await *const *)b;
  return x->waiting > y->waiting ? -1 : x->waiting < y->waiting ? 1 : x < y ? -1 : x > y;
}

static void add_awaits(const struct page *p) {
  const struct view_function *f = p->f;
  const struct view_await **await = allocate(f->awaits + 1, sizeof *await);
  uint64_t span = top_span(p->v);
  for (size_t i = 0; i < f->awaits; i++)
    await[i] = &f->await[i];
  if (f->awaits) {
    qsort(await, f->awaits, sizeof *await, by_waiting);
    top_title(p->s, "AWAITS", "  RATE/S  OF ALL    MEAN     P99   WORST");
  }
  for (size_t i = 0; i < f->awaits; i++) {
    const struct view_await *a = await[i];
    char *what = print_string("%s%s %s%s", a->background ? "(new work) " : "", a->callee,
                              base_name(a->file ? a->file : ""),
                              a->line ? strrchr(place_text("", a->line), ':') : "");
    bool lacks = LACKS(f->lacks, await, waiting);
    char *worst = print_string("%s%s", a->max == UNKNOWN ? "<" : "", shown_short(a->waits.max));
    const char *number[] = {
        top_rate(a->count, span), shown_mark(lacks, shown_share(a->waiting, f->waiting)),
        shown_mark(lacks, shown_short(a->count ? a->ended / a->count : UNKNOWN)),
        a->waits.count ? shown_mark(lacks, shown_short(a->waits.p99)) : "-",
        a->waits.count ? shown_mark(lacks, worst) : "-"};
    top_line(p->s, what, number, 5, named(p->v, a->callee));
    free(worst);
    free(what);
  }
  free(await);
}

/* -- callers ---------------------------------------------------------------------------- */

struct caller {
  size_t function; /* SIZE_MAX: nobody */
  uint64_t created, wall;
};

static int by_created(const void *a, const void *b) {
  const struct caller *x = a, *y = b;
  return x->created > y->created ? -1 : x->created < y->created ? 1 : 0;
}

static size_t caller_of(const struct view *v, const struct view_path *path) {
  for (int steps = 0; path->parent < v->paths && steps < STEPS; steps++) {
    path = &v->path[path->parent];
    if (!path->is_await)
      return path->function < v->functions ? path->function : SIZE_MAX;
  }
  return SIZE_MAX;
}

static struct caller *callers_of(const struct page *p, size_t *count) {
  const struct view *v = p->v;
  struct caller *caller = NULL;
  *count = 0;
  for (size_t i = 0; i < v->paths; i++) {
    const struct view_path *path = &v->path[i];
    if (path->is_await || path->function != (uint64_t)(p->f - v->function) || !path->created)
      continue;
    size_t who = caller_of(v, path), at = 0;
    while (at < *count && caller[at].function != who)
      at++;
    if (at == *count) {
      caller = reallocate(caller, ++*count, sizeof *caller);
      caller[at] = (struct caller){.function = who};
    }
    add_to(&caller[at].created, path->created);
    add_to(&caller[at].wall, path->wall == UNKNOWN ? 0 : path->wall);
  }
  if (*count)
    qsort(caller, *count, sizeof *caller, by_created);
  return caller;
}

static void add_callers(const struct page *p) {
  size_t count;
  struct caller *caller = callers_of(p, &count);
  uint64_t all = 0;
  for (size_t i = 0; i < count; i++)
    all += caller[i].created;
  if (count)
    top_title(p->s, "CALLERS", "  RATE/S  OF ALL  LIFE/1");
  for (size_t i = 0; i < count; i++) {
    const struct caller *c = &caller[i];
    const struct view_function *f = c->function == SIZE_MAX ? NULL : &p->v->function[c->function];
    const char *number[] = {top_rate(c->created, top_span(p->v)), shown_share(c->created, all),
                            shown_short(c->created ? c->wall / c->created : UNKNOWN)};
    top_line(p->s, f ? f->name : "(no future: the loop, or main)", number, 3, f);
  }
  free(caller);
}

/* -- what lives --------------------------------------------------------------------------- */

static void add_group(const struct page *p, const struct live_group *g) {
  const struct view_live *live = g->like;
  if (live->function != (uint64_t)(p->f - p->v->function))
    return;
  const char *place = live->place ? live->place : live->created_at ? live->created_at : "?";
  char *count = g->count > 1 ? print_string(" x%s", shown_count(g->count)) : print_string("%s", "");
  char *what = print_string("%s%s %s%s", shown_state(live), count,
                            g->holds ? "HOLDS its loop" : base_name(place), "");
  const char *number[] = {shown_short(g->since), shown_short(g->age),
                          g->due ? shown_short(g->due) : ""};
  top_line(p->s, what, number, 3, live->callee ? named(p->v, live->callee) : NULL);
  free(what);
  free(count);
}

static void add_live(const struct page *p) {
  struct live_tree tree = ask_live(p->v);
  if (p->f->live)
    top_title(p->s, "LIVE", "     FOR     AGE  DUE IN");
  for (size_t i = 0; i < tree.groups; i++)
    add_group(p, &tree.group[i]);
  for (size_t i = 0; i < tree.listeners; i++)
    add_group(p, &tree.listener[i]);
  ask_live_free(&tree);
}

static void add_findings(const struct page *p, const struct top_look *look) {
  size_t count;
  struct finding *finding = ask_findings(p->v, &look->limits, &count);
  for (size_t i = 0; i < count; i++)
    if (finding[i].function == p->f)
      sheet_wrapped(p->s, "! ", shown_sentence(finding[i].text), NULL);
  findings_free(finding, count);
}

static void add_sums(const struct page *p) {
  const struct view_function *f = p->f;
  const struct view *v = p->v;
  char *text = print_string("%s/s, exec %s (%s each), queued %s, waiting %s, %s live",
                            top_rate(top_ended(f), top_span(v)),
                            f->exec == UNKNOWN ? "?" : shown_share(f->exec, top_span(v)),
                            shown_short(top_per_call(v, f, f->exec)),
                            shown_short(top_per_call(v, f, f->queued)),
                            shown_short(top_per_call(v, f, f->waiting)), shown_count(f->live));
  if (f->failed || f->cancelled) {
    char *more = print_string("%s, %s failed, %s cancelled", text, shown_count(f->failed),
                              shown_count(f->cancelled));
    free(text);
    text = more;
  }
  sheet_wrapped(p->s, "", text, NULL);
  free(text);
}

void top_function_page(struct sheet *s, const struct top_look *look, const struct top_process *of) {
  const char *key = look->function[look->depth];
  struct page p = {.s = s, .p = of, .v = of->view, .f = top_find_function(of->view, key)};
  top_head_line(s, look, of);
  if (!p.f) {
    s->title = print_string("%s", strrchr(key, '\n') + 1);
    sheet_row(s, print_string("it has not been seen since the start, or the last reset"), NULL);
    return;
  }
  s->title =
      print_string("%s  %s", cut_middle(p.f->name, s->width / 2),
                   cut_left(p.f->file ? place_text(p.f->file, p.f->line) : "", s->width / 2 - 3));
  add_findings(&p, look);
  add_sums(&p);
  add_times(&p);
  add_awaits(&p);
  add_callers(&p);
  add_live(&p);
}
