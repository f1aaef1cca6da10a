/* SPDX-License-Identifier: MIT */
/* Ways through a function; see flow.h. */
#include "flow.h"

#include "read/util.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static void mark(const struct ir_body *b, bool *seen, unsigned at, unsigned from, size_t way) {
  unsigned *stack = allocate(b->blocks + 1, sizeof *stack);
  size_t depth = 0;
  seen[at] = true;
  stack[depth++] = at;
  while (depth) {
    at = stack[--depth];
    for (size_t i = 0; i < b->block[at].nexts; i++) {
      unsigned to = b->block[at].next[i];
      if (seen[to] || (at == from && i == way))
        continue;
      seen[to] = true;
      stack[depth++] = to;
    }
  }
  free(stack);
}

bool *flow_reached(const struct ir_body *b, unsigned entry, unsigned from, size_t way) {
  bool *seen = allocate(b->blocks + 1, sizeof *seen);
  mark(b, seen, entry, from, way);
  return seen;
}

/* -- values ------------------------------------------------------------------------------ */

bool value_has(const char *value, const char *part) {
  size_t length = strlen(part);
  for (const char *at = value ? strstr(value, part) : NULL; at; at = strstr(at + 1, part))
    if (!isalnum((unsigned char)at[length]) && at[length] != '_')
      return true;
  return false;
}

bool step_has(const struct ir_step *s, const char *part) {
  bool has = value_has(s->value, part);
  if (s->kind == IR_ICALL || s->kind == IR_USE || s->kind == IR_ADDRESS)
    has |= value_has(s->to, part);
  if (s->kind == IR_SET && s->to && strcmp(s->to, part))
    has |= value_has(s->to, part); /* a member of it, or what it points to */
  for (size_t i = 0; i < s->argument.count && !has; i++)
    has = value_has(s->argument.text[i], part);
  return has;
}

/* -- edges ---------------------------------------------------------------------------------- */

struct flow_edges *flow_backward(const struct ir_body *b) {
  size_t edges = 0;
  for (size_t i = 0; i < b->blocks; i++)
    edges += b->block[i].nexts;
  struct flow_edges *e = allocate(1, sizeof *e + (b->blocks + 2 + edges) * sizeof(unsigned));
  e->first = (unsigned *)(e + 1);
  e->from = e->first + b->blocks + 2;
  for (size_t i = 0; i < b->blocks; i++) /* counted one place on, so that filling moves it back */
    for (size_t n = 0; n < b->block[i].nexts; n++)
      e->first[b->block[i].next[n] + 2]++;
  for (size_t i = 2; i < b->blocks + 2; i++)
    e->first[i] += e->first[i - 1];
  for (unsigned i = 0; i < b->blocks; i++)
    for (size_t n = 0; n < b->block[i].nexts; n++)
      e->from[e->first[b->block[i].next[n] + 1]++] = i;
  return e;
}

bool *flow_leading(const struct ir_body *b, unsigned to) {
  struct flow_edges *back = flow_backward(b);
  bool *leads = allocate(b->blocks + 1, sizeof *leads);
  unsigned *stack = allocate(b->blocks + 1, sizeof *stack);
  size_t depth = 0;
  leads[to] = true;
  stack[depth++] = to;
  while (depth) {
    unsigned at = stack[--depth];
    for (unsigned e = back->first[at]; e < back->first[at + 1]; e++)
      if (!leads[back->from[e]]) {
        leads[back->from[e]] = true;
        stack[depth++] = back->from[e];
      }
  }
  free(stack);
  free(back);
  return leads;
}

