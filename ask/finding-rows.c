/* SPDX-License-Identifier: MIT */
/* The table of findings; see finding-table.h. */
#include "findings.h"

#define DECLARE(KIND, name, limit) extern const struct finding_row finding_##name;
FINDING_TABLE(DECLARE)

#define ROW(KIND, name, limit) [FINDING_##KIND] = &finding_##name,
const struct finding_row *const finding_rows[] = {FINDING_TABLE(ROW)};

#define NAME(KIND, name, limit) [FINDING_##KIND] = #name,
const char *const finding_kinds[] = {FINDING_TABLE(NAME)};

const struct ask_limits ask_defaults = ASK_DEFAULTS;

const struct option_row *ask_options(void) {
  static struct option_row option[FINDINGS + 1];
  size_t options = 0;
  for (enum finding_kind kind = 0; kind < FINDINGS; kind++)
    if (finding_rows[kind]->limit.name) {
      option[options] = finding_rows[kind]->limit;
      option[options++].at = kind * sizeof(uint64_t);
    }
  return option;
}
