/* SPDX-License-Identifier: MIT */
/* Places that were watched, and their hits, of a recording; see replay-state.h. */
#include "replay-state.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* What does not belong to a place that is known is left out. */
static void add_hits(struct replay_state *s, uint32_t probe, const struct trace_hit *hit,
                     size_t count) {
  for (size_t i = 0; i < count && probe < s->story->probes_count; i++)
    story_add_hit(s->story, probe, hit[i].tid, hit[i].tick);
}

static void add_probe(struct replay_state *s, const struct trace_frame *head, const char *texts,
                      size_t size) {
  uint32_t number = story_add_probe(s->story, texts, size);
  if (number != STORY_NONE)
    s->story->probes[number].if_hit = head->number & TRACE_IF_HIT;
}

void replay_hits(struct replay_state *s, struct trace *t) {
  unsigned char *room = NULL;
  for (uint32_t i = 0; i < t->frames; i++) {
    const struct trace_frame *head = &t->frame[i].head;
    if (head->type != TRACE_PROBE && head->type != TRACE_HITS)
      continue;
    room = room ? room : allocate(1, TRACE_RAW_MOST);
    int64_t size = trace_bytes(t, i, room);
    if (size < 0)
      continue;
    if (head->type == TRACE_HITS)
      add_hits(s, head->block, (const struct trace_hit *)(void *)room,
               (size_t)size / sizeof(struct trace_hit));
    else if (head->block == s->story->probes_count)
      add_probe(s, head, (const char *)room, (size_t)size);
  }
  free(room);
}
