/* SPDX-License-Identifier: MIT */
/* Governed overhead: what is shed when, that nothing flaps, and that counts and the
   ledger's equations hold at each step. Events cost here what `costs` says. */
#include "unit.h"

FUNCTION_SITE(work);
FUNCTION_SITE(child);
FUNCTION_SITE(coroutine);
AWAIT_SITE(rest);
IDLE_SITE(poll);
CREATE_SITE(start, APROF_ONCE, 1);
CALLBACK_SITE(on_done);
RUN_SITE(runs, APROF_ONCE, 1);

#define US 1000ull
#define SECOND 1000000000ull

/* ns of an event at each step; the ceiling is 10 %. */
static const uint64_t costs[APROF_STEPS] = {1000, 900, 800, 400, 50};
static uint64_t passed, rounds;

static struct aprof_header *header(void) {
  return (struct aprof_header *)(uintptr_t)profile();
}

/* The only thread's. */
static struct aprof_block *block(void) {
  for (uint64_t at = profile()->header_size; at < profile()->used;) {
    struct aprof_chunk *chunk = (struct aprof_chunk *)((char *)header() + at);
    if (chunk->type == APROF_CHUNK_BLOCK)
      return (struct aprof_block *)(chunk + 1);
    at += chunk->size ? chunk->size : APROF_PAGE;
  }
  ck_abort_msg("no thread");
  return NULL;
}

static void begin(void) {
  attach();
  token t;
  enter(&work, &t);
  leave(&t);
  rounds = 1;
  passed = 0;
  for (int i = 0; i < APROF_STEPS; i++)
    header()->step_cost_mticks[i] = costs[i] * 1000;
}

static void spend(uint64_t ns) {
  pass(ns);
  passed += ns;
}

/* Four events in `period` ns, a quarter of it run by work and half of that by child. */
static void one_round(uint64_t period) {
  token t, tc;
  enter(&work, &t);
  spend(period / 8);
  enter(&child, &tc);
  spend(period / 8);
  leave(&tc);
  leave(&t);
  spend(period - period / 8 * 2);
  rounds++;
}

static void load(uint64_t period, uint64_t duration) {
  for (uint64_t until = passed + duration; passed < until;)
    one_round(period);
}

static uint64_t of_thread(const char *what) {
  char name[32];
  snprintf(name, sizeof name, "thread %d", (int)getpid());
  return total(name, what);
}

/* Values that a function's histogram has. */
static uint64_t values(const char *function, const char *histogram) {
  struct rows rows = {0};
  uint64_t sum = 0;
  char begin[128];
  snprintf(begin, sizeof begin, "%s | %s from ", function, histogram);
  reader_function_rows(profile(), profile()->virtual_now, &rows);
  for (unsigned i = 0; i < rows.count; i++)
    if (strncmp(rows.row[i].name, begin, strlen(begin)) == 0)
      sum += rows.row[i].value;
  rows_free(&rows);
  return sum;
}

/* What the events of the last change on cost, in percent of the time since. */
static double overhead_since(uint64_t events, uint64_t ticks) {
  const struct aprof_block *b = block();
  return 100.0 * (double)(b->sequence / 2 - events) * (double)costs[b->step] /
         (double)(header()->virtual_now - ticks);
}

/* All that holds whatever was shed. */
static void expect_exact(void) {
  expect("work", "created", rounds);
  expect("work", "done", rounds);
  expect("child", "done", rounds - 1);
  expect("work", "slices", rounds);
  ck_assert_uint_eq(total_of("work @ child", "count", false), rounds - 1);
  ck_assert_uint_eq(total_of("work @ child", "immediate", false), rounds - 1);
  ck_assert_uint_eq(of_thread("elapsed"), passed);
  ck_assert_uint_eq(total("work", "exec") + total("child", "exec"), of_thread("exec"));
  ck_assert_uint_eq(total("work", "wall"), total("work", "exec") + total("work", "waiting"));
  ck_assert_uint_eq(total("work", "waiting"), total("child", "wall"));
}

START_TEST(light_load_sheds_nothing) {
  begin();
  load(100 * US, 3 * SECOND); /* 4 % */
  ck_assert_uint_eq(block()->step, APROF_STEP_NONE);
  ck_assert_uint_eq(block()->changes, 0);
  expect_exact();
  expect("work", "exec", passed / 8);
  expect("child", "exec", passed / 8);
}
END_TEST

