/* SPDX-License-Identifier: MIT */
/* Totals written, read back and subtracted: read/json.c, view-totals.c, interval.c,
   waits.c, findings.c. */
#include "read/json.h"
#include "read/verify.h"
#include "show/emit.h"
#include "show/format.h"
#include "show/report.h"
#include "show/totals.h"
#include "suite.h"
#include "synthetic.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

START_TEST(integers_of_64_bits_survive) {
  static const uint64_t values[] = {0, 9007199254740993, 999999999999999, 1000000000000000,
                                    UINT64_MAX};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    char *text = NULL, *fault = NULL;
    size_t length = 0;
    struct emit e;
    emit_begin(&e, open_memstream(&text, &length), NULL);
    emit_number(&e, "n", values[i]);
    emit_end(&e);
    fclose(e.out);
    cJSON *read = json_parse(text, length, &fault);
    ck_assert_uint_eq(json_value(json_member(read, "n"), 1), values[i]);
    json_free(read);
    free(text);
  }
}
END_TEST

START_TEST(digits_in_strings_stay) {
  static const char text[] = "{\"a\":\"12345678901234567890 \\\" 12345678901234567890\","
                             "\"b\":[12345678901234567890,1.5,-3]}";
  char *fault = NULL;
  cJSON *json = json_parse(text, strlen(text), &fault);
  ck_assert_str_eq(json_get_text(json, "a"), "12345678901234567890 \" 12345678901234567890");
  ck_assert_uint_eq(json_value(cJSON_GetArrayItem(json_member(json, "b"), 0), 0),
                    UINT64_C(12345678901234567890));
  ck_assert_uint_eq(json_value(cJSON_GetArrayItem(json_member(json, "b"), 2), 7), 7);
  json_free(json);
}
END_TEST

static void has_fault(const char *text, const char *want) {
  char *fault = NULL;
  ck_assert_ptr_null(json_parse(text, strlen(text), &fault));
  ck_assert_str_eq(fault, want);
  free(fault);
}

START_TEST(faults_have_a_place) {
  has_fault("{\"a\":}", "not JSON from byte 5 on");
  has_fault("", "not JSON from byte 0 on");
  has_fault("[12345678901234567890, x]", "not JSON from byte 23 on");
}
END_TEST

START_TEST(depth_is_bounded) {
  char deep[2 * JSON_DEPTH + 3], *fault = NULL;
  memset(deep, '[', JSON_DEPTH);
  memset(deep + JSON_DEPTH, ']', JSON_DEPTH);
  deep[2 * JSON_DEPTH] = 0;
  cJSON *json = json_parse(deep, 2 * JSON_DEPTH, &fault);
  ck_assert_ptr_nonnull(json);
  json_free(json);
  memset(deep, '[', JSON_DEPTH + 1);
  memset(deep + JSON_DEPTH + 1, ']', JSON_DEPTH + 1);
  deep[2 * JSON_DEPTH + 2] = 0;
  has_fault(deep, "it nests 501 deep, over 500");
  has_fault("[\"[[[[\", \"{{\"", "not JSON from byte 13 on");
}
END_TEST

