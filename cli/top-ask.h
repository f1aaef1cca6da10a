/* SPDX-License-Identifier: MIT */
/*
 * Questions that `aprof top' asks of a process while their page is looked at.
 *
 * In: what is looked at. Out: the answer of about each second (top_look.answer); the recording that
 * it needs is on while the page is open, and off without it. Cost: inquiry.h. Locking: none.
 */
#ifndef APROF_CLI_TOP_ASK_H
#define APROF_CLI_TOP_ASK_H

#include "show/top.h"

struct top_ask;

struct top_ask *top_ask_new(void);
void top_ask_free(struct top_ask *);
/* Begins, takes, asks and ends, as the look wants it; gives it the answer. `opened`: top_opened. */
void top_ask_look(struct top_ask *, struct top_look *, const struct top_process *opened,
                  uint64_t now);
/* Can be read when something has come; -1: nothing will. */
int top_ask_fd(const struct top_ask *);

#endif
