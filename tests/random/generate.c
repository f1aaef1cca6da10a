/* SPDX-License-Identifier: MIT */
/*
 * Random programs: threads that run strands (C stacks), each a pile of open
 * brackets. What a real program could do at a point is what may come next; a
 * few things it should not do (jump over frames, run an unknown key, forget a
 * coroutine) come now and then, because real programs do them.
 */
#include "generator.h"

#include "aprof/profile.h"

#include <string.h>

static void maybe_at(struct generator *g) {
  if (running(g) && chance(g, 60))
    emit(g, OP_AT, &places.call[below(g, CALLS)]);
}

/* What coroutines do is fast once its paths and histograms are there: of few places, in many
   rounds. */
static unsigned few_of(struct generator *g, unsigned most) {
  bool few = g->program->flavour == FLAVOUR_STACKS || g->any;
  return below(g, few && chance(g, 90) ? 2 : most);
}

static struct aprof_site *some_function(struct generator *g) {
  bool roots = g->program->flavour != FLAVOUR_IMPLICIT; /* the last one is one */
  return &places.stack[few_of(g, roots ? FUNCTIONS : FUNCTIONS - 1)];
}

static const void *maybe_address(struct generator *g, struct aprof_site *function) {
  return chance(g, 50) ? place_address(function) : NULL;
}

static void act_call(struct generator *g) {
  if (!room(g) || here(g)->height > 2 + below(g, 8))
    return;
  struct aprof_site *function = some_function(g);
  maybe_at(g);
  emit_open(g, OP_ENTER, function)->self = maybe_address(g, function);
  if (function->flags & APROF_ROOT)
    maybe_about(g);
}

static void act_return(struct generator *g) {
  struct item *item = top(g);
  if (!item || item->kind != OP_ENTER)
    return;
  emit_close(g, OP_LEAVE)->how = some_how(g);
  if (is_coroutine(g) && here(g)->height == 0)
    strand_off(g, true);
}

static void act_await(struct generator *g) {
  if (!room(g) || (!running(g) && !chance(g, 5)))
    return;
  bool names = chance(g, 15), news = flavoured(g) && chance(g, 25);
  emit_open(g, OP_SUSPEND,
            news    ? &places.news[below(g, NEWS)]
            : names ? &places.names[below(g, NAMES)]
                    : &places.await[few_of(g, g->any ? AWAITS_ALL : AWAITS)]);
}

static void act_inner_await(struct generator *g) {
  struct item *item = top(g);
  if (!item || item->kind != OP_SUSPEND || g->last_suspend[g->thread] != item->cell + 1 || !room(g))
    return;
  if (!(item->site->flags & APROF_NAMES))
    emit_open(g, OP_SUSPEND, &places.await[below(g, AWAITS)]);
}

static void act_awaited(struct generator *g) {
  struct item *item = top(g);
  if (item && item->kind == OP_SUSPEND)
    emit_close(g, OP_RESUME);
}

static void act_yield(struct generator *g) {
  struct item *item = top(g);
  if (is_coroutine(g) && item && item->kind == OP_SUSPEND && !running(g))
    strand_off(g, false);
}

/* A coroutine is left without an await: its innermost body waits where it is. */
static void act_leave_running(struct generator *g) {
  struct item *item = top(g);
  if (is_coroutine(g) && item && item->kind == OP_ENTER && running(g))
    strand_off(g, false);
}

static void act_create_callback(struct generator *g) {
  if (!room(g))
    return;
  struct aprof_site *function = &places.callback[below(g, FUNCTIONS)];
  /* The last two are never seen as bodies of this unit: known by address only. */
  bool foreign = function >= places.callback + FUNCTIONS - 2, nameless = g->any && chance(g, 25);
  open_create(g, below(g, 2), foreign || nameless ? NULL : function,
              nameless ? NULL : place_address(function));
  if (chance(g, 80))
    close_create(g);
}

static void act_close_create(struct generator *g) {
  if (top(g) && top(g)->kind == OP_CREATE_BEGIN)
    close_create(g);
}

/* The callback of a create that has not returned yet. */
static void act_call_inside_create(struct generator *g) {
  struct item *item = top(g);
  if (!item || item->kind != OP_CREATE_BEGIN || !item->function || !room(g))
    return;
  struct aprof_site *function = item->function;
  if (place_address(function) && function->model == APROF_MODEL_STACK)
    emit_open(g, OP_ENTER, function)->self = place_address(function);
}

static void keep_key(struct generator *g, const struct op *op) {
  top(g)->key0 = op->key0;
  top(g)->key1 = op->key1;
}

