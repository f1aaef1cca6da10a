/* SPDX-License-Identifier: MIT */
/*
 * Views as metrics: OpenMetrics 1.0, and the text that Prometheus had before it.
 *
 * In: views, each of a process. Out: a family for each row of read/fields.c that is a number of a
 * function, a loop or the profile itself: what adds up is a counter, what is now a gauge, the
 * longest a gauge, what has buckets a histogram. Nothing is listed here that is listed there.
 * Cost: linear in functions shown and families. Locking: none.
 */
#include "ask/ask.h"
#include "ask/top.h"
#include "format-memory.h"
#include "formats.h"
#include "read/labels.h"
#include "read/util.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum kind { NOTHING, COUNTER, GAUGE, HISTOGRAM };
static const char *const kinds[] = {NULL, "counter", "gauge", "histogram"};

struct process {
  const struct view *v;
  char *labels; /* process="shop",pid="4242" */
  double since; /* seconds since 1970 that counters count from; NAN: not known */
  struct top top;
  struct top_kinds kinds;
};

struct writer {
  FILE *out;
  bool open; /* OpenMetrics; else the older text */
  struct process *process;
  size_t processes;
};

/* Bounds of histograms, ns. */
static const uint64_t bounds[] = {10000,     100000,    500000,     1000000,    2500000,
                                  5000000,   10000000,  25000000,   50000000,   100000000,
                                  250000000, 500000000, 1000000000, 2500000000, 10000000000};
enum { BOUNDS = sizeof bounds / sizeof *bounds };

/* So many kinds of requests at most, unless all functions are asked for; the others are one. */
enum { KINDS = 32 };

/* -- families -------------------------------------------------------------------------- */

static enum kind kind_of(const struct field *field) {
  bool number = field->type == FIELD_COUNT || field->type == FIELD_MAYBE;
  if (!field->name || (!number && field->type != FIELD_HISTOGRAM))
    return NOTHING;
  if (field->type == FIELD_HISTOGRAM)
    return HISTOGRAM;
  if (field->fold == FOLD_SUM)
    return COUNTER;
  bool now = field->fold == FOLD_NOW || field->fold == FOLD_MAX;
  /* Of what goes on: nothing goes on where it is not known. */
  return now || (field->fold == FOLD_SAME && field->type == FIELD_MAYBE) ? GAUGE : NOTHING;
}

static bool is_time(const char *name) {
  size_t length = strlen(name);
  return length > 3 && !strcmp(name + length - 3, "_ns");
}

/* "aprof_function_exec_seconds" */
static char *family_name(const char *of, const char *name, enum kind kind) {
  int length = (int)strlen(name) - 3 * is_time(name);
  const char *unit = kind == HISTOGRAM ? "_duration_seconds" : is_time(name) ? "_seconds" : "";
  return print_string("aprof_%s_%.*s%s", of, length, name, unit);
}

static void begin(const struct writer *w, const char *family, enum kind kind, const char *says) {
  const char *suffix = kind == COUNTER && !w->open ? "_total" : "";
  fprintf(w->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", family, suffix, says, family, suffix,
          kinds[kind]);
}

/* -- samples --------------------------------------------------------------------------- */

static char *escaped(const char *text) {
  char *to = allocate(2 * strlen(text) + 1, 1), *at = to;
  for (; *text; text++) {
    if (strchr("\\\"\n", *text))
      *at++ = '\\';
    *at++ = *text == '\n' ? 'n' : *text;
  }
  return to;
}

/* ,container="..."; nothing where there is no text. */
static char *label(const char *name, const char *text) {
  char *value = text ? escaped(text) : NULL;
  char *all = value ? print_string(",%s=\"%s\"", name, value) : print_string("%s", "");
  free(value);
  return all;
}

static void print_number(FILE *out, uint64_t value, bool time) {
  if (time)
    fprintf(out, " %" PRIu64 ".%09" PRIu64 "\n", value / 1000000000, value % 1000000000);
  else
    fprintf(out, " %" PRIu64 "\n", value);
}

static void sample(const struct writer *w, const struct process *p, const char *family,
                   enum kind kind, const char *labels, uint64_t value, bool time) {
  fprintf(w->out, "%s%s{%s}", family, kind == COUNTER ? "_total" : "", labels);
  print_number(w->out, value, time);
  if (kind == COUNTER && w->open && !isnan(p->since))
    fprintf(w->out, "%s_created{%s} %.3f\n", family, labels, p->since);
}

