/* SPDX-License-Identifier: MIT */
/* Recordings as views and in the formats of other tools: sums are those of the story. */
#include "ask/story-tiers.h"
#include "ask/story-view.h"
#include "ask/story-wakes.h"
#include "hand-story.h"
#include "otlp.pb-c.h"
#include "perfetto.pb-c.h"
#include "read/json.h"
#include "show/formats.h"
#include "show/stacks.h"
#include "suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 100 };

/* -- sums -------------------------------------------------------------------------------- */

struct sums {
  uint64_t of[STORY_ASIDE + 1]; /* by enum story_what */
};

/* Of the requests that are meant until they ended; NULL: of all that there is. */
static struct sums sums_of(const struct story *s, const bool *meant) {
  struct sums sums = {{0}};
  for (uint32_t i = 0; i < s->segments_count; i++) {
    const struct story_segment *g = &s->segments[i];
    uint32_t request = s->futures[g->future].request;
    if (!meant || (request != STORY_NONE && meant[request]))
      sums.of[g->what] += g->end - g->begin;
  }
  return sums;
}

static char *told(const struct story *s, const char *format, const bool *const *meant,
                  size_t *length) {
  char *text = NULL;
  FILE *out = open_memstream(&text, length);
  struct format_options o = {.meant = meant};
  format_find(format)->tell(&s, 1, &o, out);
  fclose(out);
  return text;
}

static bool *slow_of(const struct story *s, bool slow) {
  bool *meant = calloc(s->requests_count, sizeof *meant);
  for (uint32_t i = 0; i < s->requests_count; i++)
    meant[i] = hand_is_slow(s, i) == slow;
  return meant;
}

/* -- views ------------------------------------------------------------------------------- */

static void check_view(const struct story *s, const bool *meant) {
  struct sums want = sums_of(s, meant);
  struct view *v = ask_story_view(s, meant, "a story");
  struct stacks all = stacks_of(v, true);
  uint64_t sum[STACK_MEASURES] = {0}, functions[3] = {0};
  for (size_t i = 0; i < all.stacks; i++)
    for (int m = 0; !all.stack[i].left_out && m < STACK_MEASURES; m++)
      sum[m] += all.stack[i].self[m];
  for (size_t i = 0; i < v->functions; i++) {
    functions[0] += v->function[i].exec;
    functions[1] += v->function[i].queued;
    functions[2] += v->function[i].waiting;
  }
  ck_assert_uint_gt(want.of[STORY_EXEC], 0);
  ck_assert_uint_eq(sum[STACK_EXEC], want.of[STORY_EXEC]);
  ck_assert_uint_eq(sum[STACK_QUEUED], want.of[STORY_QUEUED]);
  ck_assert_uint_eq(sum[STACK_WAITING], want.of[STORY_WAITING]);
  ck_assert_uint_eq(functions[0], want.of[STORY_EXEC]);
  ck_assert_uint_eq(functions[1], want.of[STORY_QUEUED]);
  ck_assert_uint_eq(functions[2], want.of[STORY_WAITING]);
  stacks_free(&all);
  view_free(v);
}

START_TEST(views_have_the_story_s_sums) {
  struct story *s = hand_story(REQUESTS);
  bool *slow = slow_of(s, true), *rest = slow_of(s, false);
  check_view(s, NULL);
  check_view(s, slow);
  check_view(s, rest);
  struct view *v = ask_story_view(s, slow, "slow");
  uint64_t count = 0, live = 0;
  for (size_t i = 0; i < v->kinds; i++) {
    count += v->kind[i].count;
    live += v->kind[i].live;
  }
  ck_assert_uint_eq(count, REQUESTS / HAND_SLOW_EVERY);
  ck_assert_uint_eq(live, 0);
  view_free(v);
  free(slow);
  free(rest);
  story_free(s);
}
END_TEST