static void act_run_callback(struct generator *g) {
  struct request *request = &g->requests[below(g, KEYS)];
  if (!room(g) || (!request->live && !chance(g, 5)))
    return;
  unsigned ns = request->ns;
  maybe_at(g);
  struct op *op =
      emit_open(g, OP_RUN_BEGIN, g->any ? some_run(g, ns) : &places.run[ns][chance(g, 20)]);
  op->key0 = request->live ? request->key : some_key(g, ns);
  op->key1 = second_half(op->key0);
  keep_key(g, op);
  struct aprof_site *function = request->function;
  bool foreign = !function || function >= places.callback + FUNCTIONS - 2;
  op->function = foreign || chance(g, 30) ? NULL : function;
  op->self = function && chance(g, 70) ? place_address(function) : NULL;
  top(g)->function = op->function;
  if (request->live && !request->multi)
    request->live = false;
  maybe_about(g);
}

static void act_run_frame(struct generator *g) {
  if (!room(g))
    return;
  maybe_at(g);
  struct op *op =
      emit_open(g, OP_RUN_BEGIN, g->any ? some_run(g, NS_ORPHAN) : &places.run[NS_ORPHAN][0]);
  unsigned which = below(g, FUNCTIONS);
  op->function = &places.frame[which];
  op->self = maybe_address(g, op->function);
  op->key0 = 0x9000 + 8 * (which / 2 * 2 + below(g, 2));
  keep_key(g, op);
  top(g)->function = op->function;
  maybe_about(g);
}

static void act_ran(struct generator *g) {
  struct item *item = top(g);
  if (item && item->kind == OP_RUN_BEGIN && !item->switched)
    close_run(g, chance(g, 55) ? some_pending(g) : some_how(g));
}

/* go(): the new coroutine runs inside the bracket of its creation. */
static void act_spawn_now(struct generator *g) {
  int strand = room(g) ? new_strand(g) : -1;
  if (strand < 0)
    return;
  struct aprof_site *function = some_function(g);
  const void *address = chance(g, 80) ? place_address(function) : NULL;
  open_create(g, below(g, 2), address || chance(g, 50) ? function : NULL, address);
  g->strands[strand].function = function;
  g->strands[strand].started = true;
  strand_on(g, (unsigned)strand);
  emit_open(g, OP_ENTER, function)->self = address;
}

/* A coroutine that is created here and resumed by its key later. */
static void act_spawn_later(struct generator *g) {
  int number = room(g) ? new_strand(g) : -1;
  if (number < 0)
    return;
  struct strand *strand = &g->strands[number];
  strand->function = some_function(g);
  open_create(g, below(g, 2), strand->function, place_address(strand->function));
  unsigned ns = top(g)->site->ns & 0xf;
  struct op *op = emit_close(g, OP_CREATE_END);
  op->key0 = some_key(g, ns);
  op->key1 = second_half(op->key0);
  strand->keyed = true;
  strand->ns = ns;
  strand->key = op->key0;
}

/* A coroutine nobody created: its body just begins on a stack of its own. */
static void act_spawn_bare(struct generator *g) {
  int strand = running(g) ? -1 : new_strand(g);
  if (strand < 0)
    return;
  g->strands[strand].started = true;
  strand_on(g, (unsigned)strand);
  emit_open(g, OP_ENTER, some_function(g));
}

static unsigned some_coroutine(struct generator *g) {
  return g->program->threads + below(g, STRANDS - g->program->threads);
}

static void resume_strand(struct generator *g, unsigned number) {
  struct strand *s = &g->strands[number];
  if (!s->live || s->on_thread || !room(g) || (!s->keyed && running(g)))
    return;
  if (s->keyed) {
    maybe_at(g);
    struct op *op = emit_open(g, OP_RUN_BEGIN, g->any ? some_run(g, s->ns) : &places.run[s->ns][0]);
    op->function = g->any && chance(g, 30) ? s->function : NULL;
    op->key0 = s->key;
    op->key1 = second_half(s->key);
    keep_key(g, op);
    top(g)->switched = true;
  }
  strand_on(g, number);
  if (!s->started) {
    s->started = true;
    emit_open(g, OP_ENTER, s->function)->self = place_address(s->function);
  } else if (top(g) && top(g)->kind == OP_SUSPEND) {
    emit_close(g, OP_RESUME);
  }
}

static void act_resume_strand(struct generator *g) {
  resume_strand(g, some_coroutine(g));
}

/* A loop runs a coroutine again and again, which waits in what it has called. */
static void act_turns(struct generator *g) {
  unsigned number = some_coroutine(g);
  const struct strand *s = &g->strands[number];
  if (is_coroutine(g) || running(g) || !s->keyed)
    return;
  for (unsigned turns = 2 + below(g, 3); turns > 0 && !full(g); turns--) {
    resume_strand(g, number);
    if (here(g) != s)
      return;
    if (s->height < 2)
      act_call(g);
    if (chance(g, 80))
      act_await(g);
    if (!running(g))
      act_yield(g);
    else
      act_leave_running(g);
  }
}

