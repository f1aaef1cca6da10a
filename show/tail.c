/* SPDX-License-Identifier: MIT */
/*
 * What differs inside the slowest requests of a recording, or inside those that came by a place, as
 * text in 80 columns and as JSON (aprof.tail/1).
 *
 * Purpose: the first line names what makes most of the difference; the table is all of it.
 * Cost: that of ask/tail.h. Locking: none.
 */
#include "ask/tail.h"
#include "apart.h"
#include "asked.h"
#include "format.h"
#include "outputs.h"
#include "read/util.h"
#include "report.h"
#include "tail-rows.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS = 10 };

struct options {
  struct slowest_filter filter;
  uint64_t rows;  /* 0: all */
  const char *by; /* several are told apart; or NULL */
  struct output_from from;
};

static void print_kind(const struct story *s, const struct slowest_kind *k, const struct tail *t,
                       const struct options *o, FILE *out) {
  static const struct tail_heads slowest = {"others", "slow"}, by = {"others", "reached"};
  const char *none = o->filter.by ? "%s: none of the %s reached it" : "%s: none of the %s is slow";
  double slow = tail_mean(t, t->wall, TAIL_SLOW), rest = tail_mean(t, t->wall, TAIL_REST);
  char *cause = t->count[TAIL_SLOW] ? tail_rows_cause(s, k->name, t)
                                    : print_string(none, k->name, shown_count(k->count));
  style_set(out, STYLE_TITLE);
  report_print_wrapped(out, cause, 0);
  style_set(out, STYLE_PLAIN);
  free(cause);
  if (!t->count[TAIL_SLOW])
    return;
  char *which = print_string("%s; %s on average, others %s", asked_slow(k, &o->filter),
                             shown_time(rounded(slow)),
                             t->count[TAIL_REST] ? shown_time(rounded(rest)) : "-");
  report_print_wrapped(out, which, 0);
  free(which);
  tail_rows_print(s, t, o->rows, o->filter.by ? &by : &slowest, out);
}

/* False after a message. */
static bool has_others(const struct story *s) {
  if (s->over)
    complain("the recording has only requests of %s or more: there are no others to compare them "
             "with; record without --over, or ask `aprof slow'",
             shown_time(s->over));
  return !s->over;
}

/* Those that have others first: the first line is the first kind's. */
static struct slowest *find_kinds(const struct story *s, const struct slowest_filter *f) {
  struct slowest *all = has_others(s) ? slowest_find(s, f) : NULL;
  if (all)
    slowest_compared_first(all);
  return all;
}

static int print(const struct story *s, const void *options, FILE *out) {
  const struct options *o = options;
  struct slowest *all = find_kinds(s, &o->filter);
  if (!all)
    return OUTPUT_FAILED;
  struct critical *c = critical_new(s);
  style_choose(out);
  bool any = false;
  for (size_t i = 0; i < all->kinds; i++) {
    if (!all->kind[i].count)
      continue; /* its partial ones are counted below */
    struct tail *t = tail_of(s, c, &all->kind[i]);
    if (any)
      fputc('\n', out);
    any = true;
    print_kind(s, &all->kind[i], t, o, out);
    tail_free(t);
  }
  asked_print_source(s, out);
  critical_free(c);
  slowest_free(all);
  return 0;
}

/* -- JSON ------------------------------------------------------------------------------ */

static void emit_kind(struct emit *e, const struct story *s, const struct slowest_kind *k,
                      const struct tail *t, const struct slowest_filter *f) {
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "kind", k->name);
  emit_number(e, "partial", k->partial);
  emit_number(e, "failed", k->failed);
  emit_maybe(e, "threshold_ns", k->threshold, k->slow != 0 && !f->by);
  emit_number(e, "others", t->count[TAIL_REST]);
  emit_number(e, "slow", t->count[TAIL_SLOW]);
  emit_number(e, "others_wall_ns", t->wall[TAIL_REST]);
  emit_number(e, "slow_wall_ns", t->wall[TAIL_SLOW]);
  emit_float(e, "more_ns", tail_more(t, t->wall), 1);
  tail_rows_emit_cause(e, s, k->name, t);
  tail_rows_emit(e, s, t);
  emit_close(e, '}');
}

