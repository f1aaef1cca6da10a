/* SPDX-License-Identifier: MIT */
/* Which requests a recording has: a share, from when on; some kinds; see replay-state.h. */
#include "replay-state.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

/* What one frame says, and that before it. */
struct told {
  struct trace_share counts;
  uint64_t tick;
  double share;
  bool there;
};

static double share_of(const struct trace_frame *head) {
  return head->number < 1000000 ? (double)head->number / 1e6 : 1;
}

static void add(struct replay_state *s, const struct told *from, uint64_t end,
                const struct trace_share *then) {
  uint64_t begun = then->begun - from->counts.begun, kept = then->kept - from->counts.kept;
  bool fits = then->begun >= from->counts.begun && kept <= begun;
  story_add_share(s->story, &(struct story_share){.begin = from->tick,
                                                  .end = end > from->tick ? end : from->tick,
                                                  .share = from->share,
                                                  .begun = fits ? begun : 0,
                                                  .kept = fits ? kept : 0});
}

static void read_sieve(struct replay_state *s, struct trace *t, uint32_t frame, void *room) {
  struct trace_sieve sieve;
  if (t->frame[frame].head.raw != sizeof sieve || trace_bytes(t, frame, room) != sizeof sieve)
    return;
  memcpy(&sieve, room, sizeof sieve);
  sieve.kind[sizeof sieve.kind - 1] = 0;
  clean_text(sieve.kind);
  s->story->over = sieve.over;
  s->story->only = *sieve.kind ? story_text(s->story, sieve.kind) : NULL;
  s->story->left_out = sieve.left_out;
}

void replay_shares(struct replay_state *s, struct trace *t) {
  struct told last = {.tick = s->r->begin, .share = 1};
  unsigned char *room = allocate(1, TRACE_RAW_MOST);
  s->story->shared = (t->header.flags & TRACE_SHARED) != 0;
  for (uint32_t i = 0; s->story->shared && i < t->frames; i++) {
    const struct trace_frame *head = &t->frame[i].head;
    struct trace_share counts;
    if (head->type == TRACE_SIEVE)
      read_sieve(s, t, i, room);
    if (head->type != TRACE_SHARE || head->raw != sizeof counts ||
        trace_bytes(t, i, room) != sizeof counts)
      continue;
    memcpy(&counts, room, sizeof counts);
    uint64_t tick = head->first > last.tick ? head->first : last.tick;
    if (last.there)
      add(s, &last, tick, &counts);
    last = (struct told){counts, last.there ? tick : last.tick, share_of(head), true};
  }
  if (s->story->shared)
    add(s, &last, s->r->end, &last.counts);
  free(room);
}

bool replay_stood_still(const struct replay_state *s, uint64_t from, uint64_t until) {
  for (uint32_t i = 0; i < s->story->shares_count; i++) {
    const struct story_share *share = &s->story->shares[i];
    if (!(share->share > 0) && share->begin <= until && share->end >= from)
      return true;
  }
  return false;
}
