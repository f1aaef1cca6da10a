/* SPDX-License-Identifier: MIT */
/*
 * Requests of a recording that have ended, as rows: a line of JSON for each.
 *
 * For ClickHouse a row has the columns of doc/clickhouse.sql, where tiers are a list for each of
 * their members; for others each tier is an object. Only requests that are whole have a row.
 */
#include "ask/story-tiers.h"
#include "emit.h"
#include "formats.h"
#include "read/util.h"

#include <inttypes.h>
#include <time.h>

enum { SECOND = 1000000000, DAY_ROOM = 64 };

/* -- tiers ------------------------------------------------------------------------------- */

struct tier_list {
  struct story_tier tier[STORY_TIERS];
  const char *name[STORY_TIERS]; /* NULL: the request was not in it */
};

static void find_tiers(struct tier_list *to, const struct story *s, const struct story_request *r) {
  ask_story_tiers(s, r, to->tier);
  for (unsigned i = 0; i < STORY_TIERS; i++)
    to->name[i] = i && (to->tier[i].exec || to->tier[i].waiting) ? s->tiers[i] : NULL;
}

static void put_objects(struct emit *e, const struct tier_list *t) {
  emit_open(e, "tiers", '[');
  for (unsigned i = 0; i < STORY_TIERS; i++) {
    if (!t->name[i])
      continue;
    emit_open(e, NULL, '{');
    emit_text(e, "name", t->name[i]);
    emit_number(e, "exec_ns", t->tier[i].exec);
    emit_number(e, "waiting_ns", t->tier[i].waiting);
    emit_close(e, '}');
  }
  emit_close(e, ']');
}

static void put_columns(struct emit *e, const struct tier_list *t) {
  emit_open(e, "tier.name", '[');
  for (unsigned i = 0; i < STORY_TIERS; i++)
    if (t->name[i])
      emit_text(e, NULL, t->name[i]);
  emit_close(e, ']');
  emit_open(e, "tier.exec_ns", '[');
  for (unsigned i = 0; i < STORY_TIERS; i++)
    if (t->name[i])
      emit_number(e, NULL, t->tier[i].exec);
  emit_close(e, ']');
  emit_open(e, "tier.waiting_ns", '[');
  for (unsigned i = 0; i < STORY_TIERS; i++)
    if (t->name[i])
      emit_number(e, NULL, t->tier[i].waiting);
  emit_close(e, ']');
}

/* -- rows -------------------------------------------------------------------------------- */

static void put_moment(struct emit *e, const char *name, uint64_t ns) {
  char day[DAY_ROOM] = "", text[DAY_ROOM + 16];
  time_t seconds = (time_t)(ns / SECOND);
  struct tm tm;
  if (gmtime_r(&seconds, &tm))
    strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm);
  snprintf(text, sizeof text, "%s.%09uZ", day, (unsigned)(ns % SECOND));
  emit_text(e, name, text);
}

static void put_token(struct emit *e, const struct story_request *r) {
  char trace[40] = "", span[20] = "";
  if (r->trace[0] || r->trace[1])
    snprintf(trace, sizeof trace, "%016" PRIx64 "%016" PRIx64, r->trace[0], r->trace[1]);
  if (r->span)
    snprintf(span, sizeof span, "%016" PRIx64, r->span);
  emit_text(e, "trace", trace);
  emit_text(e, "span", span);
}

static void put_row(const struct story *s, const struct story_request *r, bool columns, FILE *out) {
  struct emit e;
  struct tier_list tiers;
  uint64_t begin = (uint64_t)s->started_at_ns + r->begin;
  find_tiers(&tiers, s, r);
  emit_begin(&e, out, NULL);
  emit_text(&e, "kind", r->kind);
  emit_text(&e, "function", r->function);
  if (!columns)
    put_moment(&e, "begin", begin);
  emit_number(&e, "begin_ns", begin);
  emit_number(&e, "wall_ns", r->end - r->begin);
  emit_number(&e, "queued_ns", r->queued);
  emit_number(&e, "exec_ns", r->exec);
  emit_number(&e, "waiting_ns", r->waiting);
  if (columns)
    emit_number(&e, "failed", r->failed);
  else
    emit_bool(&e, "failed", r->failed);
  put_token(&e, r);
  emit_text(&e, "host", s->host);
  emit_text(&e, "process", s->process);
  emit_signed(&e, "pid", s->pid);
  emit_text(&e, "build", s->build_id ? s->build_id : "");
  emit_number(&e, "request", r->number);
  if (columns)
    put_columns(&e, &tiers);
  else
    put_objects(&e, &tiers);
  emit_end(&e);
}

static void tell(const struct story *const *s, size_t stories, const struct format_options *o,
                 bool columns, FILE *out) {
  for (size_t i = 0; i < stories; i++) {
    uint32_t until = o->until ? o->until : s[i]->requests_count;
    for (uint32_t j = o->from; j < until; j++)
      if (s[i]->requests[j].whole && format_means(o, i, j))
        put_row(s[i], &s[i]->requests[j], columns, out);
  }
}

void ndjson_tell(const struct story *const *s, size_t stories, const struct format_options *o,
                 FILE *out) {
  tell(s, stories, o, false, out);
}

void clickhouse_tell(const struct story *const *s, size_t stories, const struct format_options *o,
                     FILE *out) {
  tell(s, stories, o, true, out);
}

static char *clickhouse_query(const struct view *v) {
  (void)v;
  return print_string("query=INSERT%%20INTO%%20aprof_requests%%20FORMAT%%20JSONEachRow");
}

const struct format_push push_ndjson = {.type = "application/x-ndjson"};
const struct format_push push_clickhouse = {
    .path = "/", .type = "application/x-ndjson", .query = clickhouse_query};
