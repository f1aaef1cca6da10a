/* SPDX-License-Identifier: MIT */
/* The slowest requests of a recording, each as its critical path; see slow.h. */
#include "ask/blame.h"
#include "ask/critical.h"
#include "asked.h"
#include "format.h"
#include "outputs.h"
#include "read/util.h"
#include "report.h"
#include "slow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 16, AT = 9, WHAT = 10, TIME = 9 };

struct written {
  const struct story *story;
  const struct slow_options *options;
  struct slowest_filter filter;
  uint32_t *function; /* by path: see blame_functions */
  FILE *out;
};

static struct slowest *begin(struct written *w, const struct story *s,
                             const struct slow_options *o) {
  *w = (struct written){.story = s, .options = o};
  w->filter = (struct slowest_filter){
      .kind = o->requests->kind, .tier = o->requests->tier, .percent = o->percent, .over = o->over};
  return slowest_find(s, &w->filter);
}

/* How many of the kind are shown. */
static uint32_t shown_of(const struct written *w, const struct slowest_kind *k) {
  uint32_t meant = w->filter.over || w->filter.percent > 0 ? k->slow : k->count;
  return w->options->rows && w->options->rows < meant ? (uint32_t)w->options->rows : meant;
}

/* -- whom a piece was queued behind ------------------------------------------------------ */

struct behind {
  const struct written *w;
  struct culprit {
    uint32_t function; /* path; NONE: see `none` */
    int none;
    uint64_t time;
  } * of;
  size_t count, room;
};

static void add_culprit(const struct blame_part *part, void *context) {
  struct behind *b = context;
  const struct story *s = b->w->story;
  uint32_t function =
      part->slice ? b->w->function[s->futures[part->slice->future].path] : STORY_NONE;
  for (size_t i = 0; i < b->count; i++)
    if (b->of[i].function == function && (part->slice || b->of[i].none == (int)part->none)) {
      b->of[i].time += part->time;
      return;
    }
  if (b->count == b->room) {
    b->room = b->room ? b->room * 2 : 8;
    b->of = reallocate(b->of, b->room, sizeof *b->of);
  }
  b->of[b->count++] = (struct culprit){function, part->slice ? 0 : (int)part->none, part->time};
}

static int by_time(const void *a, const void *b) {
  const struct culprit *x = a, *y = b;
  return (x->time < y->time) - (x->time > y->time);
}

/* Most time first; free() its list. */
static struct behind behind_of(const struct written *w, const struct critical_piece *p) {
  struct behind b = {.w = w};
  blame_stretch(w->story, NULL, p->thread, p->begin, p->end, add_culprit, &b);
  if (b.count)
    qsort(b.of, b.count, sizeof *b.of, by_time);
  return b;
}

/* "behind save_upload upload.c:133 and 2 more" */
static const char *shown_behind(const struct written *w, const struct critical_piece *p,
                                size_t width) {
  struct behind b = behind_of(w, p);
  const char *more = b.count > 1 ? turn_text(" and %zu more", b.count - 1) : "";
  const char *text = "";
  if (b.count && b.of->function == STORY_NONE)
    text = turn_text("by %s%s", asked_none(b.of->none), more);
  else if (b.count)
    text = turn_text("behind %s%s",
                     asked_path(w->story, b.of->function, width - 7 - shown_width(more)), more);
  free(b.of);
  return text;
}

/* -- text ------------------------------------------------------------------------------ */

struct ranked {
  uint64_t length;
  size_t at;
};

static int by_length(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  return x->length != y->length ? (x->length < y->length) - (x->length > y->length)
                                : (x->at > y->at) - (x->at < y->at);
}

/* Which pieces have a line of their own: none that is next to nothing; where there are many the
   longest, as each may have a line of short ones before it. free() it. */
