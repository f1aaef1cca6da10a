/* SPDX-License-Identifier: MIT */
/*
 * Who made futures late, as text in 80 columns and as JSON (aprof.blame/1).
 *
 * Purpose: the functions that held loops while others were queued for them, and who these were.
 * Cost: that of ask/blame.h. Locking: none.
 */
#include "ask/blame.h"
#include "asked.h"
#include "format.h"
#include "outputs.h"
#include "read/util.h"
#include "report.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 10, VICTIMS = 3, NAME = 40, TIME = 11, SHARE = 7, COUNT = 10 };

struct options {
  struct slowest_filter filter;
  uint64_t rows; /* 0: all */
};

/* Of whom: all that was queued, or of requests; or NULL after a message. */
struct asked {
  struct slowest *of;
  bool all, only_slow;
};

static bool ask(const struct story *s, const struct options *o, struct asked *a) {
  const struct slowest_filter *f = &o->filter;
  a->only_slow = f->percent > 0 || f->over;
  a->all = !f->kind && !a->only_slow;
  a->of = a->all ? NULL : slowest_find(s, f);
  return a->all || a->of;
}

/* "12 times" */
static const char *shown_times(uint64_t count) {
  return count == 1 ? "once" : turn_text("%s times", shown_count(count));
}

/* Of those that are shown, another one has the same name: its place tells them apart. */
static const char *shown_victim(const struct story *s, const struct blame_row *r, size_t number) {
  const struct story_path *p = &s->paths[r->victim[number].function];
  bool alone = true;
  for (size_t i = 0; i < r->victims && i < VICTIMS; i++)
    alone &= i == number || strcmp(s->paths[r->victim[i].function].name, p->name) != 0;
  const char *place = alone ? "" : asked_place(s, r->victim[number].function);
  return turn_text("`%s`%s%s", p->name, *place ? " at " : "", place);
}

static void print_victims(const struct story *s, const struct blame_row *r, FILE *out) {
  char *text = print_string("of");
  for (size_t i = 0; i < r->victims && i < VICTIMS; i++) {
    char *longer = print_string("%s%s %s %s, %s", text, i ? "," : "", shown_victim(s, r, i),
                                shown_time(r->victim[i].time), shown_times(r->victim[i].count));
    free(text);
    text = longer;
  }
  if (r->victims > VICTIMS) {
    char *longer = print_string("%s, and %zu more", text, r->victims - VICTIMS);
    free(text);
    text = longer;
  }
  fputs("  ", out);
  style_set(out, STYLE_FAINT);
  report_print_wrapped(out, text, 2);
  style_set(out, STYLE_PLAIN);
  free(text);
}

static void print_row(const struct story *s, const struct blamed *b, const struct blame_row *r,
                      FILE *out) {
  uint64_t time = plus(r->time, r->polled), all = plus(b->time, b->polled);
  bool function = r->function != STORY_NONE;
  print_left(out, function ? asked_path(s, r->function, NAME - 1) : asked_none(r->none), NAME);
  print_right(out, shown_time(time), TIME);
  print_right(out, shown_share(time, all), SHARE);
  print_right(out, shown_count(r->count), COUNT);
  print_right(out, function ? shown_time(r->longest) : "-", TIME);
  fputc('\n', out);
  print_victims(s, r, out);
  if (function && s->kernel.has_switches) {
    char *text = print_string("meanwhile %s", asked_on_cpu(&r->held));
    fputs("  ", out);
    style_set(out, STYLE_FAINT);
    report_print_wrapped(out, text, 2);
    style_set(out, STYLE_PLAIN);
    free(text);
  }
}

/* "20.1 s queued, 1.2k times; at least 3.2 s more between poller and callback, 800 times" */
static void print_sums(const struct asked *a, const struct blamed *b, FILE *out) {
  const char *polled = b->polled ? turn_text("; at least %s more between poller and callback, %s",
                                             shown_time(b->polled), shown_times(b->polled_count))
                                 : "";
  const char *unknown = b->unknown ? turn_text("; of %s callbacks it is not known when they were "
                                               "ready, as nothing says where their loop polls",
                                               shown_count(b->unknown))
                                   : "";
  const char *whose = a->all         ? ""
                      : a->only_slow ? turn_text(" in %s slow requests", shown_count(a->of->slow))
                                     : turn_text(" in %s requests", shown_count(a->of->count));
  char *text = print_string("%s queued, %s%s%s%s", shown_time(b->time), shown_times(b->count),
                            whose, polled, unknown);
  style_set(out, STYLE_TITLE);
  report_print_wrapped(out, text, 0);
  style_set(out, STYLE_PLAIN);
  free(text);
}

