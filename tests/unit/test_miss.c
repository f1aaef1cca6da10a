/* SPDX-License-Identifier: MIT */
/* Events that cannot be placed: which kind, by whom, how often. */
#include "unit.h"

FUNCTION_SITE(work);
FUNCTION_SITE(other);
CALLBACK_SITE(on_read);
AWAIT_SITE(rest);
CREATE_SITE(start, APROF_ONCE, 1);
CREATE_SITE(again, APROF_ONCE, 1);
CREATE_SITE(spawn, 0, 2);
RUN_SITE(runs, APROF_ONCE, 1);
RUN_SITE(quietly, APROF_QUIET, 1);
SITE_(stops, APROF_SITE_END, 0, 0, 1);
SITE_(stops_spawned, APROF_SITE_END, 0, 0, 2);
SITE_(closes, APROF_SITE_END, 0, 0, APROF_NS_ANY);
SITE_(wakes, APROF_SITE_WAKE, 0, 0, 1);
SITE_(switches, APROF_SITE_SWITCH, 0, 0, 1);

#define expect_missed(kind, site, value)                                                           \
  do {                                                                                             \
    uint64_t got_ = reader_missed(profile(), kind, site);                                          \
    ck_assert_msg(got_ == (uint64_t)(value), #kind " of %s: expected %llu, got %llu", site,        \
                  (unsigned long long)(value), (unsigned long long)got_);                          \
  } while (0)

static uint64_t missed_in_all(void) {
  uint64_t sum = 0;
  for (uint32_t kind = 1; kind < APROF_MISS_REUSED; kind++)
    sum += reader_missed(profile(), kind, NULL);
  ck_assert_uint_eq(sum, total("health", "missed"));
  return sum;
}

START_TEST(keys_that_no_future_has) {
  attach();
  token t, tr;
  enter(&work, &t);
  new_future(&start, &on_read, 7);
  run(&runs, &tr, 8, &on_read);
  ran(&tr, APROF_DONE);
  run(&runs, &tr, 9, &on_read);
  ran(&tr, APROF_DONE);
  run(&quietly, &tr, 9, &on_read);
  ran(&tr, APROF_DONE);
  end(&stops, 8, APROF_DONE);
  end(&closes, 8, APROF_DONE);
  wake(&wakes, 8);
  wake(&wakes, 9);
  wake(&wakes, 7);
  leave(&t);
  gate.switch_to(&switches, &t, 8, 0);
  expect_missed(APROF_MISS_RUN, "runs", 2);
  expect_missed(APROF_MISS_RUN, "quietly", 0);
  expect_missed(APROF_MISS_END, "stops", 1);
  expect_missed(APROF_MISS_END, "closes", 0);
  expect_missed(APROF_MISS_WAKE, "wakes", 2);
  expect_missed(APROF_MISS_SWITCH, "switches", 1);
  ck_assert_uint_eq(missed_in_all(), 2);
}
END_TEST

/* ... which they had while profiling was off: followed from the first run on. */
START_TEST(keys_of_before) {
  attach();
  token t, tr;
  enter(&work, &t);
  leave(&t);
  gate.api_enable(0);
  new_future(&start, &on_read, 7);
  pass(1);
  gate.api_enable(1);
  run(&quietly, &tr, 7, &on_read);
  pass(2);
  ran(&tr, APROF_PENDING);
  expect_missed(APROF_MISS_BEFORE, "quietly", 1);
  expect("on_read", "slices", 1);
  pass(30);
  run(&quietly, &tr, 7, &on_read); /* it goes on */
  pass(4);
  ran(&tr, APROF_DONE);
  expect_missed(APROF_MISS_BEFORE, "quietly", 1);
  expect("on_read", "created", 1);
  expect("on_read", "done", 1);
  expect("on_read", "exec", 6);
  expect("on_read", "waiting", 30);
  ck_assert_uint_eq(missed_in_all(), 0);
  gate.api_reset();
  enter(&work, &t);
  leave(&t);
  expect_missed(APROF_MISS_BEFORE, "quietly", 0);
  run(&quietly, &tr, 7, &on_read);
  expect_missed(APROF_MISS_BEFORE, "quietly", 1);
}
END_TEST

/* Flags of the sites of this name, together. */
static unsigned flags_of(const char *name) {
  const struct aprof_header *h = profile();
  unsigned flags = 0;
  for (uint64_t offset = h->header_size; offset < h->used;) {
    const struct aprof_chunk *c = (const void *)((const char *)h + offset);
    const struct aprof_psite *site = (const void *)(c + 1);
    for (uint32_t i = 0; c->type == APROF_CHUNK_SITES && i < c->count; i++)
      if (site[i].kind && strcmp((const char *)h + ((uint64_t)site[i].name << 3), name) == 0)
        flags |= site[i].flags;
    offset += c->size ? c->size : APROF_PAGE;
  }
  return flags;
}

/* What finds nothing now and then is told from what never does. */
START_TEST(places_that_have_found_a_future) {
  attach();
  new_future(&start, &on_read, 7);
  end(&stops, 8, APROF_DONE);
  wake(&wakes, 8);
  wake(&wakes, 7);
  end(&closes, 7, APROF_DONE);
  ck_assert_uint_eq(flags_of("stops") & APROF_PSITE_FOUND, 0);
  ck_assert_uint_ne(flags_of("wakes") & APROF_PSITE_FOUND, 0);
  ck_assert_uint_ne(flags_of("closes") & APROF_PSITE_FOUND, 0);
  new_future(&start, &on_read, 8);
  end(&stops, 8, APROF_DONE);
  ck_assert_uint_ne(flags_of("stops") & APROF_PSITE_FOUND, 0);
}
END_TEST

