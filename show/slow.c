/* SPDX-License-Identifier: MIT */
/*
 * The slowest requests of the last minutes, as text in 80 columns and as JSON (aprof.slow/1).
 *
 * Purpose: one look at those that users complain about: when, how long, where the time went.
 * Those of a recording: slow-paths.c.
 * Cost: linear in what is kept, 16 of each kind.
 */
#include "slow.h"
#include "ask/slowest.h"
#include "emit.h"
#include "format.h"
#include "outputs.h"
#include "read/util.h"
#include "report.h"
#include "slow-log.h"
#include "totals.h"
#include "traces.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 5, LOG_LINES = 10, WALL_WIDTH = 8, TIME_WIDTH = 14, SHARE_WIDTH = 7, TIERS_AT = 54 };

static bool is_meant(const struct view_slow *s, const struct slow_options *o) {
  return s->wall >= o->over;
}

/* "14:03:11.204" of a time in UTC. */
static const char *clock_of(const struct view_slow *s) {
  enum { DATE = 11, CLOCK = 12 };
  bool whole = s->began_at && strlen(s->began_at) > DATE + CLOCK;
  return whole ? turn_text("%.*s", CLOCK, s->began_at + DATE) : "-";
}

static size_t print_tier(const struct view_slow *s, const struct view_slow_tier *t, size_t column,
                         FILE *out) {
  uint64_t time = plus(t->exec, t->waiting);
  char *calls =
      t->calls > 1 ? print_string(" (%s)", shown_count(t->calls)) : print_string("%s", "");
  char *text = print_string(" %s %s%s", t->name, shown_share(time, s->member), calls);
  size_t width = shown_width(text);
  if (column + width > FORMAT_WIDTH) {
    fprintf(out, "\n%*s", TIERS_AT, "");
    column = TIERS_AT;
  }
  fputs(cut_right(text, FORMAT_WIDTH - TIERS_AT), out);
  free(calls);
  free(text);
  return column + width;
}

static void print_slow(const struct view *v, const struct view_slow *s, FILE *out) {
  size_t column = TIERS_AT;
  print_right(out, shown_short(s->wall), WALL_WIDTH);
  print_right(out, clock_of(s), TIME_WIDTH);
  print_right(out, shown_short(s->member), WALL_WIDTH);
  fputs(" =", out);
  print_right(out, shown_share(s->queued, s->member), SHARE_WIDTH);
  print_right(out, shown_share(s->exec, s->member), SHARE_WIDTH);
  print_right(out, shown_share(s->waiting, s->member), SHARE_WIDTH + 1);
  for (size_t i = 0; i < s->tiers; i++)
    column = print_tier(s, &s->tier[i], column, out);
  fputc('\n', out);
  if (s->failed || s->trace || v->processes) {
    fprintf(out, "%*s", WALL_WIDTH, "");
    if (v->processes && s->process < v->processes)
      fprintf(out, "  pid %" PRId64, v->merged[s->process].pid);
    fprintf(out, "%s%s%s\n", s->failed ? "  failed" : "", s->trace ? "  trace " : "",
            s->trace ? s->trace : "");
  }
}

static size_t count_meant(const struct view_kind *k, const struct slow_options *o) {
  size_t count = 0;
  for (size_t i = 0; i < k->slows; i++)
    count += is_meant(&k->slow[i], o);
  return count;
}

static void print_kind(const struct view *v, const struct view_kind *k,
                       const struct slow_options *o, FILE *out) {
  size_t meant = count_meant(k, o), shown = 0;
  if (!meant)
    return;
  char *title = print_string(
      "%s: %s ended, p99 %s, longest %s", ask_kind_name(v, k), shown_count(k->count),
      shown_time(k->wall.of.count ? k->wall.of.p99 : UNKNOWN), shown_time(k->wall.max));
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  report_print_wrapped(out, title, 0);
  style_set(out, STYLE_FAINT);
  fputs("    wall   began, UTC  member =  queued   exec waiting  tiers (calls)\n", out);
  style_set(out, STYLE_PLAIN);
  for (size_t i = 0; i < k->slows && (!o->rows || shown < o->rows); i++)
    if (is_meant(&k->slow[i], o)) {
      print_slow(v, &k->slow[i], out);
      shown++;
    }
  if (shown < meant)
    fprintf(out, "    and %zu more: --top 0\n", meant - shown);
  free(title);
}