/* What the reader says of totals in which `from` was changed to `to`. */
static void is_damage(const char *text, const char *from, const char *to, const char *want) {
  const char *at = strstr(text, from);
  ck_assert_msg(at != NULL, "%s", from);
  char *fault = NULL, *changed = malloc(strlen(text) + strlen(to) + 1);
  sprintf(changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
  cJSON *json = json_parse(changed, strlen(changed), &fault);
  ck_assert_ptr_nonnull(json);
  struct view *v = view_read(json, "changed", &fault);
  if (v)
    fault = view_fault(v);
  ck_assert_msg((fault != NULL) == (*want != 0), "%s -> %s: %s", from, to, fault);
  if (fault)
    ck_assert_msg(strstr(fault, want) != NULL, "%s -> %s: %s", from, to, fault);
  free(fault);
  view_free(v);
  json_free(json);
  free(changed);
}

/* Of the first occurrence in the text, which is enough to know the index. */
START_TEST(impossible_numbers_have_a_name) {
  struct view_request request = {.reason = "request", .at = 950000};
  struct synthetic *rich = synthetic_rich();
  char *text = NULL;
  size_t length = 0;
  int fd = synthetic_file(rich, rich->header->used);
  FILE *out = open_memstream(&text, &length);
  ck_assert(totals_make(fd, "synthetic", PROFILE_LEFT, &request, out));
  fclose(out);
  close(fd);
  is_damage(text, "\"pid\":4242", "\"pid\":4243", "");
  is_damage(text, "\"pid\":4242", "\"pid\":\"4242\"", "process.pid is \"4242\", not an integer");
  is_damage(text, "\"events\":", "\"events\":-", "health.events is -");
  is_damage(text, "\"events\":", "\"even\":", "health.events is missing, not a count");
  is_damage(text, "\"elapsed_ns\":", "\"elapsed_ns\":18446744073709551615,\"x\":",
            "process.elapsed_ns is 18446744073709551615, not a count");
  is_damage(text, "\"idle_ns\":", "\"idle_ns\":1", "threads[0].elapsed_ns is ");
  is_damage(text, "\"exec_ns\":", "\"exec_ns\":1e3,\"x\":", "threads[0].elapsed_ns is ");
  is_damage(text,
            "\"exec_ns\":", "\"exec_ns\":0.5,\"x\":", "threads[0].exec_ns is 0.5, not a count");
  is_damage(text, "\"wall_ns\":", "\"wall_ns\":1", "but queued_ns + exec_ns + waiting_ns is ");
  is_damage(text, "\"created\":", "\"created\":1",
            ", but done + failed + cancelled + detached + live is ");
  is_damage(text, "\"immediate\":", "\"immediate\":null,\"x\":", ".immediate is null, not a count");
  is_damage(text, "\"born_done\":0,\"slices\":", "\"born_done\":0,\"slices\":1",
            ", but the sum over its paths in the tree is ");
  is_damage(text, "\"children_exec_ns\":", "\"children_exec_ns\":9,\"x\":", "");
  is_damage(text, "\"tree\": [", "\"tree\": [7,", "tree is no array of objects");
  is_damage(text, "\"p99\":", "\"p99\":9", ".exec is {");
  is_damage(text, "\"buckets\":[[", "\"buckets\":[[1,1],[1,1],[", ".exec is {");
  is_damage(text, "\"function_index\":", "\"function_index\":77,\"x\":",
            "tree[0].function_index is 77, but there are ");
  is_damage(text,
            "\"tree\": [\n  {\"id\":", "\"tree\": [{\"id\":0,\"x\":", "tree[0].id is 0, not above");
  is_damage(text, "\"parent\":3,", "\"parent\":99,", ".parent is 99, which is no function's path");
  is_damage(text, "\"slice_max_between\":[", "\"slice_max_between\":[7,",
            ".slice_max_between is [7,");
  free(text);
  free(rich);
}
END_TEST

static struct synthetic *s;

/* Slices say nothing by these. */
static const struct ask_limits quiet = {
    .of = {[FINDING_HELD] = UINT64_C(1) << 30,
           [FINDING_STUCK] = 1000000000,
           [FINDING_LEAKED] = 10,
           [FINDING_SPINNING] = 1000}};

static void setup(void) {
  s = synthetic_rich();
}
static void teardown(void) {
  free(s);
}

static struct view *read_now(uint64_t now) {
  struct view_request request = {.reason = "request", .at = now};
  char *text = NULL;
  size_t length = 0;
  int fd = synthetic_file(s, s->header->used);
  FILE *out = open_memstream(&text, &length);
  ck_assert(totals_make(fd, "synthetic", PROFILE_LEFT, &request, out));
  fclose(out);
  close(fd);
  struct view *v = view_of_totals(text, length, "synthetic");
  free(text);
  ck_assert_ptr_nonnull(v);
  return v;
}

static const struct view_function *function(const struct view *v, const char *name) {
  for (size_t i = 0; i < v->functions; i++)
    if (!strcmp(v->function[i].name, name))
      return &v->function[i];
  return NULL;
}

START_TEST(totals_close_when_read_back) {
  struct view *v = read_now(1000000);
  uint64_t exec = 0, threads = 0;
  for (size_t i = 0; i < v->functions; i++) {
    const struct view_function *f = &v->function[i];
    uint64_t waiting = 0;
    for (size_t j = 0; j < f->awaits; j++)
      waiting += f->await[j].waiting;
    ck_assert_uint_eq(f->waiting, waiting);
    ck_assert_uint_eq(f->wall, f->queued + f->exec + f->waiting);
    ck_assert_uint_eq(f->created, f->done + f->failed + f->cancelled + f->detached + f->live);
    exec += f->exec;
  }
  for (size_t i = 0; i < v->threads; i++)
    threads += v->thread[i].exec;
  ck_assert_uint_eq(exec, threads);
  ck_assert_uint_eq(v->lives, 5);
  ck_assert_uint_eq(function(v, "handle_upload")->detached, 1);
  ck_assert_str_eq(function(v, "handle_upload")->slice_between[0], "server.c:140");
  ck_assert_ptr_nonnull(function(v, "http_server+0x1234"));
  view_free(v);
}
END_TEST

START_TEST(many_live_futures_are_grouped) {
  s->header->epoch = s->header->reset_epoch = 9;
  s->header->epochs[9].begin_tick = 900000;
  for (int i = 0; i < 1500; i++)
    synthetic_future(s, 9, 4, APROF_FUTURE_WAITING, 910000 + (uint64_t)i)->await = 5;
  struct view *v = read_now(1000000);
  uint64_t count = 0;
  for (size_t i = 0; i < v->lives; i++)
    count += v->live[i].count;
  ck_assert_uint_eq(v->lives, VIEW_LIVE_LIMIT + 1);
  ck_assert_uint_eq(count, 1500);
  ck_assert_uint_eq(v->live[0].age, 90000);
  view_free(v);
}
END_TEST

START_TEST(an_interval_is_what_happened_between) {
  struct view *earlier = read_now(1000000);
  uint16_t *counts;
  struct aprof_counters *c = synthetic_counters(s, 1, 3);
  c->function.done += 5;
  c->function.exec += 1234;
  c->function.slices++;
  c->function.slice_max = 70000000;
  counts = (void *)(s->bytes + (c->function.slice_buckets + APROF_BUCKETS_BEFORE(0) -
                                s->header->mapped_at));
  counts[aprof_bucket_of(70000000)]++;
  struct view *later = read_now(1000000), *same = read_now(1000000);
  ck_assert(view_subtract(later, earlier));
  const struct view_function *f = function(later, "handle_upload");
  ck_assert_uint_eq(f->done, 5);
  ck_assert_uint_eq(f->created, 5);
  ck_assert_uint_eq(f->exec, 1234);
  ck_assert_uint_eq(f->waiting, 0);
  ck_assert_uint_eq(f->slice_max, 70000000);
  ck_assert_uint_eq(f->slice_of.count, 1);
  ck_assert_uint_eq(f->exec_max, UNKNOWN);
  ck_assert_uint_eq(later->thread[0].exec, 1234);
  ck_assert_uint_eq(function(later, "fetch_quota")->exec, 0);
  size_t findings;
  struct finding *list = ask_findings(later, &report_defaults.limits, &findings);
  ck_assert_uint_eq(findings, 1);
  ck_assert_str_eq(shown_sentence(list[0].text),
                   "`handle_upload` held the loop for 70.0 ms, from before on, between its "
                   "start (server.c:140) and db.c:12 uv_write (1 time over 10.0 ms); "
                   "whether on the CPU is not known");
  findings_free(list, findings);
  struct view *nothing = read_now(1000000);
  ck_assert(view_subtract(nothing, same));
  ck_assert_uint_eq(function(nothing, "handle_upload")->created, 0);
  list = ask_findings(nothing, &report_defaults.limits, &findings);
  ck_assert_uint_eq(findings, 0);
  findings_free(list, findings);
  view_free(nothing);
  view_free(same);
  view_free(later);
  view_free(earlier);
}
END_TEST

/* As a busy process looks: some of it is read before some of the rest, and a future turns out to be
   of another function. */
START_TEST(counters_do_not_fall) {
  struct view *earlier = read_now(1000000), *later = read_now(1000000);
  struct view_function *before = (struct view_function *)function(earlier, "handle_upload");
  uint64_t exec = before->exec;
  before->exec += 77;
  before->exec_max = 1;
  ck_assert_uint_gt(before->slice_of.count, 0);
  before->slice_of.bucket[0].count += 5;
  uint64_t values = before->slice_of.bucket[0].count;
  earlier->health.events += 9;
  uint64_t events = earlier->health.events;
  struct view_function *gone = (struct view_function *)function(earlier, "fetch_quota");
  gone->name = "request_new";
  gone->created = 2;
  gone->live = 2;
  size_t functions = later->functions;
  view_raise(later, earlier);
  view_free(earlier);
  const struct view_function *f = function(later, "handle_upload");
  ck_assert_uint_eq(f->exec, exec + 77);
  ck_assert_uint_ne(f->exec_max, 1);
  ck_assert_uint_eq(f->slice_of.bucket[0].count, values);
  ck_assert_uint_eq(later->health.events, events);
  ck_assert_uint_eq(later->functions, functions + 1);
  f = function(later, "request_new");
  ck_assert_uint_eq(f->created, 2);
  ck_assert_uint_eq(f->live, 0);
  ck_assert_uint_eq(f->awaits, 0);
  /* After a reset they begin anew. */
  s->header->reset_epoch = 2;
  struct view *anew = read_now(2000000);
  uint64_t least = function(anew, "handle_upload")->exec;
  view_raise(anew, later);
  ck_assert_uint_eq(function(anew, "handle_upload")->exec, least);
  view_free(anew);
  view_free(later);
}
END_TEST

/* Two lambdas on one line; the one that ran less until then runs more in the interval. */
START_TEST(neighbours_of_one_name_are_told_apart) {
  uint32_t node[2], column[2] = {31, 87};
  for (int i = 0; i < 2; i++) {
    uint32_t site = synthetic_site(s, APROF_SITE_FUNCTION, "main::lambda", "l.cc", 9, column[i]);
    node[i] = synthetic_node(s, 1, site, 0);
    synthetic_counters(s, 1, node[i])->function.exec = 1000 - 300 * (unsigned)i;
  }
  struct view *earlier = read_now(1000000);
  synthetic_counters(s, 1, node[0])->function.exec += 11;
  synthetic_counters(s, 1, node[1])->function.exec += 2200;
  struct view *later = read_now(1000000);
  ck_assert(view_subtract(later, earlier));
  uint64_t exec[2] = {0}, paths[2] = {0};
  for (int i = 0; i < 2; i++) {
    for (size_t j = 0; j < later->functions; j++)
      exec[i] += later->function[j].column == column[i] ? later->function[j].exec : 0;
    for (size_t j = 0; j < later->paths; j++)
      if (later->function[later->path[j].function].column == column[i])
        paths[i] += later->path[j].exec;
  }
  ck_assert_uint_eq(exec[0], 11);
  ck_assert_uint_eq(exec[1], 2200);
  ck_assert_uint_eq(paths[0], 11);
  ck_assert_uint_eq(paths[1], 2200);
  view_free(later);
  view_free(earlier);
}
END_TEST

START_TEST(totals_without_columns_are_subtracted) {
  struct view *earlier = read_now(1000000), *later = read_now(1000000);
  for (size_t i = 0; i < earlier->functions; i++)
    earlier->function[i].column = 0;
  ck_assert(view_subtract(later, earlier));
  ck_assert_uint_eq(function(later, "handle_upload")->exec, 0);
  view_free(later);
  view_free(earlier);
}
END_TEST

START_TEST(strangers_are_not_subtracted) {
  struct view *earlier = read_now(1000000), *later;
  s->header->pid++;
  later = read_now(1000000);
  ck_assert(!view_subtract(later, earlier));
  view_free(later);
  s->header->pid--;
  later = read_now(900000);
  ck_assert(!view_subtract(later, earlier));
  view_free(later);
  s->header->reset_epoch = 2;
  later = read_now(2000000);
  ck_assert(!view_subtract(later, earlier));
  view_free(later);
  view_free(earlier);
}
END_TEST

/* A view of totals that were written of this one. */
static struct view *written_and_read(const struct view *v) {
  char *text = NULL;
  size_t length = 0;
  FILE *out = open_memstream(&text, &length);
  totals_write(v, out);
  fclose(out);
  struct view *read = view_of_totals(text, length, "written");
  free(text);
  ck_assert_ptr_nonnull(read);
  return read;
}

START_TEST(processes_are_added_up) {
  for (int apart = 0; apart < 2; apart++) {
    struct view *one = read_now(1000000), *v = read_now(1000000);
    ck_assert(view_shares_process(v, one));
    uint32_t only = synthetic_site(s, APROF_SITE_FUNCTION, "only_here", "b.c", 7, 1);
    uint32_t node = synthetic_node(s, 3, only, 0);
    synthetic_counters(s, 1, node)->function.done = 3;
    synthetic_counters(s, 1, 3)->function.slice_max = 30000000;
    s->header->pid++;
    struct view *other = read_now(1000000);
    ck_assert(!view_shares_process(v, other));
    view_merge(v, other, apart);
    ck_assert_ptr_null(view_fault(v));
    struct view *read = written_and_read(v);
    ck_assert_uint_eq(read->processes, 2);
    ck_assert_uint_eq(read->lives, 2 * one->lives);
    ck_assert_uint_eq(read->threads, 2 * one->threads);
    ck_assert_uint_eq(read->live[one->lives].process, 1);
    ck_assert_uint_eq(read->health.events, 2 * one->health.events);
    if (apart)
      ck_assert_uint_eq(read->functions, one->functions + other->functions);
    else {
      const struct view_function *f = function(read, "handle_upload"), *single;
      single = function(one, "handle_upload");
      ck_assert_uint_eq(read->functions, one->functions + 1);
      ck_assert_uint_eq(f->exec, 2 * single->exec);
      ck_assert_uint_eq(f->awaits, single->awaits);
      ck_assert_uint_eq(f->await[0].count, 2 * single->await[0].count);
      ck_assert_uint_eq(f->slice_max, 30000000);
      ck_assert_uint_eq(f->exec_of.p99, single->exec_of.p99);
      ck_assert_uint_eq(f->exec_of.bucket[0].count, 2 * single->exec_of.bucket[0].count);
      ck_assert_uint_eq(function(read, "only_here")->done, 3);
    }
    view_free(read);
    view_free(v);
    view_free(other);
    view_free(one);
  }
}
END_TEST

static struct view *view_with(const struct view_request *request) {
  int fd = synthetic_file(s, s->header->used);
  struct view *v = view_of_profile(fd, "synthetic", PROFILE_LEFT, request);
  close(fd);
  return v;
}

START_TEST(one_loop_can_be_asked_for) {
  for (uint64_t at = APROF_HEADER_SIZE; at < s->header->used;) {
    struct aprof_chunk *chunk = (void *)(s->bytes + at);
    if (chunk->type == APROF_CHUNK_BLOCK)
      ((struct aprof_block *)(chunk + 1))->tid = 100 + (int)chunk->first;
    at += chunk->size;
  }
  struct view *all = read_now(1000000);
  uint64_t done = 0, waits = 0;
  for (int64_t tid = 101; tid <= 102; tid++) {
    struct view *v =
        view_with(&(struct view_request){.reason = "request", .at = 1000000, .loop = tid});
    ck_assert_ptr_nonnull(v);
    ck_assert_ptr_null(view_fault(v));
    ck_assert_uint_eq(v->threads, 1);
    ck_assert_int_eq(v->thread[0].tid, tid);
    ck_assert_uint_eq(function(v, "fetch_quota")->done, 20 + (uint64_t)tid - 100);
    done += function(v, "fetch_quota")->done;
    waits += function(v, "fetch_quota")->await[0].count;
    view_free(v);
  }
  ck_assert_uint_eq(done, function(all, "fetch_quota")->done);
  ck_assert_uint_eq(waits, function(all, "fetch_quota")->await[0].count);
  ck_assert_ptr_null(view_with(&(struct view_request){.reason = "request", .loop = 7}));
  view_free(all);
}
END_TEST

START_TEST(histograms_are_read_when_asked_for) {
  struct view *all = read_now(1000000),
              *v = view_with(&(struct view_request){
                  .reason = "request", .at = 1000000, .without_histograms = true});
  ck_assert_uint_gt(function(all, "fetch_quota")->exec_of.count, 0);
  ck_assert_uint_eq(function(v, "fetch_quota")->exec_of.count, 0);
  ck_assert_uint_eq(function(v, "fetch_quota")->exec, function(all, "fetch_quota")->exec);
  ck_assert_uint_eq(v->paths, all->paths);
  view_free(v);
  view_free(all);
}
END_TEST

START_TEST(waits_end_at_what_was_waited_for) {
  struct view *v = read_now(1000000);
  size_t count;
  struct wait *waits = ask_waits(v, false, &count);
  ck_assert_uint_eq(count, 2); /* not the call of fetch_quota */
  ck_assert_str_eq(waits[0].path, "handle_upload > fetch_quota > quota.c:61 uv_tcp_connect");
  ck_assert_str_eq(waits[1].path, "handle_upload > db.c:12 uv_write");
  ck_assert_uint_eq(waits[0].waiting, 2 * 70002 + 200000 + 40000);
  ask_waits_free(waits, count);
  view_free(v);
}
END_TEST

START_TEST(the_stuck_are_found) {
  synthetic_counters(s, 1, 5)->await.count = 500;
  struct aprof_future *f = synthetic_future(s, 3, 4, APROF_FUTURE_WAITING, 900000);
  f->await = 5;
  struct view *v = read_now(32000000000);
  size_t count, stuck = 0;
  struct finding *list = ask_findings(v, &quiet, &count);
  for (size_t i = 0; i < count; i++)
    stuck += list[i].kind == FINDING_STUCK &&
             strstr(shown_sentence(list[i].text), "2 `fetch_quota` futures have") &&
             strstr(shown_sentence(list[i].text), "quota.c:61 uv_tcp_connect");
  ck_assert_uint_eq(stuck, 1);
  findings_free(list, count);
  view_free(v);
}
END_TEST

START_TEST(blocking_calls_are_found) {
  uint32_t fsync = synthetic_site(s, APROF_SITE_BLOCKING, "fsync", "log.c", 30, 1);
  uint32_t blocking = synthetic_node(s, 4, fsync, APROF_NODE_BLOCKING);
  uint32_t wake = synthetic_site(s, APROF_SITE_WAKE, "uv_async_send", "a.c", 5, 1);
  uint32_t waker = synthetic_node(s, 4, wake, APROF_NODE_WAKER);
  synthetic_counters(s, 1, blocking)->await.count = 12;
  synthetic_counters(s, 1, blocking)->await.waiting = 9200000000;
  synthetic_counters(s, 1, blocking)->await.max = 800000000;
  synthetic_counters(s, 1, waker)->await.count = 2;
  struct view *v = read_now(1000000);
  size_t count, found = 0;
  struct finding *list = ask_findings(v, &quiet, &count);
  for (size_t i = 0; i < count; i++)
    found +=
        !strcmp(shown_sentence(list[i].text), "`fetch_quota` calls fsync, which blocks, at log.c:30: 9.20 s of "
                              "loop time (12 times, 800 ms at worst)");
  ck_assert_uint_eq(found, 1);
  findings_free(list, count);
  view_free(v);
}
END_TEST

/* The first finding of a kind at `now`; "" where there is none. */
static const char *found(uint64_t now, const char *reason, enum finding_kind kind) {
  static char text[512];
  struct view_request request = {.reason = reason, .at = now};
  char *json = NULL;
  size_t length = 0, count;
  int fd = synthetic_file(s, s->header->used);
  FILE *out = open_memstream(&json, &length);
  ck_assert(totals_make(fd, "synthetic", PROFILE_LEFT, &request, out));
  fclose(out);
  close(fd);
  struct view *v = view_of_totals(json, length, "synthetic");
  free(json);
  struct finding *list = ask_findings(v, &quiet, &count);
  text[0] = 0;
  for (size_t i = count; i-- > 0;)
    if (list[i].kind == kind)
      snprintf(text, sizeof text, "%s", shown_sentence(list[i].text));
  findings_free(list, count);
  view_free(v);
  return text;
}

START_TEST(what_never_ran_is_found) {
  uint32_t spawn = synthetic_site(s, APROF_SITE_CREATE, "spawn", "main.c", 9, 1);
  s->sites[spawn].function = synthetic_string(s, "main");
  struct aprof_future *f = synthetic_future(s, 3, 6, APROF_FUTURE_QUEUED, 1000000);
  f->flags = 0;
  f->origin = spawn;
  ck_assert_str_eq(found(900000000, "request", FINDING_NEVER_RAN), "");
  ck_assert_str_eq(
      found(3001000000, "request", FINDING_NEVER_RAN),
      "1 `handle_upload` future, of 3 alive, has never run, ready since 3.00 s, created "
      "by `main` at main.c:9");
  f->flags = APROF_F_STARTED;
  ck_assert_str_eq(found(3001000000, "request", FINDING_NEVER_RAN), "");
}
END_TEST

/* Its address is known, of no body of it an event: and one of code that has some comes first. */
START_TEST(what_ran_unseen_perhaps_comes_last) {
  uint32_t foreign = synthetic_site(s, APROF_SITE_FUNCTION, NULL, NULL, 0, 0);
  s->sites[foreign].address = 0x1234;
  uint32_t node = synthetic_node(s, 0, foreign, 0);
  synthetic_future(s, 3, node, APROF_FUTURE_QUEUED, 1000000)->flags = 0;
  ck_assert_str_eq(
      found(5001000000, "request", FINDING_NEVER_RAN),
      "whether 1 `0x1234` future ever ran is not known: no event of that function was seen. It "
      "never ran, or its code has no events, as `aprof coverage PROG` tells: then its time is in no "
      "number until it has");
  synthetic_future(s, 3, 6, APROF_FUTURE_QUEUED, 3000000000)->flags = 0;
  ck_assert_msg(strstr(found(5001000000, "request", FINDING_NEVER_RAN), "`handle_upload`") != NULL,
                "%s", found(5001000000, "request", FINDING_NEVER_RAN));
}
END_TEST

START_TEST(what_is_left_at_exit_is_found) {
  uint32_t open = synthetic_site(s, APROF_SITE_CREATE, "uv_accept", "net.c", 70, 1);
  s->sites[open].function = synthetic_string(s, "on_connection");
  for (uint32_t b = 1; b <= 2; b++) { /* too few, or they would be stuck */
    synthetic_counters(s, b, 8)->await.count = 5;
    for (uint32_t node = 3; node <= 10; node++)
      synthetic_counters(s, b, node)->function.done = 1;
  }
  for (int i = 0; i < 12; i++) {
    struct aprof_future *f = synthetic_future(s, 3, 7, APROF_FUTURE_WAITING, 1000000);
    f->origin = open;
    f->await = 8;
  }
  ck_assert_str_eq(found(8001000000, "request", FINDING_LEAKED), "");
  ck_assert_str_eq(found(900000000, "exit", FINDING_LEAKED), "");
  ck_assert_str_eq(found(8001000000, "exit", FINDING_LEAKED),
                   "12 `handle_upload` futures, of 14 alive, were left at exit, the oldest 8.00 s "
                   "old, created by `on_connection` at net.c:70");
}
END_TEST

START_TEST(who_wakes_itself_for_nothing_is_found) {
  uint32_t wake = synthetic_site(s, APROF_SITE_WAKE, "ready", "poll.c", 5, 1);
  uint32_t waker = synthetic_node(s, 4, wake, APROF_NODE_WAKER);
  struct aprof_counters *c = synthetic_counters(s, 1, waker);
  s->sites[wake].function = synthetic_string(s, "fetch_quota");
  c->await.count = 200000;
  c->await.waiting = 200000;
  synthetic_counters(s, 1, 4)->function.exec = 100000000;
  synthetic_counters(s, 1, 5)->await.waiting = 0;
  ck_assert_str_eq(
      found(1000000, "request", FINDING_SPINNING),
      "`fetch_quota` futures woke each other or themselves 200k times at poll.c:5 ready, "
      "for 500 ns each time: they poll where they could wait, or hand on very little");
  s->sites[wake].function = synthetic_string(s, "handle_upload");
  ck_assert_str_eq(found(1000000, "request", FINDING_SPINNING), "");
}
END_TEST

START_TEST(what_could_not_be_placed_is_said) {
  ck_assert_str_eq(found(1000000, "request", FINDING_UNPLACED), "");
  ck_assert_str_eq(found(1000000, "request", FINDING_REUSED), "");
  for (uint64_t at = APROF_HEADER_SIZE; at < s->header->used;) {
    struct aprof_chunk *chunk = (void *)(s->bytes + at);
    struct aprof_block *block = (void *)(chunk + 1);
    if (chunk->type == APROF_CHUNK_BLOCK) {
      block->missed_events = chunk->first;
      block->reused_keys = chunk->first == 1;
      block->counters_epoch = s->header->reset_epoch;
    }
    at += chunk->size;
  }
  ck_assert_ptr_nonnull(
      strstr(found(1000000, "request", FINDING_UNPLACED), "3 events could not be placed: "));
  ck_assert_ptr_nonnull(
      strstr(found(1000000, "request", FINDING_REUSED), "1 handle was used again: "));
}
END_TEST

/* What lies in the blocks is of after the last reset. */
static void blocks_count(void) {
  for (uint64_t at = APROF_HEADER_SIZE; at < s->header->used;) {
    struct aprof_chunk *chunk = (void *)(s->bytes + at);
    struct aprof_block *block = (void *)(chunk + 1);
    if (chunk->type == APROF_CHUNK_BLOCK)
      block->counters_epoch = s->header->reset_epoch;
    at += chunk->size;
  }
}

START_TEST(what_could_not_be_placed_has_a_line) {
  uint32_t run = synthetic_site(s, APROF_SITE_RUN, "on_read", "loop.c", 40, 3);
  uint32_t create = synthetic_site(s, APROF_SITE_CREATE, "uv_read_start", "conn.c", 88, 3);
  uint32_t end = synthetic_site(s, APROF_SITE_END, "uv_close", "conn.c", 99, 3);
  s->sites[create].function = synthetic_string(s, "accept_one");
  for (uint32_t block = 1; block <= 2; block++) {
    struct aprof_missed *missed =
        synthetic_chunk(s, APROF_CHUNK_MISSES, block, 0, 8, sizeof *missed);
    missed[0] = (struct aprof_missed){.site = run, .kind = APROF_MISS_RUN, .count = 2};
    missed[1] = (struct aprof_missed){.site = create, .kind = APROF_MISS_REUSED, .count = block};
    missed[2] = (struct aprof_missed){.site = end, .kind = APROF_MISS_END, .count = 1};
    missed[3] = (struct aprof_missed){.site = end, .kind = APROF_MISS_KINDS, .count = 9};
    missed[4] = (struct aprof_missed){.site = run, .count = 9};
    missed[5] = (struct aprof_missed){.kind = APROF_MISS_UNSEEN, .count = block == 1};
  }
  blocks_count();
  struct view *v = read_now(1000000);
  ck_assert_uint_eq(v->misses, 3);
  ck_assert_uint_eq(v->ignores, 1);
  ck_assert_str_eq(v->ignored[0].kind, "end");
  ck_assert_str_eq(v->miss[0].kind, "run");
  ck_assert_uint_eq(v->miss[0].count, 4);
  ck_assert_str_eq(v->miss[0].file, "loop.c");
  ck_assert_uint_eq(v->miss[0].line, 40);
  view_free(v);
  ck_assert_ptr_nonnull(
      strstr(found(1000000, "request", FINDING_UNPLACED),
             "4 events could not be placed at loop.c:40 on_read: a run of a key"));
  ck_assert_ptr_nonnull(
      strstr(found(1000000, "request", FINDING_REUSED),
             "3 handles were used again at conn.c:88 uv_read_start in accept_one"));
}
END_TEST

static const struct view_miss *miss_at(const struct view *v, uint64_t line) {
  for (size_t i = 0; i < v->ignores; i++)
    if (v->ignored[i].line == line)
      return &v->ignored[i];
  ck_abort_msg("no miss at line %" PRIu64, line);
}

/* Called for much else, as free() is, a line that has ever found something is right. */
START_TEST(what_is_called_for_more_than_futures_is_told_from_what_never_finds_one) {
  uint32_t never = synthetic_site(s, APROF_SITE_END, "request_end", "conn.c", 10, 3);
  uint32_t both = synthetic_site(s, APROF_SITE_END, "pool_free", "conn.c", 20, 3);
  uint32_t only_misses = synthetic_site(s, APROF_SITE_END, "pool_free", "conn.c", 30, 3);
  uint32_t wake = synthetic_site(s, APROF_SITE_WAKE, "pool_free", "conn.c", 40, 3);
  uint32_t outside = synthetic_site(s, APROF_SITE_AWAIT, "pool_free", "conn.c", 50, 3);
  s->sites[both].flags |= APROF_PSITE_FOUND;
  struct aprof_missed *missed = synthetic_chunk(s, APROF_CHUNK_MISSES, 1, 0, 8, sizeof *missed);
  missed[0] = (struct aprof_missed){.site = never, .kind = APROF_MISS_END, .count = 1};
  missed[1] = (struct aprof_missed){.site = both, .kind = APROF_MISS_END, .count = 2};
  missed[2] = (struct aprof_missed){.site = only_misses, .kind = APROF_MISS_END, .count = 3};
  missed[3] = (struct aprof_missed){.site = wake, .kind = APROF_MISS_WAKE, .count = 4};
  missed[4] = (struct aprof_missed){.site = outside, .kind = APROF_MISS_AWAIT, .count = 5};
  blocks_count();
  struct view *v = read_now(1000000);
  ck_assert_uint_eq(v->misses, 0);
  ck_assert_uint_eq(v->ignores, 5);
  ck_assert(!miss_at(v, 10)->matched);
  ck_assert(miss_at(v, 20)->matched);
  ck_assert(miss_at(v, 30)->matched);
  ck_assert(!miss_at(v, 40)->matched);
  ck_assert_uint_eq(miss_at(v, 50)->matched, FLAG_UNKNOWN);
  view_free(v);
}
END_TEST

/* The first thread holds a loop even while it has not ended a slice; what another one
   without any ran is a worker's. */
START_TEST(what_ran_in_a_pool_is_no_part_of_the_loop) {
  struct synthetic *pool = synthetic_new(), *rich = s;
  s = pool;
  uint32_t work = synthetic_site(s, APROF_SITE_FUNCTION, "compress", "work.c", 5, 1);
  uint32_t both = synthetic_node(s, 0, work, 0);
  synthetic_block(s, 1)->tid = s->header->pid;
  synthetic_block(s, 2);
  synthetic_block(s, 3);
  synthetic_counters(s, 1, both)->function.exec = 100;
  synthetic_counters(s, 2, both)->function.exec = 3000;
  synthetic_counters(s, 3, both)->function.exec = 50;
  synthetic_counters(s, 3, both)->function.slices = 1;
  synthetic_counters(s, 3, both)->function.slice_max = 50;
  struct view *v = read_now(1000000);
  const struct view_function *f = function(v, "compress");
  ck_assert_uint_eq(f->exec, 3150);
  ck_assert_uint_eq(f->loop_exec, 150);
  view_free(v);
  s = rich;
  free(pool);
}
END_TEST

/* Amounts that are spread over some octaves, other ones in each half. */
static uint64_t amount(unsigned i, unsigned half) {
  uint64_t hash = ((uint64_t)i * 2 + half) * 0x9e3779b97f4a7c15u;
  uint64_t spread = 1000 + (hash >> 33) % 100000;
  return half ? spread * spread / 7000 : spread * 30;
}

static int by_size(const void *a, const void *b) {
  uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static void is_near(uint64_t found, uint64_t exact) {
  uint64_t apart = found > exact ? found - exact : exact - found;
  ck_assert_msg(apart * 20 <= exact, "%" PRIu64 " for %" PRIu64, found, exact);
}

/* At clock rates of all kinds, so that a bucket's bounds are no round numbers. */
START_TEST(intervals_have_their_own_percentiles) {
  static const uint64_t rates[] = {0x100000000, 0x59c8d4f1, 0x7a3b1c2d, 0xffffffff, 0x2b00000f7};
  enum { COUNT = 5000 };
  uint16_t(*ended)[2];
  uint64_t *exact = malloc(COUNT * sizeof *exact);
  struct aprof_counters *c = synthetic_counters(s, 1, 4);
  c->function.ended_buckets = synthetic_ended(s, &ended);
  synthetic_counters(s, 2, 4)->function.ended_buckets = 0;
  c->function.exec_max = c->function.wall_max = 4000000;
  s->header->clock_source = APROF_CLOCK_TSC;
  for (size_t rate = 0; rate < sizeof rates / sizeof *rates; rate++) {
    s->header->fit_mult = rates[rate];
    memset(ended, 0, APROF_HISTOGRAM_BUCKETS * sizeof *ended);
    for (unsigned i = 0; i < COUNT; i++)
      ended[aprof_bucket_of(amount(i, 0))][0]++;
    struct view *earlier = read_now(1000000);
    for (unsigned i = 0; i < COUNT; i++) {
      ended[aprof_bucket_of(amount(i, 1))][0]++;
      exact[i] = (uint64_t)((unsigned __int128)amount(i, 1) * rates[rate] >> 32);
    }
    struct view *later = read_now(1000001);
    qsort(exact, COUNT, sizeof *exact, by_size);
    ck_assert(view_subtract(later, earlier));
    const struct view_function *f = function(later, "fetch_quota");
    is_near(f->exec_of.p50, exact[COUNT / 2 - 1]);
    is_near(f->exec_of.p99, exact[COUNT * 99 / 100 - 1]);
    view_free(earlier);
    view_free(later);
  }
  free(exact);
}
END_TEST

static void add_waits(struct aprof_counters *c, uint16_t *counts, unsigned waits, unsigned half) {
  for (unsigned i = 0; i < waits; i++) {
    uint64_t ns = amount(i * 7 + waits, half);
    c->await.count++;
    c->await.waiting += ns;
    c->await.max = ns > c->await.max ? ns : c->await.max;
    counts[aprof_bucket_of(ns)]++;
  }
}

/* Of few waits the p99 is the longest, so never below their mean: those of a path among others of
   its function, whichever half had the longest ever. */
static void are_possible(const struct view *r) {
  size_t count;
  struct wait *waits = ask_waits(r, false, &count);
  ck_assert_uint_gt(count, 0);
  for (size_t i = 0; i < count; i++)
    if (waits[i].count && waits[i].count < 100 && waits[i].p99 != UNKNOWN)
      ck_assert_msg(waits[i].p99 >= waits[i].mean, "%s: p99 %" PRIu64 ", mean %" PRIu64,
                    waits[i].path, waits[i].p99, waits[i].mean);
  ask_waits_free(waits, count);
}

START_TEST(no_percentile_lies_below_what_it_is_of) {
  for (unsigned round = 0; round < 100; round++) {
    struct synthetic *rich = s;
    uint16_t *counts, *others;
    s = synthetic_rich();
    struct aprof_counters *c = synthetic_counters(s, 1, 5), *other = synthetic_counters(s, 2, 5);
    memset(c, 0, sizeof *c);
    memset(other, 0, sizeof *other);
    c->await.buckets = synthetic_buckets(s, &counts);
    other->await.buckets = synthetic_buckets(s, &others);
    add_waits(c, counts, round * 7 % 90, round % 2);
    add_waits(other, others, round % 3 * 300, 0);
    struct view *earlier = read_now(1000000);
    add_waits(c, counts, round * 13 % 50, round / 2 % 2);
    struct view *later = read_now(1001000);
    are_possible(later);
    ck_assert(view_subtract(later, earlier));
    are_possible(later);
    view_free(earlier);
    view_free(later);
    free(s);
    s = rich;
  }
}
END_TEST

START_TEST(each_loop_has_its_own_longest_hold) {
  synthetic_counters(s, 2, 3)->function.slice_max = 30000000;
  struct view *v = read_now(1000000);
  ck_assert_uint_eq(v->loops, 2);
  ck_assert_uint_eq(v->loop[0].hold_max, 20000000);
  ck_assert_uint_eq(v->loop[1].hold_max, 30000000);
  ck_assert_str_eq(v->loop[1].from, "server.c:140");
  ck_assert_str_eq(v->loop[1].function, "handle_upload");
  view_free(v);
}
END_TEST

START_TEST(pool_threads_are_no_loops) {
  static const uint32_t functions[] = {3, 4, 7, 9, 10};
  struct view *v = read_now(1000000);
  ck_assert(!v->thread[0].is_pool && !v->thread[1].is_pool);
  ck_assert_uint_eq(ask_loop(v).elapsed, v->thread[0].elapsed + v->thread[1].elapsed);
  view_free(v);
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    synthetic_counters(s, 2, functions[i])->function.slice_max = 0;
  for (uint64_t at = APROF_HEADER_SIZE; at < s->header->used;) {
    struct aprof_chunk *chunk = (void *)(s->bytes + at);
    struct aprof_block *block = (void *)(chunk + 1);
    if (chunk->type == APROF_CHUNK_BLOCK && chunk->first == 2) {
      block->idle = 0;
      block->state = APROF_THREAD_FREE;
    }
    at += chunk->size;
  }
  v = read_now(1000000);
  ck_assert(!v->thread[0].is_pool && v->thread[1].is_pool);
  ck_assert_uint_gt(v->thread[1].exec, 0);
  ck_assert_uint_eq(ask_loop(v).elapsed, v->thread[0].elapsed);
  view_free(v);
}
END_TEST

START_TEST(who_is_often_late_is_found) {
  uint16_t *counts;
  struct aprof_counters *c = synthetic_counters(s, 1, 4);
  c->function.queued_buckets = synthetic_buckets(s, &counts);
  c->function.slices = 1000;
  counts[aprof_bucket_of(20000000)] = 9;
  counts[aprof_bucket_of(UINT64_C(3) << 30)] = 9;
  ck_assert_str_eq(found(1000000, "request", FINDING_QUEUED), "");
  counts[aprof_bucket_of(UINT64_C(3) << 30)] = 20;
  ck_assert_ptr_nonnull(strstr(found(1000000, "request", FINDING_QUEUED),
                               "was ready but did not run for over 1.07 s, 20 of "));
}
END_TEST

START_TEST(timers_have_their_lateness) {
  uint32_t start = synthetic_site(s, APROF_SITE_CREATE, "uv_timer_start", "timer.c", 5, 1);
  uint32_t waker = synthetic_node(s, 4, start, APROF_NODE_WAKER);
  synthetic_counters(s, 1, waker)->await.count = 4;
  synthetic_counters(s, 1, waker)->await.waiting = 280;
  synthetic_counters(s, 1, waker)->await.max = 250;
  struct view *v = read_now(1000000);
  const struct view_lateness *late = &function(v, "fetch_quota")->lateness;
  ck_assert_uint_eq(late->count, 4);
  ck_assert_uint_eq(late->total, 280);
  ck_assert_uint_eq(late->max, 250);
  ck_assert(function(v, "fetch_quota")->waker[0].clock);
  view_free(v);
}
END_TEST

START_TEST(shared_directories_are_left_out) {
  for (uint32_t i = 1; i <= s->site_count; i++) {
    const char *file = i == 1   ? "/src/app/server.c"
                       : i == 3 ? "/src/app/db/quota.c"
                                : "/usr/include/x.h";
    s->sites[i].file = synthetic_string(s, file);
  }
  struct view *v = read_now(1000000);
  char *directory = report_directory(v);
  ck_assert_str_eq(directory, "/src/app/");
  report_shorten(v, directory);
  ck_assert_str_eq(function(v, "fetch_quota")->file, "db/quota.c");
  ck_assert_str_eq(function(v, "handle_upload")->slice_between[1], "/usr/include/x.h:12");
  free(directory);
  view_free(v);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("json");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, integers_of_64_bits_survive);
  tcase_add_test(tests, digits_in_strings_stay);
  tcase_add_test(tests, faults_have_a_place);
  tcase_add_test(tests, depth_is_bounded);
  tcase_add_test(tests, impossible_numbers_have_a_name);
  tcase_add_test(tests, totals_close_when_read_back);
  tcase_add_test(tests, many_live_futures_are_grouped);
  tcase_add_test(tests, an_interval_is_what_happened_between);
  tcase_add_test(tests, counters_do_not_fall);
  tcase_add_test(tests, neighbours_of_one_name_are_told_apart);
  tcase_add_test(tests, totals_without_columns_are_subtracted);
  tcase_add_test(tests, strangers_are_not_subtracted);
  tcase_add_test(tests, processes_are_added_up);
  tcase_add_test(tests, one_loop_can_be_asked_for);
  tcase_add_test(tests, histograms_are_read_when_asked_for);
  tcase_add_test(tests, waits_end_at_what_was_waited_for);
  tcase_add_test(tests, the_stuck_are_found);
  tcase_add_test(tests, blocking_calls_are_found);
  tcase_add_test(tests, what_never_ran_is_found);
  tcase_add_test(tests, what_ran_unseen_perhaps_comes_last);
  tcase_add_test(tests, what_is_left_at_exit_is_found);
  tcase_add_test(tests, who_wakes_itself_for_nothing_is_found);
  tcase_add_test(tests, what_could_not_be_placed_is_said);
  tcase_add_test(tests, what_could_not_be_placed_has_a_line);
  tcase_add_test(tests, what_ran_in_a_pool_is_no_part_of_the_loop);
  tcase_add_test(tests, what_is_called_for_more_than_futures_is_told_from_what_never_finds_one);
  tcase_add_test(tests, intervals_have_their_own_percentiles);
  tcase_add_test(tests, no_percentile_lies_below_what_it_is_of);
  tcase_add_test(tests, each_loop_has_its_own_longest_hold);
  tcase_add_test(tests, pool_threads_are_no_loops);
  tcase_add_test(tests, who_is_often_late_is_found);
  tcase_add_test(tests, timers_have_their_lateness);
  tcase_add_test(tests, shared_directories_are_left_out);
  return suite_run("cli json", tests);
}
