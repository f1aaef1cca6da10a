/* SPDX-License-Identifier: MIT */
/*
 * A small model checker for what threads share.
 *
 * Purpose: a protocol of rt/ is written down once more as a few instructions a thread; all ways in
 * which they may run are tried. Stores wait in a buffer of their thread and become visible in any
 * order but that of one word, unless a fence lies between: what processors with partial store order
 * do, and compilers. (x86 keeps the order of stores; for it the fences are those of the compiler.)
 * Loads are in order. A thread may be killed at any instruction: what its buffer holds is lost
 * then, as are stores that the compiler had put behind the one that it was killed at. The idea of
 * buffers as part of the state is that of Park and Dill (SPAA 1995).
 */
#ifndef APROF_TESTS_LITMUS_H
#define APROF_TESTS_LITMUS_H

#include <stdbool.h>
#include <stdint.h>

enum { WORDS = 8, REGISTERS = 4, THREADS = 3, STEPS = 40 };

enum litmus_what {
  L_END,    /* of a thread */
  L_STORE,  /* word = value */
  L_PUT,    /* word = register + value */
  L_LOAD,   /* register = word */
  L_CAS,    /* register = (word == expected) and then word = value; a full barrier */
  L_SWAP,   /* register = word, word = value; a full barrier */
  L_FENCE,  /* stores before it become visible before those behind it */
  L_FULL,   /* ... before anything behind it */
  L_SETTLE, /* what other threads have stored so far becomes visible before anything behind it */
  L_IF,     /* register == value: on at the label */
  L_UNLESS,
  L_GOTO,
  L_LABEL,
  L_KILLED, /* waits until thread 0 is killed, or ends */
};
struct litmus_step {
  enum litmus_what what;
  uint8_t word, reg;
  uint8_t value, expected;
};
#define ST(w, v)                                                                                   \
  { .what = L_STORE, .word = (w), .value = (v) }
#define PUT(w, r, v)                                                                               \
  { .what = L_PUT, .word = (w), .reg = (r), .value = (v) }
#define LD(r, w)                                                                                   \
  { .what = L_LOAD, .word = (w), .reg = (r) }
#define CAS(r, w, e, v)                                                                            \
  { .what = L_CAS, .word = (w), .reg = (r), .expected = (e), .value = (v) }
#define SWAP(r, w, v)                                                                              \
  { .what = L_SWAP, .word = (w), .reg = (r), .value = (v) }
#define FENCE                                                                                      \
  { .what = L_FENCE }
#define FULL                                                                                       \
  { .what = L_FULL }
#define SETTLE                                                                                     \
  { .what = L_SETTLE }
#define IF(r, v, label)                                                                            \
  { .what = L_IF, .reg = (r), .expected = (v), .value = (label) }
#define UNLESS(r, v, label)                                                                        \
  { .what = L_UNLESS, .reg = (r), .expected = (v), .value = (label) }
#define GOTO(label)                                                                                \
  { .what = L_GOTO, .value = (label) }
#define LABEL(n)                                                                                   \
  { .what = L_LABEL, .value = (n) }
#define KILLED                                                                                     \
  { .what = L_KILLED }

/* When all threads have ended: all words as they are visible, all registers. */
struct litmus_end {
  const uint8_t *word;
  const uint8_t (*reg)[REGISTERS];
};
struct litmus {
  const char *name;
  bool kills;          /* thread 0 may be killed at any instruction */
  uint8_t word[WORDS]; /* at first */
  struct litmus_step thread[THREADS][STEPS];
  bool (*holds)(struct litmus_end end);
};

/* All ways of it, with its `without`-th barrier (FENCE, FULL, SETTLE; in the order of threads and
   steps) left out; -1: with all. How many ends were found, and in how many it did not hold. */
struct litmus_found {
  uint32_t ends, broken;
};
struct litmus_found litmus_try(const struct litmus *l, int without);
int litmus_barriers(const struct litmus *l);

#endif
