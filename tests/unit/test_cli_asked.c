/* SPDX-License-Identifier: MIT */
/* What users see of questions about a recording: show/tail.c, blame.c, path.c, slow-paths.c. */
#include "show/format.h"
#include "show/outputs.h"
#include "show/slow.h"
#include "story.h"
#include "suite.h"

#include <check.h>
#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#define MS 1000000u

extern const struct output output_tail, output_blame, output_path, output_slow;

static struct story *s;
static uint32_t loop, get, pool, query, hog, render;
static char *text;

/* 19 requests of 3 ms, and one of 64: queued behind a hog, then waiting for a pool. */
static void add_get(uint64_t queued, uint64_t pooled) {
  static uint64_t now;
  now = s->requests_count ? now : 1000 * (uint64_t)MS;
  uint32_t r = story_add_request(s, "GET /item", "get", now, 0);
  uint32_t f = story_add_future(s, get, r, NONE, now),
           h = story_add_future(s, hog, NONE, NONE, now);
  s->requests[r].trace[0] = 0x4bf92f3577b34da6;
  if (queued) {
    add_held(s, h, hog, now, now + queued, loop);
    add_queued(s, f, get, now, now + queued, loop);
    now += queued;
  }
  add_held(s, f, get, now, now + MS / 2, loop);
  now += MS / 2;
  add_waited(s, f, pool, now, now + pooled, NONE);
  now += pooled;
  uint32_t n = add_ran(s, f, render, now, now + MS, loop);
  s->segments[n].tier = 1;
  story_add_slice(s, loop, f, now, now + MS);
  now += MS;
  story_end_future(s, f, now, STORY_DONE);
  s->requests[r].end = now;
  now += MS;
}

static void setup(void) {
  s = story_new();
  s->process = "shop";
  s->pid = 4242;
  s->share = 1;
  s->started_at_ns = 1763906400000000000;
  s->tiers[1] = "render";
  loop = story_add_thread(s, 4242, "loop");
  get = story_add_path(s, NONE, STORY_FUNCTION, "get_item", "/src/item.c", 5);
  uint32_t db = story_add_path(s, get, STORY_FUNCTION, "db_get", "/src/db.c", 70);
  pool = story_add_path(s, db, STORY_AWAIT, "pool_get", "/src/db.c", 77);
  query = story_add_path(s, db, STORY_AWAIT, "db_query", "/src/db.c", 91);
  render = story_add_path(s, get, STORY_SPAN, "render_item", "/src/item.c", 40);
  hog = story_add_path(s, NONE, STORY_FUNCTION, "save_upload", "/src/upload.c", 133);
  for (int i = 0; i < 19; i++)
    add_get(0, MS + MS / 2);
  add_get(12 * MS, 50 * MS + MS / 2);
  story_finish(s);
  text = NULL;
}

static void teardown(void) {
  free(text);
  story_free(s);
}

/* In `text`; no line of it is too long. */
static void show(const struct output *o, const void *options, bool json) {
  size_t length;
  free(text);
  FILE *out = open_memstream(&text, &length);
  ck_assert_int_eq((json ? o->story_json : o->story_text)(s, options ? options : o->defaults, out),
                   0);
  fclose(out);
  for (const char *at = text; !json && *at; at += strcspn(at, "\n"), at += *at == '\n') {
    char line[512];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    ck_assert_msg(shown_width(line) <= FORMAT_WIDTH, "too long: %s", line);
  }
}

static void has(const char *part) {
  ck_assert_msg(strstr(text, part) != NULL, "no \"%s\" in:\n%s", part, text);
}

START_TEST(the_first_line_of_a_tail_is_the_cause) {
  show(&output_tail, NULL, false);
  static const char first[] =
      "GET /item: +49.00 of the +61.00 ms: waiting in `pool_get` at db.c:77";
  ck_assert_msg(!strncmp(text, first, sizeof first - 1), "%s", text);
  has("slowest 5 % (64.0 ms or more): 1 of 20; 64.0 ms on average, others 3.00 ms\n");
  has("waiting  db_get > pool_get db.c:77                1.50    50.50    +49.00   80 %\n");
  has("queued   behind save_upload upload.c:133          0.00    12.00    +12.00   20 %\n");
  has("total, ms                                         3.00    64.00    +61.00  100 %\n");
  has("shop (pid 4242), ");
  has("20 requests; nothing lost");
}
END_TEST

START_TEST(rows_that_are_left_out_are_summed_up) {
  void *options = malloc(output_tail.size);
  memcpy(options, output_tail.defaults, output_tail.size);
  for (const struct option_row *row = output_tail.option; row->name; row++)
    if (!strcmp(row->name, "top"))
      *(uint64_t *)((char *)options + row->at) = 1;
  show(&output_tail, options, false);
  has("queued   1 more");
  has("running  2 more                                   1.50     1.50     +0.00    0 %\n");
  free(options);
}
END_TEST

/* Of a kind that has partial ones alone there is nothing to tell. */
START_TEST(kinds_without_a_whole_request_are_counted_only) {
  uint32_t r = story_add_request(s, "PUT /item", "put", 2000 * (uint64_t)MS, 2001 * (uint64_t)MS);
  s->requests[r].whole = 0;
  story_finish(s);
  const struct output *const told[] = {&output_tail, &output_path};
  for (size_t i = 0; i < 2; i++) {
    show(told[i], NULL, false);
    ck_assert_msg(!strncmp(text, "GET /item: ", 11), "%s", text);
    ck_assert_ptr_null(strstr(text, "PUT"));
    has("21 requests; 1 partial");
  }
}
END_TEST

