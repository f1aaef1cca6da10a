/* SPDX-License-Identifier: MIT */
/*
 * Which way a function goes, and what lies on it.
 *
 * Purpose: what is on no way to the end of its function (before abort() and its kin), or runs in
 * another process, concerns no loop; and rules ask here what follows a step.
 * Cost: some walks over the blocks of a function. Locking: none.
 */
#ifndef APROF_CHECK_FLOW_H
#define APROF_CHECK_FLOW_H

#include "facts.h"
#include "program.h"

/* Fills `apart` of all blocks, and finds functions that never return. */
void flow_settle(struct program *);

/* What a walk makes of a step. */
enum flow_visit { FLOW_ON, FLOW_STOP, FLOW_FOUND };
typedef enum flow_visit flow_visitor(void *of, const struct ir_step *);

/* A step that the visitor finds, on a way from behind `from` on which it does not stop; NULL: none.
   Ways that contradict what is known of values at `from` are not gone. */
const struct ir_step *flow_find(const struct ir_body *, const struct ir_step *from, flow_visitor *,
                                void *of);
/* The same, where one thing more is known behind `from`. */
const struct ir_step *flow_find_if(const struct ir_body *, const struct ir_step *from,
                                   flow_visitor *, void *of, const struct fact *given);
/* The same from the begin of a block, whatever came before. */
const struct ir_step *flow_find_at(const struct ir_body *, unsigned block, flow_visitor *,
                                   void *of);

/* What is known at the begin of each block, where this is known at the entry: NULL of those that
   the entry does not lead to then. To be given back with flow_forget(). */
struct facts **flow_known(const struct ir_body *, const struct facts *entry);
void flow_forget(const struct ir_body *, struct facts **);
/* Variables of which steps may change what is known (facts_step()). */
const bool *flow_shared(const struct ir_body *);
/* What a call tells its callee: of its arguments, and what they point to. */
void flow_pass(const struct facts *, const struct ir_step *call, const struct ir_function *callee,
               struct facts *entry);

/* So much was walked in it that later questions have found nothing. */
bool flow_is_large(const struct ir_body *);

/* Edges backwards: those to block i come from from[first[i]] up to from[first[i + 1]]. In one
   piece, to be freed. */
struct flow_edges {
  unsigned *first, *from;
};
struct flow_edges *flow_backward(const struct ir_body *);
/* Of each block, whether it leads to this one; to be freed. */
bool *flow_leading(const struct ir_body *, unsigned to);

/* From each block, whether the entry leads there, without the edge (from, way). */
bool *flow_reached(const struct ir_body *, unsigned entry, unsigned from, size_t way);
#define FLOW_NO_EDGE UINT32_MAX

/* A value has this variable, call or name in it, as a whole. */
bool value_has(const char *value, const char *part);
/* What the end of a scope calls by itself. */
static inline bool step_cleans(const struct ir_step *s) {
  return s->kind == IR_CALL && s->value && !strcmp(s->value, IR_CLEANUP);
}
/* The step reads it: as an argument, a value, a condition of its own. */
bool step_has(const struct ir_step *, const char *part);

#endif
