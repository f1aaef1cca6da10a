/* SPDX-License-Identifier: MIT */
/* What a random program has left open, and how an event is written down. */
#include "generator.h"

static uint64_t rnd(struct generator *g) {
  uint64_t z = (g->random += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

unsigned below(struct generator *g, unsigned n) {
  return (unsigned)(rnd(g) % n);
}

bool chance(struct generator *g, unsigned percent) {
  return below(g, 100) < percent;
}

bool flavoured(const struct generator *g) {
  return g->program->flavour == FLAVOUR_ROOTS || g->program->flavour == FLAVOUR_IMPLICIT || g->asks;
}

struct strand *here(struct generator *g) {
  return &g->strands[g->towers[g->thread][g->tower[g->thread] - 1]];
}

struct item *top(struct generator *g) {
  struct strand *s = here(g);
  return s->height ? &s->pile[s->height - 1] : NULL;
}

bool full(struct generator *g) {
  return g->program->count + 4 >= PROGRAM_MAX;
}

static uint32_t some_time(struct generator *g) {
  unsigned kind = below(g, 40);
  return kind < 10   ? 0
         : kind < 36 ? 1 + below(g, 400)
         : kind < 38 ? below(g, 100000)
         : kind < 39 ? below(g, 3000000) /* it holds its loop for long */
                     : 5;
}

uint8_t some_how(struct generator *g) {
  return chance(g, 80) ? APROF_DONE : chance(g, 50) ? APROF_FAILED : APROF_CANCELLED;
}

struct op *emit(struct generator *g, enum op_kind kind, struct aprof_site *site) {
  struct op *op = &g->program->ops[g->program->count++];
  *op = (struct op){.kind = (uint8_t)kind,
                    .thread = (uint8_t)g->thread,
                    .dt = some_time(g),
                    .site = site,
                    .ok = 1};
  g->last_suspend[g->thread] = 0;
  return op;
}

struct op *emit_open(struct generator *g, enum op_kind kind, struct aprof_site *site) {
  struct op *op = emit(g, kind, site);
  struct strand *s = here(g);
  op->token = (uint32_t)(s - g->strands) * PILE + s->height;
  s->pile[s->height++] = (struct item){.kind = kind, .cell = op->token, .site = site};
  for (unsigned i = 0; i < PILE; i++)
    if (g->closed[i].cell == op->token)
      g->closed[i].kind = OP_NOP;
  if (kind == OP_SUSPEND)
    g->last_suspend[g->thread] = op->token + 1;
  return op;
}

/* Emits the closing of the top item, which is gone then. */
struct op *emit_close(struct generator *g, enum op_kind kind) {
  struct item *item = top(g);
  struct op *op = emit(g, kind, NULL);
  op->token = item->cell;
  g->closed[g->closed_next++ % PILE] = *item;
  here(g)->height--;
  return op;
}

/* Whether a future runs on this thread, as the program sees it. */
bool running(struct generator *g) {
  struct strand *s = here(g);
  for (unsigned i = s->height; i-- > 0;) {
    struct item *item = &s->pile[i];
    if (item->kind == OP_ENTER || item->kind == OP_RUN_BEGIN)
      return true;
    if (item->kind == OP_IDLE_BEGIN ||
        (item->kind == OP_SUSPEND && !(item->site->flags & APROF_NAMES)))
      return false;
  }
  return false;
}

bool room(struct generator *g) {
  return here(g)->height < PILE - 2;
}

bool is_coroutine(struct generator *g) {
  return g->tower[g->thread] > 1;
}

int new_strand(struct generator *g) {
  for (unsigned i = g->program->threads; i < STRANDS; i++)
    if (!g->strands[i].live) {
      g->strands[i] = (struct strand){.live = true};
      return (int)i;
    }
  return -1;
}

void strand_on(struct generator *g, unsigned strand) {
  g->towers[g->thread][g->tower[g->thread]++] = strand;
  g->strands[strand].on_thread = true;
}

static bool key_in_use(struct generator *g, unsigned ns, uint64_t key) {
  for (unsigned i = 0; i < KEYS; i++)
    if (g->requests[i].live && g->requests[i].ns == ns && g->requests[i].key == key)
      return true;
  for (unsigned i = 0; i < STRANDS; i++)
    if (g->strands[i].live && g->strands[i].keyed && g->strands[i].ns == ns &&
        g->strands[i].key == key)
      return true;
  return false;
}

/* Mostly a free one; addresses are used again at once. */
uint64_t some_key(struct generator *g, unsigned ns) {
  uint64_t key = 0;
  for (unsigned tries = 0; tries < 8; tries++) {
    key = 0x7000 + 16 * below(g, KEYS);
    if (!key_in_use(g, ns, key) || chance(g, 5))
      break;
  }
  return key;
}

uint64_t second_half(uint64_t key) {
  return key % 48 == 0 ? 7 : 0;
}

void open_create(struct generator *g, unsigned ns, struct aprof_site *function,
                 const void *address) {
  static const unsigned kinds[] = {0, 3, 6};
  bool coroutine = function && function->model == APROF_MODEL_STACK;
  unsigned some = flavoured(g) ? CREATES : CREATES_PLAIN;
  if (g->any && chance(g, 20))
    ns = NS_TUPLE;
  unsigned kind = coroutine ? kinds[below(g, 3)] : below(g, some);
  if (g->program->flavour == FLAVOUR_IMPLICIT && (places.create[ns][kind].flags & APROF_ROOT))
    kind = coroutine ? 0 : chance(g, 50) ? 12 : 13;
  if (g->any && coroutine && chance(g, 5))
    kind = CREATES + flavoured(g); /* without a key */
  struct op *op = emit_open(g, OP_CREATE_BEGIN, &places.create[ns][kind]);
  op->function = function;
  op->self = address;
  top(g)->function = function ? function : place_of_address(address);
  maybe_about(g);
  if (coroutine || chance(g, 65))
    return;
  op = emit(g, OP_DUE, NULL);
  op->token = top(g)->cell;
  op->key0 = chance(g, 20) ? 0 : below(g, 1500);
}

void add_request(struct generator *g, unsigned ns, uint64_t key, const struct item *create) {
  struct request *request = &g->requests[below(g, KEYS)];
  for (unsigned i = 0; i < KEYS; i++)
    if (g->requests[i].live && g->requests[i].ns == ns && g->requests[i].key == key)
      request = &g->requests[i];
  *request = (struct request){.live = true,
                              .ns = ns,
                              .key = key,
                              .function = create->function,
                              .multi = create->site->flags & APROF_MULTI};
}

void close_create(struct generator *g) {
  struct item item = *top(g);
  unsigned ns = item.site->ns & 0xf;
  struct op *op = emit_close(g, OP_CREATE_END);
  op->ok = chance(g, 92);
  op->key0 = item.keyed ? item.key0 : some_key(g, ns);
  op->key1 = second_half(op->key0);
  if (op->ok && (!item.function || item.function->model == APROF_MODEL_CALLBACK))
    add_request(g, ns, op->key0, &item);
}

void close_run(struct generator *g, uint8_t how) {
  struct op *op = emit_close(g, OP_RUN_END);
  op->how = how;
  op->site = chance(g, 40) ? &places.back[below(g, RETURNS)] : NULL;
}

/* The strand on top of this thread goes away, for a while or for good. */
void strand_off(struct generator *g, bool finished) {
  struct strand *s = here(g);
  s->on_thread = false;
  if (finished)
    s->live = false;
  g->tower[g->thread]--;
  struct item *item = top(g);
  if (item && item->kind == OP_RUN_BEGIN && item->switched)
    close_run(g, finished ? APROF_DONE : some_pending(g));
  else if (item && item->kind == OP_CREATE_BEGIN)
    close_create(g);
}
