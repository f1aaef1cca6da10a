/* SPDX-License-Identifier: MIT */
/* A story made by hand: record/story-build.c, story-finish.c. */
#include "record/story-build.h"
#include "suite.h"

#include <check.h>

START_TEST(a_request_has_what_its_futures_had) {
  struct story *s = story_new();
  uint32_t loop = story_add_thread(s, 42, "loop");
  uint32_t get = story_add_path(s, STORY_NONE, STORY_FUNCTION, "get", "item.c", 5);
  uint32_t pool = story_add_path(s, get, STORY_AWAIT, "pool_get", "db.c", 77);
  uint32_t late = story_add_request(s, NULL, "get", 100, 190);
  uint32_t early = story_add_request(s, "GET /", "get", 10, 90);
  uint32_t b = story_add_future(s, get, late, STORY_NONE, 100);
  uint32_t a = story_add_future(s, get, early, STORY_NONE, 10);
  uint32_t ran = story_add_segment(s, a, STORY_EXEC, get, 10, 30);
  s->segments[ran].thread = loop;
  story_add_segment(s, a, STORY_WAITING, pool, 30, 80);
  story_add_segment(s, a, STORY_QUEUED, pool, 80, 85);
  story_add_segment(s, b, STORY_EXEC, get, 100, 150);
  story_add_segment(s, a, STORY_EXEC, get, 85, 95);
  story_add_segment(s, b, STORY_ASIDE, pool, 150, 190);
  story_add_slice(s, loop, b, 100, 150);
  story_add_slice(s, loop, a, 10, 30);
  story_add_slice(s, loop, a, 85, 95);
  story_end_future(s, a, 95, STORY_DONE);
  s->requests[late].whole = 0;
  story_finish(s);

  /* In order of begin, whoever was added first; and futures go with theirs. */
  ck_assert_str_eq(s->requests[0].kind, "GET /");
  ck_assert_str_eq(s->requests[1].kind, "get");
  ck_assert_uint_eq(s->futures[a].request, 0);
  ck_assert_uint_eq(s->futures[b].request, 1);
  ck_assert_uint_eq(s->requests[0].root, a);
  ck_assert_uint_eq(s->requests[0].futures_count, 1);
  ck_assert_uint_eq(s->requests[0].futures[0], a);
  ck_assert_uint_eq(s->requests[1].futures[0], b);
  /* What ran behind the request's end is no part of its sums; who is aside waits for nothing. */
  ck_assert_uint_eq(s->requests[0].exec, 25);
  ck_assert_uint_eq(s->requests[0].queued, 5);
  ck_assert_uint_eq(s->requests[0].waiting, 50);
  ck_assert_uint_eq(s->requests[1].exec, 50);
  ck_assert_uint_eq(s->requests[1].waiting, 0);
  ck_assert_uint_eq(s->partial, 1);
  /* Slices of a thread are in order; who lives is over with the recording. */
  ck_assert_uint_eq(s->threads[loop].slices, 3);
  ck_assert_uint_eq(s->slices[s->threads[loop].first_slice].begin, 10);
  ck_assert_uint_eq(s->slices[s->threads[loop].first_slice + 2].begin, 100);
  ck_assert_uint_eq(s->end_ns, 190);
  ck_assert_uint_eq(s->futures[b].over, 190);
  ck_assert_uint_eq(s->futures[b].how, STORY_LIVES);
  ck_assert_str_eq(s->paths[pool].text, "get > pool_get");
  ck_assert_uint_eq(s->paths[pool].function, get);
  story_free(s);
}
END_TEST

/* Far more than could be moved one by one before the test is ended. */
START_TEST(slices_come_in_any_order) {
  enum { SLICES = 400000 };
  struct story *s = story_new();
  uint32_t loop = story_add_thread(s, 42, "loop"), pool = story_add_thread(s, 43, "pool");
  uint32_t get = story_add_path(s, STORY_NONE, STORY_FUNCTION, "get", "item.c", 5);
  uint32_t a = story_add_future(s, get, STORY_NONE, STORY_NONE, 0);
  for (uint64_t i = SLICES; i--;) {
    story_add_slice(s, loop, a, 10 * i, 10 * i + 5);
    story_add_slice(s, pool, a, 10 * (SLICES - i), 10 * (SLICES - i) + 5);
  }
  story_finish(s);
  ck_assert_uint_eq(s->threads[loop].slices, SLICES);
  ck_assert_uint_eq(s->threads[pool].slices, SLICES);
  uint32_t wrong = 0;
  for (uint32_t i = 0; i < SLICES; i++) {
    wrong += s->slices[s->threads[loop].first_slice + i].begin != 10u * i;
    wrong += s->slices[s->threads[pool].first_slice + i].begin != 10u * (i + 1);
  }
  ck_assert_uint_eq(wrong, 0);
  story_free(s);
}
END_TEST

START_TEST(segments_of_a_future_are_linked) {
  struct story *s = story_new();
  uint32_t get = story_add_path(s, STORY_NONE, STORY_FUNCTION, "get", NULL, 0);
  uint32_t a = story_add_future(s, get, STORY_NONE, STORY_NONE, 0);
  uint32_t b = story_add_future(s, get, STORY_NONE, a, 0);
  for (uint64_t i = 0; i < 1000; i++) {
    story_add_segment(s, a, STORY_EXEC, get, i, i + 1);
    story_add_segment(s, b, STORY_WAITING, get, i, i + 1);
  }
  story_finish(s);
  uint64_t expected = 0;
  for (uint32_t i = s->futures[b].first; i != STORY_NONE; i = s->segments[i].next) {
    ck_assert_uint_eq(s->segments[i].begin, expected++);
    ck_assert_uint_eq(s->segments[i].future, b);
  }
  ck_assert_uint_eq(expected, 1000);
  ck_assert_uint_eq(s->segments[s->futures[b].last].end, 1000);
  ck_assert_uint_eq(s->requests_count, 0);
  story_free(s);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("story");
  tcase_add_test(tests, a_request_has_what_its_futures_had);
  tcase_set_timeout(tests, 60);
  tcase_add_test(tests, slices_come_in_any_order);
  tcase_add_test(tests, segments_of_a_future_are_linked);
  return suite_run("story", tests);
}
