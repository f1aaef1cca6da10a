/* SPDX-License-Identifier: MIT */
/* What programs with requests do beyond the rest: spans, tiers, labels, and who goes where. */
#include "generator.h"

static const char *some_label(struct generator *g) {
  static const char *const labels[] = {"get", "put", "7", "a label of more than a few words", NULL};
  return labels[below(g, sizeof labels / sizeof *labels)];
}

static void act_span(struct generator *g) {
  struct item *item = top(g);
  bool outside = !running(g);
  /* A nameless future is not in a span before its body has told its name; and what began outside
     futures on a stack that can go elsewhere would end there. */
  if (!room(g) || (outside && is_coroutine(g)) ||
      (item && item->kind == OP_RUN_BEGIN && !item->function) ||
      (item && item->kind == OP_CREATE_BEGIN) || (item && item->kind == OP_IDLE_BEGIN))
    return;
  bool tier = chance(g, 30);
  emit_open(g, OP_SPAN_BEGIN,
            tier ? &places.tier[1 + below(g, TIERS - 1)] : &places.span[below(g, SPANS)]);
  top(g)->outside = outside;
}

static void act_spanned(struct generator *g) {
  struct item *item = top(g);
  if (item && item->kind == OP_SPAN_BEGIN)
    emit_close(g, OP_SPAN_END);
}

/* An await inside a span that lies inside an await. */
static void act_await_outside(struct generator *g) {
  struct item *item = top(g);
  if (item && item->kind == OP_SPAN_BEGIN && item->outside && room(g))
    emit_open(g, OP_SUSPEND, &places.await[below(g, AWAITS)]);
}

static void set_key(struct generator *g, struct op *op, unsigned ns) {
  op->key0 = ns == NS_ORPHAN ? 0x9000 + 8 * below(g, FUNCTIONS) : 0x7000 + 16 * below(g, KEYS);
  op->key1 = ns == NS_ORPHAN ? 0 : second_half(op->key0);
}

static void act_label(struct generator *g) {
  bool current = chance(g, 50);
  unsigned ns = below(g, NAMESPACES);
  struct op *op = emit(g, current ? OP_LABEL_CURRENT : OP_LABEL, &places.label[ns]);
  op->label = some_label(g);
  if (!current)
    set_key(g, op, ns);
}

static void act_hand(struct generator *g) {
  unsigned ns = below(g, NAMESPACES);
  set_key(g, emit(g, OP_WAKE, &places.hand[ns]), ns);
}

void maybe_about(struct generator *g) {
  struct item *item = top(g);
  uint32_t cell = item->cell;
  if (!flavoured(g) || chance(g, 60))
    return;
  if (item->kind == OP_RUN_BEGIN && chance(g, 40)) {
    unsigned ns = below(g, NAMESPACES);
    struct op *op = emit(g, OP_RUN_FOR, &places.label[ns]);
    op->token = cell;
    set_key(g, op, ns);
    return;
  }
  struct op *op = emit(g, OP_ABOUT, NULL);
  op->token = cell;
  op->label = some_label(g);
}

void act_on_requests(struct generator *g) {
  static const struct {
    void (*act)(struct generator *);
    unsigned weight;
  } actions[] = {
      {act_span, 20}, {act_spanned, 18}, {act_await_outside, 3}, {act_label, 5}, {act_hand, 4},
  };
  unsigned pick = below(g, 50), i = 0;
  while (pick >= actions[i].weight)
    pick -= actions[i++].weight;
  actions[i].act(g);
}
