/* SPDX-License-Identifier: MIT */
/* One host of several, and what differs there: ask/apart.c, apart-rows.c, read/labels.c. */
#include "ask/apart.h"
#include "ask/story-view.h"
#include "read/labels.h"
#include "read/util.h"
#include "story.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { HOSTS = 5 };
static struct story *story[HOSTS];
static struct view *view[HOSTS];
static size_t hosts;
static struct apart *all;

static void setup(void) {
  hosts = 0;
  all = NULL;
}

static void teardown(void) {
  apart_free(all);
  for (size_t i = 0; i < hosts; i++) {
    view_free(view[i]);
    story_free(story[i]);
  }
}

struct host {
  const char *name, *build;
  uint32_t line;                 /* where it waits for its pool */
  uint64_t requests, pool, exec; /* ns each */
};

/* GET requests of one process; its pool_get lies at that line. */
static struct view *add_host(const struct host *h) {
  struct story *s = story[hosts] = story_new();
  s->host = h->name;
  s->build_id = h->build;
  s->process = "shop";
  s->pid = 42;
  uint32_t loop = story_add_thread(s, 42, "loop");
  uint32_t get = story_add_path(s, NONE, STORY_FUNCTION, "get", "item.c", 5);
  uint32_t query = story_add_path(s, get, STORY_AWAIT, "db_query", "/src/db.c", 91);
  uint32_t pool = story_add_path(s, get, STORY_AWAIT, "pool_get", "/src/db.c", h->line);
  uint64_t now = 0;
  for (uint64_t i = 0; i < h->requests; i++) {
    uint32_t r = story_add_request(s, "GET", "get", now, 0);
    uint32_t f = story_add_future(s, get, r, NONE, now);
    add_held(s, f, get, now, now + h->exec, loop);
    now += h->exec;
    add_waited(s, f, pool, now, now + h->pool, NONE);
    now += h->pool;
    add_waited(s, f, query, now, now + 100, NONE);
    now += 100;
    story_end_future(s, f, now, STORY_DONE);
    s->requests[r].end = now;
    now += 10;
  }
  story_finish(s);
  return view[hosts++] = ask_story_view(s, NULL, h->name);
}

static const struct apart_kind *compare(const char *by) {
  static const struct request_filter any;
  apart_free(all);
  all = apart_of((const struct view *const *)view, hosts, by, &any);
  ck_assert_ptr_nonnull(all);
  ck_assert_uint_eq(all->kinds, 1);
  const struct apart_kind *k = all->kind;
  for (int side = 0; k->tail && side < TAIL_SIDES; side++) {
    uint64_t sum = 0;
    for (size_t i = 0; i < k->tail->rows; i++)
      sum += k->tail->row[i].time[side];
    ck_assert_uint_eq(sum, k->tail->wall[side]);
  }
  return k;
}

static const char *cause_of(const struct apart_kind *k) {
  ck_assert_ptr_nonnull(k->tail->cause.row);
  return all->paths->paths[k->tail->cause.row->path].name;
}

START_TEST(one_of_five_waits_for_its_pool) {
  for (int i = 1; i <= HOSTS; i++) {
    char *name = print_string("node%d", i);
    add_host(&(struct host){name, "b1", 77, 20, i == 3 ? 1000 : 10, 30});
    view[i - 1]->process.host = arena_text(&view[i - 1]->arena, name);
    free(name);
  }
  const struct apart_kind *k = compare(APART_HOST);
  ck_assert(k->stands_out);
  ck_assert_uint_eq(k->parts, HOSTS);
  ck_assert_str_eq(k->part[0].group->name, "node3");
  ck_assert_double_eq_tol(k->part[0].mean, 1130, 1e-6);
  ck_assert_double_eq_tol(k->others, 140, 1e-6);
  ck_assert_uint_eq(k->tail->count[TAIL_SLOW], 20);
  ck_assert_uint_eq(k->tail->count[TAIL_REST], 80);
  ck_assert_uint_eq(k->tail->wall[TAIL_SLOW], 20 * 1130);
  ck_assert_str_eq(cause_of(k), "pool_get");
  ck_assert_double_eq_tol(k->tail->cause.more, 990, 1e-6);
  ck_assert_int_eq(k->tail->cause.how, TAIL_LONGER);
  ck_assert_ptr_null(k->together);
}
END_TEST

START_TEST(alike_none_stands_out) {
  add_host(&(struct host){"node1", "b1", 77, 20, 100, 30});
  add_host(&(struct host){"node2", "b1", 77, 20, 110, 30});
  const struct apart_kind *k = compare(APART_HOST);
  ck_assert(!k->stands_out);
  ck_assert_str_eq(k->part[0].group->name, "node2");
}
END_TEST

/* Of ten requests that take 1 to 2000 ns, a mean that is a half higher says nothing. */
START_TEST(chance_does_not_stand_out) {
  add_host(&(struct host){"node1", "b1", 77, 10, 870, 30});
  add_host(&(struct host){"node2", "b1", 77, 10, 1370, 30});
  ck_assert(compare(APART_HOST)->stands_out);
  struct bucket wide[] = {{1, 5}, {2000, 5}}, wider[] = {{1, 3}, {2000, 7}};
  view[0]->kind[0].wall.of = (struct distribution){.bucket = wide, .count = 2};
  view[1]->kind[0].wall.of = (struct distribution){.bucket = wider, .count = 2};
  const struct apart_kind *k = compare(APART_HOST);
  ck_assert(k->part[0].error > 100);
  ck_assert(!k->stands_out);
}
END_TEST