static int print(struct view *v, const void *options, FILE *out) {
  const struct slow_options *o = options;
  size_t kept = 0, meant = 0;
  style_choose(out);
  for (size_t i = 0; i < v->kinds; i++) {
    kept += v->kind[i].slows;
    meant += count_meant(&v->kind[i], o);
  }
  char *text =
      !v->kinds ? print_string("no requests: a line with `root' says where one begins, see "
                               "aprof-bindings(5)")
      : !kept   ? print_string("of %s requests none has ended yet, or lately",
                               shown_count(ask_requests(v)))
      : !meant  ? print_string("none of the %zu slowest kept took %s", kept, shown_time(o->over))
                : print_string("the slowest of the last minutes, %s requests in all",
                               shown_count(ask_requests(v)));
  char *line =
      print_string("%s %" PRId64 ": %s", cut_middle(v->process.name, 40), v->process.pid, text);
  report_print_wrapped(out, line, 0);
  for (size_t i = 0; i < v->kinds; i++)
    print_kind(v, &v->kind[i], o, out);
  if (v->processes && meant) {
    fputc('\n', out);
    traces_print(v, o->rows, out);
  }
  if (v->health.slow_missed)
    fprintf(out, "\n%s requests were not looked at, as another thread was keeping one\n",
            shown_count(v->health.slow_missed));
  free(line);
  free(text);
  return 0;
}

/* -- JSON -------------------------------------------------------------------- */

static void emit_slow(struct emit *e, const struct view *v, const struct view_kind *k,
                      const struct view_slow *s) {
  bool several = s->process < v->processes;
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "kind", k->kind);
  emit_bool(e, "labelled", k->labelled);
  emit_signed(e, "pid", several ? v->merged[s->process].pid : v->process.pid);
  emit_text(e, "host", several ? v->merged[s->process].host : v->process.host);
  emit_members(e, &layout_slow, s, NULL);
  emit_number(e, "member_ns", s->member);
  emit_close(e, '}');
}

static int write_json(struct view *v, const void *options, FILE *out) {
  const struct slow_options *o = options;
  struct emit e;
  emit_begin(&e, out, "aprof.slow/1");
  e.gap = "\n";
  emit_open(&e, "process", '{');
  emit_members(&e, &layout_process, &v->process, "pid name host started_at dumped_at elapsed_ns");
  emit_close(&e, '}');
  e.gap = "\n";
  emit_number(&e, "requests", ask_requests(v));
  emit_number(&e, "slow_missed", v->health.slow_missed);
  emit_list(&e, "slowest");
  for (size_t i = 0; i < v->kinds; i++) {
    uint64_t shown = 0;
    for (size_t j = 0; j < v->kind[i].slows && (!o->rows || shown < o->rows); j++)
      if (is_meant(&v->kind[i].slow[j], o)) {
        emit_slow(&e, v, &v->kind[i], &v->kind[i].slow[j]);
        shown++;
      }
  }
  emit_close(&e, ']');
  emit_end(&e);
  return 0;
}

void slow_kept_json(struct view *v, const char *kind, FILE *out) {
  const struct request_filter requests = {.kind = kind, .exact = true};
  const struct slow_options all = {.rows = 0, .requests = &requests};
  if (kind)
    ask_keep_requests(v, &requests);
  write_json(v, &all, out);
}

/* -- as an output -------------------------------------------------------------- */

