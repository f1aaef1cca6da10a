/* SPDX-License-Identifier: MIT */
/*
 * The general events: what fast ones go on in, and gates hold where there are none.
 */
#ifndef APROF_RT_GENERAL_H
#define APROF_RT_GENERAL_H

#include "rt/rt.h"

/* general_enter and so on. */
#define DECLARE(with, role, name, parameters, arguments) void general_##name parameters;
APROF_GATE_EVENTS(DECLARE, 0)
#undef DECLARE

#endif
