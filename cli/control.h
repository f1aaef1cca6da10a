/* SPDX-License-Identifier: MIT */
/*
 * What commands share that write to the profile of a live process.
 *
 * Cost: a few system calls. Locking: control_lock of the profile, where epochs change.
 */
#ifndef APROF_CLI_CONTROL_H
#define APROF_CLI_CONTROL_H

#include "target.h"

/* It is ours, alive, and has a header. False after a message. */
bool control_may(const struct found *);
/* Its header, to be unmapped; `writable`: and to be written to. NULL after a message. */
struct aprof_header *control_map(const struct found *, bool writable);
/* Says who keeps the switch (switch_lock). */
void control_busy(const struct found *, const struct aprof_header *);
/* For SIGBUS: the owner of the file has cut it while it was mapped here. Ends the command. */
void control_bus_error(int number);

#endif