START_TEST(keys_that_come_again) {
  attach();
  token t, tr;
  enter(&work, &t);
  leave(&t);
  new_future(&start, &on_read, 7);
  new_future(&again, &on_read, 7);
  expect_missed(APROF_MISS_REUSED, "again", 1);
  /* While it runs: told when its bracket closes and it was not over. */
  run(&runs, &tr, 7, &on_read);
  new_future(&start, &on_read, 7);
  ran(&tr, APROF_PENDING);
  expect_missed(APROF_MISS_REUSED, "start", 1);
  expect("health", "reused", 2);
  ck_assert_uint_eq(missed_in_all(), 0);
}
END_TEST

/* Its record is gone, and its name with it: only the code that sent it is known. */
START_TEST(events_of_futures_that_are_over) {
  attach();
  token tc, tb, tw;
  create(&spawn, &tc, &work, NULL);
  enter(&work, &tb);
  suspend(&rest, &tw);
  created(&tc, 5, 1);
  end(&stops_spawned, 5, APROF_CANCELLED);
  resume(&tw);
  leave(&tb);
  expect("work", "cancelled", 1);
  expect_missed(APROF_MISS_RESUME, "(address)", 1);
  expect_missed(APROF_MISS_LEAVE, "(address)", 1);
  ck_assert_uint_eq(missed_in_all(), 2);
}
END_TEST

START_TEST(futures_that_are_left_unseen) {
  attach();
  token ta, tb, tw;
  enter(&work, &ta);
  suspend(&rest, &tw);
  enter(&other, &tb);
  pass(5);
  resume(&tw); /* other has never suspended */
  leave(&ta);
  expect_missed(APROF_MISS_UNSEEN, "other", 1);
  ck_assert_uint_eq(missed_in_all(), 1);
}
END_TEST

START_TEST(events_outside_futures) {
  attach();
  token t;
  enter(&work, &t);
  leave(&t);
  suspend(&rest, &t);
  suspend(&rest, &t);
  gate.end_current(&stops, APROF_DONE);
  expect_missed(APROF_MISS_AWAIT, "rest", 2);
  expect("health", "unmatched", 2);
  expect_missed(APROF_MISS_CURRENT, "stops", 1);
  ck_assert_uint_eq(missed_in_all(), 1);
}
END_TEST

/* A helper suspends nothing: called by no future it only names the creates inside it, the
   outermost of several, also before there is a profile. */
START_TEST(helpers_outside_futures) {
  SITE_(wrap, APROF_SITE_AWAIT, 0, APROF_NAMES | APROF_HELPER, 0);
  SITE_(wrap_more, APROF_SITE_AWAIT, 0, APROF_NAMES | APROF_HELPER, 0);
  CREATE_SITE(inner_make, APROF_ONCE, 0);
  attach();
  token made, inner, around;
  for (int i = 0; i < 10; i++) { /* as the general events do it, and as the fast ones */
    memset(&inner, 0, sizeof inner);
    memset(&around, 0, sizeof around);
    suspend(&wrap_more, &around);
    suspend(&wrap, &inner);
    create(&inner_make, &made, &work, NULL);
    created(&made, 100 + i, 1);
    ck_assert_uint_eq(inner.word[0], 0);
    resume(&around);
    create(&inner_make, &made, &work, NULL);
    created(&made, 200 + i, 1);
  }
  pass(7);
  expect("health", "unmatched", 0);
  ck_assert_uint_eq(missed_in_all(), 0);
  expect("work @ wrap_more", "waiting", 70);
  expect("work @ inner_make", "waiting", 70);
}
END_TEST

/* Beyond the room that there is, places are lost, counts are not. */
START_TEST(more_places_than_there_is_room_for) {
  static struct aprof_site many[600];
  static char names[600][16];
  attach();
  token t;
  enter(&work, &t);
  leave(&t);
  for (int round = 0; round < 3; round++)
    for (unsigned i = 0; i < 600; i++) {
      if (round == 0) {
        snprintf(names[i], sizeof names[i], "stop%u", i);
        many[i] = stops;
        many[i].name = names[i];
        many[i].line = i + 1;
        many[i].id = many[i].instance = 0;
      }
      end(&many[i], 99, APROF_DONE);
    }
  uint64_t nameless = reader_missed(profile(), APROF_MISS_END, "(no such site)");
  ck_assert_uint_eq(reader_missed(profile(), APROF_MISS_END, NULL), 1800);
  ck_assert_uint_gt(nameless, 0);
  ck_assert_uint_le(nameless, 1800 - 3 * 150);
  uint64_t known = 0;
  for (unsigned i = 0; i < 600; i++) {
    uint64_t count = reader_missed(profile(), APROF_MISS_END, names[i]);
    ck_assert_msg(count == 0 || count == 3, "%s: %llu", names[i], (unsigned long long)count);
    known += count;
  }
  ck_assert_uint_eq(known + nameless, 1800);
}
END_TEST

START_TEST(reset_forgets_them) {
  attach();
  token t;
  enter(&work, &t);
  end(&stops, 1, APROF_DONE);
  run(&runs, &t, 1, &on_read);
  gate.api_reset();
  enter(&work, &t);
  end(&stops, 1, APROF_DONE);
  expect_missed(APROF_MISS_END, "stops", 1);
  ck_assert_uint_eq(missed_in_all(), 0);
}
END_TEST

UNIT_TRACED_MAIN("miss", keys_that_no_future_has, keys_of_before, places_that_have_found_a_future,
          keys_that_come_again, events_of_futures_that_are_over, futures_that_are_left_unseen,
          events_outside_futures, helpers_outside_futures, more_places_than_there_is_room_for,
          reset_forgets_them)
