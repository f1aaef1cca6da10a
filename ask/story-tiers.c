/* SPDX-License-Identifier: MIT */
/* Tiers of a request; see story-tiers.h. */
#include "story-tiers.h"

#include <string.h>

void ask_story_tiers(const struct story *s, const struct story_request *r,
                     struct story_tier tier[STORY_TIERS]) {
  memset(tier, 0, STORY_TIERS * sizeof *tier);
  for (uint32_t f = 0; f < r->futures_count; f++)
    for (uint32_t i = s->futures[r->futures[f]].first; i != STORY_NONE; i = s->segments[i].next) {
      const struct story_segment *g = &s->segments[i];
      uint64_t end = g->end < r->end ? g->end : r->end;
      uint64_t time = end > g->begin ? end - g->begin : 0;
      struct story_tier *of = &tier[g->tier < STORY_TIERS ? g->tier : 0];
      if (g->what == STORY_EXEC)
        of->exec += time;
      else if (g->what == STORY_WAITING)
        of->waiting += time;
    }
}
