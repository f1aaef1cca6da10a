/* SPDX-License-Identifier: MIT */
/*
 * What rules have found.
 *
 * Purpose: a finding is made step by step, and kept; comments in the source that say it is meant
 * leave it out. Cost: the source of each finding is read once. Locking: none.
 */
#ifndef APROF_CHECK_FINDINGS_H
#define APROF_CHECK_FINDINGS_H

#include "rules.h"

#define PRINTF(text, args) __attribute__((format(printf, text, args)))

const char *say(struct program *, const char *format, ...) PRINTF(2, 3);
/* Valid until the next one begins. */
struct check_finding *finding_begin(struct program *, const struct rule *, const char *file,
                                    unsigned line, const char *word);
void finding_note(struct program *, struct check_finding *, const char *file, unsigned line,
                  const char *format, ...) PRINTF(5, 6);
/* " through 'ops.read', one of 3"; empty of a call by name. */
const char *call_through(struct program *, const struct ir_step *);
/* Why this body is asynchronous, as a note. */
void finding_why(struct program *, struct check_finding *, const struct ir_function *);
/* The await that the step comes to, each call a note. */
void finding_await(struct program *, struct check_finding *, const struct ir_function *in,
                   const struct ir_step *);
void trouble_add(struct program *, const char *file, unsigned line, const char *text);
void pointer_add(struct program *, const char *file, unsigned line, const char *text);

/* By file and line, each once, without those that are meant. */
void findings_settle(struct program *);

#endif