/* The place of each block in an order in which only rounds of loops lead backwards. */
static unsigned *order_of(const struct ir_body *b) {
  unsigned *order = allocate(b->blocks + 1, sizeof *order), *stack, *way;
  size_t depth = 0, left = b->blocks;
  bool *seen = allocate(b->blocks + 1, sizeof *seen);
  stack = allocate(b->blocks + 1, sizeof *stack);
  way = allocate(b->blocks + 1, sizeof *way);
  seen[0] = true;
  stack[depth++] = 0;
  while (depth) {
    unsigned at = stack[depth - 1];
    if (way[at] == b->block[at].nexts) {
      order[at] = (unsigned)left--;
      depth--;
      continue;
    }
    unsigned to = b->block[at].next[way[at]++];
    if (!seen[to]) {
      seen[to] = true;
      stack[depth++] = to;
    }
  }
  free(stack);
  free(way);
  free(seen);
  return order;
}

/* -- what follows ---------------------------------------------------------------------------- */

/* What is known of a body before any question about it. */
struct flow {
  unsigned *order;
  struct facts **in; /* at the begin of each block; NULL: the entry does not lead there */
  bool *shared;      /* variables whose address is taken, or that stay */
  size_t spent;
};
enum { MOST_SPENT = 4000000 }; /* blocks and steps that walks through one body may come to */

struct walk {
  const struct ir_body *body;
  struct flow *flow;
  struct facts **in;
  flow_visitor *visit;
  void *of;
  unsigned *stack;
  bool *waits; /* on the stack */
  size_t depth;
};

static struct facts *copy(const struct facts *f) {
  size_t size = offsetof(struct facts, fact) + f->count * sizeof *f->fact;
  return memcpy(allocate(1, size), f, size);
}

/* Comes to a block with what is known; goes on there if that is news. */
static void arrive(struct walk *w, unsigned to, const struct facts *known) {
  bool news = !w->in[to];
  if (news)
    w->in[to] = copy(known);
  else
    news = facts_meet(w->in[to], known);
  if (!news || w->waits[to])
    return;
  w->waits[to] = true;
  w->stack[w->depth++] = to;
}

static void leave(struct walk *w, unsigned block, const struct facts *known) {
  const struct ir_block *k = &w->body->block[block];
  bool choice = k->branch && !k->many && k->nexts == 2;
  int only = choice ? facts_way(known, k->branch) : -1;
  for (size_t i = k->nexts; i-- > 0;) { /* the first one is on top then */
    if (only >= 0 && (size_t)only != i)
      continue;
    struct facts there;
    facts_copy(&there, known);
    if (choice)
      facts_take(&there, k->branch, i);
    if (w->flow->order[k->next[i]] <= w->flow->order[block])
      facts_round(&there, w->flow->shared);
    arrive(w, k->next[i], &there);
  }
}

/* From a step of a block on; NULL, and the walk waits for what is on its stack. */
static const struct ir_step *pass(struct walk *w, unsigned block, size_t step,
                                  struct facts *known) {
  const struct ir_block *k = &w->body->block[block];
  if (k->apart)
    return NULL;
  w->flow->spent += 1 + k->steps - step;
  for (; step < k->steps; step++) {
    enum flow_visit visit = w->visit ? w->visit(w->of, &k->step[step]) : FLOW_ON;
    if (visit != FLOW_ON)
      return visit == FLOW_FOUND ? &k->step[step] : NULL;
    facts_step(known, &k->step[step], w->flow->shared);
  }
  leave(w, block, known);
  return NULL;
}

static const struct ir_step *go_on(struct walk *w) {
  const struct ir_step *found = NULL;
  while (w->depth && !found && (!w->visit || w->flow->spent < MOST_SPENT)) {
    unsigned at = w->stack[--w->depth];
    struct facts known;
    facts_copy(&known, w->in[at]);
    w->waits[at] = false;
    found = pass(w, at, 0, &known);
  }
  return found;
}

static struct walk walk_new(const struct ir_body *b, flow_visitor *visit, void *of) {
  return (struct walk){.body = b,
                       .flow = b->flow,
                       .in = allocate(b->blocks + 1, sizeof(struct facts *)),
                       .visit = visit,
                       .of = of,
                       .stack = allocate(b->blocks + 1, sizeof(unsigned)),
                       .waits = allocate(b->blocks + 1, sizeof(bool))};
}

