/* SPDX-License-Identifier: MIT */
/*
 * Gates as an option of outputs: --fail-if.
 *
 * Purpose: a command that is given gates ends with GATES_FAILED where one has failed, so that
 * a build can. What failed is said on standard error, a line each. Cost: that of ask/gate.h.
 * Locking: none.
 */
#ifndef APROF_SHOW_GATES_H
#define APROF_SHOW_GATES_H

#include "ask/gate.h"
#include "emit.h"

enum { GATES_CANNOT = 1, GATES_FAILED = 3, GATES = 64 };

struct gates {
  struct gate gate[GATES];
  size_t count;
};

/* The row of the option, but for `at` and `take`. */
#define GATES_OPTION                                                                               \
  "fail-if", 0, OPTION_OWN, 0, "GATE",                                                             \
      .text = "End with status 3 where GATE holds, as in 'hold.max > 20ms'; further gates may "    \
              "follow (aprof-diff(1))",                                                           \
      .also = gate_is

/* For an option's `take`: NULL, or what is wrong with it, to be freed. */
char *gates_take(struct gates *, const char *text, bool compares);
/* A result for each; gates_free. */
struct gate_result *gates_judge(const struct gates *, const struct diff *,
                                const struct ask_limits *);
/* Says on standard error what failed, or cannot be judged; the status that means. */
int gates_say(const struct gate_result *, size_t count);
/* As "gates". */
void gates_json(struct emit *, const struct gate_result *, size_t count);
/* NULL is none. */
void gates_free(struct gate_result *, size_t count);
void gates_release(struct gates *);

#endif
