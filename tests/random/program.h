/* SPDX-License-Identifier: MIT */
/*
 * A random async program: a list of events as the plugin would emit them.
 *
 * Purpose: what the generator writes, what the model and the runtime are both
 * driven by, and what a failing seed prints. Time passes between events only:
 * each op advances the virtual clock by `dt` before its event.
 * Cost: none that matters. Locking: a program is constant once generated.
 *
 * Tokens lie where they would in a real program: cell `depth` of C stack
 * `strand` (the threads' own stacks first, then coroutines'), so cells are used
 * again and again. As in instrumented code, an opening event finds its token
 * zeroed, also if it does not come, and a closing one leaves it as it is.
 */
#ifndef TESTS_RANDOM_PROGRAM_H
#define TESTS_RANDOM_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "aprof/abi.h"

enum op_kind {
  OP_NOP, /* only lets time pass */
  OP_ENTER,
  OP_LEAVE,
  OP_SUSPEND,
  OP_RESUME,
  OP_AT,
  OP_CREATE_BEGIN,
  OP_DUE,        /* in the bracket, when: key0 ns after that began */
  OP_CREATE_KEY, /* ... its key, before it closes */
  OP_CREATE_END,
  OP_RUN_BEGIN,
  OP_RUN_END,
  OP_WAKE,
  OP_END,
  OP_IDLE_BEGIN,
  OP_IDLE_END,
  OP_RESYNC,
  OP_WAKE_CURRENT,
  OP_END_CURRENT,
  OP_SPAN_BEGIN,
  OP_SPAN_END,
  OP_LABEL, /* by a key, ... */
  OP_LABEL_CURRENT,
  OP_ABOUT,   /* ... a token, of a future that is being created or has just begun to run */
  OP_RUN_FOR, /* behind run_begin; site: of the key that it is for */
  OP_OFF,     /* of the program itself: profiling goes off, on, starts from zero */
  OP_ON,
  OP_RESET,
  OP_KINDS
};

struct op {
  uint8_t kind;                /* enum op_kind */
  uint8_t thread;              /* 0 is the main thread */
  uint8_t how;                 /* enum aprof_how: leave, run_end, end */
  uint8_t ok;                  /* create_end */
  uint8_t record;              /* enum program_record: before it */
  bool dropped;                /* a mutation: the event does not come, only its time passes */
  bool tidies;                 /* does not come in the last round */
  uint32_t dt;                 /* ns that pass before it */
  uint32_t token;              /* cell of its token: strand * PROGRAM_DEPTH + depth */
  struct aprof_site *site;     /* NULL where the event has none */
  struct aprof_site *function; /* create_begin, run_begin; may be NULL */
  const void *self;            /* enter, create_begin (fn), run_begin; may be NULL */
  const char *label;           /* label, label_current, about; NULL: none */
  uint64_t key0, key1;
};

/* Half of all programs are traced and recorded, half of these from their first event on; a quarter
   into two files. Of these no two threads have events at one moment: which came first is in no
   event, but where one of them could not. */
enum program_record { RECORD_NOTHING, RECORD_BEGINS, RECORD_ROTATES };

enum program_trace { TRACE_NOTHING, TRACE_ALL, TRACE_SOME /* requests */ };

#define PROGRAM_MAX 1024u
#define PROGRAM_THREADS 4u
#define PROGRAM_STRANDS 24u
#define PROGRAM_DEPTH 24u

/* What a program has beyond futures. */
enum flavour {
  FLAVOUR_PLAIN,
  FLAVOUR_ROOTS,    /* requests that the program begins; spans, labels, tiers */
  FLAVOUR_IMPLICIT, /* ... that begin behind background waits */
  FLAVOUR_STACKS,   /* no requests; coroutines that call bodies and wait there, again and again */
  FLAVOUR_ANY       /* all that a gate may be told, more than the model knows; see alike.h */
};

struct program {
  uint64_t seed;
  enum flavour flavour;
  uint32_t most; /* requests that are followed at a time */
  uint32_t count;
  uint32_t threads;
  uint32_t shed;             /* enum aprof_step of all its threads */
  uint32_t rounds;           /* it comes so often, one after the other */
  bool general;              /* no event of it is a fast one */
  enum program_trace traced; /* from its first event on, into rings that nobody reads meanwhile */
  struct op ops[PROGRAM_MAX];
};

/* The static places of all random programs, by role. Names are unique. */
#define FUNCTIONS 8u /* of each model */
#define AWAITS 6u
#define NEWS 2u /* awaits for new work */
#define NAMES 2u
#define CALLS 6u
#define RETURNS 4u
#define NAMESPACES 3u
#define CREATES 16u /* of each keyed namespace; see program.c */
#define CREATES_PLAIN 9u
#define SPANS 6u
#define TIERS 4u /* by name; number 0: none */
#define RUNS 2u
#define NS_ORPHAN 2u /* the namespace without create lines */
/* ... and what only FLAVOUR_ANY has. */
#define NS_TUPLE (NAMESPACES + 1) /* of keys that futures may have side by side */
#define NAMESPACES_ALL (NS_TUPLE + 1)
#define AWAITS_ALL (AWAITS + 2)   /* a worker's, a helper's */
#define CREATES_ALL (CREATES + 2) /* keyless ones */
#define RUNS_ALL (RUNS + 3)       /* own, worker, polling */

struct places {
  struct aprof_site primer; /* the first event of each thread */
  struct aprof_site stack[FUNCTIONS], frame[FUNCTIONS], callback[FUNCTIONS];
  struct aprof_site await[AWAITS_ALL], news[NEWS], names[NAMES], call[CALLS], back[RETURNS];
  struct aprof_site idle[2];
  struct aprof_site create[NAMESPACES_ALL][CREATES_ALL];
  struct aprof_site run[NAMESPACES_ALL][RUNS_ALL];             /* [0] plain or orphan, [1] quiet */
  struct aprof_site wake[NAMESPACES_ALL], end[NAMESPACES_ALL]; /* [NAMESPACES]: any */
  struct aprof_site hand[NAMESPACES_ALL], label[NAMESPACES_ALL];
  struct aprof_site unreturned[NAMESPACES_ALL]; /* ends whose call does not return */
  struct aprof_site span[SPANS], tier[TIERS];
};
extern struct places places;

/* Fills `places`. Idempotent. */
void places_init(void);

/* The address that stands for the body of a function site. */
const void *place_address(const struct aprof_site *function);
/* The function site whose body has this address, or NULL. */
struct aprof_site *place_of_address(const void *address);

/* Is a wait of that function, at the place of this name, one for new work? */
bool place_in_background(const struct aprof_site *function, const char *name);

/* The number of a site's tier, and its name. */
unsigned place_tier(const struct aprof_site *site);
const char *tier_name(unsigned tier);

/* A program from a seed: the same one on every machine. */
void program_generate(struct program *program, uint64_t seed, enum flavour flavour);

/* Says where it is recorded: of a program that has all its events. */
void program_record(struct program *program);

bool op_opens(enum op_kind kind);
bool op_closes(enum op_kind kind);

const char *op_name(enum op_kind kind);
void op_print(FILE *file, const struct op *op, uint32_t number);
void program_print(FILE *file, const struct program *program);

#endif