static int print(const struct story *s, const void *options, FILE *out) {
  const struct options *o = options;
  struct asked a;
  if (!ask(s, o, &a))
    return OUTPUT_FAILED;
  struct blamed *b = blame_all(s, a.of, a.only_slow);
  size_t shown = !o->rows || o->rows > b->rows ? b->rows : o->rows;
  style_choose(out);
  print_sums(&a, b, out);
  if (shown) {
    style_set(out, STYLE_FAINT);
    fputc('\n', out);
    print_left(out, "behind", NAME);
    fprintf(out, "%*s%*s%*s%*s\n", TIME, "time", SHARE, "", COUNT, "times", TIME, "longest");
    style_set(out, STYLE_PLAIN);
  }
  for (size_t i = 0; i < shown; i++)
    print_row(s, b, &b->row[i], out);
  if (shown < b->rows) {
    uint64_t rest = 0;
    for (size_t i = shown; i < b->rows; i++)
      rest = plus(rest, plus(b->row[i].time, b->row[i].polled));
    fprintf(out, "and %s behind %zu more: --top 0\n", shown_time(rest), b->rows - shown);
  }
  asked_print_source(s, out);
  blame_free(b);
  slowest_free(a.of);
  return 0;
}

/* -- JSON ------------------------------------------------------------------------------ */

static void emit_victims(struct emit *e, const struct story *s, const struct blame_row *r) {
  emit_open(e, "delayed", '[');
  for (size_t i = 0; i < r->victims; i++) {
    const struct story_path *p = &s->paths[r->victim[i].function];
    emit_open(e, NULL, '{');
    emit_text(e, "function", p->name);
    emit_place(e, "at", p->file, p->line);
    emit_number(e, "time_ns", r->victim[i].time);
    emit_number(e, "count", r->victim[i].count);
    emit_close(e, '}');
  }
  emit_close(e, ']');
}

static void emit_culprit(struct emit *e, const struct story *s, const struct blame_row *r) {
  const struct story_path *p = r->function != STORY_NONE ? &s->paths[r->function] : NULL;
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "function", p ? p->name : NULL);
  emit_place(e, "at", p ? p->file : NULL, p ? p->line : 0);
  emit_text(e, "by", p ? NULL : asked_none(r->none));
  emit_number(e, "time_ns", r->time);
  emit_number(e, "polled_ns", r->polled);
  emit_number(e, "own_ns", r->own);
  emit_number(e, "count", r->count);
  emit_maybe(e, "longest_ns", r->longest, p != NULL);
  asked_emit_on_cpu(e, s, &r->held);
  emit_victims(e, s, r);
  emit_close(e, '}');
}

static int write_json(const struct story *s, const void *options, FILE *out) {
  struct asked a;
  struct emit e;
  if (!ask(s, options, &a))
    return OUTPUT_FAILED;
  struct blamed *b = blame_all(s, a.of, a.only_slow);
  emit_begin(&e, out, "aprof.blame/1");
  asked_emit_source(&e, s);
  emit_maybe(&e, "requests", a.all ? 0 : a.only_slow ? a.of->slow : a.of->count, !a.all);
  emit_number(&e, "queued_ns", b->time);
  emit_number(&e, "queued_count", b->count);
  emit_number(&e, "polled_ns", b->polled);
  emit_number(&e, "polled_count", b->polled_count);
  emit_number(&e, "unknown", b->unknown);
  emit_list(&e, "behind");
  for (size_t i = 0; i < b->rows; i++)
    emit_culprit(&e, s, &b->row[i]);
  emit_close(&e, ']');
  emit_end(&e);
  blame_free(b);
  slowest_free(a.of);
  return 0;
}

/* -- as an output ---------------------------------------------------------------------- */

static const struct option_row own[] = {{"top", 'n', OPTION_COUNT, offsetof(struct options, rows),
                                         "N", .text = "Show N functions (default 10; 0: all)"},
                                        {0}};

const struct output output_blame = {
    .name = "blame",
    .summary = "who made futures late: what loops ran while others were queued",
    .about = "Shows which functions held the loops while futures that were ready waited for them: "
             "each nanosecond of queued time is one function's, or the loop's own. With --kind, "
             "--slowest or --over only the time of such requests.",
    .option = own,
    .size = sizeof(struct options),
    .defaults = &(const struct options){.rows = ROWS},
    .asks_slowest = true,
    .slowest = offsetof(struct options, filter),
    .fault = asked_fault,
    .story_text = print,
    .story_json = write_json};
