/* SPDX-License-Identifier: MIT */
/*
 * Totals that the program hears of (aprof_on_totals); see totals.c.
 *
 * Cost: one thread that sleeps, where somebody asked to be told; else none.
 */
#ifndef APROF_RT_TOTALS_H
#define APROF_RT_TOTALS_H

#include "rt/rt.h"

/* One thread at a time; not async-signal-safe. */
int api_totals(aprof_totals_callback callback, void *arg);

/* Totals of now, whoever is told. -1: there are none. Async-signal-safe. */
int totals_request(void);

void totals_forget(void); /* in a child: the thread is not there */

#endif
