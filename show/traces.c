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

enum { WALL_WIDTH = 8, CLOCK_WIDTH = 14, SHARE_WIDTH = 8, WHO_WIDTH = 22, DATE = 11, CLOCK = 12 };

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

static void print_part(const struct view *v, const struct trace *t, const struct trace_part *p,
                       FILE *out) {
  const struct view_process *process = process_of(v, p);
  char *pid = print_string(" %" PRId64, process->pid);
  char *who = print_string("%s%s", cut_middle(process->name, WHO_WIDTH - strlen(pid)), pid);
  size_t before = WALL_WIDTH + SHARE_WIDTH + CLOCK_WIDTH + 2 + WHO_WIDTH + 2;
  const char *more = p->live ? "  goes on" : p->slow && p->slow->failed ? "  failed" : "";
  print_right(out, shown_short(p->wall), WALL_WIDTH);
  print_right(out, shown_share(p->wall, t->part->wall), SHARE_WIDTH);
  print_right(out, clock_of(p), CLOCK_WIDTH);
  fprintf(out, "  %-*s  %s%s\n", WHO_WIDTH, who,
          cut_right(p->kind, FORMAT_WIDTH - before - strlen(more)), more);
  free(who);
  free(pid);
}

static void print_trace(const struct view *v, const struct trace *t, FILE *out) {
  fputc('\n', out);
  style_set(out, STYLE_TITLE);
  fprintf(out, "trace %s\n", cut_right(t->id, FORMAT_WIDTH - strlen("trace ")));
  style_set(out, STYLE_FAINT);
  fprintf(out, "    wall  of all    began, UTC  %-*s  kind\n", WHO_WIDTH, "process");
  style_set(out, STYLE_PLAIN);
  for (size_t i = 0; i < t->parts; i++)
    print_part(v, t, &t->part[i], out);
}

void traces_print(const struct view *v, uint64_t rows, FILE *out) {
  struct traces all = ask_traces(v);
  uint64_t shown = shown_of(&all, rows);
  char *line =
      all.count ? print_string("%zu request%s of several processes, by the traces of their tokens",
                               all.count, all.count == 1 ? "" : "s")
                : print_string("no trace is in more than one process: of those that are kept, the "
                               "slowest of the last minutes and those that go on, none has a token "
                               "(`token=', aprof_token()) that another one has, too");
  report_print_wrapped(out, line, 0);
  for (uint64_t i = 0; i < shown; i++)
    print_trace(v, &all.of[i], out);
  if (shown < all.count)
    fprintf(out, "\nand %zu more: --top 0\n", (size_t)(all.count - shown));
  free(line);
  traces_release(&all);
}

/* -- JSON ----------------------------------------------------------------------------------- */

static void emit_part(struct emit *e, const struct view *v, const struct trace_part *p) {
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
  emit_number(e, "wall_ns", p->wall);
  emit_number(e, "queued_ns", p->queued);
  emit_number(e, "exec_ns", p->exec);
  emit_number(e, "waiting_ns", p->waiting);
  emit_close(e, '}');
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
  emit_end(&e);
  traces_release(&all);
}
