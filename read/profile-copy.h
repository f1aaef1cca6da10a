/* SPDX-License-Identifier: MIT */
/*
 * The profile reader, between its files: profile-open.c opens, profile-file.c reads,
 * profile-copy.c copies (with profile-named.c), profile-access.c finds what is in the copy.
 * Cost, locking: see profile.h.
 */
#ifndef APROF_READ_PROFILE_COPY_H
#define APROF_READ_PROFILE_COPY_H

#include "profile.h"

/* Reads what is there of [offset, offset + length); the rest stays as it is. */
size_t profile_read_at(int fd, void *to, size_t length, uint64_t offset);

/* Fills the copy, or brings it up to date: of blocks whose sequence has not moved nothing is
   looked at. `tries`: so often a live process may have had events meanwhile. */
void profile_fill(struct profile *, int fd, bool live, int tries);

/* Makes the tables by number of what was copied. */
void profile_index(struct profile *);

#endif
