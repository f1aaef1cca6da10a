/* SPDX-License-Identifier: MIT */
/* What other servers tell, for a command that compares it; see many.h. */
#include "serve-many.h"
#include "serve-agent.h"
#include "serve-agents.h"
#include "serve-document.h"
#include "serve-guard.h"

#include <stdlib.h>

/* So long none has answered, s: those that are left are slow. */
enum { ROUND = 30, STEP_MS = 200 };

/* Each once. */
static void ask_all(struct agents *all) {
  int64_t now = all->heard = monotonic_now();
  for (struct agent *a = all->first; a; a = a->next)
    a->due = now;
  while (agents_are_asking(all) && monotonic_now() - all->heard < ROUND * SECOND) {
    agents_tick(all);
    agents_poll(all, NULL, 0, STEP_MS);
  }
  for (struct agent *a = all->first; a; a = a->next)
    agent_give_up(a);
}

static void *begin(const struct output_from *from) {
  struct agent_sources sources = {.froms = from->froms};
  if (!agent_token(from->token_file, &sources.token))
    return NULL;
  sources.from = allocate(from->froms, sizeof *sources.from);
  for (size_t i = 0; i < from->froms; i++)
    sources.from[i] = from->from[i];
  struct agents *all = agents_new(sources, (uint64_t)(ROUND * SECOND), agents_memory());
  if (all)
    ask_all(all);
  return all;
}

/* What one that has not answered told before is of another time. */
static void end(void *agents, struct many *m, uint64_t span) {
  struct agents *all = agents;
  ask_all(all);
  for (const struct agent *a = all->first; a; a = a->next)
    if (a->state != AGENT_ANSWERS)
      many_add_missing(m, a->is.name, a->says ? a->says : "it takes too long to answer");
  for (struct recorded *r = all->records.first; r; r = r->next) {
    const struct agent *a = r->teller;
    struct view *v = r->here && a->state == AGENT_ANSWERS ? history_over(r->history, span) : NULL;
    if (v)
      many_add(m, v);
  }
}

static void close_all(void *agents) {
  agents_free(agents);
}

const struct many_pull many_pull_by_curl = {begin, end, close_all};
