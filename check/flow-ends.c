/* SPDX-License-Identifier: MIT */
/* Which blocks lead to an end of their function, in its process; see flow.h. */
#include "flow.h"

#include "read/util.h"

#include <stdlib.h>
#include <string.h>

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

/* Blocks that lead to abort() and its kin alone: from those that do, backwards. */
static void settle_ends(struct ir_body *b) {
  struct flow_edges *back = flow_backward(b);
  unsigned *left = allocate(b->blocks + 1, sizeof *left), *queue = allocate(b->blocks + 1, 4);
  size_t count = 0;
  for (unsigned i = 0; i < b->blocks; i++) {
    struct ir_block *k = &b->block[i];
    left[i] = (unsigned)k->nexts;
    k->apart |= ends_here(k) || (!k->nexts && !returns(k));
    if (k->apart)
      queue[count++] = i;
  }
  while (count) {
    unsigned at = queue[--count];
    for (unsigned e = back->first[at]; e < back->first[at + 1]; e++) {
      struct ir_block *from = &b->block[back->from[e]];
      if (--left[back->from[e]] || from->apart)
        continue;
      from->apart = true;
      queue[count++] = back->from[e];
    }
  }
  free(left);
  free(queue);
  free(back);
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

/* What fork() returned, or a variable that became it. */
static bool is_forked(const struct ir_body *b, const char *value) {
  const struct ir_step *call = body_call(b, value);
  if (call)
    return is_fork(call->callee);
  EACH_STEP (b, s)
    if (value[0] == '$' && s->kind == IR_SET && !strcmp(s->to, value) && s->value[0] == '!' &&
        (call = body_call(b, s->value)) && is_fork(call->callee))
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
