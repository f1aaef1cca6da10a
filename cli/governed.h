/*
 * Governed overhead, as it is read: what each thread had shed, for how much of its
 * time, and which numbers of which functions that concerns.
 *
 * Purpose: the one place that knows enum aprof_step beside the runtime. Totals have
 * it by thread and by function; the report marks each number concerned with a `~'.
 * Cost: linear in threads and counters. Locking: none.
 */
#ifndef APROF_CLI_GOVERNED_H
#define APROF_CLI_GOVERNED_H

#include "model.h"
#include "reading.h"

#include <stdio.h>

/* What its events cost a thread, in ns: by the step and path that each took. */
uint64_t governed_cost(const struct model *m, const struct aprof_block *b);

/* Totals: the member "governed"; "shed" of a thread and of a function. */
cJSON *governed_object(const struct model *m);
void governed_thread(const struct model *m, cJSON *object, const struct aprof_block *b);
void governed_function(cJSON *object, unsigned shed);
/* What the numbers of a function lack: bits of 1 << enum aprof_step. */
unsigned governed_steps(const struct model *m, const struct model_function *f);

/* Read back: the same bits. */
unsigned governed_read(const cJSON *object);

/* The report: a line for each thread that shed something. */
void governed_print(const struct reading *r, FILE *out);
/* `text`, or behind a mark where one of these steps concerns it. */
const char *governed_mark(unsigned shed, enum aprof_step from, const char *text);

#endif
