/* The report as JSON, aprof.report/1; see report.h. */
#include "cli.h"
#include "governed.h"
#include "json.h"
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

static cJSON *process_object(const struct reading *r) {
  struct loop loop = report_loop(r);
  cJSON *object = cJSON_CreateObject();
  json_number(object, "pid", r->pid);
  json_text(object, "name", r->name);
  json_text(object, "command", r->command);
  json_text(object, "host", r->host);
  json_text(object, "started_at", r->started_at);
  json_text(object, "dumped_at", r->dumped_at);
  json_text(object, "reason", r->reason);
  cJSON_AddBoolToObject(object, "interval", r->is_interval);
  json_number(object, "elapsed_ns", r->elapsed);
  add_time(object, "measured_ns", r->measured);
  json_number(object, "loop_elapsed_ns", loop.elapsed);
  json_number(object, "loop_exec_ns", loop.exec);
  add_share(object, "holds_seen", loop.elapsed - loop.unseen, loop.elapsed);
  json_maybe(object, "loop_idle_ns", loop.idle, loop.has_idle);
  add_time(object, "slice_max_ns", loop.worst);
  if (r->overhead >= 0)
    cJSON_AddNumberToObject(object, "overhead_percent", r->overhead);
  else
    cJSON_AddNullToObject(object, "overhead_percent");
  governed_add(object, r->shed);
  return object;
}

/* null where it was not measured, for the most part. */
static void add_sum(cJSON *object, const char *name, const struct r_function *f, uint64_t ns) {
  json_maybe(object, name, ns, !f->unmeasured && ns != UNKNOWN);
}

static cJSON *function_object(const struct r_function *f, const struct loop *loop) {
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

static cJSON *wait_object(const struct reading *r, const struct wait *w, bool background) {
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
  governed_add(object, w->at->function < r->functions ? r->function[w->at->function].shed : 0);
  return object;
}

static void write_findings(const struct reading *r, const struct report_options *options,
                           FILE *out) {
  size_t count;
  struct finding *findings = report_findings(r, &options->limits, &count);
  fputs(",\n\"findings\": [", out);
  for (size_t i = 0; i < count; i++) {
    fputs(i ? ",\n  " : "\n  ", out);
    json_write(out, finding_json(&findings[i]));
  }
  fputs("]", out);
  report_findings_free(findings, count);
}

static void write_waits(const struct reading *r, const struct report_options *options, FILE *out) {
  bool first = true;
  fputs(",\n\"waits\": [", out);
  for (int background = 0; background < 2; background++) {
    size_t count;
    struct wait *waits = report_waits(r, background, &count);
    for (size_t i = 0; i < count && (!options->waits || i < options->waits); i++) {
      fputs(first ? "\n  " : ",\n  ", out);
      first = false;
      json_write(out, wait_object(r, &waits[i], background));
    }
    report_waits_free(waits, count);
  }
  fputs("]", out);
}

static cJSON *waker_object(const struct r_function *f, const struct r_waker *w) {
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

static cJSON *blocking_object(const struct r_function *f, const struct r_blocking *b) {
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
static void write_wakes_and_blocking(const struct reading *r, FILE *out) {
  bool first = true;
  fputs(",\n\"wakers\": [", out);
  for (size_t i = 0; i < r->functions; i++)
    for (size_t j = 0; j < r->function[i].wakers; j++) {
      fputs(first ? "\n  " : ",\n  ", out);
      first = false;
      json_write(out, waker_object(&r->function[i], &r->function[i].waker[j]));
    }
  first = true;
  fputs("],\n\"blocking\": [", out);
  for (size_t i = 0; i < r->functions; i++)
    for (size_t j = 0; j < r->function[i].blockings; j++) {
      fputs(first ? "\n  " : ",\n  ", out);
      first = false;
      json_write(out, blocking_object(&r->function[i], &r->function[i].blocking[j]));
    }
  fputs("]", out);
}

void report_json(const struct reading *r, const struct report_options *options, FILE *out) {
  struct loop loop = report_loop(r);
  size_t count;
  const struct r_function **list = report_functions(r, options->sort, &count);
  fputs("{\"schema\": \"aprof.report/1\",\n\"process\": ", out);
  json_write(out, process_object(r));
  write_findings(r, options, out);
  fputs(",\n\"functions\": [", out);
  for (size_t i = 0; i < count && (!options->functions || i < options->functions); i++) {
    fputs(i ? ",\n  " : "\n  ", out);
    json_write(out, function_object(list[i], &loop));
  }
  fputs("]", out);
  write_waits(r, options, out);
  write_wakes_and_blocking(r, out);
  fputs("}\n", out);
  free(list);
}