/* A bucket is 6 % wide at most; all of it counts where its middle lies. */
static void histogram(const struct writer *w, const char *family, const char *labels,
                      const struct distribution *d) {
  uint64_t count = 0;
  unsigned __int128 sum = 0;
  size_t at = 0;
  for (size_t i = 0; i <= BOUNDS; i++) {
    for (; at < d->count; at++) {
      const struct bucket *b = &d->bucket[at];
      uint64_t middle = buckets_percentile(b, 1, 1000, HISTOGRAM_NO_MAX);
      if (i < BOUNDS && middle > bounds[i])
        break;
      add_to(&count, b->count);
      sum += (unsigned __int128)b->count * middle;
    }
    if (i < BOUNDS)
      fprintf(w->out, "%s_bucket{%s,le=\"%g\"} %" PRIu64 "\n", family, labels,
              (double)bounds[i] / 1e9, count);
    else
      fprintf(w->out, "%s_bucket{%s,le=\"+Inf\"} %" PRIu64 "\n", family, labels, count);
  }
  fprintf(w->out, "%s_sum{%s}", family, labels);
  print_number(w->out, sum < BEYOND ? (uint64_t)sum : BEYOND, true);
  fprintf(w->out, "%s_count{%s} %" PRIu64 "\n", family, labels, count);
}

static void value_of(const struct writer *w, const struct process *p, const char *family,
                     const struct field *field, const char *labels, const void *object) {
  enum kind kind = kind_of(field);
  const uint64_t *number = field_of(object, field);
  if (kind == HISTOGRAM)
    histogram(w, family, labels, field_of(object, field));
  else if (*number != UNKNOWN)
    sample(w, p, family, kind, labels, *number, is_time(field->name));
}

/* -- functions, loops, the profile -------------------------------------------------------- */

/* The rest has a label that says of which functions it is: with others it is another series, for
   a counter of the same name that falls would look like a restart. */
