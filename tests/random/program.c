/* SPDX-License-Identifier: MIT */
/* The static places of random programs, and how a program is printed. */
#include "program.h"

#include <string.h>

struct places places;

/* One byte per function stands for its body. */
static const char bodies[3 * FUNCTIONS];

static char names_of_places[512][16];
static unsigned names_used;

static void place(struct aprof_site *site, enum aprof_site_kind kind, const char *letters,
                  unsigned number, unsigned flags) {
  char *name = names_of_places[names_used++];
  snprintf(name, sizeof names_of_places[0], "%s%u", letters, number);
  *site = (struct aprof_site){.name = name,
                              .file = "random.c",
                              .line = names_used,
                              .kind = (uint8_t)kind,
                              .flags = (uint16_t)flags};
}

static void place_functions(void) {
  static const char *const letters[] = {"s", "f", "c"};
  struct aprof_site *const models[] = {places.stack, places.frame, places.callback};
  for (unsigned m = 0; m < 3; m++)
    for (unsigned i = 0; i < FUNCTIONS; i++) {
      /* The last stack function starts a task wherever it is called. */
      bool root = m == 0 && i == FUNCTIONS - 1;
      /* One waits for new work wherever it waits, or where it was created. */
      bool news = (m == 0 && i == FUNCTIONS - 2) || (m == 2 && i == 1);
      unsigned flags = (root ? APROF_ROOT : 0u) | (news ? APROF_BACKGROUND : 0u);
      place(&models[m][i], APROF_SITE_FUNCTION, letters[m], i, flags);
      models[m][i].model = (uint8_t)(APROF_MODEL_STACK + m);
    }
}

static const char *const tiers[TIERS] = {NULL, "parse", "db", "render"};

static void place_keyed(void) {
  static const unsigned tiered[CREATES_ALL] = {[9] = 2, [10] = 2, [11] = 1, [15] = 3};
  static const unsigned flags[CREATES_ALL] = {
      0,
      APROF_ONCE,
      APROF_MULTI,
      APROF_READY | APROF_WORKER,
      APROF_ONCE | APROF_REARM,
      APROF_MULTI | APROF_REARM,
      APROF_ROOT,
      APROF_ROOT | APROF_ONCE,
      APROF_ONCE | APROF_READY,
      APROF_ONCE,
      APROF_MULTI,
      APROF_ONCE | APROF_REARM,
      APROF_ONCE | APROF_BACKGROUND,
      APROF_MULTI | APROF_BACKGROUND,
      APROF_MULTI | APROF_REARM | APROF_BACKGROUND,
      APROF_ROOT | APROF_ONCE,
      APROF_KEYLESS,
      APROF_KEYLESS | APROF_ROOT,
  };
  static const unsigned ways[RUNS_ALL] = {0, APROF_QUIET, APROF_OWN, APROF_WORKER, APROF_POLLING};
  for (unsigned ns = 0; ns < NAMESPACES_ALL; ns++) {
    uint32_t tag = ns == NAMESPACES ? APROF_NS_ANY : 0x1000u + ns;
    unsigned equal = ns == NS_TUPLE ? APROF_TUPLE : 0, orphan = ns == NS_ORPHAN ? APROF_ORPHAN : 0;
    place(&places.wake[ns], APROF_SITE_WAKE, "wake", ns, equal);
    place(&places.end[ns], APROF_SITE_END, "end", ns, equal);
    place(&places.unreturned[ns], APROF_SITE_END, "exit", ns, equal | APROF_NORETURN);
    places.wake[ns].ns = places.end[ns].ns = places.unreturned[ns].ns = tag;
    if (ns == NAMESPACES)
      continue;
    for (unsigned i = 0; i < CREATES_ALL; i++) {
      place(&places.create[ns][i], APROF_SITE_CREATE, "new", ns * 100 + i, flags[i] | equal);
      places.create[ns][i].ns = tag;
      places.create[ns][i].tier = tiers[tiered[i]];
    }
    for (unsigned i = 0; i < RUNS_ALL; i++) {
      place(&places.run[ns][i], APROF_SITE_RUN, "run", ns * 10 + i, ways[i] | equal | orphan);
      places.run[ns][i].ns = tag;
    }
    place(&places.hand[ns], APROF_SITE_WAKE, "hand", ns, equal | APROF_HAND);
    place(&places.label[ns], APROF_SITE_LABEL, "label", ns, 0);
    places.hand[ns].ns = places.label[ns].ns = tag;
  }
}

