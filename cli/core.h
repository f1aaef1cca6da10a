/* SPDX-License-Identifier: MIT */
/*
 * From the core of a process to the profile that it has left.
 *
 * Cost: the core's notes are read, and where they do not name the profile the directories of
 * profiles. Locking: none.
 */
#ifndef APROF_CLI_CORE_H
#define APROF_CLI_CORE_H

#include <stdbool.h>

bool core_is(const char *path);
/* The path of the profile; NULL after a message. free() it. */
char *core_profile(const char *path);

#endif
