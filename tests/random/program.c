/* SPDX-License-Identifier: MIT */
/* The static places of random programs, and how a program is printed. */
#include "program.h"

#include <string.h>

struct places places;

/* One byte per function stands for its body. */
static const char bodies[3 * FUNCTIONS];

static char names_of_places[512][12];
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
      place(&models[m][i], APROF_SITE_FUNCTION, letters[m], i, root ? APROF_ROOT : 0);
      models[m][i].model = (uint8_t)(APROF_MODEL_STACK + m);
    }
}

static void place_keyed(void) {
  static const unsigned flags[CREATES] = {
      0,
      APROF_ONCE,
      APROF_MULTI,
      APROF_READY,
      APROF_ONCE | APROF_REARM,
      APROF_MULTI | APROF_REARM,
      APROF_ROOT,
      APROF_ROOT | APROF_ONCE,
      APROF_ONCE | APROF_READY,
  };
  for (unsigned ns = 0; ns < NAMESPACES; ns++) {
    uint32_t tag = 0x1000u + ns;
    for (unsigned i = 0; i < CREATES; i++) {
      place(&places.create[ns][i], APROF_SITE_CREATE, "new", ns * 10 + i, flags[i]);
      places.create[ns][i].ns = tag;
    }
    unsigned plain = ns == NS_ORPHAN ? APROF_ORPHAN : 0;
    place(&places.run[ns][0], APROF_SITE_RUN, "run", ns * 10, plain);
    place(&places.run[ns][1], APROF_SITE_RUN, "run", ns * 10 + 1, plain | APROF_QUIET);
    places.run[ns][0].ns = places.run[ns][1].ns = tag;
  }
  for (unsigned ns = 0; ns <= NAMESPACES; ns++) {
    place(&places.wake[ns], APROF_SITE_WAKE, "wake", ns, 0);
    place(&places.end[ns], APROF_SITE_END, "end", ns, 0);
    places.wake[ns].ns = places.end[ns].ns = ns < NAMESPACES ? 0x1000u + ns : APROF_NS_ANY;
  }
}

void places_init(void) {
  if (names_used)
    return;
  place(&places.primer, APROF_SITE_FUNCTION, "primer", 0, 0);
  places.primer.model = APROF_MODEL_STACK;
  place_functions();
  for (unsigned i = 0; i < AWAITS; i++)
    place(&places.await[i], APROF_SITE_AWAIT, "await", i, 0);
  for (unsigned i = 0; i < NAMES; i++)
    place(&places.names[i], APROF_SITE_AWAIT, "names", i, APROF_NAMES);
  for (unsigned i = 0; i < CALLS; i++)
    place(&places.call[i], APROF_SITE_CALL, "call", i, 0);
  for (unsigned i = 0; i < RETURNS; i++)
    place(&places.back[i], APROF_SITE_RETURN, "return", i, 0);
  for (unsigned i = 0; i < 2; i++)
    place(&places.idle[i], APROF_SITE_IDLE, "idle", i, 0);
  place_keyed();
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

bool op_opens(enum op_kind kind) {
  return kind == OP_ENTER || kind == OP_SUSPEND || kind == OP_CREATE_BEGIN ||
         kind == OP_RUN_BEGIN || kind == OP_IDLE_BEGIN;
}

bool op_closes(enum op_kind kind) {
  return kind == OP_LEAVE || kind == OP_RESUME || kind == OP_DUE || kind == OP_CREATE_END ||
         kind == OP_RUN_END || kind == OP_IDLE_END || kind == OP_RESYNC;
}

static const char *how_name(unsigned how) {
  static const char *const names[] = {"done", "failed", "cancelled", "pending", "polled"};
  return how < 5 ? names[how] : "?";
}

const char *op_name(enum op_kind kind) {
  static const char *const names[OP_KINDS] = {
      "nop", "enter", "leave", "suspend", "resume", "at",    "create", "due",          "created",
      "run", "ran",   "wake",  "end",     "idle",   "idled", "resync", "wake_current", "end_current",
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
  if (op->kind == OP_CREATE_END || op->kind == OP_RUN_BEGIN || op->kind == OP_WAKE ||
      op->kind == OP_END)
    fprintf(file, " key=%llx,%llx", (unsigned long long)op->key0, (unsigned long long)op->key1);
  if (op->kind == OP_DUE)
    fprintf(file, " in %llu", (unsigned long long)op->key0);
  if (op->kind == OP_CREATE_END && !op->ok)
    fprintf(file, " not ok");
  if (op->kind == OP_LEAVE || op->kind == OP_RUN_END || op->kind == OP_END ||
      op->kind == OP_END_CURRENT)
    fprintf(file, " %s", how_name(op->how));
  fputs(op->dropped ? " (dropped)\n" : "\n", file);
}

void program_print(FILE *file, const struct program *program) {
  fprintf(file, "program %llu: %u threads, %u events\n", (unsigned long long)program->seed,
          program->threads, program->count);
  for (uint32_t i = 0; i < program->count; i++)
    if (!program->ops[i].dropped || program->ops[i].dt)
      op_print(file, &program->ops[i], i);
}
