/* SPDX-License-Identifier: MIT */
/* What an argument was when its function began, as its caller has it. Cost: a frame is unwound.
   Locking: none. */
#ifndef APROF_PROBE_ENTRY_H
#define APROF_PROBE_ENTRY_H

#include "location.h"

/* What the register that `op`, a DW_OP_entry_value of the attribute, is about had when the function
   began. Why that is not known, or NULL. */
location_entry entry_value;

#endif
