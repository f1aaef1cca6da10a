/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Event code: pieces of GIMPLE that call through the gate.
 *
 * Purpose: the shapes that call.cc and body.cc put around statements.
 *
 *     open:   tok.word[0] = 0;
 *             if (*gate.flag != 0) { tok.word[1] = tok.word[2] = 0; EVENT (site, &tok); }
 *     close:  if (tok.word[0] != 0) EVENT (&tok);
 *
 * Statements are built as trees without a location, so that breakpoints and
 * warnings stay with the program's own code, and gimplified in place.
 * Cost: off, one load of the flag (and one of the token) and a branch each.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_EMIT_H
#define APROF_PLUGIN_EMIT_H

#include "gate.h"
#include "plugin/gcc.h"

namespace aprof {

/* A local variable of the current function; `*chain` is the list of the bind
   that will hold it. */
tree new_local(tree type, const char *name, tree *chain);

/* A token (struct aprof_token). */
tree new_token(tree *chain);
/* ... for as long as the function itself: what returns twice finds it again. */
tree new_lasting_token();
/* tok.word[0] != 0, expected not to be. */
tree token_open(tree token);
/* tok.word[0] = 0; the two others an opening event fills. */
tree clear_token(tree token);
tree address_of(tree variable);

/* *gate.flag != 0, expected not to be. */
tree gate_enabled();
/* gate.EVENT (arguments...), which never throws. */
tree call_event(Event, const std::vector<tree> &arguments);

tree assign(tree variable, tree value);
tree if_then(tree condition, tree then);
tree number(int value);
/* Appends, where `what` is something. */
void append(tree *list, tree what);

/* Appends the statements of a tree, gimplified, to a sequence. */
void lower_onto(gimple_seq *sequence, tree statements);

/* { variables; body } with tokens dead at its end, to share their stack slots. */
gimple *bind_of(tree variables, gimple_seq body, const std::vector<tree> &tokens);

/* body, and whatever way it is left: cleanup. */
gimple_seq try_finally(gimple_seq body, gimple_seq cleanup);

} // namespace aprof

#endif