static void place_spans(void) {
  static const unsigned tiered[SPANS] = {0, 1, 3, 1, 2, 0};
  for (unsigned i = 0; i < SPANS; i++) {
    place(&places.span[i], APROF_SITE_SPAN, "span", i, 0);
    places.span[i].tier = tiers[tiered[i]];
  }
  for (unsigned i = 1; i < TIERS; i++) {
    place(&places.tier[i], APROF_SITE_TIER, "tier", i, 0);
    places.tier[i].tier = tiers[i];
  }
}

static bool waits_for_new(const struct aprof_site *functions, const char *name) {
  for (unsigned i = 0; i < FUNCTIONS; i++)
    if (functions[i].name == name)
      return functions[i].flags & APROF_BACKGROUND;
  return false;
}

/* So does who waits for a function that does. */
bool place_in_background(const struct aprof_site *function, const char *name) {
  bool own = function->flags & APROF_BACKGROUND;
  if (waits_for_new(places.stack, name) || waits_for_new(places.callback, name))
    return true;
  for (unsigned i = 0; i < NEWS; i++)
    if (places.news[i].name == name)
      return true;
  for (unsigned ns = 0; ns < NAMESPACES; ns++)
    for (unsigned i = 0; i < CREATES; i++)
      if (places.create[ns][i].name == name)
        return own || (places.create[ns][i].flags & APROF_BACKGROUND);
  return own && (function->model == APROF_MODEL_STACK || name == function->name);
}

unsigned place_tier(const struct aprof_site *site) {
  unsigned tier = TIERS - 1;
  while (tier > 0 && site->tier != tiers[tier])
    tier--;
  return tier;
}

const char *tier_name(unsigned tier) {
  return tiers[tier];
}

void places_init(void) {
  if (names_used)
    return;
  place(&places.primer, APROF_SITE_FUNCTION, "primer", 0, 0);
  places.primer.model = APROF_MODEL_STACK;
  place_functions();
  static const unsigned ways[AWAITS_ALL] = {[AWAITS] = APROF_WORKER,
                                            [AWAITS + 1] = APROF_HELPER | APROF_NAMES};
  for (unsigned i = 0; i < AWAITS_ALL; i++)
    place(&places.await[i], APROF_SITE_AWAIT, "await", i, ways[i]);
  for (unsigned i = 0; i < NEWS; i++)
    place(&places.news[i], APROF_SITE_AWAIT, "news", i, APROF_BACKGROUND);
  for (unsigned i = 0; i < NAMES; i++)
    place(&places.names[i], APROF_SITE_AWAIT, "names", i, APROF_NAMES);
  for (unsigned i = 0; i < CALLS; i++)
    place(&places.call[i], APROF_SITE_CALL, "call", i, 0);
  for (unsigned i = 0; i < RETURNS; i++)
    place(&places.back[i], APROF_SITE_RETURN, "return", i, 0);
  for (unsigned i = 0; i < 2; i++)
    place(&places.idle[i], APROF_SITE_IDLE, "idle", i, 0);
  place_keyed();
  place_spans();
}

const void *place_address(const struct aprof_site *function) {
  if (function >= places.stack && function < places.stack + FUNCTIONS)
    return &bodies[function - places.stack];
  if (function >= places.frame && function < places.frame + FUNCTIONS)
    return &bodies[FUNCTIONS + (unsigned)(function - places.frame)];
  if (function >= places.callback && function < places.callback + FUNCTIONS)
    return &bodies[2 * FUNCTIONS + (unsigned)(function - places.callback)];
  return NULL;
}

struct aprof_site *place_of_address(const void *address) {
  const char *byte = address;
  if (byte < bodies || byte >= bodies + sizeof bodies)
    return NULL;
  unsigned index = (unsigned)(byte - bodies);
  struct aprof_site *const models[] = {places.stack, places.frame, places.callback};
  return &models[index / FUNCTIONS][index % FUNCTIONS];
}

static void record_at(struct program *program, uint64_t number, enum program_record what) {
  program->ops[number % program->count].record = (uint8_t)what;
}

