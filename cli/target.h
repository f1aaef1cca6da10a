/* SPDX-License-Identifier: MIT */
/*
 * From what a user names, a TARGET, to an open profile.
 *
 * In: a PID, a path, the name of processes, a core, or nothing. Out: the profile that is meant, or
 * the list of those that may be.
 * Cost: a name looks at every profile there is. Locking: none.
 */
#ifndef APROF_CLI_TARGET_H
#define APROF_CLI_TARGET_H

#include "find.h"

/* `target` is a PID, the path of a profile, or what a process is called: a live one or, where there
   is none, one that has left its profile. Where several are called so they are listed, and the
   command ends (CLI_USAGE). A core stands for the profile that its process has left; NULL for
   the only live process: where there is none, or more, they are listed as by `aprof list', and the
   command ends. False after a message. `writable` asks for a descriptor that can be
   mapped for writing; where that is refused and not needed (`writable` false), it is read only. */
bool find_profile(const char *target, bool writable, struct found *found);
/* Whether that names processes, and no totals: a number, a name, the file of a program, a core. */
bool is_of_processes(const char *target);
/* A file that begins as a profile does. */
bool is_profile(const char *path);

#endif