START_TEST(victims_of_one_name_are_told_apart) {
  uint32_t other = story_add_path(s, NONE, STORY_FUNCTION, "get_item", "/src/other.c", 9);
  uint64_t now = 3000 * (uint64_t)MS;
  uint32_t f = story_add_future(s, other, NONE, NONE, now),
           h = story_add_future(s, hog, NONE, NONE, now);
  add_held(s, h, hog, now, now + 5 * MS, loop);
  add_queued(s, f, other, now, now + 5 * MS, loop);
  story_finish(s);
  show(&output_blame, NULL, false);
  has("of `get_item` at item.c:5 12.0 ms, once, `get_item` at other.c:9 5.00 ms");
}
END_TEST

START_TEST(blame_names_who_held_the_loop) {
  show(&output_blame, NULL, false);
  has("12.0 ms queued, once; of 20 callbacks");
  has("save_upload upload.c:133                    12.0 ms   100%         1    12.0 ms\n");
  has("  of `get_item` 12.0 ms, once\n");
}
END_TEST

START_TEST(a_path_is_all_of_the_wall) {
  show(&output_path, NULL, false);
  has("GET /item: 20, p50 3.00 ms, p95 3.00 ms, longest 64.0 ms\n");
  has("waiting  db_get > pool_get db.c:77                    3.95    65%    1.00   100%\n");
  has("total, ms                                             6.05   100%\n");
}
END_TEST

START_TEST(a_slow_request_is_laid_out_in_time) {
  struct request_filter all = {0};
  struct slow_options options = {.rows = 1, .requests = &all};
  show(&output_slow, &options, false);
  has("GET /item 64.00 ms = 12.00 queued + 1.50 running + 50.50 waiting\n");
  has("trace 4bf92f3577b34da60000000000000000\n");
  has("     0.00  queued        12.00  behind save_upload upload.c:133\n");
  has("    12.00  running        0.50  get_item item.c:5\n");
  has("    12.50  waiting       50.50  db_get > pool_get db.c:77\n");
  has("    63.00  running        1.00  render_item item.c:40 [render]\n");
  options.over = 100 * MS;
  show(&output_slow, &options, false);
  has("0 of 20 requests took 100 ms or more\n");
}
END_TEST

/* Many pieces: short ones are one line, and nothing is left out of the sum. */
START_TEST(short_pieces_are_summed_up) {
  struct request_filter all = {0};
  struct slow_options options = {.rows = 1, .requests = &all};
  uint64_t now = 5000 * (uint64_t)MS;
  uint32_t r = story_add_request(s, "GET /many", "get", now, now + 260 * MS);
  uint32_t f = story_add_future(s, get, r, NONE, now);
  for (int i = 0; i < 20; i++) {
    add_ran(s, f, get, now, now + MS, loop);
    add_waited(s, f, i % 4 ? query : pool, now + MS, now + 13 * MS, NONE);
    now += 13 * MS;
  }
  add_ran(s, f, get, now, now, loop);
  story_end_future(s, f, now, STORY_DONE);
  story_finish(s);
  show(&output_slow, &options, false);
  has("GET /many 260.00 ms = 0.00 queued + 20.00 running + 240.00 waiting\n");
  has("     0.00  running        1.00  get_item item.c:5\n     1.00  waiting       12.00");
  has("   104.00  24 short     156.00  running 12.00, waiting 144.00\n");
}
END_TEST

/* Each is JSON, and has its schema. */
START_TEST(json_says_the_same) {
  struct request_filter all = {0};
  struct slow_options slow = {.rows = 0, .requests = &all};
  const struct {
    const struct output *output;
    const void *options;
    const char *schema, *list;
    int rows;
  } shown[] = {{&output_tail, NULL, "aprof.tail/1", "kinds", 1},
               {&output_blame, NULL, "aprof.blame/1", "behind", 1},
               {&output_path, NULL, "aprof.path/1", "kinds", 1},
               {&output_slow, &slow, "aprof.slowest/1", "slowest", 20}};
  for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
    show(shown[i].output, shown[i].options, true);
    cJSON *json = cJSON_Parse(text);
    ck_assert_ptr_nonnull(json);
    ck_assert_str_eq(cJSON_GetObjectItem(json, "schema")->valuestring, shown[i].schema);
    ck_assert_int_eq(cJSON_GetArraySize(cJSON_GetObjectItem(json, shown[i].list)), shown[i].rows);
    ck_assert_int_eq(cJSON_GetObjectItem(cJSON_GetObjectItem(json, "recording"), "pid")->valueint,
                     4242);
    cJSON_Delete(json);
  }
}
END_TEST

int main(void) {
  setenv("NO_COLOR", "1", 1);
  TCase *tests = tcase_create("asked");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, the_first_line_of_a_tail_is_the_cause);
  tcase_add_test(tests, kinds_without_a_whole_request_are_counted_only);
  tcase_add_test(tests, victims_of_one_name_are_told_apart);
  tcase_add_test(tests, rows_that_are_left_out_are_summed_up);
  tcase_add_test(tests, blame_names_who_held_the_loop);
  tcase_add_test(tests, a_path_is_all_of_the_wall);
  tcase_add_test(tests, a_slow_request_is_laid_out_in_time);
  tcase_add_test(tests, short_pieces_are_summed_up);
  tcase_add_test(tests, json_says_the_same);
  return suite_run("asked", tests);
}