/* What a request does behind its end is no part of it. */
START_TEST(views_of_requests_end_with_them) {
  struct story *s = story_new();
  uint32_t path = story_add_path(s, STORY_NONE, STORY_FUNCTION, "f", "f.c", 1);
  story_add_request(s, NULL, "f", 0, 50);
  uint32_t f = story_add_future(s, path, 0, STORY_NONE, 0);
  story_add_segment(s, f, STORY_EXEC, path, 0, 40);
  story_add_segment(s, f, STORY_QUEUED, path, 40, 60);
  story_add_segment(s, f, STORY_EXEC, path, 60, 90);
  story_finish(s);
  bool meant = true;
  struct view *v = ask_story_view(s, &meant, "f"), *all = ask_story_view(s, NULL, "f");
  ck_assert_uint_eq(v->function[0].exec, s->requests[0].exec);
  ck_assert_uint_eq(v->function[0].exec, 40);
  ck_assert_uint_eq(v->function[0].queued, 10);
  ck_assert_uint_eq(all->function[0].exec, 70);
  view_free(all);
  view_free(v);
  story_free(s);
}
END_TEST

START_TEST(tiers_are_all_of_a_request) {
  struct story *s = hand_story(REQUESTS);
  for (uint32_t i = 0; i < s->requests_count; i++) {
    struct story_tier tier[STORY_TIERS];
    struct story_tier sum = {0};
    ask_story_tiers(s, &s->requests[i], tier);
    for (unsigned j = 0; j < STORY_TIERS; j++) {
      sum.exec += tier[j].exec;
      sum.waiting += tier[j].waiting;
    }
    ck_assert_uint_eq(sum.exec, s->requests[i].exec);
    ck_assert_uint_eq(sum.waiting, s->requests[i].waiting);
    ck_assert_uint_eq(tier[HAND_TIER_DB].exec, 5000);
    ck_assert_uint_eq(tier[HAND_TIER_RENDER].exec, 8000);
  }
  story_free(s);
}
END_TEST

/* The pool's job by who made it, who asked it by the job, and that one's caller by that; but a
   disk's answer has nobody here that it is from. */
START_TEST(wakes_say_who_and_when) {
  struct story *s = hand_story(REQUESTS);
  struct story_wakes w = ask_story_wakes(s);
  ck_assert_uint_eq(w.wakes, 3 * REQUESTS - REQUESTS / HAND_SLOW_EVERY);
  for (uint32_t i = 0; i < w.wakes; i++) {
    const struct story_segment *run = &s->segments[w.wake[i].run];
    const struct story_segment *from = &s->segments[w.wake[i].from];
    ck_assert(!i || w.wake[i].run > w.wake[i - 1].run);
    ck_assert_int_eq(run->what, STORY_EXEC);
    ck_assert_int_eq(from->what, STORY_EXEC);
    ck_assert_uint_ne(run->future, from->future);
    ck_assert_uint_eq(s->futures[run->future].request, s->futures[from->future].request);
    ck_assert(from->begin <= w.wake[i].at && w.wake[i].at <= from->end);
    ck_assert_uint_le(w.wake[i].at, run->begin);
  }
  ask_story_wakes_free(&w);
  story_free(s);
}
END_TEST

/* -- formats ----------------------------------------------------------------------------- */

static bool is(const cJSON *o, const char *name, const char *text) {
  const char *there = json_get_text(o, name);
  return there && !strcmp(there, text);
}

static double number(const cJSON *o, const char *name) {
  const cJSON *member = json_member(o, name);
  ck_assert(cJSON_IsNumber(member));
  return member->valuedouble;
}

START_TEST(chrome_has_all_in_time) {
  struct story *s = hand_story(REQUESTS);
  struct sums want = sums_of(s, NULL);
  size_t length, arrows = 0;
  double run = 0, slices = 0, queued = 0, asked = 0;
  char *text = told(s, "chrome", NULL, &length), *fault = NULL;
  cJSON *all = json_parse(text, length, &fault);
  ck_assert_ptr_nonnull(all);
  const cJSON *event;
  cJSON_ArrayForEach(event, json_member(all, "traceEvents")) {
    bool box = is(event, "ph", "X"), begin = is(event, "ph", "b");
    run += box && is(event, "cat", "run") ? number(event, "dur") : 0;
    slices += box && is(event, "cat", "slice") ? number(event, "dur") : 0;
    arrows += is(event, "ph", "s");
    if (!begin && !is(event, "ph", "e"))
      continue;
    double sign = begin ? -1 : 1;
    queued += is(event, "name", "queued") ? sign * number(event, "ts") : 0;
    asked += is(event, "name", "waiting: disk_get") ? sign * number(event, "ts") : 0;
  }
  ck_assert_double_eq_tol(run * 1e3, (double)want.of[STORY_EXEC], 1);
  ck_assert_double_eq_tol(queued * 1e3, (double)want.of[STORY_QUEUED], 1);
  ck_assert_double_eq_tol(slices, REQUESTS * (15 + 10 + 15) + 1, 0.001);
  ck_assert_double_eq_tol(asked, (REQUESTS / HAND_SLOW_EVERY) * (1615 + 30), 0.01);
  ck_assert_uint_eq(arrows, 3 * REQUESTS - REQUESTS / HAND_SLOW_EVERY);
  json_free(all);
  free(text);
  story_free(s);
}
END_TEST

