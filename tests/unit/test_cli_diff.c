/* SPDX-License-Identifier: MIT */
/* Runs compared, and gates on them: ask/diff.c, ask/gate.c, of views made by hand. */
#include "ask/gate.h"
#include "read/settle.h"
#include "read/view.h"
#include "show/format.h"
#include "suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 6, ROOM = 16 };
#define MS 1000000u

static struct view *run[RUNS];
static struct diff *d;

static void setup(void) {
  for (int i = 0; i < RUNS; i++) {
    run[i] = view_new("a run");
    run[i]->process = (struct view_process){.pid = 100 + i,
                                            .host = "here",
                                            .name = "kv",
                                            .command = "kv",
                                            .reason = "exit",
                                            .started_at = "2026-01-01T00:00:00Z",
                                            .build_id = i < RUNS / 2 ? "aa" : "bb",
                                            .reset = UNKNOWN,
                                            .measured = UNKNOWN,
                                            .elapsed = 1000 * MS};
    run[i]->health.consistent = 1;
    run[i]->health.overhead = -1;
    run[i]->function = arena_get(&run[i]->arena, ROOM, sizeof *run[i]->function);
  }
  d = NULL;
}

static void teardown(void) {
  diff_free(d);
  for (int i = 0; i < RUNS; i++)
    view_free(run[i]);
}

static struct view_function *add(int i, const char *name, const char *file, uint64_t line,
                                 uint64_t futures, uint64_t exec) {
  struct view_function *f = &run[i]->function[run[i]->functions++];
  *f = (struct view_function){.process = UNKNOWN,
                              .name = name,
                              .file = file,
                              .line = line,
                              .instrumented = 1,
                              .created = futures,
                              .done = futures,
                              .exec = exec,
                              .exec_max = UNKNOWN,
                              .wall_max = UNKNOWN,
                              .slice_max = UNKNOWN,
                              .live_before = UNKNOWN};
  return f;
}

static struct view_await *awaits(int i, struct view_function *f, const char *callee, uint64_t line,
                                 uint64_t count, uint64_t waiting) {
  if (!f->await)
    f->await = arena_get(&run[i]->arena, ROOM, sizeof *f->await);
  struct view_await *a = &f->await[f->awaits++];
  *a = (struct view_await){.file = f->file,
                           .callee = callee,
                           .kind = "await",
                           .line = line,
                           .count = count,
                           .waiting = waiting,
                           .ended = waiting,
                           .max = UNKNOWN};
  return a;
}

/* The first `a` runs against those from the fourth on. */
static void compare(size_t a, size_t b) {
  static struct view *all[RUNS];
  for (size_t i = 0; i < a; i++)
    all[i] = run[i];
  for (size_t i = 0; i < b; i++)
    all[a + i] = run[RUNS / 2 + i];
  d = diff_new(all, a, b);
}

static const struct diff_row *row(const char *name, const char *callee) {
  for (size_t i = 1; i < d->rows; i++)
    if (!strcmp(d->row[i].name, name) &&
        !strcmp(d->row[i].callee ? d->row[i].callee : "", callee ? callee : ""))
      return &d->row[i];
  ck_abort_msg("no row %s %s", name, callee ? callee : "");
}

/* -- what belongs together ----------------------------------------------------- */

START_TEST(a_line_or_a_directory_that_moved_is_the_same_function) {
  add(0, "serve", "/build/1/src/serve.c", 10, 1, 5);
  add(0, "init", "/build/1/a/util.c", 5, 1, 1);
  add(0, "init", "/build/1/b/util.c", 5, 1, 2);
  add(3, "init", "/build/2/b/util.c", 9, 1, 20);
  add(3, "init", "/build/2/a/util.c", 9, 1, 10);
  add(3, "serve", "/build/2/src/serve.c", 44, 1, 6);
  compare(1, 1);
  ck_assert_uint_eq(d->functions, 3);
  ck_assert_uint_eq(row("serve", NULL)->line[DIFF_A], 10);
  ck_assert_uint_eq(row("serve", NULL)->line[DIFF_B], 44);
  for (size_t i = 1; i < d->rows; i++) {
    struct change c = diff_change(d, &d->row[i], measure_find("exec.total"));
    if (!strcmp(d->row[i].name, "init"))
      ck_assert_double_eq(c.side[DIFF_B].median, 10 * c.side[DIFF_A].median);
  }
}
END_TEST