static bool *choose_lines(const struct critical_piece *p, size_t count, uint64_t wall, bool all) {
  struct ranked *rank = allocate(count + 1, sizeof *rank);
  bool *has_line = allocate(count + 1, sizeof *has_line);
  size_t lines = all || count <= LINES ? count : LINES / 2;
  for (size_t i = 0; i < count; i++)
    rank[i] = (struct ranked){p[i].end - p[i].begin, i};
  qsort(rank, count, sizeof *rank, by_length);
  for (size_t i = 0; i < lines; i++)
    has_line[rank[i].at] = all || rank[i].length >= wall / 1000;
  /* One that stands alone takes no more room by itself. */
  for (size_t i = 0; i < count; i++)
    if ((i == 0 || has_line[i - 1]) && (i + 1 == count || has_line[i + 1]))
      has_line[i] = true;
  free(rank);
  return has_line;
}

static void print_times(const struct written *w, const struct asked_unit *unit, uint64_t at,
                        const char *what, uint64_t time) {
  print_right(w->out, asked_time(unit, (double)at), AT);
  fputs("  ", w->out);
  print_left(w->out, what, WHAT);
  print_right(w->out, asked_time(unit, (double)time), TIME);
  fputs("  ", w->out);
}

/* What a piece that ran had of its thread. */
static struct on_cpu on_cpu_of(const struct story *s, const struct critical_piece *p) {
  struct on_cpu had = {0};
  if (p->what == CRITICAL_EXEC && p->thread != STORY_NONE)
    on_cpu_add(&had, s, p->thread, p->begin, p->end);
  return had;
}

/* ", 3.1 ms blocked in the kernel": where it was off its processor for a tenth of the piece or
   more; else "". */
static const char *shown_off(const struct story *s, const struct critical_piece *p) {
  struct on_cpu had = on_cpu_of(s, p);
  if (!s->kernel.has_switches || had.preempted + had.blocked < (p->end - p->begin) / 10)
    return "";
  had.on = had.unknown = 0;
  const char *text = asked_on_cpu(&had);
  return *text ? turn_text(", %s", text) : "";
}

static void print_piece(const struct written *w, const struct asked_unit *unit,
                        const struct story_request *r, const struct critical_piece *p) {
  const struct story *s = w->story;
  const char *tier = p->tier < STORY_TIERS && p->tier ? s->tiers[p->tier] : NULL;
  size_t width = FORMAT_WIDTH - AT - WHAT - TIME - 4;
  tier = tier ? cut_right(tier, 16) : NULL;
  width -= tier ? shown_width(tier) + 3 : 0;
  print_times(w, unit, p->begin - r->begin, asked_whats[p->what], p->end - p->begin);
  const char *off = shown_off(s, p);
  const char *name = p->what == CRITICAL_QUEUED   ? shown_behind(w, p, width)
                     : p->what == CRITICAL_UNSEEN ? ""
                                                  : asked_path(s, p->path, width);
  fprintf(w->out, "%s%s%s%s\n", name, tier ? " [" : "", tier ? tier : "", tier ? "]" : "");
  if (*off)
    fprintf(w->out, "%*s  of that%s\n", AT + 2 + WHAT + TIME, "", off + 1);
}

/* The next that have no lines of their own; how many. */
static size_t print_short(const struct written *w, const struct asked_unit *unit,
                          const struct story_request *r, const struct critical_piece *p,
                          const bool *has_line, size_t count) {
  uint64_t sum[CRITICAL_WHATS] = {0};
  size_t n = 0;
  char *text = print_string("%s", "");
  for (; n < count && !has_line[n]; n++)
    sum[p[n].what] += p[n].end - p[n].begin;
  for (int what = 0; what < CRITICAL_WHATS; what++)
    if (sum[what]) {
      char *longer = print_string("%s%s%s %s", text, *text ? ", " : "", asked_whats[what],
                                  asked_time(unit, (double)sum[what]));
      free(text);
      text = longer;
    }
  print_times(w, unit, p[0].begin - r->begin, turn_text("%zu short", n), p[n - 1].end - p[0].begin);
  fprintf(w->out, "%s\n", text);
  free(text);
  return n;
}