static void act_wake_or_end(struct generator *g) {
  unsigned ns = below(g, g->any ? NAMESPACES_ALL : NAMESPACES + 1);
  bool wake = chance(g, 65);
  struct op *op = emit(g, wake ? OP_WAKE : OP_END, wake ? &places.wake[ns] : &places.end[ns]);
  op->key0 = ns == NS_ORPHAN ? 0x9000 + 8 * below(g, FUNCTIONS) : 0x7000 + 16 * below(g, KEYS);
  op->key1 = ns == NS_ORPHAN ? 0 : second_half(op->key0);
  op->how = chance(g, 60) ? APROF_CANCELLED : APROF_DONE;
}

/* Of a future whose run is open on this thread: it runs, or is put aside for what does. */
static void act_wake_open(struct generator *g) {
  struct item *open[PILE * STRANDS];
  unsigned count = 0;
  for (unsigned i = 0; i < g->tower[g->thread]; i++) {
    struct strand *s = &g->strands[g->towers[g->thread][i]];
    for (unsigned n = 0; n < s->height; n++)
      if (s->pile[n].kind == OP_RUN_BEGIN)
        open[count++] = &s->pile[n];
  }
  if (count == 0)
    return;
  const struct item *item = open[below(g, count)];
  struct op *op = emit(g, OP_WAKE, &places.wake[item->site->ns & 0xf]);
  op->key0 = item->key0;
  op->key1 = item->key1;
}

static void act_current(struct generator *g) {
  bool wake = chance(g, 40);
  if (wake || running(g))
    emit(g, wake ? OP_WAKE_CURRENT : OP_END_CURRENT, wake ? &places.wake[0] : &places.end[0])->how =
        some_how(g);
}

static void act_idle(struct generator *g) {
  struct item *item = top(g);
  if (item && item->kind == OP_IDLE_BEGIN)
    emit_close(g, OP_IDLE_END);
  else if (room(g))
    emit_open(g, OP_IDLE_BEGIN, &places.idle[below(g, 2)]);
}

/* longjmp: back in a frame below, which goes on or returns. */
static void act_jump(struct generator *g) {
  struct strand *s = here(g);
  unsigned target = s->height ? below(g, s->height) : 0;
  bool span = s->pile[target].kind == OP_SPAN_BEGIN && !s->pile[target].outside;
  if (s->height < 2 || (s->pile[target].kind != OP_ENTER && !span) || target == s->height - 1)
    return;
  for (unsigned i = target + 1; i < s->height; i++)
    if (s->pile[i].switched)
      return;
  s->height = target + 1;
  if (span && chance(g, 50))
    emit_close(g, OP_SPAN_END);
  else if (span || chance(g, 50)) {
    emit(g, OP_RESYNC, NULL)->token = s->pile[target].cell;
  } else {
    act_return(g);
  }
}

/* A suspended coroutine is destroyed; sometimes somebody says so. */
static void act_destroy(struct generator *g) {
  struct strand *s = &g->strands[some_coroutine(g)];
  if (!s->live || s->on_thread)
    return;
  if (s->keyed && chance(g, 80)) {
    struct op *op = emit(g, OP_END, &places.end[s->ns]);
    op->key0 = s->key;
    op->key1 = second_half(s->key);
    op->how = APROF_CANCELLED;
  }
  s->live = false;
}

/* Profiling goes off, and later on; or starts from zero. */
static void act_switch(struct generator *g) {
  enum op_kind kind = g->off ? OP_ON : chance(g, 50) ? OP_OFF : OP_RESET;
  emit(g, kind, NULL);
  g->off = kind == OP_OFF;
}

static void act(struct generator *g) {
  static const struct {
    void (*act)(struct generator *);
    unsigned weights[3]; /* of most programs; of coroutines; of any events */
  } actions[] = {
      {act_call, {20, 36, 24}},
      {act_return, {18, 12, 14}},
      {act_await, {16, 20, 18}},
      {act_inner_await, {6, 1, 3}},
      {act_awaited, {14, 5, 8}},
      {act_yield, {14, 40, 24}},
      {act_create_callback, {9, 3, 10}},
      {act_close_create, {8, 8, 8}},
      {act_call_inside_create, {5, 2, 3}},
      {act_run_callback, {12, 8, 14}},
      {act_run_frame, {9, 4, 8}},
      {act_ran, {14, 10, 12}},
      {act_spawn_now, {5, 6, 5}},
      {act_spawn_later, {4, 10, 10}},
      {act_spawn_bare, {4, 1, 2}},
      {act_resume_strand, {40, 70, 56}},
      {act_wake_or_end, {6, 10, 9}},
      {act_wake_open, {6, 2, 3}},
      {act_current, {1, 0, 1}},
      {act_idle, {5, 2, 3}},
      {act_jump, {2, 1, 1}},
      {act_destroy, {2, 1, 2}},
      {act_leave_running, {0, 8, 8}},
      {act_turns, {0, 16, 16}},
      {act_on_any, {0, 0, 24}},
      {act_on_requests, {50, 0, 40}}, /* last: of some programs only */
  };
  unsigned sum = 0, count = sizeof actions / sizeof *actions - !flavoured(g);
  unsigned column = g->any ? 2 : g->program->flavour == FLAVOUR_STACKS;
  for (unsigned i = 0; i < count; i++)
    sum += actions[i].weights[column];
  unsigned pick = below(g, sum), i = 0;
  while (pick >= actions[i].weights[column])
    pick -= actions[i++].weights[column];
  /* In the poller there is little to do but to leave it. */
  if (top(g) && top(g)->kind == OP_IDLE_BEGIN && chance(g, 80))
    act_idle(g);
  else
    actions[i].act(g);
}