/* Ends close what was begun last on their track, in the order of time and then of the file. */
struct track {
  uint64_t uuid, open[8], category[8];
  unsigned depth;
};

static const Perfetto__Packet **sorted_packets;

static int by_time(const void *a, const void *b) {
  const Perfetto__Packet *x = sorted_packets[*(const size_t *)a];
  const Perfetto__Packet *y = sorted_packets[*(const size_t *)b];
  if (x->timestamp != y->timestamp)
    return x->timestamp < y->timestamp ? -1 : 1;
  return *(const size_t *)a < *(const size_t *)b ? -1 : 1;
}

/* The packets of a trace, which is a message of nothing else. */
static size_t unpack(const uint8_t *data, size_t length, Perfetto__Packet ***packets) {
  size_t count = 0;
  for (size_t at = 0; at < length;) {
    size_t size = 0;
    unsigned shift = 0;
    ck_assert_uint_eq(data[at++], 10);
    do
      size |= (size_t)(data[at] & 0x7f) << shift;
    while (shift += 7, data[at++] & 0x80);
    *packets = realloc(*packets, (count + 1) * sizeof **packets);
    (*packets)[count] = perfetto__packet__unpack(NULL, size, data + at);
    ck_assert_ptr_nonnull((*packets)[count++]);
    at += size;
  }
  return count;
}

static struct track *track_of(struct track *tracks, size_t *count, uint64_t uuid) {
  for (size_t i = 0; i < *count; i++)
    if (tracks[i].uuid == uuid)
      return &tracks[i];
  tracks[*count] = (struct track){.uuid = uuid};
  return &tracks[(*count)++];
}

/* Sums by category, by events of Perfetto in their order. */
static void play(Perfetto__Packet *const *packet, size_t count, uint64_t sum[8], size_t *flows) {
  struct track *tracks = calloc(count, sizeof *tracks);
  size_t *order = calloc(count, sizeof *order), all = 0;
  for (size_t i = 0; i < count; i++)
    order[i] = i;
  sorted_packets = (const Perfetto__Packet **)packet;
  qsort(order, count, sizeof *order, by_time);
  for (size_t i = 0; i < count; i++) {
    const Perfetto__Packet *p = packet[order[i]];
    const Perfetto__TrackEvent *e = p->track_event;
    if (!e)
      continue;
    struct track *t = track_of(tracks, &all, e->track_uuid);
    *flows += e->n_terminating_flow_ids;
    if (e->type == 1) {
      t->category[t->depth] = e->category_iids[0];
      t->open[t->depth++] = p->timestamp;
    } else if (e->type == 2) {
      ck_assert_uint_gt(t->depth, 0);
      t->depth--;
      sum[t->category[t->depth]] += p->timestamp - t->open[t->depth];
    }
  }
  for (size_t i = 0; i < all; i++)
    ck_assert_uint_eq(tracks[i].depth, 0);
  free(order);
  free(tracks);
}

