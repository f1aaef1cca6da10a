/* SPDX-License-Identifier: MIT */
/*
 * Views as metrics: OpenMetrics 1.0, and the text that Prometheus had before it.
 *
 * In: views, each of a process. Out: a family for each row of read/fields.c that is a number of a
 * function, a loop or the profile itself: what adds up is a counter, what is now a gauge, the
 * longest a gauge, what has buckets a histogram. Nothing is listed here that is listed there.
 * Cost: linear in functions shown and families. Locking: none.
 */
#include "format-memory.h"
#include "metrics.h"
#include "read/fields.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* So many kinds of requests at most, unless all functions are asked for; the others are one. */
enum { KINDS = 32 };

/* -- families -------------------------------------------------------------------------- */

static enum metric_kind kind_of(const struct field *field) {
  bool number = field->type == FIELD_COUNT || field->type == FIELD_MAYBE;
  if (!field->name || (!number && field->type != FIELD_HISTOGRAM))
    return METRIC_NONE;
  if (field->type == FIELD_HISTOGRAM)
    return METRIC_HISTOGRAM;
  if (field->fold == FOLD_SUM)
    return METRIC_COUNTER;
  bool now = field->fold == FOLD_NOW || field->fold == FOLD_MAX;
  /* Of what goes on: nothing goes on where it is not known. */
  return now || (field->fold == FOLD_SAME && field->type == FIELD_MAYBE) ? METRIC_GAUGE
                                                                         : METRIC_NONE;
}

static bool is_time(const char *name) {
  size_t length = strlen(name);
  return length > 3 && !strcmp(name + length - 3, "_ns");
}

/* "aprof_function_exec_seconds" */
static char *family_name(const char *of, const char *name, enum metric_kind kind) {
  int length = (int)strlen(name) - 3 * is_time(name);
  const char *unit = kind == METRIC_HISTOGRAM ? "_duration_seconds"
                     : is_time(name)          ? "_seconds"
                                              : "";
  return print_string("aprof_%s_%.*s%s", of, length, name, unit);
}

/* -- samples --------------------------------------------------------------------------- */

static void value_of(const struct metrics *w, const struct metric_process *p, const char *family,
                     const struct field *field, const char *labels, const void *object) {
  enum metric_kind kind = kind_of(field);
  const uint64_t *number = field_of(object, field);
  if (kind == METRIC_HISTOGRAM)
    metric_histogram(w, family, labels, field_of(object, field));
  else if (*number != UNKNOWN)
    metric_sample(w, p, family, kind, labels, *number, is_time(field->name));
}

/* -- functions, loops, the profile -------------------------------------------------------- */

/* The rest has a label that says of which functions it is: with others it is another series, for
   a counter of the same name that falls would look like a restart. */
static char *function_labels(const struct metric_process *p, const struct view_function *f) {
  if (f == p->top.rest)
    return print_string("%s,function=\"" TOP_REST "\",without=\"%016" PRIx64 "\"", p->labels,
                        p->top.members);
  char *name = metric_escaped(f->name), *file = metric_escaped(f->file ? f->file : "");
  char *place = f->line && f->column
                    ? print_string("%s:%" PRIu64 ":%" PRIu64, file, f->line, f->column)
                : f->line ? print_string("%s:%" PRIu64, file, f->line)
                          : print_string("%s", file);
  char *labels = print_string("%s,function=\"%s\",place=\"%s\"", p->labels, name, place);
  free(name);
  free(file);
  free(place);
  return labels;
}

/* So that no label of a program fills whoever stores the series. */
static char *kind_labels(const struct metric_process *p, const struct view_kind *k) {
  if (k == p->kinds.rest)
    return print_string("%s,kind=\"" TOP_REST "\",without=\"%016" PRIx64 "\"", p->labels,
                        p->kinds.members);
  char *name = metric_escaped(k->kind), *function = metric_escaped(k->function);
  char *place = metric_escaped(k->file ? place_text(k->file, k->line) : "");
  char *labels =
      print_string("%s,kind=\"%s\",function=\"%s\",place=\"%s\"", p->labels, name, function, place);
  free(name);
  free(function);
  free(place);
  return labels;
}

static void kind_values(const struct metrics *w, const struct metric_process *p, const char *family,
                        const struct field *field, const struct view_kind *k) {
  char *labels = kind_labels(p, k);
  value_of(w, p, family, field, labels, k);
  free(labels);
}

/* Sums alone: buckets of each tier of each kind would be thousands. */
static void tier_values(const struct metrics *w, const struct metric_process *p, const char *family,
                        const struct field *field, const struct view_kind *k) {
  char *of = kind_labels(p, k);
  for (size_t i = 0; i < k->tiers; i++) {
    char *tier = metric_label("tier", k->tier[i].name), *labels = print_string("%s%s", of, tier);
    value_of(w, p, family, field, labels, &k->tier[i]);
    free(labels);
    free(tier);
  }
  free(of);
}

static void function_values(const struct metrics *w, const struct metric_process *p,
                            const char *family, const struct field *field,
                            const struct view_function *f) {
  char *labels = function_labels(p, f);
  value_of(w, p, family, field, labels, f);
  free(labels);
}

