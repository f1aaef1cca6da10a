/* SPDX-License-Identifier: MIT */
/* The table of outputs; each stands in the file that has its name. See outputs.h. */
#include "outputs.h"

#include <string.h>

#define OUTPUTS(ROW)                                                                               \
  ROW(report) ROW(ps) ROW(slow) ROW(tail) ROW(blame) ROW(path) ROW(flame) ROW(html) ROW(annotate)

#define DECLARE(name) extern const struct output output_##name;
OUTPUTS(DECLARE)

#define LIST(name) &output_##name,
const struct output *const outputs[] = {OUTPUTS(LIST) NULL};

const struct output *output_named(const char *name) {
  for (size_t i = 0; outputs[i]; i++)
    if (!strcmp(outputs[i]->name, name))
      return outputs[i];
  return NULL;
}
