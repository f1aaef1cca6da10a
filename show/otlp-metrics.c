/* SPDX-License-Identifier: MIT */
/*
 * Numbers of processes as metrics of OpenTelemetry, in its JSON: sums since the start, and
 * distributions of requests.
 *
 * Each process is a resource. Times are in seconds, as its conventions want them. A bucket counts
 * where its middle lies.
 */
#include "ask/top.h"
#include "emit.h"
#include "formats.h"
#include "otlp.h"
#include "read/labels.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { CUMULATIVE = 2, BOUNDS = 16, FUNCTIONS = 50, LISTED = 50 };
/* ns */
static const uint64_t bounds[BOUNDS] = {
    100000,   250000,    500000,    1000000,   2500000,    5000000,    10000000,   25000000,
    50000000, 100000000, 250000000, 500000000, 1000000000, 2500000000, 5000000000, 10000000000};

struct writer {
  struct emit *e;
  const struct view *v;
  uint64_t start, now; /* ns since 1970 */
};

static uint64_t known(uint64_t number) {
  return number == UNKNOWN ? 0 : number;
}

/* Numbers of 64 bits are texts. */
static void emit_long(struct emit *e, const char *name, uint64_t value) {
  emit_text(e, name, turn_text("%" PRIu64, value));
}

static void emit_attribute(struct emit *e, const char *key, const char *text) {
  if (!text || !*text)
    return;
  emit_open(e, NULL, '{');
  emit_text(e, "key", key);
  emit_open(e, "value", '{');
  emit_text(e, "stringValue", text);
  emit_close(e, '}');
  emit_close(e, '}');
}

/* -- one metric -------------------------------------------------------------------------- */

enum kind { SUM, GAUGE, HISTOGRAM };

static void begin(struct writer *w, const char *name, const char *unit, enum kind kind) {
  static const char *const kinds[] = {"sum", "gauge", "histogram"};
  emit_open(w->e, NULL, '{');
  emit_text(w->e, "name", name);
  emit_text(w->e, "unit", unit);
  emit_open(w->e, kinds[kind], '{');
  if (kind != GAUGE)
    emit_number(w->e, "aggregationTemporality", CUMULATIVE);
  if (kind == SUM)
    emit_bool(w->e, "isMonotonic", true);
  emit_open(w->e, "dataPoints", '[');
}

static void end(struct writer *w) {
  emit_close(w->e, ']');
  emit_close(w->e, '}');
  emit_close(w->e, '}');
}

/* Up to three attributes: key, text, ...; a NULL text is none. */
static void begin_point(struct writer *w, const char *const *attribute) {
  emit_open(w->e, NULL, '{');
  emit_long(w->e, "startTimeUnixNano", w->start);
  emit_long(w->e, "timeUnixNano", w->now);
  emit_open(w->e, "attributes", '[');
  for (size_t i = 0; attribute && attribute[i]; i += 2)
    emit_attribute(w->e, attribute[i], attribute[i + 1]);
  emit_close(w->e, ']');
}

static void emit_count(struct writer *w, const char *const *attribute, uint64_t value) {
  begin_point(w, attribute);
  emit_long(w->e, "asInt", known(value));
  emit_close(w->e, '}');
}

static void emit_time(struct writer *w, const char *const *attribute, uint64_t ns) {
  begin_point(w, attribute);
  emit_float(w->e, "asDouble", (double)known(ns) / 1e9, 9);
  emit_close(w->e, '}');
}

/* -- requests ---------------------------------------------------------------------------- */

static void emit_distribution(struct writer *w, const struct view_kind *k) {
  const char *attribute[] = {"aprof.request.kind", k->kind, NULL};
  const struct distribution *d = &k->wall.of;
  uint64_t of[BOUNDS + 1] = {0}, all = 0;
  for (size_t i = 0; i < d->count; i++) {
    uint64_t middle = buckets_percentile(&d->bucket[i], 1, 1000, HISTOGRAM_NO_MAX);
    size_t at = 0;
    while (at < BOUNDS && middle > bounds[at])
      at++;
    add_to(&of[at], d->bucket[i].count);
    add_to(&all, d->bucket[i].count);
  }
  if (!all)
    return;
  begin_point(w, attribute);
  emit_long(w->e, "count", all);
  emit_float(w->e, "sum", (double)k->wall.sum / 1e9, 9);
  emit_open(w->e, "bucketCounts", '[');
  for (size_t i = 0; i <= BOUNDS; i++)
    emit_long(w->e, NULL, of[i]);
  emit_close(w->e, ']');
  emit_open(w->e, "explicitBounds", '[');
  for (size_t i = 0; i < BOUNDS; i++)
    emit_float(w->e, NULL, (double)bounds[i] / 1e9, 6);
  emit_close(w->e, ']');
  emit_close(w->e, '}');
}

static void emit_states(struct writer *w, const struct view_kind *k) {
  const struct {
    const char *name;
    uint64_t time;
  } states[] = {{"running", k->exec.sum}, {"queued", k->queued.sum}, {"waiting", k->waiting.sum}};
  for (size_t i = 0; i < sizeof states / sizeof *states; i++)
    emit_time(w,
              (const char *const[]){"aprof.request.kind", k->kind, "state", states[i].name, NULL},
              states[i].time);
}

