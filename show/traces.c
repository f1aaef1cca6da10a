/* SPDX-License-Identifier: MIT */
/* Requests that several processes had a part in; see traces.h. */
#include "traces.h"

#include "ask/traces.h"
#include "emit.h"
#include "format.h"
#include "read/util.h"
#include "report.h"
#include "totals.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 8 }; /* steps to the right */
enum { WALL_WIDTH = 8, CLOCK_WIDTH = 15, SHARE_WIDTH = 8, WHO_WIDTH = 22, DATE = 11, CLOCK = 12 };

static uint64_t shown_of(const struct traces *all, uint64_t rows) {
  return rows && rows < all->count ? rows : all->count;
}

static const struct view_process *process_of(const struct view *v, const struct trace_part *p) {
  return p->process < v->processes ? &v->merged[p->process] : &v->process;
}

/* -- text --------------------------------------------------------------------------------- */

static const char *clock_of(const struct trace_part *p) {
  const char *began = p->slow ? p->slow->began_at : NULL;
  return began && strlen(began) > DATE + CLOCK ? turn_text("%.*s", CLOCK, began + DATE) : "-";
}

/* "+3.2ms ±0.4ms": behind the first one's begin. */
static const char *shown_begin(const struct trace *t, const struct trace_part *p) {
  if (p == t->part || !p->placed)
    return clock_of(p);
  uint64_t at = p->at > 0 ? (uint64_t)p->at : 0;
  bool exact = p->error * 50 < at || p->error < 1000;
  return exact ? turn_text("+%s", shown_short(at))
               : turn_text("+%s \u00b1%s", shown_short(at), shown_short(p->error));
}

static void print_part(const struct view *v, const struct trace *t, const struct trace_part *p,
                       FILE *out) {
  const struct view_process *process = process_of(v, p);
  char *pid = print_string(" %" PRId64, process->pid);
  char *who = print_string("%s%s", cut_middle(process->name, WHO_WIDTH - strlen(pid)), pid);
  int indent = 2 * (int)(p->depth < DEEPEST ? p->depth : DEEPEST);
  size_t before = WALL_WIDTH + SHARE_WIDTH + CLOCK_WIDTH + 2 + WHO_WIDTH + 2 + (size_t)indent;
  const char *more = p->live ? "  goes on" : p->slow && p->slow->failed ? "  failed" : "";
  print_right(out, shown_short(p->wall), WALL_WIDTH);
  print_right(out, shown_share(p->wall, t->part->wall), SHARE_WIDTH);
  print_right(out, shown_begin(t, p), CLOCK_WIDTH);
  fprintf(out, "  %-*s  %*s%s%s\n", WHO_WIDTH, who, indent, "",
          cut_right(p->kind, FORMAT_WIDTH - before - strlen(more)), more);
  free(who);
  free(pid);
}

static void print_trace(const struct view *v, const struct trace *t, FILE *out) {
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  fprintf(out, "trace %s\n", cut_right(t->id, FORMAT_WIDTH - strlen("trace ")));
  style_set(out, STYLE_FAINT);
  fprintf(out, "    wall  of all     began, UTC  %-*s  kind\n", WHO_WIDTH, "process");
  style_set(out, STYLE_PLAIN);
  for (size_t i = 0; i < t->parts; i++)
    print_part(v, t, &t->part[i], out);
}

/* Of other hosts, as far as requests tell. */
static void print_clocks(const struct view *v, const struct traces *all, FILE *out) {
  for (size_t i = 0; i < all->clocks; i++) {
    const struct trace_clock *c = &all->clock[i];
    const struct trace_part of = {.process = c->of}, to = {.process = c->to};
    const struct view_process *p = process_of(v, &of), *other = process_of(v, &to);
    uint64_t off = c->behind < 0 ? (uint64_t)-c->behind : (uint64_t)c->behind;
    if (c->one_host)
      continue;
    char *line = print_string(
        "clock of %s (%s %" PRId64 "): %s %s that of %s (%s %" PRId64 "), \u00b1 %s, by %" PRIu64
        " request%s%s",
        p->host, p->name, p->pid, shown_time(off), c->behind < 0 ? "ahead of" : "behind",
        other->host, other->name, other->pid, shown_time(c->error), c->requests,
        c->requests == 1 ? "" : "s",
        c->fits ? "" : "; these do not fit: some went on behind their answers, or it was set");
    fputc('\n', out);
    report_print_wrapped(out, line, 0);
    free(line);
  }
}

