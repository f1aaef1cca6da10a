/* SPDX-License-Identifier: MIT */
/* Functions of which more and more futures live. */
#include "findings.h"

#include "format.h"
#include "read/util.h"

enum { GROWING_LEAST = 100, GROWING_TIMES = 2 };

static void find_growing(struct findings *list, const struct view_function *f) {
  uint64_t before = f->live_before;
  if (before == UNKNOWN || view_unseen(f) || f->live / GROWING_TIMES < before ||
      f->live - before < GROWING_LEAST)
    return;
  findings_add(list,
               (struct finding){
                   .kind = FINDING_GROWING,
                   .weight = f->live - before,
                   .severity = UNKNOWN,
                   .count = f->live - before,
                   .function = f,
                   .at = findings_place(f->file, f->line),
                   .text = print_string("`%s` grows: %s lived at the beginning, %s at the end",
                                        f->name, shown_count(before), shown_count(f->live)),
               });
}

static void judge(struct findings *list, const struct view *v, const struct ask_limits *limits) {
  (void)limits;
  for (size_t i = 0; i < v->functions; i++)
    find_growing(list, &v->function[i]);
}

const struct finding_row finding_growing = {.judge = judge, .next = NEXT_ALIVE};