START_TEST(each_load_gets_the_step_that_it_needs) {
  static const struct {
    uint64_t period;
    uint32_t step;
  } loads[] = {{100 * US, APROF_STEP_NONE},   /* 4 % */
               {39 * US, APROF_STEP_TREE},    /* 10.3 %, 9.3 % and 8.3 % then */
               {22 * US, APROF_STEP_COARSE},  /* 18 %, 8.2 % */
               {10 * US, APROF_STEP_COUNTS}}; /* 40 %, 2.5 % */
  begin();
  for (unsigned i = 0; i < 4; i++) {
    load(loads[i].period, SECOND);
    ck_assert_msg(block()->step == loads[i].step, "load %u: step %u", i, block()->step);
    uint64_t events = block()->sequence / 2, ticks = header()->virtual_now;
    load(loads[i].period, 3 * SECOND);
    ck_assert_uint_eq(block()->step, loads[i].step);
    ck_assert_double_le(overhead_since(events, ticks), 10.0);
    expect_exact();
  }
  ck_assert_uint_eq(block()->changes, 3);
}
END_TEST

START_TEST(sheds_within_two_windows_and_takes_back_after_a_second) {
  begin();
  load(100 * US, SECOND);
  load(22 * US, 220 * MS);
  ck_assert_uint_eq(block()->step, APROF_STEP_COARSE);
  load(22 * US, 10 * SECOND);
  ck_assert_uint_eq(block()->step, APROF_STEP_COARSE);
  load(200 * US, 800 * MS);
  ck_assert_uint_eq(block()->step, APROF_STEP_COARSE);
  load(200 * US, 600 * MS);
  ck_assert_uint_eq(block()->step, APROF_STEP_NONE);
  ck_assert_uint_eq(block()->changes, 1);
  const struct aprof_period *period = &block()->periods[0];
  ck_assert_uint_eq(period->step, APROF_STEP_COARSE);
  ck_assert_uint_gt(period->end_tick - period->begin_tick, 11 * SECOND);
  ck_assert_uint_lt(period->end_tick - period->begin_tick, 12 * SECOND);
  ck_assert_uint_eq(period->events, block()->at_step[APROF_STEP_COARSE].events);
  expect_exact();
}
END_TEST

/* Where a lighter step would do at once and not a moment later. */
START_TEST(nothing_flaps) {
  begin();
  for (int i = suite_is_slow() ? 100 : 0; i < 120; i++) { /* four minutes */
    load(22 * US, SECOND);
    load(200 * US, SECOND);
  }
  /* Each relapse doubles the wait: 1, 2, 4... and load comes every other second. */
  ck_assert_uint_le(block()->changes, 4);
  expect_exact();
}
END_TEST

START_TEST(a_ceiling_that_cannot_be_held) {
  begin();
  load(1 * US, SECOND); /* counting alone is 20 % */
  ck_assert_uint_eq(block()->step, APROF_STEP_COUNTS);
  load(1 * US, SECOND);
  ck_assert_uint_eq(block()->step, APROF_STEP_COUNTS);
  ck_assert_uint_eq(block()->changes, 1);
  load(1000 * US, 2 * SECOND);
  ck_assert_uint_eq(block()->step, APROF_STEP_NONE);
  expect_exact();
}
END_TEST

/* -- what each step sheds ----------------------------------------------------------- */

START_TEST(histograms_have_what_was_counted_at_step_none) {
  begin();
  load(100 * US, SECOND);
  load(22 * US, SECOND);
  uint64_t before = rounds;
  load(200 * US, 2 * SECOND);
  uint64_t kept = values("work", "exec histogram"), slices = values("work", "slice histogram");
  ck_assert_uint_eq(kept, slices);
  ck_assert_uint_lt(kept, rounds - (rounds - before) / 4);
  ck_assert_uint_gt(kept, 10000);
  expect_exact();
}
END_TEST

START_TEST(paths_are_shed_from_step_tree_on) {
  begin();
  load(100 * US, SECOND);
  uint64_t nested = total_of("work > child", "created", true);
  load(39 * US, SECOND);
  ck_assert_uint_eq(block()->step, APROF_STEP_TREE);
  uint64_t now = total_of("work > child", "created", true);
  load(39 * US, SECOND);
  ck_assert_uint_eq(total_of("work > child", "created", true), now);
  ck_assert_uint_gt(now, nested);
  ck_assert_uint_eq(total_of("child", "created", true), rounds - 1 - now);
  expect_exact();
}
END_TEST