/* Everything still open is closed in order, as a program that ends well does. */
static void wind_down(struct generator *g) {
  for (g->thread = 0; g->thread < g->program->threads; g->thread++)
    while (!full(g) && (g->tower[g->thread] > 1 || here(g)->height)) {
      struct item *item = top(g);
      if (!item)
        strand_off(g, true);
      else if (item->kind == OP_ENTER)
        act_return(g);
      else if (item->kind == OP_SUSPEND)
        act_awaited(g);
      else if (item->kind == OP_CREATE_BEGIN)
        close_create(g);
      else if (item->kind == OP_RUN_BEGIN)
        close_run(g, some_how(g));
      else if (item->kind == OP_SPAN_BEGIN)
        emit_close(g, OP_SPAN_END);
      else
        act_idle(g);
    }
  g->thread = 0;
}

/* All of it once more, `rounds` times or as often as there is room: by then the paths are
   known and the histograms made, so the fast events are not turned away. */
static void repeat(struct program *program, unsigned rounds) {
  uint32_t count = program->count;
  for (; rounds > 0 && program->count + count < PROGRAM_MAX; rounds--) {
    memcpy(program->ops + program->count, program->ops, count * sizeof *program->ops);
    program->count += count;
  }
}

/* It comes often enough that most of its events are fast ones; each round but the last ends as it
   began. Some of its events are missing. */
static void finish_any(struct generator *g) {
  struct program *program = g->program;
  bool leaks = chance(g, 20);
  for (unsigned i = 0; i < program->count; i++) {
    struct op *op = &program->ops[i];
    op->dropped = leaks && chance(g, 3);
    if (op->kind == OP_RUN_BEGIN && (op->site->flags & APROF_OWN) && op->function == NULL)
      op->site = &places.run[op->site->ns & 0xf][0]; /* own: of a body's function */
  }
  unsigned tidy = program->count;
  if (g->off)
    act_switch(g);
  wind_down(g);
  for (unsigned i = program->threads; i < STRANDS; i++)
    if (g->strands[i].live && !g->strands[i].keyed)
      strand_on(g, i);
  wind_down(g);
  end_all(g);
  for (unsigned i = tidy; i < program->count; i++)
    program->ops[i].tidies = true;
  program->rounds = 24;
}

void program_generate(struct program *program, uint64_t seed, enum flavour flavour) {
  struct generator *g =
      &(struct generator){.random = seed * 0x2545f4914f6cdd1du, .program = program};
  *program =
      (struct program){.seed = seed, .flavour = flavour, .most = APROF_REQUESTS, .rounds = 1};
  program->threads = chance(g, 70) ? 1 : 2 + below(g, PROGRAM_THREADS - 1);
  g->any = flavour == FLAVOUR_ANY;
  g->asks = g->any && chance(g, 50);
  for (unsigned i = 0; i < program->threads; i++) {
    g->strands[i] = (struct strand){.live = true, .on_thread = true};
    g->towers[i][0] = i;
    g->tower[i] = 1;
  }
  bool switches = chance(g, 15);
  bool stacks = flavour == FLAVOUR_STACKS && chance(g, 80);
  unsigned length = 10 + below(g, stacks || g->any ? 60 : chance(g, 20) ? 600 : 150);
  for (unsigned tries = 0; program->count < length && tries < 40 * length; tries++) {
    if (chance(g, 10))
      g->thread = below(g, program->threads);
    if (switches && chance(g, g->off ? 10 : 2))
      act_switch(g);
    act(g);
  }
  if (g->any) {
    finish_any(g);
    return;
  }
  bool again = stacks || chance(g, 30);
  if (chance(g, 50) || again)
    wind_down(g);
  if (again)
    repeat(program, stacks ? 8 + below(g, 24) : 2 + below(g, 7));
  emit(g, OP_NOP, NULL);
}
