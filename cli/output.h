/* SPDX-License-Identifier: MIT */
/*
 * Totals, and pictures, into files.
 *
 * Purpose: a file of totals is there whole or not at all: written under a
 * none, or a temporary name in the same directory, then renamed. Whatever ends the
 * command takes what is unfinished along.
 * Locking: none; of two writers about one process the last one stays, and two
 * processes of one name have a file each.
 */
#ifndef APROF_CLI_OUTPUT_H
#define APROF_CLI_OUTPUT_H

#include "show/totals.h"

/*
 * DIR/NAME.PID.json, or DIR/NAME.PID.K.json for the dump of signal K, from what
 * the profile says of its process. NULL after a message where that is no name.
 */
char *output_name(const char *dir, const struct aprof_header *header, uint64_t sequence);

/* For a command that a program starts when it ends: whoever ends programs by SIGTERM or
   SIGHUP means the program, and those it started with it, not its totals. */
void output_in_spite_of_signals(void);

/*
 * Puts the totals of a view at `path`, in the place of whatever has that name: others
 * may have put a pipe, a device or a link there, and nobody waits for them or writes through
 * them. Only where the user has `given` the path it may be one, and written to; "-" is
 * standard output then. Only there, too, are totals of another process that have the name
 * replaced; else these are put beside them. Where they are, to be freed; NULL after a message
 * that names the file and what to do. `fd`: the profile; looked at where the path was not given.
 */
char *output_view(const char *path, bool given, int fd, const struct view *);
/* The same of anything, at a path that the user has given. */
typedef void output_writer(const void *, FILE *out);
bool output_given(const char *path, output_writer *, const void *);
/* Makes the view of a profile, and so on. */
char *output_totals(const char *path, bool given, int fd, const char *what,
                    enum profile_state state, const struct view_request *request);

#endif
