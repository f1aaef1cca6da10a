/* SPDX-License-Identifier: MIT */
/*
 * The inside of the generator: what the program so far has left open.
 *
 * Purpose: generate.c decides what happens next, generator.c writes it down and
 * keeps the piles of open brackets true. Cost: none that matters. Locking: none.
 */
#ifndef TESTS_RANDOM_GENERATOR_H
#define TESTS_RANDOM_GENERATOR_H

#include "program.h"

#define PILE PROGRAM_DEPTH
#define STRANDS PROGRAM_STRANDS
#define KEYS 8

/* An open bracket. */
struct item {
  enum op_kind kind;
  uint32_t cell;
  struct aprof_site *site;
  struct aprof_site *function; /* create: what it will run; run: whose body it is */
  bool switched;               /* run: around a strand that is on top */
  bool outside;                /* span: no future ran */
  bool keyed;                  /* create: its key has been told */
  uint64_t key0, key1;         /* run, create */
};

/* A C stack. Number 0..threads-1: the threads' own; then coroutines. */
struct strand {
  struct item pile[PILE];
  unsigned height;
  bool live, on_thread, started;
  bool keyed; /* resumed in a run bracket */
  unsigned ns;
  uint64_t key;
  struct aprof_site *function;
};

/* A request under way: a callback will run it. */
struct request {
  bool live;
  unsigned ns;
  uint64_t key;
  struct aprof_site *function; /* NULL: unknown to the compiler */
  bool multi;
};

struct generator {
  uint64_t random;
  struct program *program;
  struct strand strands[STRANDS];
  struct request requests[KEYS];
  unsigned towers[PROGRAM_THREADS][STRANDS], tower[PROGRAM_THREADS]; /* strands on a thread */
  unsigned thread;                                                   /* acts now */
  bool switches, off;       /* the program switches profiling off and on; it is off */
  bool any, asks;           /* FLAVOUR_ANY; it has requests */
  struct item closed[PILE]; /* what has been closed lately, whose cells are as they were then */
  unsigned closed_next;
  uint32_t last_suspend[PROGRAM_THREADS]; /* 1 + its cell, if it was the last event there */
};

unsigned below(struct generator *g, unsigned n);
bool chance(struct generator *g, unsigned percent);
bool flavoured(const struct generator *g);
uint8_t some_how(struct generator *g);

/* The strand that runs on the acting thread, and its innermost open bracket. */
struct strand *here(struct generator *g);
struct item *top(struct generator *g);
bool running(struct generator *g); /* a future, as the program sees it */
bool room(struct generator *g);
bool full(struct generator *g);
bool is_coroutine(struct generator *g);

/* Writes an event down; opening ones pile up, closing ones take the top away. */
struct op *emit(struct generator *g, enum op_kind kind, struct aprof_site *site);
struct op *emit_open(struct generator *g, enum op_kind kind, struct aprof_site *site);
struct op *emit_close(struct generator *g, enum op_kind kind);
void open_create(struct generator *g, unsigned ns, struct aprof_site *function,
                 const void *address);
void close_create(struct generator *g);
void close_run(struct generator *g, uint8_t how);

/* A free strand, or -1; one comes to the acting thread; the top one leaves it. */
int new_strand(struct generator *g);
void strand_on(struct generator *g, unsigned strand);
void strand_off(struct generator *g, bool finished);

/* One of what only programs with requests do. */
void act_on_requests(struct generator *g);
/* ... of what FLAVOUR_ANY has beyond all others; of its closing events, and runs. */
void act_on_any(struct generator *g);
struct aprof_site *some_run(struct generator *g, unsigned ns);
uint8_t some_pending(struct generator *g);
/* All that the program has made is ended, so that the next round finds nothing. */
void end_all(struct generator *g);
/* What a create's or a body's line may say beyond the key: behind the event that opens it. */
void maybe_about(struct generator *g);

/* A key, mostly a free one, and the other half that goes with it. */
uint64_t some_key(struct generator *g, unsigned ns);
uint64_t second_half(uint64_t key);
/* A callback will run that key. */
void add_request(struct generator *g, unsigned ns, uint64_t key, const struct item *create);

#endif
