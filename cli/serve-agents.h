/* SPDX-License-Identifier: MIT */
/*
 * Other servers, each asked again and again for all its processes.
 *
 * In: their /api/processes (aprof.list/1), and of each process /api/totals (aprof.totals/2). Out:
 * the processes of those that answer, with the name of the server as their host; what each server
 * is at. One that is gone, slow, of another version, or that answers something else, keeps nobody
 * else waiting: what it told last counts for three rounds, and is there for who asks for it later.
 * Cost: reading answers takes a tenth of a processor at most, and half of one while somebody looks:
 * rounds are as far apart as that needs, and a few are asked at once; memory as serve-recorded.h is
 * given it, answers on their way, and what reading one takes. Locking: none.
 */
#ifndef APROF_CLI_SERVE_AGENTS_H
#define APROF_CLI_SERVE_AGENTS_H

#include "serve-agent-list.h"
#include "serve-recorded.h"

#include <poll.h>

struct agents;
struct format_agent;

/* `every`: ns between two rounds while nobody looks; `memory`: bytes of all that is known. Takes
   what the sources hold. NULL after a message. */
struct agents *agents_new(struct agent_sources, uint64_t every, size_t memory);
void agents_free(struct agents *);
/* A quarter of what the machine has, or its control group may have: bytes. */
size_t agents_memory(void);

/* Starts what is due. */
void agents_tick(struct agents *);
/* One is asked, or should be. */
bool agents_are_asking(const struct agents *);
/* As poll(); answers are taken meanwhile. */
int agents_poll(struct agents *, struct pollfd *, size_t count, int ms);

/* As serve-directory.h has them; of agents that have not answered for long only the looks. */
struct view *agents_look(struct agents *, const struct process_name *, uint64_t range,
                         struct looked *);
size_t agents_views(struct agents *, const struct view ***);
void agents_names(struct agents *, struct process_names *);
void agents_list(struct agents *, struct listing *);
/* Processes of these that have no room. */
size_t agents_left_out(const struct agents *, const char *host);
/* Changes when something has come. */
uint64_t agents_moved(const struct agents *);

/* "hosts": what each is at. */
void agents_json(const struct agents *, struct emit *);
/* The same for metrics; free() it. */
struct format_agent *agents_states(const struct agents *, size_t *count);

#endif