void program_record(struct program *program) {
  uint64_t seed = program->seed;
  for (uint32_t i = 0; i < PROGRAM_MAX; i++)
    program->ops[i].record = RECORD_NOTHING;
  if (seed % 2)
    return;
  for (uint32_t i = 1; i < program->count && !program->shed; i++) /* with its own times */
    if (program->ops[i].thread != program->ops[i - 1].thread && !program->ops[i].dt)
      program->ops[i].dt = 1;
  if (seed % 8 == 2)
    record_at(program, seed * 40503u, RECORD_ROTATES);
  record_at(program, seed % 4 ? 0 : seed * 2654435761u, RECORD_BEGINS);
}

bool op_opens(enum op_kind kind) {
  return kind == OP_ENTER || kind == OP_SUSPEND || kind == OP_CREATE_BEGIN ||
         kind == OP_RUN_BEGIN || kind == OP_IDLE_BEGIN || kind == OP_SPAN_BEGIN;
}

bool op_closes(enum op_kind kind) {
  return kind == OP_LEAVE || kind == OP_RESUME || kind == OP_DUE || kind == OP_CREATE_END ||
         kind == OP_RUN_END || kind == OP_IDLE_END || kind == OP_RESYNC || kind == OP_SPAN_END ||
         kind == OP_ABOUT || kind == OP_RUN_FOR || kind == OP_CREATE_KEY;
}

static const char *how_name(unsigned how) {
  static const char *const names[] = {"done", "failed", "cancelled", "pending", "polled"};
  return how < 5 ? names[how] : "?";
}

const char *op_name(enum op_kind kind) {
  static const char *const names[OP_KINDS] = {
      "nop",   "enter",         "leave",   "suspend",      "resume",      "at",   "create",
      "due",   "key",           "created", "run",          "ran",         "wake", "end",
      "idle",  "idled",         "resync",  "wake_current", "end_current", "span", "spanned",
      "label", "label_current", "about",   "run_for",      "off",         "on",   "reset",
  };
  return names[kind];
}

void op_print(FILE *file, const struct op *op, uint32_t number) {
  fprintf(file, "%4u  thread %u  +%-6u %s", number, op->thread, op->dt, op_name(op->kind));
  if (op->site)
    fprintf(file, " %s", op->site->name);
  if (op_opens(op->kind) || op_closes(op->kind))
    fprintf(file, " at %u.%u", op->token / PROGRAM_DEPTH, op->token % PROGRAM_DEPTH);
  if (op->function)
    fprintf(file, " function=%s", op->function->name);
  struct aprof_site *self = op->self ? place_of_address(op->self) : NULL;
  if (op->self)
    fprintf(file, " address=%s", self ? self->name : "?");
  if (op->kind == OP_CREATE_END || op->kind == OP_CREATE_KEY || op->kind == OP_RUN_BEGIN ||
      op->kind == OP_WAKE || op->kind == OP_END || op->kind == OP_LABEL || op->kind == OP_RUN_FOR)
    fprintf(file, " key=%llx,%llx", (unsigned long long)op->key0, (unsigned long long)op->key1);
  if (op->kind == OP_LABEL || op->kind == OP_LABEL_CURRENT || op->kind == OP_ABOUT)
    fprintf(file, " %s", op->label ? op->label : "(none)");
  if (op->site && op->site->tier)
    fprintf(file, " tier=%s", op->site->tier);
  if (op->kind == OP_DUE)
    fprintf(file, " in %llu", (unsigned long long)op->key0);
  if (op->kind == OP_CREATE_END && !op->ok)
    fprintf(file, " not ok");
  if (op->kind == OP_LEAVE || op->kind == OP_RUN_END || op->kind == OP_END ||
      op->kind == OP_END_CURRENT)
    fprintf(file, " %s", how_name(op->how));
  static const char *const records[] = {"", " (recorded from here on)", " (in another file)"};
  fputs(records[op->record], file);
  if (op->tidies)
    fputs(" (not in the last round)", file);
  fputs(op->dropped ? " (dropped)\n" : "\n", file);
}

void program_print(FILE *file, const struct program *program) {
  static const char *const traced[] = {"", ", traced", ", some of its requests traced"};
  fprintf(file, "program %llu: %u threads, %u events", (unsigned long long)program->seed,
          program->threads, program->count);
  if (program->rounds > 1)
    fprintf(file, " in %u rounds", program->rounds);
  fprintf(file, "%s\n", traced[program->traced]);
  for (uint32_t i = 0; i < program->count; i++)
    if (!program->ops[i].dropped || program->ops[i].dt || program->ops[i].record)
      op_print(file, &program->ops[i], i);
}
