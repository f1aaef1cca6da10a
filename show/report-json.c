/* The report as JSON, aprof.report/1; see report.h. */
#include "read/governed.h"
#include "read/json.h"
#include "read/util.h"
#include "report.h"

#include <stdlib.h>

static void add_time(cJSON *object, const char *name, uint64_t ns) {
  json_maybe(object, name, ns, ns != UNKNOWN);
}

static uint64_t p99(const struct distribution *d) {
  return d->count ? d->p99 : UNKNOWN;
}

static uint64_t mean(uint64_t sum, uint64_t count) {
  return count ? sum / count : UNKNOWN;
}

static void add_share(cJSON *object, const char *name, uint64_t part, uint64_t whole) {
  if (whole)
    cJSON_AddNumberToObject(object, name, (double)part / (double)whole);
  else
    cJSON_AddNullToObject(object, name);
}

static cJSON *process_object(const struct view *v) {
  struct loop loop = ask_loop(v);
  cJSON *object = cJSON_CreateObject();
  json_number(object, "pid", v->pid);
  json_text(object, "name", v->name);
  json_text(object, "command", v->command);
  json_text(object, "host", v->host);
  json_text(object, "started_at", v->started_at);
  json_text(object, "dumped_at", v->dumped_at);
  json_text(object, "reason", v->reason);
  cJSON_AddBoolToObject(object, "interval", v->is_interval);
  json_number(object, "elapsed_ns", v->elapsed);
  add_time(object, "measured_ns", v->measured);
  json_number(object, "loop_elapsed_ns", loop.elapsed);
  json_number(object, "loop_exec_ns", loop.exec);
  add_share(object, "holds_seen", loop.elapsed - loop.unseen, loop.elapsed);
  json_maybe(object, "loop_idle_ns", loop.idle, loop.has_idle);
  add_time(object, "slice_max_ns", loop.worst);
  if (v->overhead >= 0)
    cJSON_AddNumberToObject(object, "overhead_percent", v->overhead);
  else
    cJSON_AddNullToObject(object, "overhead_percent");
  governed_add(object, v->shed);
  return object;
}

/* null where it was not measured, for the most part. */
static void add_sum(cJSON *object, const char *name, const struct view_function *f, uint64_t ns) {
  json_maybe(object, name, ns, !f->unmeasured && ns != UNKNOWN);
}

static cJSON *function_object(const struct view_function *f, const struct loop *loop) {
  cJSON *object = cJSON_CreateObject();
  json_text(object, "name", f->name);
  json_text(object, "file", f->file);
  json_maybe(object, "line", f->line, f->line != 0);
  json_maybe(object, "column", f->column, f->column != 0);
  json_number(object, "created", f->created);
  json_number(object, "live", f->live);
  add_share(object, "loop_share", f->loop_exec, f->unmeasured ? 0 : loop->elapsed);
  add_sum(object, "wall_ns", f, f->wall);
  add_sum(object, "queued_ns", f, f->queued);
  add_sum(object, "exec_ns", f, f->exec);
  add_sum(object, "waiting_ns", f, f->waiting);
  add_sum(object, "children_exec_ns", f, f->children_exec);
  add_sum(object, "exec_mean_ns", f, mean(f->exec, f->created));
  add_time(object, "exec_p99_ns", p99(&f->exec_of));
  add_sum(object, "waiting_mean_ns", f, mean(f->waiting, f->created));
  add_time(object, "wall_p99_ns", p99(&f->wall_of));
  add_time(object, "slice_p99_ns", p99(&f->slice_of));
  add_time(object, "slice_max_ns", f->slice_max);
  cJSON *between = cJSON_AddArrayToObject(object, "slice_max_between");
  if (f->slice_max != UNKNOWN) {
    cJSON_AddItemToArray(between, json_place(f->slice_from, 0));
    cJSON_AddItemToArray(between, json_place(f->slice_to, 0));
  }
  governed_add(object, f->shed);
  return object;
}

static cJSON *wait_object(const struct view *v, const struct wait *w, bool background) {
  cJSON *object = cJSON_CreateObject();
  json_text(object, "path", w->path);
  cJSON_AddItemToObject(object, "await", json_place(w->at->place, 0));
  json_text(object, "callee", w->at->name);
  cJSON_AddBoolToObject(object, "background", background);
  json_number(object, "count", w->count);
  json_number(object, "waiting_ns", w->waiting);
  add_time(object, "mean_ns", w->mean);
  add_time(object, "p99_ns", w->p99);
  add_time(object, "max_ns", w->max);
  governed_add(object, w->at->function < v->functions ? v->function[w->at->function].shed : 0);
  return object;
}

