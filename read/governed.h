/*
 * Governed overhead, as it is read: what each thread had shed, for how much of its
 * time, and which numbers of which functions that concerns.
 *
 * Purpose: the one place that knows enum aprof_step beside the runtime. Totals have
 * it by thread and by function (governed.c); the report marks each number concerned
 * with a `~' (governed-read.c).
 * Cost: linear in threads and counters. Locking: none.
 */
#ifndef APROF_READ_GOVERNED_H
#define APROF_READ_GOVERNED_H

#include "model.h"
#include "view.h"

/* By enum aprof_step: in JSON, and in words. */
struct governed_step {
  const char *name, *shown;
};
extern const struct governed_step governed_steps[APROF_STEPS];

/* What is shed at each of these steps is so at all before it. */
unsigned governed_and_before(unsigned shed);

/* What its events cost a thread, in ns: by the step and path that each took. */
uint64_t governed_cost(const struct model *m, const struct aprof_block *b);

/* Totals: the member "governed"; "shed" of a thread. */
cJSON *governed_object(const struct model *m);
void governed_thread(const struct model *m, cJSON *object, const struct aprof_block *b);
/* What the numbers of a function lack: bits of 1 << enum aprof_step. */
unsigned governed_concern(const struct model *m, const struct model_function *f);
/* Such bits, as the member "shed". */
void governed_add(cJSON *object, unsigned shed);

/* Read back: the bits of a member "shed"; what a thread had shed when. */
unsigned governed_read(const cJSON *object);
void governed_read_thread(const cJSON *object, struct view_thread *);
/* What each thread, and the whole, has shed, once they are read or subtracted. */
void governed_settle(struct view *);
/* From this step on the longest of anything may not be known. Between two totals that of the
   first may be longer: then a histogram has those of the interval. */
enum aprof_step governed_maxima(const struct view *);
/* For so long of its time the longest hold of the thread could not be seen, ns. */
uint64_t governed_unseen(const struct view *, const struct view_thread *);

#endif
