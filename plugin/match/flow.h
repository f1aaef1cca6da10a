/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the addresses of functions go, as far as one unit tells.
 *
 *     static void on_tick (void *);          t.handler = on_tick;
 *     void arm (struct timer *t, cb *f)      { t->handler = f; timer_register (t); }
 *
 * Purpose: `| run` parts hold for the bodies that reach fn=, and what is passed
 * there need not be the name of a function: it may be a parameter, a variable or a
 * field, to which functions were assigned before. Places are not told apart by
 * object or time: all that is ever put into a field is in it. A function too many
 * costs a look-up of a key that is not there; one too few is a run not seen.
 * Cost: a few words per assignment of a pointer to a function, asked for by some
 * line only; the paths are followed once, when the unit is parsed.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_FLOW_H
#define APROF_PLUGIN_FLOW_H

#include "lang/binding.h"
#include "plugin/gcc.h"

namespace aprof {

/* The functions that `value` may be, by reading it. */
void functions_in(tree value, std::vector<tree> *functions);

/* The functions that a call of `function` may return. */
const std::vector<tree> &returned_by(tree function);

/* While parsing. `place` is an expression or a declaration that is assigned, `where`
   the statement that does it. */
void flow_into(tree place, tree value, location_t where);
void flow_into_argument(tree callee, int index, tree value, location_t where);
void flow_out_of(tree function, tree value, location_t where);

/* What is in this place, or is this value, gets the `| run` of `create`, a line about
   calls of `callee` (may be null). */
void flow_reaches(tree place, const Binding *create, tree callee, location_t where);

/* A function reaches the fn= of a line that has such a `| run`. */
struct Reach {
  const Binding *create;
  tree callee;      /* of the create, or null */
  location_t where; /* the function is named there */

  /* One for each line, the first. */
  bool operator==(const Reach &other) const { return create == other.create; }
};

/* Once the unit is parsed: all of a function, one for each line. */
const std::vector<Reach> &reaches_of(tree function);

} // namespace aprof

#endif