static void loop_values(const struct metrics *w, const struct metric_process *p, const char *family,
                        const struct field *field, const struct view_loop *loop) {
  char *name = metric_escaped(loop->name);
  char *labels = print_string("%s,tid=\"%" PRId64 "\",thread=\"%s\"", p->labels, loop->tid, name);
  value_of(w, p, family, field, labels, loop);
  free(labels);
  free(name);
}

/* How late what was due at a time ran: all that a loop did meanwhile. */
static void lag_values(const struct metrics *w, const struct metric_process *p, const char *family,
                       const struct view_function *f) {
  if (!f || !f->lateness.is)
    return;
  char *labels = function_labels(p, f);
  metric_histogram(w, family, labels, &f->lateness.late);
  free(labels);
}

static void lags(const struct metrics *w) {
  static const char family[] = "aprof_function_lag_seconds";
  metric_begin(w, family, METRIC_HISTOGRAM, "how late runs began that were due at a time");
  for (size_t i = 0; i < w->processes; i++) {
    const struct metric_process *p = &w->process[i];
    for (size_t j = 0; j < p->top.functions; j++)
      lag_values(w, p, family, p->top.function[j]);
    lag_values(w, p, family, p->top.rest);
  }
}

enum of { OF_FUNCTION, OF_LOOP, OF_HEALTH, OF_KIND, OF_TIER };

static void process_values(const struct metrics *w, const struct metric_process *p, enum of of,
                           const char *family, const struct field *field) {
  for (size_t i = 0; of == OF_FUNCTION && i < p->top.functions; i++)
    function_values(w, p, family, field, p->top.function[i]);
  if (of == OF_FUNCTION && p->top.rest)
    function_values(w, p, family, field, p->top.rest);
  for (size_t i = 0; of == OF_LOOP && i < p->v->loops; i++)
    if (p->v->loop[i].thread && !p->v->loop[i].thread->is_pool)
      loop_values(w, p, family, field, &p->v->loop[i]);
  for (size_t i = 0; of == OF_KIND && i < p->kinds.kinds; i++)
    kind_values(w, p, family, field, p->kinds.kind[i]);
  if (of == OF_KIND && p->kinds.rest)
    kind_values(w, p, family, field, p->kinds.rest);
  for (size_t i = 0; of == OF_TIER && i < p->kinds.kinds; i++)
    tier_values(w, p, family, field, p->kinds.kind[i]);
  if (of == OF_HEALTH)
    value_of(w, p, family, field, p->labels, &p->v->health);
}

static void families(const struct metrics *w, enum of of, const char *name,
                     const struct layout *layout) {
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    enum metric_kind kind = kind_of(field);
    if (of == OF_TIER && kind != METRIC_COUNTER)
      continue;
    if (kind == METRIC_NONE || !strcmp(field->name, "process") || !strcmp(field->name, "block"))
      continue;
    char *family = family_name(name, field->name, kind);
    metric_begin(w, family, kind, field->says);
    for (size_t j = 0; j < w->processes; j++)
      process_values(w, &w->process[j], of, family, field);
    free(family);
  }
}

static const struct layout *layout_of_health(void) {
  for (size_t i = 0; i < layout_totals.fields; i++)
    if (layout_totals.field[i].name && !strcmp(layout_totals.field[i].name, "health"))
      return layout_totals.field[i].of;
  return NULL;
}

static void write_all(bool open, const struct view *const *v, size_t views,
                      const struct format_options *options, FILE *out) {
  struct metrics w = {.out = out, .open = open, .processes = views};
  w.process = allocate(views + 1, sizeof *w.process);
  for (size_t i = 0; i < views; i++)
    w.process[i] = (struct metric_process){
        .v = v[i],
        .since = counted_since(&v[i]->process),
        .kinds = ask_top_kinds(v[i], options->functions > KINDS ? KINDS : options->functions)};
  metric_processes_name(&w, options->hosts);
  for (size_t i = 0; i < views; i++)
    w.process[i].top =
        ask_top(v[i], options->functions, format_memory_of(options->memory, w.process[i].labels));
  format_memory_forget(options->memory);
  metric_processes(&w);
  families(&w, OF_FUNCTION, "function", &layout_function);
  lags(&w);
  families(&w, OF_KIND, "request", &layout_kind);
  families(&w, OF_TIER, "request_tier", &layout_tier);
  families(&w, OF_LOOP, "loop", &layout_loop);
  families(&w, OF_HEALTH, "health", layout_of_health());
  metric_findings(&w);
  metric_servers(&w, options);
  if (open)
    fputs("# EOF\n", out);
  for (size_t i = 0; i < views; i++) {
    free(w.process[i].labels);
    ask_top_free(&w.process[i].top);
    ask_top_kinds_free(&w.process[i].kinds);
  }
  free(w.process);
}

void openmetrics_write(const struct view *const *v, size_t views,
                       const struct format_options *options, FILE *out) {
  write_all(true, v, views, options, out);
}

void prometheus_write(const struct view *const *v, size_t views,
                      const struct format_options *options, FILE *out) {
  write_all(false, v, views, options, out);
}
