/* SPDX-License-Identifier: MIT */
/* What gates hold: the fast form of an event, where it has one, else the general one. */
#ifndef APROF_RT_GATES_H
#define APROF_RT_GATES_H

#include "rt/rt.h"

/* general_enter and so on. */
#define DECLARE(with, role, name, parameters, arguments) void general_##name parameters;
APROF_GATE_EVENTS(DECLARE, 0)
#undef DECLARE

/* The fast ones of each file; they go on in the general one where anything is out of the
   ordinary. */
void fast_bodies(struct aprof_gate *gate, uint32_t clock);
void fast_creates(struct aprof_gate *gate, uint32_t clock);
void fast_keyed_runs(struct aprof_gate *gate, uint32_t clock);
void fast_rest(struct aprof_gate *gate, uint32_t clock);
void fast_spans(struct aprof_gate *gate, uint32_t clock);
static inline void fast_all(struct aprof_gate *gate, uint32_t clock) {
  fast_bodies(gate, clock);
  fast_creates(gate, clock);
  fast_keyed_runs(gate, clock);
  fast_rest(gate, clock);
  fast_spans(gate, clock);
}

/* Of those that tell the trace, and of those that tell it of some requests: once, before the first
   event. */
void fast_traced(struct aprof_gate *gate, uint32_t clock);
void fast_some(struct aprof_gate *gate, uint32_t clock);

/* event_cost_mticks of the header: what an event costs here; once, before the first future. */
void cost_measure(void);

/* What a program may say of its requests by aprof.h; see request.c. Any thread; not
   async-signal-safe. */
int api_label(const char *text);
int api_token(char *buffer);
int api_token_set(const char *traceparent);

#endif