START_TEST(one_that_went_to_another_file_is_the_same_if_it_is_alone) {
  add(0, "serve", "serve.c", 10, 1, 5);
  add(0, "init", "a.c", 5, 1, 1);
  add(0, "init", "b.c", 5, 1, 2);
  add(3, "serve", "http.c", 10, 1, 5);
  add(3, "init", "c.c", 5, 1, 1);
  compare(1, 1);
  ck_assert_uint_eq(d->functions, 4);
  ck_assert_str_eq(row("serve", NULL)->file[DIFF_B], "http.c");
  ck_assert(!diff_is_there(d, row("init", NULL), DIFF_B));
}
END_TEST

START_TEST(several_of_a_name_go_by_their_lines) {
  struct view_function *f = add(0, "serve", "serve.c", 1, 1, 5);
  awaits(0, f, "pause", 20, 1, 200);
  awaits(0, f, "pause", 10, 1, 100);
  f = add(3, "serve", "serve.c", 2, 1, 5);
  awaits(3, f, "pause", 11, 1, 1000);
  awaits(3, f, "pause", 21, 1, 2000);
  awaits(3, f, "fetch", 15, 1, 1);
  compare(1, 1);
  ck_assert_uint_eq(d->rows, 1 + 1 + 3);
  for (size_t i = 2; i < 4; i++) {
    struct change c = diff_change(d, &d->row[i], measure_find("wait.total"));
    ck_assert_double_eq(c.side[DIFF_B].median, 10 * c.side[DIFF_A].median);
    ck_assert_uint_eq(d->row[i].line[DIFF_B], d->row[i].line[DIFF_A] + 1);
  }
  ck_assert(!diff_is_there(d, row("serve", "fetch"), DIFF_A));
}
END_TEST

START_TEST(other_builds_are_told_by_their_ids) {
  compare(1, 1);
  ck_assert_int_eq(d->other_build, 1);
  diff_free(d);
  run[3]->process.build_id = "aa";
  compare(1, 1);
  ck_assert_int_eq(d->other_build, 0);
  diff_free(d);
  run[3]->process.build_id = NULL;
  compare(1, 1);
  ck_assert_int_eq(d->other_build, -1);
}
END_TEST

START_TEST(the_same_run_twice_is_refused) {
  run[3]->process = run[0]->process;
  compare(1, 1);
  ck_assert_ptr_null(d);
  run[3]->process.elapsed *= 2; /* a later moment has all of the earlier one */
  compare(1, 1);
  ck_assert_ptr_null(d);
  run[3]->process.reset_epoch++; /* unless it was reset in between */
  compare(1, 1);
  ck_assert_ptr_nonnull(d);
}
END_TEST

/* -- changes --------------------------------------------------------------------- */

START_TEST(medians_and_what_is_beyond_the_spread) {
  static const uint64_t exec[RUNS] = {100, 90, 130, 120, 150, 140};
  for (int i = 0; i < RUNS; i++) {
    add(i, "serve", "serve.c", 1, 1, exec[i] * MS);
    add(i, "steady", "serve.c", 9, 1, (i < 3 ? 10 : 20) * MS + (uint64_t)i);
  }
  compare(3, 3);
  struct change c = diff_change(d, row("serve", NULL), measure_find("exec.mean"));
  ck_assert_double_eq(c.side[DIFF_A].median, 100.0 * MS);
  ck_assert_double_eq(c.side[DIFF_A].most, 130.0 * MS);
  ck_assert_double_eq(c.side[DIFF_B].median, 140.0 * MS);
  ck_assert_double_eq(c.ratio, 0.4);
  ck_assert(!c.beyond);
  size_t count;
  struct change *list = diff_changes(d, &count);
  ck_assert_uint_eq(count, 1);
  ck_assert_str_eq(list[0].row->name, "steady");
  free(list);
}
END_TEST