/* Longer than a tick or shorter, each has its share of the time. */
START_TEST(coarse_sums_are_right_in_expectation) {
  begin();
  load(22 * US, SECOND);
  ck_assert_uint_eq(block()->step, APROF_STEP_COARSE);
  uint64_t exec = total("work", "exec"), children = total("child", "exec"), since = passed;
  uint64_t longest = total("work", "slice_max"), wall = total("child", "wall_max");
  for (int i = 0; i < 100; i++) {
    load(22 * US + (uint64_t)i % 7, 100 * MS);
    one_round(7 * MS);
  }
  ck_assert_uint_eq(block()->step, APROF_STEP_COARSE);
  double whole = (double)(passed - since);
  ck_assert_double_eq_tol((double)(total("work", "exec") - exec) / whole, 0.125, 0.02);
  ck_assert_double_eq_tol((double)(total("child", "exec") - children) / whole, 0.125, 0.02);
  ck_assert_uint_eq(total("work", "slice_max"), longest);
  ck_assert_uint_eq(total("child", "wall_max"), wall);
  expect_exact();
}
END_TEST

START_TEST(idle_is_known_while_only_counting) {
  begin();
  load(10 * US, SECOND);
  ck_assert_uint_eq(block()->step, APROF_STEP_COUNTS);
  uint64_t idle_before = of_thread("idle"), slept = 0;
  for (int i = 0; i < 2000; i++) {
    load(10 * US, 200 * US);
    token t;
    idle(&poll, &t);
    spend(50 * US);
    slept += 50 * US;
    idled(&t);
  }
  ck_assert_uint_eq(block()->step, APROF_STEP_COUNTS);
  ck_assert_uint_eq(of_thread("idle") - idle_before, slept);
  expect_exact();
}
END_TEST

/* -- other programs ------------------------------------------------------------------ */

/* One that is suspended at nearly every event; and slices reopened across steps. */
START_TEST(coroutines_shed_too) {
  begin();
  token t;
  enter(&coroutine, &t);
  uint64_t waits = 0;
  for (int i = 0; i < 400000; i++) {
    token outer, inner;
    uint64_t step = i / 100000 % 2 ? 10 * US : 200 * US;
    suspend(&rest, &outer);
    suspend(&rest, &inner);
    spend(step);
    resume(&inner);
    resume(&outer);
    waits++;
  }
  leave(&t);
  ck_assert_uint_gt(block()->changes, 0);
  ck_assert_uint_eq(total_of("coroutine @ rest", "count", false), waits);
  expect("coroutine", "wall", total("coroutine", "exec") + total("coroutine", "waiting"));
  expect("coroutine", "slices", waits + 1);
  ck_assert_uint_le(values("coroutine", "slice histogram"), waits + 1);
  ck_assert_uint_eq(of_thread("elapsed"), passed);
}
END_TEST

START_TEST(keys_shed_too) {
  begin();
  for (uint64_t i = 0; i < 300000; i++) {
    token t;
    new_future(&start, &on_done, i + 1);
    spend(5 * US);
    run(&runs, &t, i + 1, &on_done);
    spend(1 * US);
    ran(&t, APROF_DONE);
  }
  ck_assert_uint_eq(block()->step, APROF_STEP_COUNTS);
  expect("on_done", "done", 300000);
  expect("on_done", "wall", total("on_done", "exec") + total("on_done", "waiting"));
  ck_assert_uint_eq(of_thread("elapsed"), passed);
}
END_TEST

START_TEST(reset_begins_anew) {
  begin();
  load(10 * US, SECOND);
  gate.api_reset();
  passed = 0;
  rounds = 0;
  one_round(10 * US);
  ck_assert_uint_eq(block()->step, APROF_STEP_NONE);
  ck_assert_uint_eq(block()->changes, 0);
  ck_assert_uint_eq(block()->at_step[APROF_STEP_COUNTS].events, 0);
  load(10 * US, SECOND);
  ck_assert_uint_eq(block()->step, APROF_STEP_COUNTS);
  expect("work", "done", rounds);
}
END_TEST

int main(void) {
  const TTest *const tests[] = {light_load_sheds_nothing,
                                each_load_gets_the_step_that_it_needs,
                                sheds_within_two_windows_and_takes_back_after_a_second,
                                nothing_flaps,
                                a_ceiling_that_cannot_be_held,
                                histograms_have_what_was_counted_at_step_none,
                                paths_are_shed_from_step_tree_on,
                                coarse_sums_are_right_in_expectation,
                                idle_is_known_while_only_counting,
                                coroutines_shed_too,
                                keys_shed_too,
                                reset_begins_anew};
  return unit_main("govern", tests, sizeof tests / sizeof *tests, UNIT_OPTIONS ",overhead:10");
}