START_TEST(another_build_has_other_lines) {
  add_host(&(struct host){"node1", "b1", 77, 20, 10, 30});
  add_host(&(struct host){"node2", "b1", 77, 20, 10, 30});
  add_host(&(struct host){"node3", "b2", 99, 20, 500, 30});
  const struct apart_kind *k = compare(APART_BUILD);
  ck_assert(k->stands_out);
  ck_assert_str_eq(k->part[0].group->name, "b2");
  ck_assert_uint_eq(k->part[1].group->processes, 2);
  ck_assert_str_eq(cause_of(k), "pool_get");
  ck_assert_uint_eq(k->tail->cause.places, 1);
  ck_assert_uint_eq(k->tail->cause.row->times[TAIL_REST], 40);
  ck_assert_uint_eq(k->tail->cause.row->times[TAIL_SLOW], 20);
}
END_TEST

START_TEST(labels_tell_them_apart) {
  add_host(&(struct host){"node1", "b1", 77, 20, 10, 30})->process.labels = "zone=a,rack=1";
  add_host(&(struct host){"node2", "b1", 77, 20, 10, 900})->process.labels = "rack=2,zone=b";
  const struct apart_kind *k = compare("zone");
  ck_assert_str_eq(k->part[0].group->name, "b");
  ck_assert_str_eq(cause_of(k), "get");
  ck_assert_int_eq(k->tail->cause.row->what, CRITICAL_EXEC);
  static const struct request_filter any, none = {.kind = "PUT"};
  ck_assert_ptr_null(apart_of((const struct view *const *)view, hosts, "shelf", &any));
  ck_assert_ptr_null(apart_of((const struct view *const *)view, hosts, "zone", &none));
}
END_TEST

/* Who held the loop is named by totals; the rest is of short runs. */
START_TEST(what_is_queued_is_behind_somebody) {
  add_host(&(struct host){"node1", "b1", 77, 10, 10, 30});
  add_host(&(struct host){"node2", "b1", 77, 10, 10, 30});
  struct view *v = view[1];
  struct view_function *f = arena_get(&v->arena, v->functions + 1, sizeof *f);
  struct view_delayed *d = arena_get(&v->arena, 1, sizeof *d);
  memcpy(f, v->function, v->functions * sizeof *f);
  *d = (struct view_delayed){
      .name = "get", .file = "item.c", .line = 5, .count = 4, .delayed = 4000};
  f[v->functions] =
      (struct view_function){.name = "hog", .file = "hog.c", .line = 3, .delayed = d, .delays = 1};
  v->function = f;
  v->functions++;
  for (size_t i = 0; i < v->paths; i++)
    if (!v->path[i].is_await) {
      v->path[i].queued = f[v->path[i].function].queued = 5000;
    }
  v->kind[0].wall.sum += 5000;
  const struct apart_kind *k = compare(APART_HOST);
  ck_assert_str_eq(cause_of(k), "hog");
  ck_assert_int_eq(k->tail->cause.row->what, CRITICAL_QUEUED);
  ck_assert_double_eq_tol(k->tail->cause.more, 400, 1e-6);
}
END_TEST

START_TEST(labels_are_texts) {
  struct arena arena = {0};
  char *labels = labels_add(labels_add(labels_add(NULL, "zone=a"), "rack=7"), "zone=b");
  ck_assert_str_eq(labels, "rack=7,zone=b");
  ck_assert_str_eq(labels_get(&arena, labels, "zone"), "b");
  ck_assert_str_eq(labels_get(&arena, labels, "zon"), "(none)");
  ck_assert_str_eq(labels_get(&arena, NULL, "zone"), "(none)");
  ck_assert_str_eq(labels_get(&arena, "odd,,=,x", "odd"), "(none)");
  ck_assert(labels_have(labels, "rack=7"));
  ck_assert(!labels_have(labels, "rack=77"));
  ck_assert(!labels_have(labels, "ack=7"));
  const char *bad[] = {"zone", "=a", "zone=", "7=a", "a-b=c", "a=b,c", "a=\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    ck_assert_ptr_nonnull(label_fault(bad[i]));
  ck_assert_ptr_null(label_fault("zone=eu west/1"));
  free(labels);
  arena_free(&arena);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("apart");
  tcase_add_checked_fixture(tests, setup, teardown);
  tcase_add_test(tests, one_of_five_waits_for_its_pool);
  tcase_add_test(tests, alike_none_stands_out);
  tcase_add_test(tests, chance_does_not_stand_out);
  tcase_add_test(tests, another_build_has_other_lines);
  tcase_add_test(tests, labels_tell_them_apart);
  tcase_add_test(tests, what_is_queued_is_behind_somebody);
  tcase_add_test(tests, labels_are_texts);
  return suite_run("apart", tests);
}
