/* SPDX-License-Identifier: MIT */
/*
 * Gates: what numbers must not do, as `hold.max > 20ms', and whether they did.
 *
 *     gate  = [ name ] measure comparison value
 *     name  = "*" | function | callee | kind of finding | pattern of the shell
 *     comparison = ">" | ">=" | "<" | "<="
 *     value = [ "+" | "-" ] number [ unit ]       with a sign: B against A
 *     unit  = "ns" "us" "ms" "s" "min" "h" | "k" "M" "G" | "%"
 *
 * Measures are those of measure.h. A gate names what is not to be: where it holds, it has failed.
 * Cost: linear in the rows of a comparison. Locking: none.
 */
#ifndef APROF_ASK_GATE_H
#define APROF_ASK_GATE_H

#include "diff.h"

struct gate {
  char *text; /* as given */
  char *name; /* of whom; "*": all */
  const struct measure *measure;
  bool above, equal; /* comparison */
  bool changes;      /* the value is one of B against A */
  bool share;        /* then: in per cent of A */
  double value;      /* in the measure's unit, or per cent */
};

enum gate_verdict { GATE_PASSED, GATE_FAILED, GATE_CANNOT };

struct gate_result {
  const struct gate *gate;
  enum gate_verdict verdict;
  size_t judged, failed;          /* functions, awaits: of these the gate holds of */
  const struct diff_row *row;     /* the worst of those; or NULL */
  struct spread side[DIFF_SIDES]; /* its numbers */
  double figure;                  /* that was compared */
  struct sentence text; /* failed: whose figure, and the limit; cannot: why, and the remedy */
};

/* False with a sentence in `why`, to be freed, where it is none. `compares`: there is an A. */
bool gate_parse(const char *text, bool compares, struct gate *, char **why);
void gate_release(struct gate *);
/* Whether a word looks like one, so that it is no file. */
bool gate_is(const char *text);

struct gate_result gate_judge(const struct diff *, const struct gate *,
                              const struct ask_limits *limits);
void gate_result_release(struct gate_result *);

#endif
