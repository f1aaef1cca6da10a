/* SPDX-License-Identifier: MIT */
/*
 * Requests of a recording as spans of OpenTelemetry.
 *
 * A request is a span, with what it ran, waited and was queued as attributes; its first future is
 * that span, too. Each other future is one below that of the future that made it, and each wait and
 * each time in a queue is one below its future's, with a link to who ended it. The request's token
 * is the trace's id and its parent, so spans of several services are one trace; where it has none,
 * ids are made of host, process and number, and are the same each time.
 */
#include "formats.h"
#include "otlp.h"
#include "otlp.pb-c.h"
#include "read/util.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_INTERNAL = 1, KIND_SERVER = 2, STATUS_ERROR = 2 };
/* Sampled; whether the parent is another process's is known; it is. */
enum { FLAG_SAMPLED = 1, FLAG_KNOWN = 0x100, FLAG_REMOTE = 0x200 };
enum { TRACE_BYTES = 16, SPAN_BYTES = 8, ATTRIBUTES = 8 };

struct writer {
  struct arena arena;
  const struct format_options *options;
  const struct story *s;
  size_t story, room;
  Otlp__ScopeSpans *to;
  uint64_t trace[2], base; /* of the request; what ids are made of */
};

/* -- ids --------------------------------------------------------------------------------- */

/* splitmix64: any two inputs make different outputs. */
static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

static uint64_t base_of(const struct story *s) {
  uint64_t hash = mixed((uint64_t)s->started_at_ns ^ (uint64_t)s->pid << 32);
  for (const char *c = s->host; *c; c++)
    hash = mixed(hash ^ (unsigned char)*c);
  return hash;
}

static ProtobufCBinaryData bytes_of(struct writer *w, const uint64_t *words, size_t count) {
  ProtobufCBinaryData to = {.len = 8 * count, .data = arena_get(&w->arena, count, 8)};
  for (size_t i = 0; i < to.len; i++)
    to.data[i] = (uint8_t)(words[i / 8] >> (56 - 8 * (i % 8)));
  return to;
}

static ProtobufCBinaryData span_id(struct writer *w, uint64_t id) {
  return bytes_of(w, &id, 1);
}

static uint64_t never_zero(uint64_t id) {
  return id ? id : 1;
}

static uint64_t request_id(const struct writer *w, const struct story_request *r) {
  return r->span ? r->span : never_zero(mixed(w->base ^ mixed(r->number)));
}

/* The root's is its request's. */
static uint64_t future_id(const struct writer *w, uint32_t future) {
  const struct story_future *f = &w->s->futures[future];
  const struct story_request *r = &w->s->requests[f->request];
  return r->root == future ? request_id(w, r)
                           : never_zero(mixed(request_id(w, r) + 2 * future + 1));
}

static uint64_t segment_id(const struct writer *w, uint32_t segment) {
  uint64_t future = future_id(w, w->s->segments[segment].future);
  return never_zero(mixed(future + 2 * (uint64_t)segment + 2));
}

/* -- attributes -------------------------------------------------------------------------- */

static Otlp__AnyValue *add_value(struct writer *w, Otlp__KeyValue ***list, size_t *count,
                                 const char *key) {
  Otlp__KeyValue *pair = arena_get(&w->arena, 1, sizeof *pair);
  otlp__key_value__init(pair);
  pair->key = (char *)key;
  pair->value = arena_get(&w->arena, 1, sizeof *pair->value);
  otlp__any_value__init(pair->value);
  if (!*list)
    *list = arena_get(&w->arena, ATTRIBUTES, sizeof **list);
  (*list)[(*count)++] = pair;
  return pair->value;
}

static void set_text(Otlp__AnyValue *value, const char *text) {
  value->value_case = OTLP__ANY_VALUE__VALUE_STRING_VALUE;
  value->string_value = (char *)text;
}

static void set_number(Otlp__AnyValue *value, uint64_t number) {
  value->value_case = OTLP__ANY_VALUE__VALUE_INT_VALUE;
  value->int_value = (int64_t)number;
}

static void add_text(struct writer *w, Otlp__Span *span, const char *key, const char *text) {
  if (text && *text)
    set_text(add_value(w, &span->attributes, &span->n_attributes, key), text);
}

static void add_number(struct writer *w, Otlp__Span *span, const char *key, uint64_t number) {
  set_number(add_value(w, &span->attributes, &span->n_attributes, key), number);
}

static void add_place(struct writer *w, Otlp__Span *span, const struct story_path *p) {
  add_text(w, span, "code.filepath", p->file);
  if (p->file && p->line)
    add_number(w, span, "code.lineno", p->line);
}

/* -- spans ------------------------------------------------------------------------------- */