static char *take_slowest(void *options, const char *text) {
  return slowest_take(&((struct slow_options *)options)->percent, text);
}

static bool wants_story(const void *options) {
  const struct slow_options *o = options;
  return o->paths || o->percent > 0;
}

/* -- as a log ------------------------------------------------------------------ */

static bool wants_follow(const void *options) {
  return ((const struct slow_options *)options)->follow;
}

static uint64_t log_over(const void *options) {
  return ((const struct slow_options *)options)->over;
}

static void *begin_log(const void *options, bool json, FILE *out) {
  const struct slow_options *o = options;
  struct slow_log *l = allocate(1, sizeof *l);
  *l = (struct slow_log){
      .kind = o->requests->kind, .over = o->over, .most = o->most, .json = json, .out = out};
  return l;
}

static void look_for_log(void *log, const struct view *v, uint64_t now) {
  slow_log_look(log, v, now);
}

static void end_log(void *log) {
  slow_log_end(log);
  free(log);
}

static const struct output_follow follow = {wants_follow, log_over, begin_log, look_for_log,
                                            end_log};

static const char *fault_of(const void *options, size_t targets, bool json) {
  const struct slow_options *o = options;
  (void)json;
  if (o->follow && targets > 1)
    return "one process at a time is followed";
  if (o->follow && wants_story(options))
    return "a log is of requests as they end: --follow, or --paths and --slowest";
  if (o->follow && o->requests->tier)
    return "a log is of whole requests: without --tier";
  if (!o->follow && o->most != LOG_LINES)
    return "--most is of a log: with --follow";
  return o->percent > 0 && o->over ? "the slowest so many, or those that took so long: --slowest, "
                                     "or --over"
                                   : NULL;
}

static const struct option_row own[] = {
    {"follow", 'f', OPTION_FLAG, offsetof(struct slow_options, follow),
     .text = "Print a line for each that takes --over, as it ends, until the process ends"},
    {"most", 0, OPTION_COUNT, offsetof(struct slow_options, most), "N",
     .text = "With --follow: N lines a second, and how many are left out (default 10; 0: any)"},
    {"over", 0, OPTION_MS, offsetof(struct slow_options, over), "TIME",
     .text = "Only those that took TIME or more (50ms; a plain number is of milliseconds)"},
    {"paths", 0, OPTION_FLAG, offsetof(struct slow_options, paths),
     .text = "Record a live process first (--for, or 10 s), and show each as its critical path"},
    {"slowest", 0, OPTION_OWN, 0, "PERCENT", .take = take_slowest,
     .text = "Of a recording, or with --paths: only so many of each kind, as 5%"},
    {"top", 'n', OPTION_COUNT, offsetof(struct slow_options, rows), "N",
     .text = "Show N of each kind (default 5; 0: all that are kept)"},
    {0}};

const struct output output_slow = {
    .name = "slow",
    .summary = "show the slowest requests, kind by kind",
    .about = "Shows of each kind of requests the slowest of the last ten minutes: when they began, "
             "how long they took, and in which tiers their time went. Member time is that of all "
             "futures that were a part of it: what ran or waited at once counts twice there, and "
             "once in wall. Of a recording, or with --paths: each as its critical path, laid out "
             "in time.\v"
             "Sixteen of each kind are kept while the process runs, in its profile and its totals: "
             "no trace is needed for these, and nothing has to be switched on.",
    .targets = OUTPUT_INTERVAL,
    .option = own,
    .size = sizeof(struct slow_options),
    .defaults = &(const struct slow_options){.rows = ROWS, .most = LOG_LINES},
    .of_requests = OUTPUT_KINDS,
    .filter = offsetof(struct slow_options, requests),
    .fault = fault_of,
    .text = print,
    .json = write_json,
    .follow = &follow,
    .wants_story = wants_story,
    .story_text = slow_paths_print,
    .story_json = slow_paths_json};
