/* SPDX-License-Identifier: MIT */
/* The report as JSON, aprof.report/1; see report.h. */
#include "emit.h"
#include "report.h"
#include "totals.h"

#include <stdlib.h>

static void add_time(struct emit *e, const char *name, uint64_t ns) {
  emit_maybe(e, name, ns, ns != UNKNOWN);
}

static uint64_t p99(const struct distribution *d) {
  return d->count ? d->p99 : UNKNOWN;
}

static uint64_t mean(uint64_t sum, uint64_t count) {
  return count ? sum / count : UNKNOWN;
}

static void add_share(struct emit *e, const char *name, uint64_t part, uint64_t whole) {
  emit_share(e, name, whole ? (double)part / (double)whole : -1, 6);
}

static void write_process(struct emit *e, const struct view *v) {
  struct loop loop = ask_loop(v);
  emit_open(e, "process", '{');
  emit_members(e, &layout_process, &v->process,
               "pid name command host started_at dumped_at reason elapsed_ns measured_ns");
  emit_bool(e, "interval", v->is_interval);
  emit_number(e, "loop_elapsed_ns", loop.elapsed);
  emit_number(e, "loop_exec_ns", loop.exec);
  add_share(e, "holds_seen", loop.elapsed - loop.unseen, loop.elapsed);
  emit_maybe(e, "loop_idle_ns", loop.idle, loop.has_idle);
  add_time(e, "slice_max_ns", loop.worst);
  emit_share(e, "overhead_percent", v->health.overhead, 6);
  emit_shed(e, "shed", v->shed);
  emit_close(e, '}');
}

/* null where it was not measured, for the most part. */
static void add_sum(struct emit *e, const char *name, const struct view_function *f, uint64_t ns) {
  emit_maybe(e, name, ns, !f->unmeasured && ns != UNKNOWN);
}

static void emit_function(struct emit *e, const struct view *v, const struct view_function *f,
                          const struct loop *loop) {
  emit_open(e, NULL, '{');
  emit_members(e, &layout_function, f, "name file line column created live");
  add_share(e, "loop_share", f->loop_exec, f->unmeasured ? 0 : loop->elapsed);
  add_sum(e, "wall_ns", f, f->wall);
  add_sum(e, "queued_ns", f, f->queued);
  add_sum(e, "exec_ns", f, f->exec);
  add_sum(e, "waiting_ns", f, f->waiting);
  add_sum(e, "children_exec_ns", f, f->children_exec);
  add_sum(e, "exec_mean_ns", f, ask_per_call(v, f, f->exec));
  add_time(e, "exec_p99_ns", p99(&f->exec_of));
  add_sum(e, "waiting_mean_ns", f, ask_per_call(v, f, f->waiting));
  add_time(e, "wall_p99_ns", p99(&f->wall_of));
  add_time(e, "slice_p99_ns", p99(&f->slice_of));
  add_time(e, "slice_max_ns", f->slice_max);
  emit_open(e, "slice_max_between", '[');
  for (int i = 0; i < 2 && f->slice_max != UNKNOWN; i++)
    emit_text(e, NULL, f->slice_between[i]);
  emit_close(e, ']');
  emit_bool(e, "shared", f->shared);
  emit_shed(e, "shed", f->shed);
  emit_close(e, '}');
}

static void emit_wait(struct emit *e, const struct view *v, const struct wait *w, bool background) {
  emit_open(e, NULL, '{');
  emit_text(e, "path", w->path);
  emit_text(e, "await", w->at->place);
  emit_text(e, "callee", w->at->name);
  emit_bool(e, "background", background);
  emit_number(e, "count", w->count);
  emit_number(e, "waiting_ns", w->waiting);
  add_time(e, "mean_ns", w->mean);
  add_time(e, "p99_ns", w->p99);
  add_time(e, "max_ns", w->max);
  emit_shed(e, "shed", w->at->function < v->functions ? v->function[w->at->function].shed : 0);
  emit_close(e, '}');
}

static void write_findings(const struct view *v, const struct report_options *options,
                           struct emit *e) {
  size_t count;
  struct finding *findings = ask_findings(v, &options->limits, &count);
  emit_list(e, "findings");
  for (size_t i = 0; i < count; i++) {
    emit_row(e);
    emit_finding(e, &findings[i]);
  }
  emit_close(e, ']');
  findings_free(findings, count);
}

void report_emit_waits(struct emit *e, const struct view *v, size_t most) {
  emit_list(e, "waits");
  for (int background = 0; background < 2; background++) {
    size_t count;
    struct wait *waits = ask_waits(v, background, &count);
    for (size_t i = 0; i < count && (!most || i < most); i++) {
      emit_row(e);
      emit_wait(e, v, &waits[i], background);
    }
    ask_waits_free(waits, count);
  }
  emit_close(e, ']');
}

static void emit_waker(struct emit *e, const struct view_function *f, const struct view_waker *w) {
  emit_open(e, NULL, '{');
  emit_place(e, "at", w->file, w->line);
  emit_text(e, "name", w->name);
  emit_text(e, "in", w->in);
  emit_text(e, "function", f->name);
  emit_bool(e, "clock", w->clock);
  emit_number(e, "count", w->count);
  emit_number(e, "queued_ns", w->queued);
  add_time(e, "mean_ns", mean(w->queued, w->count));
  add_time(e, "p99_ns", p99(&w->queued_of));
  add_time(e, "max_ns", w->max);
  emit_shed(e, "shed", f->shed);
  emit_close(e, '}');
}

static void emit_blocking(struct emit *e, const struct view_function *f,
                          const struct view_blocking *b) {
  emit_open(e, NULL, '{');
  emit_text(e, "function", f->name);
  emit_place(e, "at", b->file, b->line);
  emit_text(e, "callee", b->callee);
  emit_number(e, "count", b->count);
  emit_number(e, "held_ns", b->held);
  add_time(e, "max_ns", b->max);
  emit_shed(e, "shed", f->shed);
  emit_close(e, '}');
}

/* Writes those of every function, in the order of the totals: readers sort as they like. */
static void write_wakes_and_blocking(const struct view *v, struct emit *e) {
  emit_list(e, "wakers");
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].wakers; j++) {
      emit_row(e);
      emit_waker(e, &v->function[i], &v->function[i].waker[j]);
    }
  emit_close(e, ']');
  emit_list(e, "blocking");
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].blockings; j++) {
      emit_row(e);
      emit_blocking(e, &v->function[i], &v->function[i].blocking[j]);
    }
  emit_close(e, ']');
}

void report_json(const struct view *v, const struct report_options *options,
                 const struct gate_result *result, FILE *out) {
  struct loop loop = ask_loop(v);
  struct emit e;
  size_t count;
  const struct view_function **list = report_functions(v, options->sort, &count);
  emit_begin(&e, out, "aprof.report/1");
  e.gap = "\n";
  write_process(&e, v);
  write_findings(v, options, &e);
  emit_total(&e, v, "requests");
  emit_list(&e, "functions");
  for (size_t i = 0; i < count && (!options->functions || i < options->functions); i++) {
    emit_row(&e);
    emit_function(&e, v, list[i], &loop);
  }
  emit_close(&e, ']');
  report_emit_waits(&e, v, options->waits);
  write_wakes_and_blocking(v, &e);
  gates_json(&e, result, result ? options->gates.count : 0);
  emit_end(&e);
  free(list);
}
