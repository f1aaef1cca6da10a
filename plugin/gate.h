/*
 * The gate: the one variable per module through which events leave (abi.h).
 *
 * Purpose: defines __aprof_gate and the unit's constructor when the first event
 * of the unit is emitted, and builds the accesses to its fields. All units of
 * a module define the gate, in a COMDAT group: the linker keeps one.
 * Cost: 250 bytes of data and one small constructor per unit with events.
 * Locking: none.
 */
#ifndef APROF_PLUGIN_GATE_H
#define APROF_PLUGIN_GATE_H

#include "gcc.h"

namespace aprof {

/* The fields that hold events, in the order of abi.h. */
enum class Event {
  Enter,
  Leave,
  Suspend,
  Resume,
  At,
  CreateBegin,
  CreateEnd,
  RunBegin,
  RunEnd,
  Wake,
  End,
  IdleBegin,
  IdleEnd,
  Resync,
  WakeCurrent,
  EndCurrent,
  /* Behind those of <aprof.h>: */
  SwitchTo,
  Due,
  BlockingBegin,
  BlockingEnd,
  CreateKey,
  Here
};

/* __aprof_gate, defined in this unit from the first call on. */
tree gate();

/* __aprof_gate.flag, .closed, .abi, .tried and so on by name. */
tree gate_field(const char *name);
/* __aprof_gate.EVENT, a pointer to a function. */
tree gate_event(Event);

/* The code refers to the gate that <aprof.h> declares. */
bool refers_to_user_gate(tree t);

/* attach.cc: the unit's constructor. */
void emit_constructor();
bool is_own_constructor(tree function);

} // namespace aprof

#endif