START_TEST(the_dearest_change_comes_first_whatever_the_load) {
  add(0, "often", "serve.c", 1, 1000, 1000 * MS);
  add(0, "rare", "serve.c", 9, 1, 100 * MS);
  add(0, "same", "serve.c", 19, 10, 1000 * MS);
  add(3, "rare", "serve.c", 9, 1, 150 * MS);
  add(3, "often", "serve.c", 1, 2000, 2400 * MS);
  add(3, "same", "serve.c", 19, 20, 2000 * MS); /* twice the load, and of each no more */
  compare(1, 1);
  size_t count;
  struct change *list = diff_changes(d, &count);
  ck_assert_str_eq(list[0].row->name, "often");
  ck_assert_double_eq(list[0].weight, 400.0 * MS);
  for (size_t i = 0; i < count; i++)
    ck_assert(strcmp(list[i].row->name, "same") || list[i].weight < 1);
  free(list);
}
END_TEST

START_TEST(what_a_run_lacks_counts_as_nothing_only_in_sums) {
  add(3, "serve", "serve.c", 1, 4, 40 * MS);
  compare(1, 1);
  struct change c = diff_change(d, row("serve", NULL), measure_find("exec.total"));
  ck_assert_double_eq(c.by, 40.0 * MS);
  ck_assert(isinf(c.ratio));
  c = diff_change(d, row("serve", NULL), measure_find("exec.mean"));
  ck_assert(isnan(c.by));
}
END_TEST

/* -- gates ------------------------------------------------------------------------ */

static struct gate_result judge(const char *text, struct gate *gate) {
  char *why;
  ck_assert_msg(gate_parse(text, d->side[DIFF_A] > 0, gate, &why), "%s: %s", text, why);
  return gate_judge(d, gate, &ask_defaults);
}

static void verdict(const char *text, enum gate_verdict wanted, const char *says) {
  struct gate gate;
  struct gate_result r = judge(text, &gate);
  ck_assert_msg(r.verdict == wanted, "%s: %d %s", text, r.verdict, shown_sentence(r.text));
  if (says)
    ck_assert_msg(strstr(shown_sentence(r.text), says) != NULL, "%s: %s", text, shown_sentence(r.text));
  gate_result_release(&r);
  gate_release(&gate);
}

START_TEST(gates_on_one_run) {
  struct view_function *f = add(3, "serve", "serve.c", 133, 10, 100 * MS);
  f->slice_max = 65 * MS;
  awaits(3, f, "pool_get", 77, 10, 2500 * MS)->max = 600 * MS;
  add(3, "ns::call<int>(int, char)::{lambda()#1}", "c.cc", 3, 2, 8 * MS)->slice_max = 5 * MS;
  compare(0, 1);
  verdict("hold.max > 20ms", GATE_FAILED,
          "`serve` (serve.c:133): hold.max is 65.0 ms, gate > 20ms");
  verdict("hold.max>=65 ms", GATE_FAILED, "gate >= 65 ms");
  verdict("hold.max > 65ms", GATE_PASSED, NULL);
  verdict("hold.max > 4ms", GATE_FAILED, ", and 1 more");
  verdict("ns::call<int>(int, char)::{lambda()#1} hold.max > 20ms", GATE_PASSED, NULL);
  verdict("ser* exec.mean > 9ms", GATE_FAILED, "exec.mean is 10.0 ms");
  verdict("serve exec.mean < 0.02s", GATE_FAILED, NULL);
  verdict("pool_get wait.max > 0.5s", GATE_FAILED, "`serve` > `pool_get` (serve.c:77)");
  verdict("serve wait.mean > 1s", GATE_PASSED, NULL);
  verdict("futures > 1k", GATE_PASSED, NULL);
  verdict("serve hold.max > 0", GATE_FAILED, NULL);
  verdict("lost.futures > 0", GATE_PASSED, NULL);
  verdict("held findings > 0", GATE_FAILED, NULL);
  verdict("stuck findings > 0", GATE_PASSED, NULL);
  verdict("sevre hold.max > 20ms", GATE_CANNOT, "no function is called `sevre`");
  verdict("slice.p99 > 20ms", GATE_CANNOT, "slice.p99 is not known");
}
END_TEST