cJSON *finding_json(const struct finding *f) {
  const struct view_function *function = f->function;
  bool held = f->kind == FINDING_HELD;
  cJSON *object = cJSON_CreateObject();
  json_text(object, "kind", finding_kinds[f->kind]);
  json_maybe(object, "severity_ns", f->severity, f->severity != UNKNOWN);
  json_text(object, "text", f->text);
  json_text(object, "function", function ? function->name : NULL);
  json_text(object, "file", function ? function->file : NULL);
  json_maybe(object, "line", function ? function->line : 0, function && function->line);
  json_text(object, "at", f->at);
  json_maybe(object, "count", f->count, f->count != UNKNOWN);
  json_text(object, "created_at", f->created_at);
  json_text(object, "created_by", f->created_by);
  json_maybe(object, "held_ns", f->weight, held);
  json_text(object, "from", held && !f->goes_on ? function->slice_from : NULL);
  json_text(object, "to", held && !f->goes_on ? function->slice_to : NULL);
  bool in = held && !f->goes_on && function->mostly;
  json_text(object, "mostly", in ? function->mostly : NULL);
  json_maybe(object, "mostly_ns", in ? function->mostly_max : 0, in);
  governed_add(object, f->shed | (function ? function->shed : 0));
  return object;
}

static void write_findings(const struct view *v, const struct report_options *options, FILE *out) {
  size_t count;
  struct finding *findings = ask_findings(v, &options->limits, &count);
  fputs(",\n\"findings\": [", out);
  for (size_t i = 0; i < count; i++) {
    fputs(i ? ",\n  " : "\n  ", out);
    json_write(out, finding_json(&findings[i]));
  }
  fputs("]", out);
  findings_free(findings, count);
}

static void write_waits(const struct view *v, const struct report_options *options, FILE *out) {
  bool first = true;
  fputs(",\n\"waits\": [", out);
  for (int background = 0; background < 2; background++) {
    size_t count;
    struct wait *waits = ask_waits(v, background, &count);
    for (size_t i = 0; i < count && (!options->waits || i < options->waits); i++) {
      fputs(first ? "\n  " : ",\n  ", out);
      first = false;
      json_write(out, wait_object(v, &waits[i], background));
    }
    ask_waits_free(waits, count);
  }
  fputs("]", out);
}

static cJSON *waker_object(const struct view_function *f, const struct view_waker *w) {
  cJSON *object = cJSON_CreateObject();
  cJSON_AddItemToObject(object, "at", json_place(w->file, (uint32_t)w->line));
  json_text(object, "name", w->name);
  json_text(object, "in", w->in);
  json_text(object, "function", f->name);
  cJSON_AddBoolToObject(object, "clock", w->clock);
  json_number(object, "count", w->count);
  json_number(object, "queued_ns", w->queued);
  add_time(object, "mean_ns", mean(w->queued, w->count));
  add_time(object, "p99_ns", p99(&w->queued_of));
  add_time(object, "max_ns", w->max);
  governed_add(object, f->shed);
  return object;
}

static cJSON *blocking_object(const struct view_function *f, const struct view_blocking *b) {
  cJSON *object = cJSON_CreateObject();
  json_text(object, "function", f->name);
  cJSON_AddItemToObject(object, "at", json_place(b->file, (uint32_t)b->line));
  json_text(object, "callee", b->callee);
  json_number(object, "count", b->count);
  json_number(object, "held_ns", b->held);
  add_time(object, "max_ns", b->max);
  governed_add(object, f->shed);
  return object;
}

/* Of every function, in the order of the totals: readers sort as they like. */
static void write_wakes_and_blocking(const struct view *v, FILE *out) {
  bool first = true;
  fputs(",\n\"wakers\": [", out);
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].wakers; j++) {
      fputs(first ? "\n  " : ",\n  ", out);
      first = false;
      json_write(out, waker_object(&v->function[i], &v->function[i].waker[j]));
    }
  first = true;
  fputs("],\n\"blocking\": [", out);
  for (size_t i = 0; i < v->functions; i++)
    for (size_t j = 0; j < v->function[i].blockings; j++) {
      fputs(first ? "\n  " : ",\n  ", out);
      first = false;
      json_write(out, blocking_object(&v->function[i], &v->function[i].blocking[j]));
    }
  fputs("]", out);
}

void report_json(const struct view *v, const struct report_options *options, FILE *out) {
  struct loop loop = ask_loop(v);
  size_t count;
  const struct view_function **list = report_functions(v, options->sort, &count);
  fputs("{\"schema\": \"aprof.report/1\",\n\"process\": ", out);
  json_write(out, process_object(v));
  write_findings(v, options, out);
  fputs(",\n\"functions\": [", out);
  for (size_t i = 0; i < count && (!options->functions || i < options->functions); i++) {
    fputs(i ? ",\n  " : "\n  ", out);
    json_write(out, function_object(list[i], &loop));
  }
  fputs("]", out);
  write_waits(v, options, out);
  write_wakes_and_blocking(v, out);
  fputs("}\n", out);
  free(list);
}