START_TEST(perfetto_has_all_in_time) {
  struct story *s = hand_story(REQUESTS);
  struct sums want = sums_of(s, NULL);
  size_t length, flows = 0;
  uint64_t sum[8] = {0}, states = 0, lives = 0, walls = 0;
  Perfetto__Packet **packet = NULL;
  char *data = told(s, "perfetto", NULL, &length);
  size_t count = unpack((const uint8_t *)data, length, &packet);
  play(packet, count, sum, &flows);
  for (int i = 0; i <= STORY_ASIDE; i++)
    states += want.of[i];
  for (uint32_t i = 0; i < s->futures_count; i++)
    lives += s->futures[i].over - s->futures[i].born;
  for (uint32_t i = 0; i < s->requests_count; i++)
    walls += s->requests[i].end - s->requests[i].begin;
  ck_assert_uint_eq(sum[1], UINT64_C(40000) * REQUESTS + 1000); /* slices */
  ck_assert_uint_eq(sum[2], want.of[STORY_EXEC]);
  ck_assert_uint_eq(sum[4], walls);
  ck_assert_uint_eq(sum[5], lives);
  ck_assert_uint_eq(sum[6], states);
  ck_assert_uint_eq(flows, 3 * REQUESTS - REQUESTS / HAND_SLOW_EVERY);
  for (size_t i = 0; i < count; i++)
    perfetto__packet__free_unpacked(packet[i], NULL);
  free(packet);
  free(data);
  story_free(s);
}
END_TEST

static const char *text_of(const Otlp__Span *span, const char *key) {
  for (size_t i = 0; i < span->n_attributes; i++)
    if (!strcmp(span->attributes[i]->key, key))
      return span->attributes[i]->value->string_value;
  return "";
}

static uint64_t number_of(const Otlp__Span *span, const char *key) {
  for (size_t i = 0; i < span->n_attributes; i++)
    if (!strcmp(span->attributes[i]->key, key))
      return (uint64_t)span->attributes[i]->value->int_value;
  return 0;
}

static const Otlp__Span *find_span(const Otlp__ResourceSpans *of, ProtobufCBinaryData id) {
  for (size_t i = 0; i < of->scope_spans[0]->n_spans; i++) {
    const Otlp__Span *span = of->scope_spans[0]->spans[i];
    if (span->span_id.len == id.len && !memcmp(span->span_id.data, id.data, id.len))
      return span;
  }
  return NULL;
}

START_TEST(otlp_has_spans_of_all_that_ended) {
  struct story *s = hand_story(REQUESTS);
  size_t length, requests = 0, others = 0;
  uint64_t exec = 0, waiting = 0, sum = 0, waits = 0;
  char *data = told(s, "otlp-proto", NULL, &length);
  Otlp__TracesData *all = otlp__traces_data__unpack(NULL, length, (uint8_t *)data);
  ck_assert_ptr_nonnull(all);
  for (size_t i = 0; i < all->n_resource_spans; i++) {
    const Otlp__ResourceSpans *of = all->resource_spans[i];
    for (size_t j = 0; j < of->scope_spans[0]->n_spans; j++) {
      const Otlp__Span *span = of->scope_spans[0]->spans[j];
      const Otlp__Span *parent = find_span(of, span->parent_span_id);
      ck_assert_uint_eq(span->trace_id.len, 16);
      ck_assert_ptr_eq(find_span(of, span->span_id), span); /* no other has its id */
      if (span->kind == 2) { /* a request, of a trace that is told or is its own */
        requests++;
        exec += number_of(span, "aprof.exec_ns");
        waiting += number_of(span, "aprof.waiting_ns");
        ck_assert_ptr_null(parent);
        bool token = number_of(span, "aprof.request") % 2;
        ck_assert_uint_eq(span->parent_span_id.len, token ? 8 : 0);
        ck_assert(!memcmp(span->trace_id.data, "\x4b\xf9\x2f\x35\x77\xb3\x4d\xa6", 8) == token);
        continue;
      }
      others++;
      ck_assert_ptr_nonnull(parent);
      ck_assert_mem_eq(parent->trace_id.data, span->trace_id.data, 16);
      ck_assert_uint_ge(span->start_time_unix_nano, parent->start_time_unix_nano);
      if (!strcmp(text_of(span, "aprof.state"), "waiting"))
        waits += span->end_time_unix_nano - span->start_time_unix_nano;
    }
  }
  for (uint32_t i = 0; i < s->requests_count; i++)
    if (s->requests[i].whole) {
      sum += s->requests[i].exec;
      waits -= s->requests[i].waiting;
    }
  ck_assert_uint_eq(requests, REQUESTS - 1); /* the last is cut */
  ck_assert_uint_eq(others, 6 * (REQUESTS - 1));
  ck_assert_uint_eq(exec, sum);
  ck_assert_uint_gt(waiting, 0);
  ck_assert_uint_eq(waits, 0);
  otlp__traces_data__free_unpacked(all, NULL);
  free(data);
  story_free(s);
}
END_TEST

