/* SPDX-License-Identifier: MIT */
/*
 * The fast events of threads that are traced: the others once more, from the same sources, with
 * what they tell the trace in them (fast-notes.h).
 *
 * While somebody traces no thread is as usual, so the fast event that a gate holds goes on in
 * timed.c, which comes here; from here on it is as there, but that what is out of the ordinary goes
 * on in the general event at once. The ring has the same as if all were general: the random
 * programs run through both.
 */
#define FAST_TRACED

/* -- names of their own ------------------------------------------------------------ */
#ifdef FAST_SOME
#define TRACED(name) some_##name
#else
#define TRACED(name) traced_##name
#endif
#define fast_all TRACED(all)
#define fast_bodies TRACED(bodies)
#define fast_creates TRACED(creates)
#define fast_keyed_runs TRACED(keyed_runs)
#define fast_rest TRACED(rest)
#define fast_spans TRACED(spans)

#include "fast-key.h"

#include "fast-called.c"
#include "fast-close.c"
#include "fast-create.c"
#include "fast-names.c"
#include "fast-rest.c"
#include "fast-run.c"
#include "fast-span.c"
#include "fast-stack.c"
#include "fast.c"

#ifdef FAST_SOME
void fast_some(struct aprof_gate *gate, uint32_t clock) {
#else
void fast_traced(struct aprof_gate *gate, uint32_t clock) {
#endif
  fast_all(gate, clock);
  gate->idle_begin = slow_idle_begin;
  gate->idle_end = slow_idle_end;
}