static int write_json(const struct story *s, const void *options, FILE *out) {
  const struct options *o = options;
  struct slowest *all = find_kinds(s, &o->filter);
  struct emit e;
  if (!all)
    return OUTPUT_FAILED;
  struct critical *c = critical_new(s);
  emit_begin(&e, out, "aprof.tail/1");
  asked_emit_source(&e, s);
  emit_text(&e, "by", o->filter.by);
  emit_list(&e, "kinds");
  for (size_t i = 0; i < all->kinds; i++) {
    struct tail *t = tail_of(s, c, &all->kind[i]);
    emit_kind(&e, s, &all->kind[i], t, &o->filter);
    tail_free(t);
  }
  emit_close(&e, ']');
  emit_end(&e);
  critical_free(c);
  slowest_free(all);
  return 0;
}

/* -- as an output ---------------------------------------------------------------------- */

static const char *offer_by(size_t i) {
  static const char *const words[] = {"host", "build", "process", NULL};
  return words[i];
}

/* What has a colon is a place in the program: no key of a label has one. */
static char *take_by(void *options, const char *text) {
  struct options *o = options;
  bool place = strchr(text, ':') != NULL;
  o->by = place ? NULL : text;
  o->filter.by = place ? text : NULL;
  return NULL;
}

static char *take_from(void *options, const char *text) {
  struct output_from *f = &((struct options *)options)->from;
  f->from = reallocate(f->from, f->froms + 1, sizeof *f->from);
  f->from[f->froms++] = text;
  return NULL;
}

static void release(void *options) {
  free(((struct options *)options)->from.from);
}

static const struct option_row own[] = {
    {"top", 'n', OPTION_COUNT, offsetof(struct options, rows), "N",
     .text = "Show N rows of each kind (default 10; 0: all)"},
    {"by", 0, OPTION_OWN, 0, "WHAT", .take = take_by, .offer = offer_by,
     .text = "Compare instead, of several targets, one host, build, process, or value of a label "
             "with the others: host, build, process, or the KEY of a label; FILE:LINE compares "
             "requests that reached that line with those that did not"},
    {"from", 0, OPTION_OWN, 0, "URL|FILE", .take = take_from,
     .text = "--by: of what other `aprof serve' tell, as theirs; more than once"},
    {"from-token-file", 0, OPTION_TEXT, offsetof(struct options, from.token_file), "FILE",
     .text = "The token in FILE is sent to them; else that of APROF_FROM_TOKEN"},
    {0}};

static const char *fault_of(const void *options, size_t targets, bool json) {
  const struct options *o = options;
  bool slowest = o->filter.percent > 0 || o->filter.over;
  if (!o->by && (o->from.froms || o->from.token_file))
    return "what others tell is compared: --by host";
  if (o->by && slowest)
    return "--by compares all requests: without --slowest and --over";
  return asked_fault(options, targets, json);
}

/* -- several, told apart ------------------------------------------------------------------- */

static bool is_apart(const void *options) {
  return ((const struct options *)options)->by != NULL;
}

static struct apart_options apart_options_of(const struct options *o) {
  return (struct apart_options){o->by, {.kind = o->filter.kind}, o->rows};
}

static int print_many(const struct output_many *m, const void *options, FILE *out) {
  struct apart_options o = apart_options_of(options);
  return apart_print(m, &o, out);
}

static int write_many(const struct output_many *m, const void *options, FILE *out) {
  struct apart_options o = apart_options_of(options);
  return apart_json(m, &o, out);
}

static const struct output_manys many = {is_apart, offsetof(struct options, from), print_many,
                                         write_many};

const struct output output_tail = {
    .name = "tail",
    .summary = "what differs inside the slowest requests: why they are slow",
    .about = "Shows what the slowest requests of each kind spent their time on, and the others did "
             "not: the mean of the slow ones less the mean of the others, path by path along their "
             "critical paths. The first line names what makes most of it; the rows add up to all "
             "of it.\n\nWith --by TARGETs are recordings, totals, live processes, or URLs of other "
             "`aprof serve', of one or of several hosts each.",
    .option = own,
    .size = sizeof(struct options),
    .defaults = &(const struct options){.rows = ROWS},
    .asks_slowest = true,
    .slowest = offsetof(struct options, filter),
    .fault = fault_of,
    .release = release,
    .many = &many,
    .story_text = print,
    .story_json = write_json};