static void emit_tiers(struct writer *w, const struct view_kind *k) {
  for (size_t i = 0; i < k->tiers; i++) {
    const struct view_tier *t = &k->tier[i];
    emit_time(w,
              (const char *const[]){"aprof.request.kind", k->kind, "aprof.tier", t->name, "state",
                                    "running", NULL},
              t->exec.sum);
    emit_time(w,
              (const char *const[]){"aprof.request.kind", k->kind, "aprof.tier", t->name, "state",
                                    "waiting", NULL},
              t->waiting.sum);
  }
}

static void emit_requests(struct writer *w) {
  const struct view *v = w->v;
  size_t kinds = v->kinds < LISTED ? v->kinds : LISTED;
  begin(w, "aprof.request.duration", "s", HISTOGRAM);
  for (size_t i = 0; i < kinds; i++)
    emit_distribution(w, &v->kind[i]);
  end(w);
  begin(w, "aprof.request.time", "s", SUM);
  for (size_t i = 0; i < kinds; i++)
    emit_states(w, &v->kind[i]);
  end(w);
  begin(w, "aprof.request.tier.time", "s", SUM);
  for (size_t i = 0; i < kinds; i++)
    emit_tiers(w, &v->kind[i]);
  end(w);
  begin(w, "aprof.request.failed", "{request}", SUM);
  for (size_t i = 0; i < kinds; i++)
    emit_count(w, (const char *const[]){"aprof.request.kind", v->kind[i].kind, NULL},
               v->kind[i].failed);
  end(w);
  begin(w, "aprof.request.live", "{request}", GAUGE);
  for (size_t i = 0; i < kinds; i++)
    emit_count(w, (const char *const[]){"aprof.request.kind", v->kind[i].kind, NULL},
               v->kind[i].live);
  end(w);
}

/* -- all of it ----------------------------------------------------------------------------- */

static void emit_functions(struct writer *w, uint64_t functions) {
  struct top top = ask_top(w->v, functions ? functions : FUNCTIONS, NULL);
  begin(w, "aprof.function.exec", "s", SUM);
  for (size_t i = 0; i < top.functions; i++) {
    const struct view_function *f = top.function[i];
    emit_time(w, (const char *const[]){"code.function", f->name, "code.filepath", f->file, NULL},
              f->exec);
  }
  if (top.rest)
    emit_time(w, (const char *const[]){"code.function", TOP_REST, NULL}, top.rest->exec);
  end(w);
  ask_top_free(&top);
}

static void emit_loops(struct writer *w) {
  begin(w, "aprof.loop.busy", "s", SUM);
  for (size_t i = 0; i < w->v->loops; i++) {
    const struct view_loop *l = &w->v->loop[i];
    char tid[32];
    snprintf(tid, sizeof tid, "%" PRId64, l->tid);
    emit_time(w, (const char *const[]){"thread.name", l->name, "thread.id", tid, NULL}, l->busy);
  }
  end(w);
  begin(w, "aprof.events", "{event}", SUM);
  emit_count(w, NULL, w->v->health.events);
  end(w);
}

static void emit_resource(struct emit *e, const struct view_process *p) {
  size_t key, value;
  emit_open(e, "resource", '{');
  emit_open(e, "attributes", '[');
  emit_attribute(e, "service.name", p->name);
  emit_attribute(e, "service.instance.id", turn_text("%s:%" PRId64, p->host, p->pid));
  emit_attribute(e, "host.name", p->host);
  emit_attribute(e, "process.pid", turn_text("%" PRId64, p->pid));
  emit_attribute(e, "service.version", p->build_id);
  for (const char *l = p->labels; (l = labels_next(l, &key, &value)); l = labels_behind(l)) {
    char *name = print_string("%.*s", (int)key, l),
         *text = print_string("%.*s", (int)value, l + key + 1);
    emit_attribute(e, name, text);
    free(name);
    free(text);
  }
  emit_close(e, ']');
  emit_close(e, '}');
}

static void emit_process(struct emit *e, const struct view *v, const struct format_options *o) {
  double since = counted_since(&v->process);
  uint64_t start = rounded(since * 1e3) * 1000000;
  uint64_t passed = v->process.elapsed - (v->process.reset != UNKNOWN ? v->process.reset : 0);
  struct writer w = {e, v, start, start + passed};
  emit_row(e);
  emit_open(e, NULL, '{');
  emit_resource(e, &v->process);
  emit_open(e, "scopeMetrics", '[');
  emit_open(e, NULL, '{');
  emit_open(e, "scope", '{');
  emit_text(e, "name", "aprof");
  emit_close(e, '}');
  emit_open(e, "metrics", '[');
  emit_requests(&w);
  emit_functions(&w, o->functions);
  emit_loops(&w);
  emit_close(e, ']');
  emit_close(e, '}');
  emit_close(e, ']');
  emit_close(e, '}');
}

void otlp_metrics_write(const struct view *const *v, size_t views, const struct format_options *o,
                        FILE *out) {
  struct emit e;
  emit_begin(&e, out, NULL);
  emit_open(&e, "resourceMetrics", '[');
  for (size_t i = 0; i < views; i++)
    emit_process(&e, v[i], o);
  emit_close(&e, ']');
  emit_end(&e);
}

static uint64_t rejected(const char *answer, size_t length) {
  return otlp_rejected(answer, length, "rejectedDataPoints");
}

const struct format_push push_otlp_metrics = {
    .path = "/v1/metrics", .type = "application/json", .rejected = rejected};
