/* SPDX-License-Identifier: MIT */
/*
 * The rules: each is one file, rule-NAME.c, which ends in its row, and a line in the list below.
 *
 * A rule looks at the linked program and adds findings to it. What it is not sure of it leaves out.
 */
#ifndef APROF_CHECK_RULES_H
#define APROF_CHECK_RULES_H

#include "check.h"
#include "program.h"

struct rule {
  struct check_rule is;
  void (*judge)(struct program *, const struct rule *);
};

#define RULES(ROW)                                                                                 \
  ROW(blocking)                                                                                    \
  ROW(mutex)                                                                                       \
  ROW(escape) ROW(stackless) ROW(lines) ROW(outside) ROW(dropped) ROW(thread) ROW(undescribed)
#define RULE_DECLARED(NAME) extern const struct rule rule_##NAME;
RULES(RULE_DECLARED)

#endif