static char *function_labels(const struct process *p, const struct view_function *f) {
  if (f == p->top.rest)
    return print_string("%s,function=\"" TOP_REST "\",without=\"%016" PRIx64 "\"", p->labels,
                        p->top.members);
  char *name = escaped(f->name), *file = escaped(f->file ? f->file : "");
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
static char *kind_labels(const struct process *p, const struct view_kind *k) {
  if (k == p->kinds.rest)
    return print_string("%s,kind=\"" TOP_REST "\",without=\"%016" PRIx64 "\"", p->labels,
                        p->kinds.members);
  char *name = escaped(k->kind), *function = escaped(k->function);
  char *place = escaped(k->file ? place_text(k->file, k->line) : "");
  char *labels =
      print_string("%s,kind=\"%s\",function=\"%s\",place=\"%s\"", p->labels, name, function, place);
  free(name);
  free(function);
  free(place);
  return labels;
}

static void kind_values(const struct writer *w, const struct process *p, const char *family,
                        const struct field *field, const struct view_kind *k) {
  char *labels = kind_labels(p, k);
  value_of(w, p, family, field, labels, k);
  free(labels);
}

/* Sums alone: buckets of each tier of each kind would be thousands. */
static void tier_values(const struct writer *w, const struct process *p, const char *family,
                        const struct field *field, const struct view_kind *k) {
  char *of = kind_labels(p, k);
  for (size_t i = 0; i < k->tiers; i++) {
    char *tier = label("tier", k->tier[i].name), *labels = print_string("%s%s", of, tier);
    value_of(w, p, family, field, labels, &k->tier[i]);
    free(labels);
    free(tier);
  }
  free(of);
}

static void function_values(const struct writer *w, const struct process *p, const char *family,
                            const struct field *field, const struct view_function *f) {
  char *labels = function_labels(p, f);
  value_of(w, p, family, field, labels, f);
  free(labels);
}

static void loop_values(const struct writer *w, const struct process *p, const char *family,
                        const struct field *field, const struct view_loop *loop) {
  char *name = escaped(loop->name);
  char *labels = print_string("%s,tid=\"%" PRId64 "\",thread=\"%s\"", p->labels, loop->tid, name);
  value_of(w, p, family, field, labels, loop);
  free(labels);
  free(name);
}

/* How late what was due at a time ran: all that a loop did meanwhile. */
static void lag_values(const struct writer *w, const struct process *p, const char *family,
                       const struct view_function *f) {
  if (!f || !f->lateness.is)
    return;
  char *labels = function_labels(p, f);
  histogram(w, family, labels, &f->lateness.late);
  free(labels);
}

static void lags(const struct writer *w) {
  static const char family[] = "aprof_function_lag_seconds";
  begin(w, family, HISTOGRAM, "how late runs began that were due at a time");
  for (size_t i = 0; i < w->processes; i++) {
    const struct process *p = &w->process[i];
    for (size_t j = 0; j < p->top.functions; j++)
      lag_values(w, p, family, p->top.function[j]);
    lag_values(w, p, family, p->top.rest);
  }
}

enum of { OF_FUNCTION, OF_LOOP, OF_HEALTH, OF_KIND, OF_TIER };

static void process_values(const struct writer *w, const struct process *p, enum of of,
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

static void families(const struct writer *w, enum of of, const char *name,
                     const struct layout *layout) {
  for (size_t i = 0; i < layout->fields; i++) {
    const struct field *field = &layout->field[i];
    enum kind kind = kind_of(field);
    if (of == OF_TIER && kind != COUNTER)
      continue;
    if (kind == NOTHING || !strcmp(field->name, "process") || !strcmp(field->name, "block"))
      continue;
    char *family = family_name(name, field->name, kind);
    begin(w, family, kind, field->says);
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

/* -- processes --------------------------------------------------------------------------- */

static void findings(const struct writer *w) {
  static const char family[] = "aprof_findings";
  begin(w, family, GAUGE, "findings there are, by kind");
  for (size_t i = 0; i < w->processes; i++) {
    uint64_t of[FINDINGS] = {0};
    size_t count;
    struct finding *all = ask_findings(w->process[i].v, &ask_defaults, &count);
    for (size_t j = 0; j < count; j++)
      of[all[j].kind]++;
    findings_free(all, count);
    for (size_t kind = 0; kind < FINDINGS; kind++) {
      char *labels = print_string("%s,kind=\"%s\"", w->process[i].labels, finding_kinds[kind]);
      sample(w, &w->process[i], family, GAUGE, labels, of[kind], false);
      free(labels);
    }
  }
}

static void processes(const struct writer *w) {
  begin(w, "aprof_process_elapsed_seconds", GAUGE, "from the beginning of the profile");
  for (size_t i = 0; i < w->processes; i++)
    sample(w, &w->process[i], "aprof_process_elapsed_seconds", GAUGE, w->process[i].labels,
           w->process[i].v->process.elapsed, true);
  begin(w, "aprof_process_counted_since_seconds", GAUGE,
        "seconds since 1970 when counters began: the start, or the last reset");
  for (size_t i = 0; i < w->processes; i++)
    if (!isnan(w->process[i].since))
      fprintf(w->out, "aprof_process_counted_since_seconds{%s} %.3f\n", w->process[i].labels,
              w->process[i].since);
}

/* Joined to any series of the process: * on(process, pid) group_left(build, label_zone). */
static char *info_labels(const struct process *of) {
  const struct view_process *p = &of->v->process;
  char *build = label("build", p->build_id), *version = label("version", p->aprof_version);
  char *all = print_string("%s%s%s", of->labels, build, version);
  size_t key, value;
  for (const char *l = p->labels; (l = labels_next(l, &key, &value)); l = labels_behind(l)) {
    char *text = print_string("%.*s", (int)value, l + key + 1);
    char *name = print_string("label_%.*s", (int)key, l), *one = label(name, text);
    char *longer = print_string("%s%s", all, one);
    free(text);
    free(name);
    free(one);
    free(all);
    all = longer;
  }
  free(build);
  free(version);
  return all;
}

static void process_info(const struct writer *w) {
  begin(w, "aprof_process_info", GAUGE, "1; which build it is, and the labels of its host");
  for (size_t i = 0; i < w->processes; i++) {
    char *labels = info_labels(&w->process[i]);
    sample(w, &w->process[i], "aprof_process_info", GAUGE, labels, 1, false);
    free(labels);
  }
}

double counted_since(const struct view_process *p) {
  struct tm tm = {0};
  const char *rest = p->started_at ? strptime(p->started_at, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
  if (!rest)
    return NAN;
  double start = (double)timegm(&tm) + strtod(rest, NULL);
  return start + (p->reset != UNKNOWN ? (double)p->reset / 1e9 : 0);
}

static char *process_labels(const struct view_process *p, bool with_host) {
  char *name = escaped(p->name), *container = label("container", p->container),
       *host = label("host", with_host ? p->host : NULL);
  char *labels =
      print_string("process=\"%s\",pid=\"%" PRId64 "\"%s%s", name, p->pid, container, host);
  free(name);
  free(container);
  free(host);
  return labels;
}

static bool is_twice(const struct writer *w, size_t i) {
  for (size_t j = 0; j < w->processes; j++)
    if (j != i && !strcmp(w->process[i].labels, w->process[j].labels))
      return true;
  return false;
}

/* In containers each has the same number, and so has a process that was started again: who scrapes
   takes no series twice. */
static void tell_apart(struct writer *w, bool with_host) {
  bool *twice = allocate(w->processes + 1, sizeof *twice);
  for (size_t i = 0; i < w->processes; i++)
    twice[i] = is_twice(w, i);
  for (size_t i = 0; i < w->processes; i++) {
    const struct view_process *p = &w->process[i].v->process;
    if (!twice[i])
      continue;
    char *host = label("host", with_host ? NULL
                               : p->host ? p->host
                                         : ""),
         *started = label("started", p->started_at ? p->started_at : "");
    char *labels = print_string("%s%s%s", w->process[i].labels, host, started);
    free(host);
    free(started);
    free(w->process[i].labels);
    w->process[i].labels = labels;
  }
  free(twice);
}

/* -- other servers ------------------------------------------------------------------------- */

enum of_agent { AGENT_UP, AGENT_AGE, AGENT_LEFT_OUT };

static void agents(const struct writer *w, const struct format_options *o, enum of_agent what,
                   const char *family, const char *says) {
  if (!o->agents)
    return;
  begin(w, family, GAUGE, says);
  for (size_t i = 0; i < o->agents; i++) {
    const struct format_agent *a = &o->agent[i];
    const uint64_t number[] = {a->up, a->age, a->left_out};
    char *host = label("host", a->name), *url = label("agent", a->url);
    char *labels = print_string("%s%s", host + 1, url);
    if (number[what] != UNKNOWN)
      sample(w, NULL, family, GAUGE, labels, number[what], what == AGENT_AGE);
    free(labels);
    free(host);
    free(url);
  }
}

static void pushed(const struct writer *w, const struct format_options *o) {
  const struct {
    const char *family, *says;
    enum kind kind;
    size_t at;
  } rows[] = {{"aprof_push_sent", "what that server took: requests, profiles, metrics", COUNTER,
               offsetof(struct format_pushed, sent)},
              {"aprof_push_dropped", "what it did not take, and what had no room", COUNTER,
               offsetof(struct format_pushed, dropped)},
              {"aprof_push_rejected", "what it says itself that it refused", COUNTER,
               offsetof(struct format_pushed, rejected)},
              {"aprof_push_retries", "bodies that were sent again", COUNTER,
               offsetof(struct format_pushed, retries)},
              {"aprof_push_cut", "requests that an end of a recording cut", COUNTER,
               offsetof(struct format_pushed, cut)}};
  const struct process none = {.since = NAN};
  for (size_t i = 0; o->pusheds && i <= sizeof rows / sizeof *rows; i++) {
    bool last = i == sizeof rows / sizeof *rows;
    const char *family = last ? "aprof_push_up" : rows[i].family;
    enum kind kind = last ? GAUGE : rows[i].kind;
    begin(w, family, kind, last ? "whether that server takes what is pushed" : rows[i].says);
    for (size_t j = 0; j < o->pusheds; j++) {
      const struct format_pushed *p = &o->pushed[j];
      char *format = label("format", p->format), *url = label("url", p->url);
      char *labels = print_string("%s%s", format + 1, url);
      sample(w, &none, family, kind, labels,
             last ? p->up : *(const uint64_t *)(const void *)((const char *)p + rows[i].at), false);
      free(labels);
      free(format);
      free(url);
    }
  }
}

static void write_all(bool open, const struct view *const *v, size_t views,
                      const struct format_options *options, FILE *out) {
  struct writer w = {.out = out, .open = open, .processes = views};
  w.process = allocate(views + 1, sizeof *w.process);
  for (size_t i = 0; i < views; i++)
    w.process[i] = (struct process){
        .v = v[i],
        .labels = process_labels(&v[i]->process, options->hosts),
        .since = counted_since(&v[i]->process),
        .kinds = ask_top_kinds(v[i], options->functions > KINDS ? KINDS : options->functions)};
  tell_apart(&w, options->hosts);
  for (size_t i = 0; i < views; i++)
    w.process[i].top =
        ask_top(v[i], options->functions, format_memory_of(options->memory, w.process[i].labels));
  format_memory_forget(options->memory);
  processes(&w);
  process_info(&w);
  families(&w, OF_FUNCTION, "function", &layout_function);
  lags(&w);
  families(&w, OF_KIND, "request", &layout_kind);
  families(&w, OF_TIER, "request_tier", &layout_tier);
  families(&w, OF_LOOP, "loop", &layout_loop);
  families(&w, OF_HEALTH, "health", layout_of_health());
  findings(&w);
  agents(&w, options, AGENT_UP, "aprof_agent_up",
         "whether that server answers, of which processes are known");
  agents(&w, options, AGENT_AGE, "aprof_agent_age_seconds", "since that server answered");
  agents(&w, options, AGENT_LEFT_OUT, "aprof_agent_left_out",
         "processes of that server that are in no number, as there is no room for them");
  pushed(&w, options);
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
