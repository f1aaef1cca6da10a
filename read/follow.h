/* SPDX-License-Identifier: MIT */
/*
 * A live profile, read again and again.
 *
 * In: a profile. Out: a view whenever one is wanted. The host does not notice: its file is
 * read, and nothing is written but the clock's rate, once, as by any reader.
 * Cost: the first view is that of view_of_profile; a further one is what was written meanwhile, and
 * a walk over paths. Locking: none.
 */
#ifndef APROF_READ_FOLLOW_H
#define APROF_READ_FOLLOW_H

#include "view.h"

struct follow;

/* Of the profile open as `fd`, which has to stay so. NULL after a message where it cannot be
   read. */
struct follow *follow_new(int fd, const char *what);
void follow_free(struct follow *);
/* As it is now, with all threads. `ended`: its process has; time stands still then. NULL after a
   message. */
struct view *follow_view(struct follow *, const struct view_request *, bool ended);

#endif