static void print_request(const struct written *w, const struct slowest_kind *k,
                          const struct story_request *r, const struct critical_piece *p,
                          size_t count) {
  struct asked_unit unit = asked_unit((double)slowest_wall(r));
  uint64_t sum[CRITICAL_WHATS] = {0};
  bool *has_line = choose_lines(p, count, slowest_wall(r), w->options->rows == 0);
  for (size_t i = 0; i < count; i++)
    sum[p[i].what] += p[i].end - p[i].begin;
  const char *unseen =
      sum[CRITICAL_UNSEEN]
          ? turn_text(" + %s not seen", asked_time(&unit, (double)sum[CRITICAL_UNSEEN]))
          : "";
  char *title = print_string("%s %s %s = %s queued + %s running + %s waiting%s", k->name,
                             asked_time(&unit, (double)slowest_wall(r)), unit.name,
                             asked_time(&unit, (double)sum[CRITICAL_QUEUED]),
                             asked_time(&unit, (double)sum[CRITICAL_EXEC]),
                             asked_time(&unit, (double)sum[CRITICAL_WAITING]), unseen);
  fputc('\n', w->out);
  style_set(w->out, STYLE_TITLE);
  report_print_wrapped(w->out, title, 0);
  style_set(w->out, STYLE_FAINT);
  fprintf(w->out, "%*s  %s%s", AT, "", asked_clock(w->story, r->begin),
          r->failed ? "  failed" : "");
  if (r->trace[0] || r->trace[1])
    fprintf(w->out, "  trace %016" PRIx64 "%016" PRIx64, r->trace[0], r->trace[1]);
  fputc('\n', w->out);
  style_set(w->out, STYLE_PLAIN);
  for (size_t i = 0; i < count;)
    if (has_line[i])
      print_piece(w, &unit, r, &p[i++]);
    else
      i += print_short(w, &unit, r, &p[i], &has_line[i], count - i);
  free(has_line);
  free(title);
}

static void print_all(struct written *w, const struct slowest *all, struct critical *c) {
  for (size_t i = 0; i < all->kinds; i++) {
    const struct slowest_kind *k = &all->kind[i];
    uint32_t shown = shown_of(w, k);
    for (uint32_t j = 0; j < shown; j++) {
      size_t count;
      const struct critical_piece *p = critical_path(c, k->request[j], &count);
      print_request(w, k, k->request[j], p, count);
    }
    if (shown < (w->filter.over || w->filter.percent > 0 ? k->slow : 0))
      fprintf(w->out, "    and %u more: --top 0\n", k->slow - shown);
  }
}

static void print_title(const struct written *w, const struct slowest *all) {
  char *text = w->filter.over
                   ? print_string("%s of %s requests took %s or more", shown_count(all->slow),
                                  shown_count(all->count), shown_time(w->filter.over))
               : w->filter.percent > 0
                   ? print_string("the slowest %g %% of each kind, of %s requests",
                                  w->filter.percent, shown_count(all->count))
                   : print_string("the slowest of %s requests, along their critical paths",
                                  shown_count(all->count));
  report_print_wrapped(w->out, text, 0);
  free(text);
}

int slow_paths_print(const struct story *s, const void *options, FILE *out) {
  struct written w;
  struct slowest *all = begin(&w, s, options);
  if (!all)
    return OUTPUT_FAILED;
  struct critical *c = critical_new(s);
  w.function = blame_functions(s);
  w.out = out;
  style_choose(out);
  print_title(&w, all);
  print_all(&w, all, c);
  asked_print_source(s, out);
  free(w.function);
  critical_free(c);
  slowest_free(all);
  return 0;
}

/* -- JSON ------------------------------------------------------------------------------ */