static Otlp__Span *add_span(struct writer *w, uint64_t id, uint64_t parent, const char *name,
                            uint64_t begin, uint64_t end) {
  if (w->to->n_spans == w->room) {
    Otlp__Span **before = w->to->spans;
    w->room = 2 * w->room + 64;
    w->to->spans = arena_get(&w->arena, w->room, sizeof *w->to->spans);
    if (before)
      memcpy(w->to->spans, before, w->to->n_spans * sizeof *before);
  }
  Otlp__Span *span = arena_get(&w->arena, 1, sizeof *span);
  otlp__span__init(span);
  span->trace_id = bytes_of(w, w->trace, 2);
  span->span_id = span_id(w, id);
  if (parent)
    span->parent_span_id = span_id(w, parent);
  span->name = (char *)name;
  span->kind = KIND_INTERNAL;
  span->start_time_unix_nano = (uint64_t)w->s->started_at_ns + begin;
  span->end_time_unix_nano = (uint64_t)w->s->started_at_ns + end;
  span->flags = FLAG_SAMPLED | FLAG_KNOWN;
  return w->to->spans[w->to->n_spans++] = span;
}

static void set_failed(struct writer *w, Otlp__Span *span) {
  span->status = arena_get(&w->arena, 1, sizeof *span->status);
  otlp__status__init(span->status);
  span->status->code = STATUS_ERROR;
}

static bool is_of(const struct story *s, uint32_t future, uint32_t request) {
  return future < s->futures_count && s->futures[future].request == request;
}

static void add_link(struct writer *w, Otlp__Span *span, uint32_t waker, uint32_t request) {
  if (!is_of(w->s, waker, request))
    return;
  Otlp__Link *link = arena_get(&w->arena, 1, sizeof *link);
  otlp__link__init(link);
  link->trace_id = bytes_of(w, w->trace, 2);
  link->span_id = span_id(w, future_id(w, waker));
  link->flags = FLAG_SAMPLED | FLAG_KNOWN;
  span->links = arena_get(&w->arena, 1, sizeof *span->links);
  span->links[span->n_links++] = link;
}

/* What ran is in the sums: its future's span says when. */
static void add_waits(struct writer *w, const struct story_future *f, uint64_t parent) {
  const struct story *s = w->s;
  for (uint32_t i = f->first; i != STORY_NONE; i = s->segments[i].next) {
    const struct story_segment *g = &s->segments[i];
    if (g->what != STORY_WAITING && g->what != STORY_QUEUED)
      continue;
    bool waits = g->what == STORY_WAITING;
    const struct story_path *p = &s->paths[g->path];
    const char *name = waits && *p->name ? p->name : waits ? "waiting" : "queued";
    Otlp__Span *span = add_span(w, segment_id(w, i), parent, name, g->begin, g->end);
    add_text(w, span, "aprof.state", waits ? "waiting" : "queued");
    add_text(w, span, "aprof.path", p->text);
    add_text(w, span, "aprof.tier", g->tier && g->tier < STORY_TIERS ? s->tiers[g->tier] : NULL);
    add_place(w, span, p);
    add_link(w, span, g->waker, f->request);
  }
}

static void add_future(struct writer *w, uint32_t number) {
  const struct story *s = w->s;
  const struct story_future *f = &s->futures[number];
  const struct story_request *r = &s->requests[f->request];
  const struct story_path *p = &s->paths[f->path];
  uint64_t id = future_id(w, number);
  if (r->root != number) {
    uint64_t parent = is_of(s, f->creator, f->request) && f->creator != number
                          ? future_id(w, f->creator)
                          : request_id(w, r);
    Otlp__Span *span = add_span(w, id, parent, p->name, f->born, f->over);
    add_text(w, span, "aprof.path", p->text);
    add_text(w, span, "code.function", p->name);
    add_place(w, span, p);
    if (f->how == STORY_FAILED)
      set_failed(w, span);
  }
  add_waits(w, f, id);
}

static void add_request(struct writer *w, uint32_t number) {
  const struct story *s = w->s;
  const struct story_request *r = &s->requests[number];
  memcpy(w->trace, r->trace, sizeof w->trace);
  if (!w->trace[0] && !w->trace[1]) {
    w->trace[0] = never_zero(mixed(w->base + r->number));
    w->trace[1] = mixed(w->trace[0]);
  }
  Otlp__Span *span = add_span(w, request_id(w, r), r->parent_span, r->kind, r->begin, r->end);
  span->kind = KIND_SERVER;
  span->flags |= r->parent_span ? FLAG_REMOTE : 0;
  add_text(w, span, "code.function", r->function);
  add_number(w, span, "aprof.request", r->number);
  add_number(w, span, "aprof.exec_ns", r->exec);
  add_number(w, span, "aprof.queued_ns", r->queued);
  add_number(w, span, "aprof.waiting_ns", r->waiting);
  if (r->failed)
    set_failed(w, span);
  for (uint32_t i = 0; i < r->futures_count; i++)
    add_future(w, r->futures[i]);
}