START_TEST(gates_on_changes) {
  add(0, "serve", "serve.c", 1, 10, 100 * MS);
  add(3, "serve", "serve.c", 9, 10, 120 * MS);
  add(3, "fresh", "serve.c", 20, 10, 500 * MS);
  compare(1, 1);
  verdict("exec.mean > +10%", GATE_FAILED,
          "`serve` (serve.c:9): exec.mean is +20.0 % (12.0 ms, was 10.0 ms)");
  verdict("exec.mean > +20%", GATE_PASSED, NULL);
  verdict("exec.mean > +1ms", GATE_FAILED, "+2.00 ms");
  verdict("exec.mean < -1ms", GATE_PASSED, NULL);
  verdict("exec.mean > 40ms", GATE_FAILED, "`fresh`");
  verdict("exec.total > +200ms", GATE_FAILED, "`fresh`");
  verdict("fresh exec.mean > +10%", GATE_CANNOT, "exec.mean of `fresh` is not known on both sides");
}
END_TEST

START_TEST(a_change_within_the_spread_fails_no_gate) {
  static const uint64_t exec[RUNS] = {100, 90, 130, 120, 150, 140};
  for (int i = 0; i < RUNS; i++)
    add(i, "serve", "serve.c", 1, 1, exec[i] * MS);
  compare(3, 3);
  verdict("exec.mean > +10%", GATE_PASSED, NULL);
  verdict("exec.mean > 130ms", GATE_FAILED, NULL);
  run[3]->function[0].exec = 160 * MS;
  verdict("exec.mean > +10%", GATE_FAILED, "+50.0 %");
}
END_TEST

START_TEST(what_is_no_gate_is_told) {
  static const struct {
    const char *text, *says;
  } wrong[] = {{"", "no comparison"},
               {"hold.max", "no comparison"},
               {"> 20ms", "a gate is a measure"},
               {"hold.mux > 20ms", "there is no measure 'hold.mux'; there are hold.max"},
               {"foo > 20ms", "futures, failed"},
               {"hold.max > ", "no value"},
               {"hold.max > 20", "'20' is no value of hold.max: that is one like 20ms"},
               {"hold.max > 20%", "no value of hold.max"},
               {"hold.max > 20mss", "no value of hold.max"},
               {"futures > 20ms", "no value of futures"},
               {"hold.max > +10%", "nothing to compare with"},
               {"hold.max > nan", "no value"},
               {"hold.max > 1e99s", "no value"},
               {"hold.max > +-3ms", "no value"},
               {"serve loop.busy > 50%", "of the whole process"},
               {"hled findings > 0", "no kind of finding 'hled'"}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    struct gate gate;
    char *why;
    ck_assert_msg(!gate_parse(wrong[i].text, false, &gate, &why), "%s", wrong[i].text);
    ck_assert_msg(strstr(why, wrong[i].says) != NULL, "%s: %s", wrong[i].text, why);
    free(why);
    gate_release(&gate);
  }
}
END_TEST

START_TEST(each_measure_has_a_name_of_its_own) {
  for (size_t i = 0; i < measure_count; i++)
    ck_assert_ptr_eq(measure_find(measures[i].name), &measures[i]);
}
END_TEST

int main(void) {
  TCase *tcase = tcase_create("cli_diff");
  const TTest *const tests[] = {a_line_or_a_directory_that_moved_is_the_same_function,
                                one_that_went_to_another_file_is_the_same_if_it_is_alone,
                                several_of_a_name_go_by_their_lines,
                                other_builds_are_told_by_their_ids,
                                the_same_run_twice_is_refused,
                                medians_and_what_is_beyond_the_spread,
                                the_dearest_change_comes_first_whatever_the_load,
                                what_a_run_lacks_counts_as_nothing_only_in_sums,
                                gates_on_one_run,
                                gates_on_changes,
                                a_change_within_the_spread_fails_no_gate,
                                what_is_no_gate_is_told,
                                each_measure_has_a_name_of_its_own};
  tcase_add_checked_fixture(tcase, setup, teardown);
  for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
    tcase_add_test(tcase, tests[i]);
  return suite_run("cli_diff", tcase);
}
