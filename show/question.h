/* SPDX-License-Identifier: MIT */
/*
 * What is asked of a live process while somebody looks on: which questions there are, their
 * answers, and what the recording behind them costs.
 *
 * In: a story. Out: what the command of the question prints, as text or JSON.
 * Cost: that of the answer. Locking: none.
 */
#ifndef APROF_SHOW_QUESTION_H
#define APROF_SHOW_QUESTION_H

#include "ask/requests.h"
#include "outputs.h"

struct question {
  const char *name;        /* "tail" */
  const char *title;       /* "TAIL" */
  const char *about;       /* "why are the slowest slow?" */
  const struct output *of; /* whose answer it is; NULL: show/cpu.h's */
};

enum question_number {
  QUESTION_TAIL,
  QUESTION_BLAME,
  QUESTION_PATHS,
  QUESTION_PATH,
  QUESTION_CPU, /* takes samples, too */
  QUESTIONS,
  QUESTION_PROBE = QUESTIONS /* of a function, which takes no recording */
};
extern const struct question questions[QUESTIONS];
/* NULL: there is none. */
const struct question *question_named(const char *name);

/* What is asked of single requests, and of what runs. */
struct question_about {
  const char *kind;     /* of requests, the name itself, no pattern; NULL: all */
  const char *function; /* only beneath it, where the question is of that; NULL: all */
};
/* Writes the answer. 0, or what an output returns after a message. */
int question_answer(const struct question *, const struct story *, const struct question_about *,
                    bool json, FILE *out);

/* The same, of those that a filter takes, with its patterns. */
int question_answer_of(const struct question *, const struct story *, const struct request_filter *,
                       bool json, FILE *out);

/* A recording that goes on. */
struct question_state {
  uint64_t elapsed;    /* ns since it began */
  uint64_t per_second; /* events, lately */
  uint64_t lost;       /* events, of all since it began */
  uint64_t of_cpu; /* of a processor, what recording and answering take: 1000000 is all of one */
  double share;    /* of the requests that begin, which is recorded; 1: all */
  char samples[96]; /* ", 1.2k samples": of recordings that take some; or "" */
};

/* "recording 12.3k events/s, 0 lost, 5% of the requests; it takes 2.1% of a CPU"; of turn_text. */
const char *question_cost(const struct question_state *);

#endif