static void emit_behind(struct emit *e, const struct written *w, const struct critical_piece *p) {
  if (p->what != CRITICAL_QUEUED) {
    emit_null(e, "behind");
    return;
  }
  struct behind b = behind_of(w, p);
  emit_open(e, "behind", '[');
  for (size_t i = 0; i < b.count; i++) {
    uint32_t f = b.of[i].function;
    const struct story_path *path = f != STORY_NONE ? &w->story->paths[f] : NULL;
    emit_open(e, NULL, '{');
    emit_text(e, "function", path ? path->name : NULL);
    emit_place(e, "at", path ? path->file : NULL, path ? path->line : 0);
    emit_text(e, "by", path ? NULL : asked_none(b.of[i].none));
    emit_number(e, "time_ns", b.of[i].time);
    emit_close(e, '}');
  }
  emit_close(e, ']');
  free(b.of);
}

static void emit_piece(struct emit *e, const struct written *w, const struct story_request *r,
                       const struct critical_piece *p) {
  const struct story *s = w->story;
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_number(e, "at_ns", p->begin - r->begin);
  emit_number(e, "time_ns", p->end - p->begin);
  emit_text(e, "what", asked_whats[p->what]);
  asked_emit_path(e, s, p->path);
  emit_text(e, "tier", p->tier && p->tier < STORY_TIERS ? s->tiers[p->tier] : NULL);
  emit_maybe(e, "thread", p->thread != STORY_NONE ? (uint64_t)s->threads[p->thread].tid : 0,
             p->thread != STORY_NONE);
  struct on_cpu had = on_cpu_of(s, p);
  asked_emit_on_cpu(e, s, &had);
  emit_behind(e, w, p);
  emit_close(e, '}');
}

static void emit_request(struct emit *e, const struct written *w, const struct slowest_kind *k,
                         const struct story_request *r, const struct critical_piece *p,
                         size_t count) {
  uint64_t sum[CRITICAL_WHATS] = {0};
  for (size_t i = 0; i < count; i++)
    sum[p[i].what] += p[i].end - p[i].begin;
  bool traced = r->trace[0] || r->trace[1];
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "kind", k->name);
  emit_text(e, "function", r->function);
  emit_number(e, "number", r->number);
  emit_signed(e, "began_at_ns", moment_after(w->story->started_at_ns, r->begin));
  emit_number(e, "wall_ns", slowest_wall(r));
  emit_number(e, "running_ns", sum[CRITICAL_EXEC]);
  emit_number(e, "queued_ns", sum[CRITICAL_QUEUED]);
  emit_number(e, "waiting_ns", sum[CRITICAL_WAITING]);
  emit_number(e, "not_seen_ns", sum[CRITICAL_UNSEEN]);
  emit_bool(e, "failed", r->failed);
  emit_text(e, "trace",
            traced ? turn_text("%016" PRIx64 "%016" PRIx64, r->trace[0], r->trace[1]) : NULL);
  emit_list(e, "path");
  for (size_t i = 0; i < count; i++)
    emit_piece(e, w, r, &p[i]);
  emit_close(e, ']');
  emit_close(e, '}');
}

int slow_paths_json(const struct story *s, const void *options, FILE *out) {
  struct written w;
  struct emit e;
  struct slowest *all = begin(&w, s, options);
  if (!all)
    return OUTPUT_FAILED;
  struct critical *c = critical_new(s);
  w.function = blame_functions(s);
  emit_begin(&e, out, "aprof.slowest/1");
  asked_emit_source(&e, s);
  emit_number(&e, "requests", all->count);
  emit_list(&e, "slowest");
  for (size_t i = 0; i < all->kinds; i++)
    for (uint32_t j = 0; j < shown_of(&w, &all->kind[i]); j++) {
      size_t count;
      const struct critical_piece *p = critical_path(c, all->kind[i].request[j], &count);
      emit_request(&e, &w, &all->kind[i], all->kind[i].request[j], p, count);
    }
  emit_close(&e, ']');
  emit_end(&e);
  free(w.function);
  critical_free(c);
  slowest_free(all);
  return 0;
}