/* Lines are whole, and rows of a part are those of the whole. */
START_TEST(rows_are_requests_that_ended) {
  struct story *s = hand_story(REQUESTS);
  static const char *const formats_of_rows[] = {"ndjson", "clickhouse"};
  for (int i = 0; i < 2; i++) {
    size_t length, rows = 0;
    uint64_t wall = 0, want = 0;
    char *text = told(s, formats_of_rows[i], NULL, &length), *fault = NULL;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), rows++) {
      cJSON *row = json_parse(line, strlen(line), &fault);
      ck_assert_ptr_nonnull(row);
      wall += json_value(json_member(row, "wall_ns"), 0);
      ck_assert_str_eq(json_get_text(row, "host"), "lab");
      ck_assert(!i == is(row, "begin",
                         rows ? json_get_text(row, "begin") : "2026-09-21T14:13:20.123456789Z"));
      json_free(row);
    }
    for (uint32_t j = 0; j + 1 < s->requests_count; j++)
      want += s->requests[j].end - s->requests[j].begin;
    ck_assert_uint_eq(rows, REQUESTS - 1);
    ck_assert_uint_eq(wall, want);
    free(text);
  }
  story_free(s);
}
END_TEST

START_TEST(parts_are_the_whole) {
  struct story *s = hand_story(3000);
  static const char *const parted[] = {"ndjson", "clickhouse", "otlp-proto"};
  for (size_t i = 0; i < sizeof parted / sizeof *parted; i++) {
    size_t length, of_parts, parts = 0;
    char *whole = told(s, parted[i], NULL, &length), *text = NULL;
    FILE *out = open_memstream(&text, &of_parts);
    for (uint32_t from = 0; from < s->requests_count; parts++) {
      struct format_options o = {.from = from, .until = format_part_end(s, from)};
      format_find(parted[i])->tell((const struct story *const[]){s}, 1, &o, out);
      from = o.until;
    }
    fclose(out);
    ck_assert_uint_gt(parts, 1);
    ck_assert_uint_eq(length, of_parts);
    ck_assert_mem_eq(whole, text, length);
    free(text);
    free(whole);
  }
  story_free(s);
}
END_TEST

/* Others are left out, in each format. */
START_TEST(those_that_are_meant) {
  struct story *s = hand_story(REQUESTS);
  bool *slow = slow_of(s, true);
  const bool *meant[] = {slow};
  size_t length, rows = 0;
  char *text = told(s, "ndjson", meant, &length);
  for (char *at = text; (at = strchr(at, '\n')); at++)
    rows++;
  ck_assert_uint_eq(rows, REQUESTS / HAND_SLOW_EVERY);
  free(text);
  text = told(s, "otlp", meant, &length);
  size_t spans = 0;
  for (char *at = text; (at = strstr(at, "\"spanId\":")); at++)
    spans++;
  ck_assert_uint_gt(spans, 0);
  free(text);
  free(slow);
  story_free(s);
}
END_TEST

START_TEST(nothing_is_all_right) {
  struct story *s = story_new();
  story_finish(s);
  for (const struct format *f = formats; f->name; f++) {
    size_t length;
    if (f->tell)
      free(told(s, f->name, NULL, &length));
  }
  view_free(ask_story_view(s, NULL, "nothing"));
  story_free(s);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("stories");
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, views_have_the_story_s_sums);
  tcase_add_test(tests, views_of_requests_end_with_them);
  tcase_add_test(tests, tiers_are_all_of_a_request);
  tcase_add_test(tests, wakes_say_who_and_when);
  tcase_add_test(tests, chrome_has_all_in_time);
  tcase_add_test(tests, perfetto_has_all_in_time);
  tcase_add_test(tests, otlp_has_spans_of_all_that_ended);
  tcase_add_test(tests, rows_are_requests_that_ended);
  tcase_add_test(tests, parts_are_the_whole);
  tcase_add_test(tests, those_that_are_meant);
  tcase_add_test(tests, nothing_is_all_right);
  return suite_run("stories", tests);
}
