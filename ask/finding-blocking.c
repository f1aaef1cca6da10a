/* SPDX-License-Identifier: MIT */
/* Calls that block a loop. */
#include "findings.h"

#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>
#include <string.h>

/* libuv's calls block where they are given no callback. */
static const char *blocking_way(const char *callee) {
  return strncmp(callee, "uv_", 3) ? ", which blocks," : " without a callback";
}

/* A call blocks if one held the loop for long, or if all together took a share (1/N) of its time. A
   short one now and then does no harm, however long the program runs. */
enum { BLOCKING_SHARE = 100 };

static bool is_blocking(const struct view_blocking *b, uint64_t elapsed, uint64_t threshold) {
  if (b->max != UNKNOWN && b->max > threshold)
    return b->count != 0;
  return b->held > threshold && b->held >= elapsed / BLOCKING_SHARE;
}

static void find_blocking(struct findings *list, const struct view_function *f, uint64_t elapsed,
                          uint64_t threshold) {
  if (!f->slices && !f->exec) /* (other): nothing ran that could be held */
    return;
  for (size_t i = 0; i < f->blockings; i++) {
    const struct view_blocking *b = &f->blocking[i];
    if (!is_blocking(b, elapsed, threshold))
      continue;
    const char *max = told_mark(LACKS(f->lacks, blocking, max), told_time(b->max));
    const char *held = told_mark(LACKS(f->lacks, blocking, held), told_time(b->held));
    const char *worst = b->max != UNKNOWN ? turn_text(", %s at worst", max) : "";
    struct sentence text =
        sentence("`%s` calls %s%s at %s: %s of loop time (%s time%s%s)", f->name, b->callee,
                 blocking_way(b->callee), place_text(b->file, b->line), held, told_count(b->count),
                 b->count == 1 ? "" : "s", worst);
    findings_add(list, (struct finding){.kind = FINDING_BLOCKING,
                                        .weight = b->held,
                                        .severity = b->held,
                                        .count = b->count,
                                        .function = f,
                                        .at = findings_place(b->file, b->line),
                                        .text = text});
  }
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  uint64_t elapsed = ask_loop(v).elapsed;
  for (size_t i = 0; i < v->functions; i++)
    find_blocking(list, &v->function[i], elapsed, limits->of[FINDING_HELD]);
}

const struct finding_row finding_blocking = {
    .judge = judge, .next = NEXT_FUNCTION, .cost = COST_LOOP, .rule = "blocking-in-async"};
