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

static bool is_of_name(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

bool value_has(const char *value, const char *part) {
  size_t length = strlen(part);
  for (const char *at = value ? strstr(value, part) : NULL; at; at = strstr(at + 1, part))
    if (!is_of_name(at[length]))
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

/* -- ends ---------------------------------------------------------------------------------- */

static bool ends_here(const struct ir_block *k) {
  for (const struct ir_step *s = k->step; s < k->step + k->steps; s++)
    if (s->kind == IR_CALL && s->callee && s->callee->flags & IR_NORETURN)
      return true;
  return false;
}

static bool returns(const struct ir_block *k) {
  return k->steps && k->step[k->steps - 1].kind == IR_RETURN;
}

/* Blocks that lead to abort() and its kin alone. Whether one was found. */
static bool settle_ends(struct ir_body *b) {
  bool any = false, more = true;
  while (more) {
    more = false;
    for (struct ir_block *k = b->block; k < b->block + b->blocks; k++) {
      bool apart = ends_here(k) || (!k->nexts && !returns(k)), all = k->nexts > 0;
      for (size_t i = 0; i < k->nexts; i++)
        all &= b->block[k->next[i]].apart;
      if (!k->apart && (apart || all))
        k->apart = more = any = true;
    }
  }
  return any;
}

static void settle_noreturn(struct program *p) {
  for (bool more = true; more;) {
    more = false;
    EACH_FUNCTION (p, f) {
      if (!f->body || !f->body->blocks)
        continue;
      settle_ends(f->body);
      if (f->body->block[0].apart && !(f->flags & (IR_NORETURN | IR_VIRTUAL))) {
        f->flags |= IR_NORETURN;
        more = true;
      }
    }
  }
}

/* -- other processes ------------------------------------------------------------------------- */

static bool is_fork(const struct ir_function *f) {
  return f && (f->forks || !strcmp(f->name, "fork") || !strcmp(f->name, "vfork") ||
               !strcmp(f->name, "_Fork"));
}

static const struct ir_step *call_of(const struct ir_body *b, const char *value) {
  if (value[0] != '!')
    return NULL;
  int id = (int)strtol(value + 1, NULL, 10);
  EACH_STEP (b, s)
    if ((s->kind == IR_CALL || s->kind == IR_ICALL) && s->id == id)
      return s;
  return NULL;
}

/* What fork() returned, or a variable that became it. */
static bool is_forked(const struct ir_body *b, const char *value) {
  const struct ir_step *call = call_of(b, value);
  if (call)
    return is_fork(call->callee);
  EACH_STEP (b, s)
    if (value[0] == '$' && s->kind == IR_SET && !strcmp(s->to, value) && s->value[0] == '!' &&
        (call = call_of(b, s->value)) && is_fork(call->callee))
      return true;
  return false;
}

static bool has_fork(const struct ir_body *b) {
  EACH_STEP (b, s)
    if (is_fork(s->callee))
      return true;
  return false;
}

/* The way that the child takes: where its number is 0. -1: none is known. */
static int child_way(const struct ir_body *b, const struct ir_block *k) {
  char value[64];
  size_t length = k->branch ? strcspn(k->branch, " ") : sizeof value;
  if (k->many || k->nexts != 2 || length >= sizeof value)
    return -1;
  memcpy(value, k->branch, length);
  value[length] = 0;
  const char *sign = k->branch + length;
  int way = !*sign || !strcmp(sign, " != #0") ? 1 : !strcmp(sign, " == #0") ? 0 : -1;
  return way >= 0 && is_forked(b, value) ? way : -1;
}

static void settle_children(struct ir_body *b) {
  for (unsigned i = 0; i < b->blocks; i++) {
    int way = child_way(b, &b->block[i]);
    if (way < 0)
      continue;
    bool *seen = flow_reached(b, 0, i, (size_t)way);
    for (size_t k = 0; k < b->blocks; k++)
      b->block[k].apart |= !seen[k];
    free(seen);
  }
}

/* Functions that return what fork() did. */
static void note_forks(struct ir_function *f) {
  EACH_STEP (f->body, s)
    if (s->kind == IR_RETURN && s->value && is_forked(f->body, s->value))
      f->forks = true;
}

void flow_settle(struct program *p) {
  for (int round = 0; round < 2; round++)
    EACH_FUNCTION (p, f)
      if (f->body && has_fork(f->body))
        note_forks(f);
  EACH_FUNCTION (p, f)
    if (f->body && has_fork(f->body))
      settle_children(f->body);
  settle_noreturn(p);
}

/* -- what follows ---------------------------------------------------------------------------- */

/* Branches that were taken on each way to a block: their conditions hold there. */
struct facts {
  const char **text;
  size_t *way;
  size_t count;
};

static void add_fact(struct facts *facts, const char *text, size_t way) {
  facts->text = ir_grow(facts->text, facts->count, sizeof *facts->text);
  facts->way = ir_grow(facts->way, facts->count, sizeof *facts->way);
  facts->text[facts->count] = text;
  facts->way[facts->count++] = way;
}

static struct facts facts_at(const struct ir_body *b, unsigned block) {
  struct facts facts = {0};
  for (unsigned i = 0; i < b->blocks; i++) {
    const struct ir_block *k = &b->block[i];
    for (size_t way = 0; k->branch && k->branch[0] != '?' && !k->many && k->nexts == 2 && way < 2;
         way++) {
      bool *seen = flow_reached(b, 0, i, way);
      if (!seen[block] && i != block)
        add_fact(&facts, k->branch, way);
      free(seen);
    }
  }
  return facts;
}

struct walk {
  const struct ir_body *body;
  const struct facts *facts;
  flow_visitor *visit;
  void *of;
  bool *seen;
};

static const struct ir_step *walk_from(struct walk *w, unsigned block, size_t step);

static const struct ir_step *walk_on(struct walk *w, unsigned block) {
  const struct ir_block *k = &w->body->block[block];
  size_t only = SIZE_MAX;
  for (size_t i = 0; k->branch && !k->many && i < w->facts->count; i++)
    if (!strcmp(w->facts->text[i], k->branch))
      only = w->facts->way[i];
  const struct ir_step *found = NULL;
  for (size_t i = 0; i < k->nexts && !found; i++) {
    if (w->seen[k->next[i]] || (only < k->nexts && i != only))
      continue;
    w->seen[k->next[i]] = true;
    found = walk_from(w, k->next[i], 0);
  }
  return found;
}

static const struct ir_step *walk_from(struct walk *w, unsigned block, size_t step) {
  const struct ir_block *k = &w->body->block[block];
  if (k->apart)
    return NULL;
  for (; step < k->steps; step++) {
    enum flow_visit visit = w->visit(w->of, &k->step[step]);
    if (visit != FLOW_ON)
      return visit == FLOW_FOUND ? &k->step[step] : NULL;
  }
  return walk_on(w, block);
}

static const struct ir_step *find(const struct ir_body *b, unsigned block, size_t step,
                                  const struct facts *facts, flow_visitor *visit, void *of) {
  struct walk w = {b, facts, visit, of, allocate(b->blocks + 1, sizeof(bool))};
  const struct ir_step *found = walk_from(&w, block, step);
  free(w.seen);
  return found;
}

const struct ir_step *flow_find_nonzero(const struct ir_body *b, const struct ir_step *from,
                                        flow_visitor *visit, void *of, const char *variable) {
  unsigned at = 0;
  char *is_zero = print_string("%s == #0", variable), *is_not = print_string("%s != #0", variable);
  while (from < b->block[at].step || from >= b->block[at].step + b->block[at].steps)
    at++;
  struct facts facts = facts_at(b, at);
  if (*variable) {
    add_fact(&facts, variable, 0);
    add_fact(&facts, is_not, 0);
    add_fact(&facts, is_zero, 1);
  }
  const struct ir_step *found =
      find(b, at, (size_t)(from - b->block[at].step) + 1, &facts, visit, of);
  free(facts.text);
  free(facts.way);
  free(is_zero);
  free(is_not);
  return found;
}

const struct ir_step *flow_find(const struct ir_body *b, const struct ir_step *from,
                                flow_visitor *visit, void *of) {
  return flow_find_nonzero(b, from, visit, of, "");
}

const struct ir_step *flow_find_at(const struct ir_body *b, unsigned block, flow_visitor *visit,
                                   void *of) {
  return find(b, block, 0, &(struct facts){0}, visit, of);
}
