/* SPDX-License-Identifier: MIT */
/* The document that a page draws; see page.h. What totals have it has by the same names, as their
   rows say; added is what was asked of the view. */
#include "ask/beneath.h"
#include "ask/narrow.h"
#include "format.h"
#include "page.h"
#include "read/util.h"
#include "report.h"
#include "stacks.h"
#include "totals.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void add_time(struct emit *e, const char *name, uint64_t ns) {
  emit_maybe(e, name, ns, ns != UNKNOWN);
}

static void add_share(struct emit *e, const char *name, uint64_t part, uint64_t whole) {
  emit_share(e, name, whole ? (double)part / (double)whole : -1, 6);
}

static void add_index(struct emit *e, const char *name, const struct view *v,
                      const struct view_function *f) {
  emit_maybe(e, name, f ? (uint64_t)(f - v->function) : 0, f != NULL);
}

/* -- the whole -------------------------------------------------------------------------- */

static void emit_summary(struct emit *e, const struct view *v, const struct page_options *o) {
  struct loop loop = ask_loop(v);
  uint64_t created = 0, live = 0;
  for (size_t i = 0; i < v->functions; i++) {
    created = plus(created, v->function[i].created);
    live = plus(live, v->function[i].live);
  }
  e->gap = "\n";
  emit_open(e, "summary", '{');
  emit_bool(e, "interval", v->is_interval);
  emit_bool(e, "alive", v->alive);
  emit_bool(e, "stopped", v->stopped);
  emit_maybe(e, "only_loop", (uint64_t)v->only, v->only != 0);
  emit_text(e, "only_kind", o->requests ? o->requests->kind : NULL);
  emit_text(e, "only_tier", o->requests ? o->requests->tier : NULL);
  emit_number(e, "left_out", o->left_out);
  emit_number(e, "created", created);
  emit_number(e, "live", live);
  emit_number(e, "loop_elapsed_ns", loop.elapsed);
  emit_number(e, "loop_exec_ns", loop.exec);
  emit_maybe(e, "loop_idle_ns", loop.idle, loop.has_idle);
  add_share(e, "busy", loop.elapsed - loop.idle, loop.has_idle ? loop.elapsed : 0);
  add_share(e, "ran", loop.exec, loop.elapsed);
  add_time(e, "hold_max_ns", loop.worst);
  add_share(e, "holds_seen", loop.elapsed - loop.unseen, loop.elapsed);
  emit_number(e, "held_limit_ns", o->limits.of[FINDING_HELD]);
  emit_shed(e, "shed", v->shed);
  emit_close(e, '}');
}

static void emit_loops(struct emit *e, const struct view *v) {
  emit_list(e, "loops");
  for (size_t i = 0; i < v->loops; i++) {
    const struct view_loop *loop = &v->loop[i];
    const struct view_thread *t = loop->thread;
    if (!t || (!t->exec && !t->idle))
      continue;
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_members(e, &layout_loop, loop, NULL);
    emit_bool(e, "pool", t->is_pool);
    emit_number(e, "exec_ns", t->exec);
    add_share(e, "exec_share", t->exec, t->elapsed);
    add_time(e, "held_ns", loop->hold_max);
    emit_text(e, "held_from", loop->from);
    emit_text(e, "held_to", loop->to);
    emit_text(e, "held_by", loop->function);
    emit_lacks(e, &layout_loop, t->lacks);
    emit_close(e, '}');
  }
  emit_close(e, ']');
}

/* As the next command is given it: of several the process that it is about, or else their name.
   free() it. */
static char *target_of(const struct view *v, const struct finding *f,
                       const struct page_options *o) {
  const struct view_process *p = o->target || !o->here ? NULL : ask_process_of(v, f);
  bool named = !p && o->here && !o->target && v->processes;
  for (size_t i = 1; named && i < v->processes; i++)
    named = !strcmp(v->merged[i].name, v->merged[0].name);
  return o->target ? print_string("%s", o->target)
         : p       ? print_string("%" PRId64, p->pid)
         : named   ? print_string("%s", v->merged[0].name)
                   : NULL;
}

static void emit_findings(struct emit *e, const struct view *v, const struct page_options *o) {
  size_t count;
  struct finding *findings = ask_findings(v, &o->limits, &count);
  emit_list(e, "findings");
  for (size_t i = 0; i < count; i++) {
    const struct finding *f = &findings[i];
    char *target = target_of(v, f, o), *next = report_next(f, target);
    bool costs = f->cost.time != UNKNOWN;
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_finding_members(e, f);
    add_index(e, "function_index", v, f->function);
    add_time(e, "cost_ns", f->cost.time);
    add_share(e, "cost_share", costs ? f->cost.time : 0, costs ? f->cost.whole : 0);
    emit_text(e, "cost_of", costs ? f->cost.of : NULL);
    emit_open(e, "effects", '[');
    for (size_t j = 0; j < FINDING_EFFECTS && f->effect[j].parts; j++)
      emit_text(e, NULL, shown_sentence(f->effect[j]));
    emit_close(e, ']');
    add_index(e, "cause_index", v, f->cause);
    emit_text(e, "next", next);
    emit_close(e, '}');
    free(next);
    free(target);
  }
  emit_close(e, ']');
  findings_free(findings, count);
}

/* -- functions ---------------------------------------------------------------------------- */

/* Null where it was not measured, for the most part. */
static void add_mean(struct emit *e, const char *name, const struct view *v,
                     const struct view_function *f, uint64_t sum) {
  add_time(e, name, f->unmeasured || sum == UNKNOWN ? UNKNOWN : ask_per_call(v, f, sum));
}

