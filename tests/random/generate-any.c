/* SPDX-License-Identifier: MIT */
/*
 * What only programs of FLAVOUR_ANY do: what the model does not know, and what no program should
 * do, so that no rule says what comes of it, but that it is the same by fast events and by general
 * ones.
 */
#include "generator.h"

struct aprof_site *some_run(struct generator *g, unsigned ns) {
  return &places.run[ns][chance(g, 60) ? 0 : below(g, RUNS_ALL)];
}

/* A run that is not over may be one that was only looked at. */
uint8_t some_pending(struct generator *g) {
  return g->any && chance(g, 10) ? APROF_POLLED : APROF_PENDING;
}

/* The key is known before the call that creates returns. */
static void act_key(struct generator *g) {
  struct item *item = top(g);
  if (!item || item->kind != OP_CREATE_BEGIN || item->keyed)
    return;
  unsigned ns = item->site->ns & 0xf;
  struct op *op = emit(g, OP_CREATE_KEY, NULL);
  op->token = item->cell;
  op->key0 = item->key0 = some_key(g, ns);
  op->key1 = item->key1 = second_half(op->key0);
  item->keyed = true;
  if (!item->function || item->function->model == APROF_MODEL_CALLBACK)
    add_request(g, ns, op->key0, item);
}

/* A key, of whatever it is, is run by whatever function. */
static void act_run(struct generator *g) {
  static const unsigned namespaces[] = {0, 0, 1, NS_ORPHAN, NS_TUPLE, NS_TUPLE};
  unsigned ns = namespaces[below(g, sizeof namespaces / sizeof *namespaces)];
  if (!room(g))
    return;
  struct op *op = emit_open(g, OP_RUN_BEGIN, some_run(g, ns));
  struct aprof_site *function =
      chance(g, 50) ? &places.callback[below(g, 3)] : &places.stack[below(g, 3)];
  op->key0 = top(g)->key0 = ns == NS_ORPHAN ? 0x9000 + 8 * below(g, 4) : 0x7000 + 16 * below(g, 4);
  op->key1 = top(g)->key1 = ns == NS_ORPHAN ? 0 : second_half(op->key0);
  op->function = chance(g, 60) || (op->site->flags & APROF_OWN) ? function : NULL;
  op->self = chance(g, 20) ? place_address(function) : NULL;
  top(g)->function = op->function;
}

static enum op_kind closing(enum op_kind kind) {
  switch (kind) {
  case OP_ENTER:
    return OP_LEAVE;
  case OP_SUSPEND:
    return OP_RESUME;
  case OP_SPAN_BEGIN:
    return OP_SPAN_END;
  case OP_RUN_BEGIN:
    return OP_RUN_END;
  default:
    return OP_NOP;
  }
}

static void close_from_here(struct generator *g, const struct item *item) {
  enum op_kind kind = closing(item->kind);
  if (kind == OP_NOP)
    return;
  struct op *op = emit(g, kind, NULL);
  op->token = item->cell;
  op->how = kind == OP_RUN_END && chance(g, 60) ? some_pending(g) : some_how(g);
}

/* What a coroutine has open is closed while something else runs. */
static void act_close_elsewhere(struct generator *g) {
  struct strand *s = &g->strands[below(g, STRANDS)];
  if (!s->live || s->on_thread || s->height < 2)
    return;
  close_from_here(g, &s->pile[--s->height]);
}

/* ... what is closed, once more. */
static void act_close_again(struct generator *g) {
  close_from_here(g, &g->closed[below(g, PILE)]);
}

/* A frame is left without its event. */
static void act_lose(struct generator *g) {
  if (is_coroutine(g) && chance(g, 50)) {
    here(g)->on_thread = false;
    g->tower[g->thread]--;
  }
  if (top(g) && top(g)->kind != OP_IDLE_BEGIN)
    here(g)->height--;
}

static void act_exit(struct generator *g) {
  unsigned ns = chance(g, 30) ? NS_TUPLE : below(g, NAMESPACES);
  struct op *op = emit(g, OP_END, &places.unreturned[ns]);
  op->key0 = ns == NS_ORPHAN ? 0x9000 + 8 * below(g, 4) : 0x7000 + 16 * below(g, 4);
  op->key1 = ns == NS_ORPHAN ? 0 : second_half(op->key0);
  op->how = some_how(g);
}

void act_on_any(struct generator *g) {
  static const struct {
    void (*act)(struct generator *);
    unsigned weight;
  } actions[] = {
      {act_key, 12},        {act_run, 16}, {act_close_elsewhere, 6},
      {act_close_again, 6}, {act_lose, 3}, {act_exit, 3},
  };
  unsigned pick = below(g, 46), i = 0;
  while (pick >= actions[i].weight)
    pick -= actions[i++].weight;
  actions[i].act(g);
}

void end_all(struct generator *g) {
  struct program *program = g->program;
  for (unsigned i = 0, count = program->count; i < count && !full(g); i++) {
    const struct op made = program->ops[i];
    if (made.kind != OP_CREATE_END && made.kind != OP_CREATE_KEY &&
        (made.kind != OP_RUN_BEGIN || !(made.site->flags & APROF_ORPHAN)))
      continue;
    struct op *op = emit(g, OP_END, &places.end[NAMESPACES]);
    op->key0 = made.key0;
    op->key1 = made.key1;
    op->how = APROF_CANCELLED;
  }
}
