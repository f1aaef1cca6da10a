/* SPDX-License-Identifier: MIT */
/* Frames of the flame graph, and where they lie: show/flame.c. */
#include "show/flame.h"

#include "ask/ask.h"
#include "shown.h"
#include "suite.h"

#include <math.h>

static struct view *rich(void) {
  struct synthetic *s = synthetic_rich();
  struct view *v = shown_view(s, "exit", 0);
  free(s);
  return v;
}

/* What totals say of a measure. */
static double sum_of(const struct view *v, enum stack_measure measure, bool all) {
  double sum[] = {[STACK_WALL] = 0, [STACK_EXEC] = 0, [STACK_WAITING] = 0, [STACK_QUEUED] = 0};
  for (size_t i = 0; i < v->functions; i++) {
    sum[STACK_EXEC] += (double)v->function[i].exec;
    sum[STACK_QUEUED] += (double)v->function[i].queued;
  }
  for (size_t i = 0; i < v->paths; i++)
    if (ask_waits_outside(&v->path[i]) && (all || !v->path[i].background))
      sum[STACK_WAITING] += (double)v->path[i].waiting;
  sum[STACK_WALL] = sum[STACK_EXEC] + sum[STACK_QUEUED] + sum[STACK_WAITING];
  return sum[measure];
}

START_TEST(widths_are_what_totals_say) {
  for (int all = 0; all < 2; all++)
    for (int m = STACK_WALL; m <= STACK_QUEUED; m++) {
      struct view *v = rich();
      struct flame_options o = {.measure = (enum stack_measure)m, .all = all};
      double want = sum_of(v, o.measure, all);
      struct flame *f = flame_new(v, NULL, &o);
      ck_assert_double_gt(want, 0);
      ck_assert_double_eq(f->frame[0].amount[0], want);
      ck_assert_double_eq(f->frame[0].width, 1);
      for (size_t i = 1; i < f->frames; i++)
        ck_assert_double_eq_tol(f->frame[i].width, f->frame[i].amount[0] / want, 1e-9);
      flame_free(f);
      view_free(v);
    }
}
END_TEST

/* Each within its parent, none over another. */
START_TEST(frames_lie_in_their_parents) {
  struct view *v = rich();
  struct flame *f = flame_new(v, NULL, &(struct flame_options){0});
  for (size_t i = 1; i < f->frames; i++) {
    const struct flame_frame *a = &f->frame[i], *parent = &f->frame[a->parent];
    ck_assert_uint_lt(a->parent, i);
    ck_assert_double_ge(a->x, parent->x - 1e-9);
    ck_assert_double_le(a->x + a->width, parent->x + parent->width + 1e-9);
    for (size_t j = 1; j < i; j++) {
      const struct flame_frame *b = &f->frame[j];
      ck_assert(!a->drawn || !b->drawn || b->depth != a->depth || b->x + b->width <= a->x + 1e-9 ||
                a->x + a->width <= b->x + 1e-9);
    }
  }
  flame_free(f);
  view_free(v);
}
END_TEST

START_TEST(of_two_each_has_its_amount) {
  struct view *a = rich(), *b = rich();
  double want = sum_of(a, STACK_EXEC, false);
  struct view_path *longer = NULL;
  for (size_t i = 0; i < b->paths && !longer; i++)
    if (!b->path[i].is_await && b->path[i].exec)
      longer = &b->path[i];
  ck_assert_ptr_nonnull(longer);
  longer->exec += 1000000;
  struct flame *f = flame_new(a, b, &(struct flame_options){.measure = STACK_EXEC});
  ck_assert_double_eq(f->frame[0].amount[0], want);
  ck_assert_double_eq(f->frame[0].amount[1], want + 1000000);
  size_t changed = 0;
  for (size_t i = 1; i < f->frames; i++)
    changed += fabs(f->frame[i].self[1] - f->frame[i].self[0]) > 0;
  ck_assert_uint_eq(changed, 1);
  flame_free(f);
  view_free(a);
  view_free(b);
}
END_TEST

START_TEST(what_only_one_has_is_drawn) {
  struct view *a = rich(), *b = rich();
  b->paths = 0;
  struct flame *f = flame_new(a, b, &(struct flame_options){0});
  ck_assert_double_gt(f->frame[0].amount[0], 0);
  ck_assert_double_eq(f->frame[0].amount[1], 0);
  ck_assert_double_eq(f->frame[0].width, 1);
  ck_assert_uint_gt(f->depth, 2);
  flame_free(f);
  view_free(a);
  view_free(b);
}
END_TEST

/* A root's futures divide all beneath; a second divides all there is. */
START_TEST(per_call_and_per_second) {
  struct view *v = rich();
  double want = 0, divisor = 0;
  for (size_t i = 0; i < v->paths; i++) {
    const struct view_path *p = &v->path[i];
    if (p->parent == SIZE_MAX)
      divisor = (double)(p->done + p->failed + p->cancelled + p->detached + p->live);
    if (!p->is_await && divisor > 0 && p->parent == SIZE_MAX)
      want += (double)p->exec / divisor;
  }
  struct flame *f =
      flame_new(v, NULL, &(struct flame_options){.measure = STACK_EXEC, .per = FLAME_PER_CALL});
  double roots = 0;
  for (size_t i = 1; i < f->frames; i++)
    roots += f->frame[i].depth == 1 ? f->frame[i].self[0] : 0;
  ck_assert_double_eq_tol(roots, want, 1e-3);
  flame_free(f);
  double all = sum_of(v, STACK_EXEC, false);
  v->process.measured = 4000000000;
  f = flame_new(v, NULL, &(struct flame_options){.measure = STACK_EXEC, .per = FLAME_PER_SECOND});
  ck_assert_double_eq_tol(f->frame[0].amount[0], all / 4, 1e-3);
  flame_free(f);
  view_free(v);
}
END_TEST

int main(void) {
  TCase *tests = tcase_create("flame");
  tcase_add_test(tests, widths_are_what_totals_say);
  tcase_add_test(tests, frames_lie_in_their_parents);
  tcase_add_test(tests, of_two_each_has_its_amount);
  tcase_add_test(tests, what_only_one_has_is_drawn);
  tcase_add_test(tests, per_call_and_per_second);
  return suite_run("cli flame", tests);
}
