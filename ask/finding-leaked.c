/* SPDX-License-Identifier: MIT */
/* Futures that were left at exit. */
#include "findings.h"

#include "read/governed.h"
#include "read/util.h"
#include "sentence.h"

#include <stdlib.h>
#include <string.h>

static bool claims(const struct live_case *c, struct alike *g) {
  g->least = c->live->age_min;
  g->most = c->live->age;
  return findings_is_left(c);
}

static void tell(const struct alike *g, const char *by, struct finding *finding) {
  if (g->count >= g->limits->of[FINDING_LEAKED])
    finding->text =
        sentence("%s `%s` futures%s were left at exit, the oldest %s old%s", told_count(g->count),
                 g->function->name, findings_of_alive(g), findings_time(g, g->most), by);
}

const struct finding_row finding_leaked = {
    .limit = {"leaked", 0, OPTION_COUNT, 0, "N",
              .text = "So many old futures of one place at exit are a finding (default 10)"},
    .claims = claims,
    .tell = tell};
