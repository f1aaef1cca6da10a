/* SPDX-License-Identifier: MIT */
/* Futures that are ready, and never ran. */
#include "findings.h"

#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>
#include <string.h>

/* The future was ready all its life. One that waits for what it was created for is healthy. Of
   several in one entry all must be old, unless nothing is known of any. */
static bool has_never_run(const struct view_live *live, const struct view_function *f,
                          uint64_t limit) {
  uint64_t since = live->state ? live->since_min : live->since;
  return !live->started && (view_is(live, "queued") || !live->state) &&
         since >= findings_far_beyond(findings_p99(f->slices, &f->queued_of), limit);
}

/* Where a function has no events nobody knows whether its futures ran, or were left. */
static bool claims(const struct live_case *c, struct alike *g) {
  if (has_never_run(c->live, c->function, c->limits->of[FINDING_STUCK]))
    return true;
  if (!view_unseen(c->function) || !findings_is_left(c))
    return false;
  (void)g;
  return true;
}

static bool has_unplaced_runs(const struct view *v) {
  for (size_t i = 0; i < v->misses; i++)
    if (!strcmp(v->miss[i].kind, "run") && v->miss[i].count)
      return true;
  return false;
}

static struct sentence never_ran_text(const struct alike *g, const char *by) {
  const char *of = findings_of_alive(g);
  if (view_unseen(g->function))
    return sentence(
        "whether %s `%s` future%s%s ever ran is not known%s: no event of that function was seen. "
        "It never ran, or its code has no events, as `aprof coverage PROG` tells: then its time "
        "is in no number until it has",
        told_count(g->count), g->function->name, g->count == 1 ? "" : "s", of, by);
  const char *perhaps =
      has_unplaced_runs(g->view) ? "; or ran where an event could not be placed" : "";
  return sentence("%s `%s` future%s%s ha%s never run, ready since %s%s%s", told_count(g->count),
                  g->function->name, g->count == 1 ? "" : "s", of, g->count == 1 ? "s" : "ve",
                  findings_time(g, g->most), by, perhaps);
}

static void tell(const struct alike *g, const char *by, struct finding *finding) {
  finding->text = never_ran_text(g, by);
  if (view_unseen(g->function)) {
    finding->weight = 0; /* the last of its kind */
    finding->severity = UNKNOWN;
  }
}

const struct finding_row finding_never_ran = {.claims = claims, .tell = tell};
