/* SPDX-License-Identifier: MIT */
/*
 * Findings, between the files that make them.
 *
 * Purpose: findings.c reads the sums of functions and of the whole process,
 * findings-spin.c who spins, findings-live.c what is alive, findings-miss.c what could not be
 * placed. What each kind means: aprof-report(1). Cost: linear in functions and futures listed.
 * Locking: none.
 */
#ifndef APROF_ASK_FINDINGS_H
#define APROF_ASK_FINDINGS_H

#include "ask.h"

struct findings {
  struct finding *finding;
  size_t count, room;
};

/* Takes the finding's text and place. */
void findings_add(struct findings *, struct finding);
/* "file:line", to be freed; NULL where there is no file. */
char *findings_place(const char *file, uint64_t line);

/* A function that takes the processor and gets nowhere; findings-spin.c. */
void findings_of_spinning(struct findings *, const struct view *, const struct view_function *,
                          uint64_t elapsed, const struct ask_limits *);

/* Who holds the loop now, stuck ones, those that never ran, and those left at exit. */
void findings_of_live(struct findings *, const struct view *, const struct ask_limits *);

/* Events that could not be placed, and keys used again, by place. */
void findings_of_misses(struct findings *, const struct view *);

#endif