/* -- the whole --------------------------------------------------------------------------- */

static void describe(struct writer *w, Otlp__Resource *of) {
  const struct story *s = w->s;
  const struct {
    const char *key, *text;
  } texts[] = {{"service.name", s->process},
               {"host.name", s->host},
               {"process.command_line", s->command},
               {"process.executable.build_id.gnu", s->build_id}};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (texts[i].text && *texts[i].text)
      set_text(add_value(w, &of->attributes, &of->n_attributes, texts[i].key), texts[i].text);
  set_number(add_value(w, &of->attributes, &of->n_attributes, "process.pid"), (uint64_t)s->pid);
}

typedef void put_function(const Otlp__TracesData *, FILE *out);

/* Only requests that are over are spans: of others nobody knows how long they take. */
static void tell_part(struct writer *w, uint32_t from, uint32_t until, put_function *put,
                      FILE *out) {
  Otlp__TracesData data = OTLP__TRACES_DATA__INIT;
  Otlp__ResourceSpans of_process = OTLP__RESOURCE_SPANS__INIT, *processes[] = {&of_process};
  Otlp__Resource resource = OTLP__RESOURCE__INIT;
  Otlp__ScopeSpans spans = OTLP__SCOPE_SPANS__INIT, *scopes[] = {&spans};
  Otlp__InstrumentationScope scope = OTLP__INSTRUMENTATION_SCOPE__INIT;
  data.resource_spans = processes;
  of_process.resource = &resource;
  of_process.scope_spans = scopes;
  data.n_resource_spans = of_process.n_scope_spans = 1;
  spans.scope = &scope;
  scope.name = (char *)"aprof";
  scope.version = (char *)APROF_VERSION;
  describe(w, &resource);
  w->to = &spans;
  w->room = 0;
  for (uint32_t i = from; i < until; i++)
    if (w->s->requests[i].whole && format_means(w->options, w->story, i))
      add_request(w, i);
  if (spans.n_spans)
    put(&data, out);
  arena_free(&w->arena);
  w->arena = (struct arena){0};
}

static void tell(const struct story *const *s, size_t stories, const struct format_options *o,
                 put_function *put, FILE *out) {
  struct writer w = {.options = o};
  for (w.story = 0; w.story < stories; w.story++) {
    w.s = s[w.story];
    w.base = base_of(w.s);
    uint32_t until = o->until ? o->until : w.s->requests_count;
    for (uint32_t from = o->from, next; from < until; from = next) {
      next = format_part_end(w.s, from);
      next = next < until ? next : until;
      tell_part(&w, from, next, put, out);
    }
  }
}

static void put_json(const Otlp__TracesData *data, FILE *out) {
  struct emit e;
  emit_begin(&e, out, NULL);
  otlp_members(&e, &data->base);
  emit_end(&e);
}

/* One behind the other, they are one message with what all have. */
static void put_protobuf(const Otlp__TracesData *data, FILE *out) {
  size_t length = otlp__traces_data__get_packed_size(data);
  uint8_t *packed = allocate(length + 1, 1);
  otlp__traces_data__pack(data, packed);
  fwrite(packed, 1, length, out);
  free(packed);
}

void otlp_tell(const struct story *const *s, size_t stories, const struct format_options *o,
               FILE *out) {
  tell(s, stories, o, put_json, out);
}

void otlp_proto_tell(const struct story *const *s, size_t stories, const struct format_options *o,
                     FILE *out) {
  tell(s, stories, o, put_protobuf, out);
}

/* -- what a collector answers ------------------------------------------------------------ */

static uint64_t rejected_json(const char *answer, size_t length) {
  return otlp_rejected(answer, length, "rejectedSpans");
}

static uint64_t rejected_protobuf(const char *answer, size_t length) {
  Otlp__Response *r = otlp__response__unpack(NULL, length, (const uint8_t *)answer);
  uint64_t count = r && r->partial_success && r->partial_success->rejected_spans > 0
                       ? (uint64_t)r->partial_success->rejected_spans
                       : 0;
  if (r)
    otlp__response__free_unpacked(r, NULL);
  return count;
}

const struct format_push push_otlp = {
    .path = "/v1/traces", .type = "application/json", .rejected = rejected_json};
const struct format_push push_otlp_proto = {
    .path = "/v1/traces", .type = "application/x-protobuf", .rejected = rejected_protobuf};
