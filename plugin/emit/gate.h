/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The gate: the one variable per module through which events leave (abi.h).
 *
 * Purpose: defines the gate (APROF_GATE) and the unit's constructor when the first event
 * of the unit is emitted, and builds the accesses to its fields. All units of
 * a module define the gate, in a COMDAT group: the linker keeps one.
 * Cost: 250 bytes of data and one small constructor per unit with events.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_GATE_H
#define APROF_PLUGIN_GATE_H

#include <aprof/abi.h>

#include "plugin/gcc.h"

namespace aprof {

/* Event::enter and so on: the rows of <aprof/event-table.h>. */
enum class Event {
#define EVENT(with, role, name, parameters, arguments) name,
  APROF_GATE_EVENTS(EVENT, 0)
#undef EVENT
};

/* The variable, defined in this unit from the first call on. */
tree gate();

/* gate.flag, .closed, .abi, .tried and so on by name. */
tree gate_field(const char *name);
/* gate.EVENT, a pointer to a function. */
tree gate_event(Event);

/* Is it that, and of which event? */
bool is_gate_event(tree, Event *);

/* The code refers to the gate that <aprof.h> declares. */
bool refers_to_user_gate(tree t);

/* What emits the unit's constructor, as soon as the gate is there. */
void gate_constructor(void (*emit)());

} // namespace aprof

#endif