static void walk_free(struct walk *w, bool all) {
  for (size_t i = 0; all && i < w->body->blocks; i++)
    free(w->in[i]);
  if (all)
    free(w->in);
  free(w->stack);
  free(w->waits);
}

static bool *shared_of(const struct ir_body *b) {
  bool *shared = allocate(b->variables + 1, sizeof *shared);
  for (size_t i = 0; i < b->variables; i++)
    shared[i] = b->variable[i].flags & (IR_KEPT | IR_THREAD | IR_REFERENCE);
  EACH_STEP (b, s)
    if (s->kind == IR_ADDRESS && s->to[0] == '$')
      shared[strtoul(s->to + 1, NULL, 10)] = true;
  return shared;
}

static struct flow *flow_of(const struct ir_body *body) {
  struct ir_body *b = (struct ir_body *)body;
  if (b->flow)
    return b->flow;
  b->flow = allocate(1, sizeof *b->flow);
  b->flow->order = order_of(b);
  b->flow->shared = shared_of(b);
  struct walk w = walk_new(b, NULL, NULL);
  arrive(&w, 0, &(struct facts){0});
  go_on(&w);
  b->flow->in = w.in;
  b->flow->spent = 0;
  walk_free(&w, false);
  return b->flow;
}

struct facts **flow_known(const struct ir_body *b, const struct facts *entry) {
  struct flow *flow = flow_of(b);
  if (!entry->count)
    return flow->in;
  struct walk w = walk_new(b, NULL, NULL);
  arrive(&w, 0, entry);
  go_on(&w);
  walk_free(&w, false);
  return w.in;
}

void flow_forget(const struct ir_body *b, struct facts **in) {
  for (size_t i = 0; in != b->flow->in && i < b->blocks; i++)
    free(in[i]);
  if (in != b->flow->in)
    free(in);
}

const bool *flow_shared(const struct ir_body *b) {
  return flow_of(b)->shared;
}

bool flow_is_large(const struct ir_body *b) {
  return b->flow && b->flow->spent >= MOST_SPENT;
}

static unsigned block_of(const struct ir_body *b, const struct ir_step *s) {
  unsigned at = 0;
  while (s < b->block[at].step || s >= b->block[at].step + b->block[at].steps)
    at++;
  return at;
}

const struct ir_step *flow_find_if(const struct ir_body *b, const struct ir_step *from,
                                   flow_visitor *visit, void *of, const struct fact *given) {
  struct flow *flow = flow_of(b);
  unsigned at = block_of(b, from);
  struct facts known = {0};
  if (flow->spent >= MOST_SPENT)
    return NULL;
  if (flow->in[at])
    facts_copy(&known, flow->in[at]);
  for (const struct ir_step *s = b->block[at].step; s <= from; s++)
    facts_step(&known, s, flow->shared);
  if (given)
    facts_add(&known, *given);
  struct walk w = walk_new(b, visit, of);
  const struct ir_step *found = pass(&w, at, (size_t)(from - b->block[at].step) + 1, &known);
  if (!found)
    found = go_on(&w);
  walk_free(&w, true);
  return found;
}

const struct ir_step *flow_find(const struct ir_body *b, const struct ir_step *from,
                                flow_visitor *visit, void *of) {
  return flow_find_if(b, from, visit, of, NULL);
}

const struct ir_step *flow_find_at(const struct ir_body *b, unsigned block, flow_visitor *visit,
                                   void *of) {
  if (flow_of(b)->spent >= MOST_SPENT)
    return NULL;
  struct walk w = walk_new(b, visit, of);
  arrive(&w, block, &(struct facts){0});
  const struct ir_step *found = go_on(&w);
  walk_free(&w, true);
  return found;
}
