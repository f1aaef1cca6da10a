/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What lines tell of requests: labels, traceparents, whose request it is.
 *
 * Purpose: the events between or behind those that open a bracket, and those of the verb `label`:
 *     label=, token=   about (&tok, ...)        of create, async, request, run
 *     sample=          about (&tok, LEFT_OUT)   where it does not hold
 *     for=             run_for (&tok, key...)   of run
 *     value=           label (site, key..., value) or label_current (site, value)
 *     token>           token_out (buffer)
 * The names of an enum's constants are a switch where they are asked for.
 * Cost: what the values cost, behind the gate's flag. Locking: none.
 */
#ifndef APROF_PLUGIN_TOLD_H
#define APROF_PLUGIN_TOLD_H

#include "value.h"

namespace aprof {

/* Which of label= and token=: those that are known before the call, or behind it only. */
enum class Known { Before, Behind };

/* Each is statements or null, where there is nothing to do and after an error; `*variables` is the
   list of the bind that will hold them. */
tree about_events(const Binding &, const Frame &, tree token, Known, tree *variables);
tree run_for_event(const Binding &, const Frame &, tree token);
tree label_event(const Binding &, const Frame &, const std::string &name, tree *variables);
tree token_out_event(const Binding &, const Frame &);

} // namespace aprof

#endif