void traces_print(const struct view *v, uint64_t rows, FILE *out) {
  struct traces all = ask_traces(v);
  uint64_t shown = shown_of(&all, rows);
  char *line =
      all.count
          ? print_string("%zu request%s of several processes, by the traces of their tokens",
                         all.count, all.count == 1 ? "" : "s")
          : print_string("no trace is in more than one process: of %s, none has a token "
                         "(`token=', aprof_token()) that another one has, too",
                         v->recorded ? "requests that began and ended within the recordings"
                                     : "those that are kept, the slowest of the last minutes and "
                                       "those that go on");
  report_print_wrapped(out, line, 0);
  for (uint64_t i = 0; i < shown; i++)
    print_trace(v, &all.of[i], out);
  if (shown < all.count)
    fprintf(out, "\nand %zu more: --top 0\n", (size_t)(all.count - shown));
  print_clocks(v, &all, out);
  free(line);
  traces_release(&all);
}

/* -- JSON ----------------------------------------------------------------------------------- */

static void emit_part(struct emit *e, const struct view *v, const struct trace_part *p) {
  bool first = p->parent == SIZE_MAX;
  const struct view_process *process = process_of(v, p);
  emit_open(e, NULL, '{');
  emit_text(e, "name", process->name);
  emit_signed(e, "pid", process->pid);
  emit_text(e, "host", process->host);
  emit_text(e, "kind", p->kind);
  emit_bool(e, "labelled", p->labelled);
  emit_bool(e, "live", p->live);
  emit_bool(e, "failed", p->slow && p->slow->failed);
  emit_text(e, "began_at", p->slow ? p->slow->began_at : NULL);
  emit_text(e, "span_id", p->slow ? p->slow->span_id : NULL);
  emit_text(e, "parent_span_id", p->slow ? p->slow->parent_span_id : NULL);
  emit_maybe(e, "parent", first ? 0 : p->parent, !first);
  emit_bool(e, "by_span", p->by_span);
  if (p->placed)
    emit_signed(e, "at_ns", p->at);
  else
    emit_null(e, "at_ns");
  emit_maybe(e, "error_ns", p->error, p->placed);
  emit_number(e, "wall_ns", p->wall);
  emit_number(e, "queued_ns", p->queued);
  emit_number(e, "exec_ns", p->exec);
  emit_number(e, "waiting_ns", p->waiting);
  emit_close(e, '}');
}

static void emit_process(struct emit *e, const char *name, const struct view *v, uint64_t process) {
  const struct trace_part part = {.process = process};
  const struct view_process *p = process_of(v, &part);
  emit_open(e, name, '{');
  emit_text(e, "name", p->name);
  emit_signed(e, "pid", p->pid);
  emit_text(e, "host", p->host);
  emit_close(e, '}');
}

static void emit_clocks(struct emit *e, const struct view *v, const struct traces *all) {
  emit_list(e, "clocks");
  for (size_t i = 0; i < all->clocks; i++) {
    const struct trace_clock *c = &all->clock[i];
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_process(e, "of", v, c->of);
    emit_process(e, "to", v, c->to);
    emit_bool(e, "one_host", c->one_host);
    emit_signed(e, "behind_ns", c->behind);
    emit_number(e, "error_ns", c->error);
    emit_number(e, "requests", c->requests);
    emit_bool(e, "fits", c->fits);
    emit_close(e, '}');
  }
  emit_close(e, ']');
}

void traces_json(const struct view *v, uint64_t rows, FILE *out) {
  struct traces all = ask_traces(v);
  uint64_t shown = shown_of(&all, rows);
  struct emit e;
  emit_begin(&e, out, "aprof.traces/1");
  emit_number(&e, "count", all.count);
  emit_list(&e, "traces");
  for (uint64_t i = 0; i < shown; i++) {
    emit_row(&e);
    emit_open(&e, NULL, '{');
    emit_text(&e, "trace", all.of[i].id);
    emit_number(&e, "wall_ns", all.of[i].part->wall);
    emit_open(&e, "requests", '[');
    for (size_t j = 0; j < all.of[i].parts; j++)
      emit_part(&e, v, &all.of[i].part[j]);
    emit_close(&e, ']');
    emit_close(&e, '}');
  }
  emit_close(&e, ']');
  emit_clocks(&e, v, &all);
  emit_end(&e);
  traces_release(&all);
}