static void emit_functions(struct emit *e, const struct view *v) {
  struct loop loop = ask_loop(v);
  const struct view_kind **kind = ask_kinds_above(v);
  emit_list(e, "functions");
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    uint64_t longest = ask_longest_slice(f);
    emit_row(e);
    emit_open(e, NULL, '{');
    emit_members(e, &layout_function, f, NULL);
    emit_bool(e, "library", ask_is_library(f));
    emit_bool(e, "unseen", view_unseen(f));
    emit_bool(e, "unmeasured", f->unmeasured);
    emit_text(e, "request_kind", kind[i] ? kind[i]->kind : NULL);
    add_share(e, "loop_share", f->loop_exec, f->unmeasured ? 0 : loop.elapsed);
    emit_maybe(e, "longest_ns", longest, longest != 0);
    add_mean(e, "wall_mean_ns", v, f, f->wall);
    add_mean(e, "queued_mean_ns", v, f, f->queued);
    add_mean(e, "exec_mean_ns", v, f, f->exec);
    add_mean(e, "waiting_mean_ns", v, f, f->waiting);
    emit_lacks(e, &layout_function, f->lacks);
    emit_close(e, '}');
  }
  emit_close(e, ']');
  free(kind);
}

/* -- paths -------------------------------------------------------------------------------- */

/* Futures that a path had in the time of the view, whenever they began. */
static uint64_t lived(const struct view_path *p) {
  return plus(plus(p->done, p->failed), plus(plus(p->cancelled, p->detached), p->live));
}

/* By enum view_whose. */
static const char *const native_names[] = {NULL,        "program", "library",
                                           "generated", "kernel",  "unknown"};

/* Arrays in place of objects: there are many. Names and places of functions stand with these. */
static void emit_stack(struct emit *e, const struct view *v, const struct stack *s,
                       const uint64_t *row) {
  bool known = !s->is_wait && s->function && !strcmp(s->name, s->function->name);
  emit_row(e);
  emit_open(e, NULL, '[');
  emit_maybe(e, NULL, s->parent == SIZE_MAX ? 0 : row[s->parent], s->parent != SIZE_MAX);
  add_index(e, NULL, v, s->function);
  emit_bool(e, NULL, s->is_wait);
  emit_text(e, NULL, known ? NULL : s->name);
  emit_place(e, NULL, known ? NULL : s->file, s->line);
  emit_number(e, NULL, s->self[STACK_EXEC]);
  emit_number(e, NULL, s->self[STACK_QUEUED]);
  emit_number(e, NULL, s->self[STACK_WAITING]);
  emit_number(e, NULL, s->is_wait ? s->path->count : s->self[STACK_CALLS]);
  emit_maybe(e, NULL, lived(s->path), !s->is_wait);
  emit_bool(e, NULL, s->path->background);
  emit_number(e, NULL, s->self[STACK_CPU]);
  emit_text(e, NULL, native_names[s->path->whose]);
  emit_close(e, ']');
}

static void emit_paths(struct emit *e, const struct view *v) {
  static const char *const columns[] = {"parent",     "function",  "wait",       "name",  "place",
                                        "exec_ns",    "queued_ns", "waiting_ns", "count", "lived",
                                        "background", "cpu_ns",    "native"};
  struct stacks all = stacks_of(v, true);
  uint64_t *row = allocate(all.stacks + 1, sizeof *row), rows = 0;
  e->gap = "\n";
  emit_open(e, "paths", '{');
  emit_open(e, "columns", '[');
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    emit_text(e, NULL, columns[i]);
  emit_close(e, ']');
  emit_open(e, "rows", '[');
  for (size_t i = 0; i < all.stacks; i++)
    if (!all.stack[i].left_out) {
      emit_stack(e, v, &all.stack[i], row);
      row[i] = rows++;
    }
  emit_close(e, ']');
  emit_close(e, '}');
  free(row);
  stacks_free(&all);
}

/* -- all of it ---------------------------------------------------------------------------- */

static void emit_live(struct emit *e, const struct view *v) {
  e->gap = "\n";
  emit_open(e, "live", '{');
  report_emit_live(e, v);
  emit_close(e, '}');
}

static void emit_head(struct emit *e, const struct page_options *o, const char *directory) {
  emit_text(e, "target", o->target);
  emit_text(e, "directory", directory);
}

void page_json(struct view *v, const struct page_options *o, bool in_page, FILE *out) {
  static const char *const totals[] = {"process",  "processes", "clock",  "health",
                                       "governed", "threads",   "misses", "ignored"};
  struct emit e;
  char *directory = report_directory(v);
  report_shorten(v, directory);
  emit_begin(&e, out, PAGE_SCHEMA);
  e.in_page = in_page;
  emit_head(&e, o, directory);
  emit_summary(&e, v, o);
  for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
    emit_total(&e, v, totals[i]);
  emit_loops(&e, v);
  emit_findings(&e, v, o);
  page_emit_history(&e, o->moments);
  page_emit_requests(&e, v);
  page_emit_recording(&e, v, o);
  if (o->requests && !o->story)
    ask_narrow(v, o->requests);
  emit_functions(&e, v);
  report_emit_waits(&e, v, 0);
  emit_paths(&e, v);
  emit_live(&e, v);
  page_emit_sources(&e, v, o, directory);
  emit_end(&e);
  free(directory);
}
