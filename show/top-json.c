/* SPDX-License-Identifier: MIT */
/* The same once, as JSON (aprof.top/1); see top.h. */
#include "emit.h"
#include "format.h"
#include "top.h"
#include "totals.h"

#include <stdlib.h>

static void emit_loop(struct emit *e, const struct top_process *p, const struct view_loop *loop) {
  const char *function;
  bool edge, pool = loop->thread && loop->thread->is_pool;
  uint64_t hold = pool ? UNKNOWN : top_hold(p, loop, &function, &edge);
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_signed(e, "tid", loop->tid);
  emit_text(e, "name", loop->name);
  emit_bool(e, "pool", pool);
  emit_number(e, "elapsed_ns", loop->elapsed);
  emit_maybe(e, "busy_ns", loop->busy, loop->busy != UNKNOWN);
  emit_maybe(e, "ran_ns", loop->thread ? loop->thread->exec : 0, loop->thread != NULL);
  emit_maybe(e, "hold_max_ns", hold, hold != UNKNOWN);
  emit_bool(e, "hold_is_edge", hold != UNKNOWN && edge);
  emit_text(e, "hold_function", hold != UNKNOWN ? function : NULL);
  emit_maybe(e, "hold_open_ns", loop->open, loop->open != UNKNOWN);
  emit_close(e, '}');
}

static void emit_known(struct emit *e, const char *name, uint64_t value) {
  emit_maybe(e, name, value, value != UNKNOWN);
}

static void emit_function(struct emit *e, const struct view *v, const struct view_function *f) {
  bool lives = f->wall_of.count != 0;
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_text(e, "name", f->name);
  emit_text(e, "file", f->file);
  emit_maybe(e, "line", f->line, f->line != 0);
  emit_number(e, "ended", top_ended(f));
  emit_number(e, "live", f->live);
  emit_number(e, "slices", f->slices);
  emit_known(e, "exec_ns", f->exec);
  emit_known(e, "queued_ns", f->queued);
  emit_number(e, "waiting_ns", f->waiting);
  emit_known(e, "exec_each_ns", top_per_call(v, f, f->exec));
  emit_known(e, "queued_each_ns", top_per_call(v, f, f->queued));
  emit_known(e, "waiting_each_ns", top_per_call(v, f, f->waiting));
  emit_maybe(e, "wall_p50_ns", f->wall_of.p50, lives);
  emit_maybe(e, "wall_p99_ns", f->wall_of.p99, lives);
  emit_known(e, "slice_max_ns", f->slice_max);
  emit_shed(e, "shed", f->shed);
  emit_close(e, '}');
}

static void emit_findings(struct emit *e, const struct top_look *look, const struct view *v) {
  size_t count;
  struct finding *finding = ask_findings(v, &look->limits, &count);
  emit_list(e, "findings");
  for (size_t i = 0; i < count; i++) {
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_text(e, "kind", finding_kinds[finding[i].kind]);
    emit_text(e, "function", finding[i].function ? finding[i].function->name : NULL);
    emit_text(e, "at", finding[i].at);
    emit_text(e, "text", shown_sentence(finding[i].text));
    emit_close(e, '}');
  }
  emit_close(e, ']');
  findings_free(finding, count);
}

/* -- kinds of requests ------------------------------------------------------------------- */

/* What it did beneath the function in which they begin. */
static void emit_beneath(struct emit *e, const struct view *v, const struct top_row *r) {
  const struct view_function *f = r->function;
  emit_open(e, NULL, '{');
  emit_text(e, "name", f->name);
  emit_text(e, "file", f->file);
  emit_maybe(e, "line", f->line, f->line != 0);
  emit_bool(e, "part", r->is_part);
  emit_number(e, "ended", top_ended(f));
  emit_number(e, "live", f->live);
  emit_number(e, "slices", f->slices);
  emit_known(e, "exec_ns", f->exec);
  emit_known(e, "queued_ns", f->queued);
  emit_number(e, "waiting_ns", f->waiting);
  emit_known(e, "exec_each_ns", top_per_call(v, f, f->exec));
  emit_known(e, "queued_each_ns", top_per_call(v, f, f->queued));
  emit_known(e, "waiting_each_ns", top_per_call(v, f, f->waiting));
  emit_close(e, '}');
}

static void emit_kind(struct emit *e, const struct view *v, const struct view_kind *k) {
  const struct view_function *root = ask_root_of(v, k);
  emit_members(e, &layout_kind, k, NULL);
  emit_number(e, "member_ns", k->member);
  emit_number(e, "kinds_of_function", root ? ask_kinds_of_root(v, root) : 1);
  emit_known(e, "exec_each_ns", ask_each(k->exec.sum, k->count));
  emit_known(e, "queued_each_ns", ask_each(k->queued.sum, k->count));
  emit_known(e, "waiting_each_ns", ask_each(k->waiting.sum, k->count));
}

/* Kinds as they are sorted, each with what lies beneath it. */
static void emit_requests(struct emit *e, const struct top_look *look, const struct view *v) {
  struct top_look kinds = *look;
  kinds.flat = false;
  kinds.open = true;
  struct top_table *table = top_rows(&kinds, v);
  emit_open(e, "requests", '[');
  for (size_t i = 0; table->by_kind && i < table->count; i++) {
    const struct view_kind *k = table->row[i].kind;
    if (!k || table->row[i].tier || table->row[i].function)
      continue;
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_kind(e, v, k);
    emit_open(e, "functions", '[');
    for (size_t j = i + 1; j < table->count && table->row[j].kind == k; j++)
      if (table->row[j].function)
        emit_beneath(e, v, &table->row[j]);
    emit_close(e, ']');
    emit_close(e, '}');
  }
  emit_close(e, ']');
  top_table_free(table);
}

static void emit_process(struct emit *e, const struct top_look *look, const struct top_process *p) {
  const struct view *v = p->view;
  struct top_look functions = {.sort = look->sort, .reverse = look->reverse, .flat = true};
  struct top_table *sorted = top_rows(&functions, v);
  emit_open(e, NULL, '{');
  emit_signed(e, "pid", p->pid);
  emit_text(e, "name", p->name);
  emit_text(e, "state", top_states[p->state]);
  emit_bool(e, "enabled", v->process.enabled);
  emit_bool(e, "interval", v->is_interval);
  emit_number(e, "elapsed_ns", v->process.elapsed);
  emit_known(e, "measured_ns", v->process.measured);
  emit_share(e, "overhead_percent", v->health.overhead, 3);
  emit_list(e, "loops");
  for (size_t i = 0; i < v->loops; i++)
    emit_loop(e, p, &v->loop[i]);
  emit_close(e, ']');
  e->gap = "\n";
  emit_findings(e, look, v);
  e->gap = "\n";
  emit_open(e, "functions", '[');
  for (size_t i = 0; i < sorted->count; i++)
    emit_function(e, v, sorted->row[i].function);
  emit_close(e, ']');
  e->gap = "\n";
  emit_requests(e, look, v);
  emit_close(e, '}');
  top_table_free(sorted);
}

void top_json(const struct top_look *look, const struct top_process *process, size_t processes,
              FILE *out) {
  struct emit e;
  emit_begin(&e, out, "aprof.top/1");
  emit_list(&e, "processes");
  for (size_t i = 0; i < processes; i++) {
    e.gap = "\n";
    emit_process(&e, look, &process[i]);
  }
  emit_close(&e, ']');
  emit_end(&e);
}
