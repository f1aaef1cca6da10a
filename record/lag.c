/* SPDX-License-Identifier: MIT */
/* How late loops are; see lag.h. */
#include "lag.h"

#include "read/util.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { QUEUED = 4096 }; /* a power of two */

/* Of a thread's ring. */
struct turn {
  uint64_t began; /* tick, of the turn that goes on */
  bool known;     /* its poller was seen */
  bool polls;     /* it is there */
  bool runs;      /* something does */
};

/* The last that is known of a future, at its index: it is queued since then, or not any more. */
struct queued {
  uint64_t tick;
  uint32_t future;
  bool waits;
};

struct lag {
  struct turn *turn;
  uint32_t turns;
  uint64_t longest;
  struct queued queued[QUEUED];
};

struct lag *lag_new(void) {
  return allocate(1, sizeof(struct lag));
}

void lag_free(struct lag *l) {
  if (l)
    free(l->turn);
  free(l);
}

static void longer(struct lag *l, uint64_t since, uint64_t until) {
  if (until > since && until - since > l->longest)
    l->longest = until - since;
}

/* -- turns ------------------------------------------------------------------------------------ */

static struct turn *turn_of(struct lag *l, uint32_t ring) {
  if (ring >= l->turns) {
    l->turn = reallocate(l->turn, ring + 1, sizeof *l->turn);
    memset(l->turn + l->turns, 0, (ring + 1 - l->turns) * sizeof *l->turn);
    l->turns = ring + 1;
  }
  return &l->turn[ring];
}

static void works(struct turn *t, uint64_t tick, bool runs) {
  if (t->polls)
    t->began = tick;
  t->polls = false;
  t->runs = runs;
}

static void see_thread(struct lag *l, struct turn *t, uint32_t kind, uint64_t tick) {
  switch (kind) {
  case APROF_TRACE_IDLE:
    if (t->known && !t->polls)
      longer(l, t->began, tick);
    *t = (struct turn){.known = true, .polls = true};
    break;
  case APROF_TRACE_OTHER:
    works(t, tick, false);
    break;
  case APROF_TRACE_RUNNING:
  case APROF_TRACE_POLLED:
  case APROF_TRACE_HELD:
    works(t, tick, true);
    break;
  case APROF_TRACE_THREAD: /* what was before is not known */
  case APROF_TRACE_GONE:
  case APROF_TRACE_EPOCH:
    *t = (struct turn){0};
    break;
  default:
    break;
  }
}

/* -- queues ----------------------------------------------------------------------------------- */

/* Rings are fetched one after the other: a birth may come behind what the future has done since in
   another one. */
static void see_future(struct lag *l, uint32_t kind, uint32_t future, uint64_t tick) {
  struct queued *q = &l->queued[future % QUEUED];
  bool is_it = q->future == future;
  switch (kind) {
  case APROF_TRACE_BORN:
  case APROF_TRACE_READY:
    if (!is_it || q->tick <= tick)
      *q = (struct queued){tick, future, true};
    break;
  case APROF_TRACE_RUNNING:
  case APROF_TRACE_POLLED:
    if (is_it && q->waits)
      longer(l, q->tick, tick);
    *q = (struct queued){tick, future, false};
    break;
  case APROF_TRACE_UNBORN:
  case APROF_TRACE_DONE:
  case APROF_TRACE_FAILED:
  case APROF_TRACE_CANCELLED:
  case APROF_TRACE_WAITING:
  case APROF_TRACE_AGAIN:
  case APROF_TRACE_ASIDE:
    *q = (struct queued){tick, future, false};
    break;
  default:
    break;
  }
}

void lag_see(struct lag *l, uint32_t ring, const struct aprof_trace_event *e, size_t count,
             uint64_t near) {
  struct turn *t = turn_of(l, ring);
  for (; count--; e++) {
    uint32_t kind = aprof_trace_kind(e);
    if (kind == APROF_TRACE_MORE)
      continue;
    uint64_t tick = aprof_trace_tick(e, near);
    see_thread(l, t, kind, tick);
    if (kind >= APROF_TRACE_BORN && kind <= APROF_TRACE_ASIDE)
      see_future(l, kind, aprof_trace_future(e), tick);
  }
}

uint64_t lag_take(struct lag *l, uint64_t now) {
  for (uint32_t i = 0; i < l->turns; i++)
    if (l->turn[i].known && l->turn[i].runs)
      longer(l, l->turn[i].began, now);
  uint64_t longest = l->longest;
  l->longest = 0;
  return longest;
}
