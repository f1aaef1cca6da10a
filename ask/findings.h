/* SPDX-License-Identifier: MIT */
/*
 * Findings, between the files that make them.
 *
 * Purpose: each is a file here, finding-NAME.c, that ends in its row, and a row in finding-table.h.
 * It reads the sums of the view, or says which futures alive are such; those alike are one finding.
 * What each means: aprof-report(1). Cost: linear in functions and futures listed. Locking: none.
 */
#ifndef APROF_ASK_FINDINGS_H
#define APROF_ASK_FINDINGS_H

#include "ask.h"

struct findings {
  struct finding *finding;
  size_t count, room;
};

/* A future alive, of a function that is known. */
struct live_case {
  const struct view *view;
  const struct view_live *live;
  const struct view_function *function;
  const struct ask_limits *limits;
};

/* Futures alike: of one function, and created at one place, or `by_await`: at one await. */
struct alike {
  enum finding_kind kind;
  const struct view *view;
  const struct ask_limits *limits;
  const struct view_function *function, *creator;
  const struct view_await *await;
  const char *created_at, *created_by;
  const char *held_by, *held_from; /* see view_live */
  int64_t tid;
  bool ended; /* the process has */
  bool by_await;
  unsigned shed, lacks;
  uint64_t count, least, most; /* ns, in their state */
};

/* What the time of a finding is a part of. */
enum finding_cost {
  COST_NOTHING,
  COST_LOOP,  /* the loop's time */
  COST_HOLDS, /* the same: all holds over the limit, of which its time is the longest */
  COST_LIVES, /* the lives of the function's futures */
};

struct finding_row {
  struct option_row limit; /* its option, without `at`; no name: it has none */
  /* Adds what it finds in sums; NULL: nothing. */
  void (*judge)(struct findings *, const struct view *, const struct ask_limits *);
  /* Whether the future is such a one; it may change least, most and by_await. NULL: none is. */
  bool (*claims)(const struct live_case *, struct alike *);
  enum finding_next next;
  enum finding_cost cost;
  const char *rule;  /* see struct finding */
  bool despite_loss; /* also where events were lost, so that it may have done more than is known */
  /* Fills in the text of those that were claimed (none: no finding), the place if it is not where
     they were created, and other numbers than their time. `by`: ", created by ..." */
  void (*tell)(const struct alike *, const char *by, struct finding *);
};
extern const struct finding_row *const finding_rows[]; /* finding-rows.c */

/* effects.c: whom holds delayed, and which findings that explains. */
void findings_effects(const struct view *, struct finding *, size_t count);
/* cost.c */
struct cost findings_cost(const struct view *, const struct finding *, const struct ask_limits *);

/* findings-live.c: those of futures that go on, or were left. */
void findings_of_live(struct findings *, const struct view *, const struct ask_limits *);

/* evidence.c: what several findings ask. */
/* Takes the finding's text and place. */
void findings_add(struct findings *, struct finding);
/* "file:line", to be freed; NULL where there is no file. */
char *findings_place(const char *file, uint64_t line);
/* How many of the distribution are that long. */
uint64_t findings_longer(const struct distribution *, uint64_t threshold);
/* And their time. */
uint64_t findings_over(const struct distribution *, uint64_t threshold);

/* The path of the await is beneath one of the function's, and no await of its own. */
bool findings_is_beneath(const struct view *, const struct view_path *await, size_t function);

/* How often something must have ended for its p99 to say what is usual. */
enum { USUAL_COUNT = 20 };
/* What is ten times the usual, and the limit at least. */
uint64_t findings_far_beyond(uint64_t usual, uint64_t limit);
/* The p99 of so many that ended; 0 of too few. */
uint64_t findings_p99(uint64_t ended, const struct distribution *);
/* How long a life of that function takes; 0: nobody knows. */
uint64_t findings_usual_life(const struct view_function *);
/* Old, at exit, and waiting for nothing that is still to come. */
bool findings_is_left(const struct live_case *);
/* ", of 100 alive,", or nothing. */
const char *findings_of_alive(const struct alike *);
/* Behind a mark where it lacks something. */
const char *findings_time(const struct alike *, uint64_t time);

/* Whether so much time that loops were late can be the machine's: no more than what others had the
   processors for, or of futures, which are late at once, so many times that. */
enum { MACHINE_TIMES = 4, BUSY_SHARE = 20 };
bool findings_is_machines(const struct view *, uint64_t held, uint64_t queued);
/* The same of so many of those that began late: no greater a part than of the time in which loops
   were kept from a processor. */
bool findings_are_machines(const struct view *, uint64_t late, uint64_t of);

#endif
