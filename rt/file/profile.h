/* SPDX-License-Identifier: MIT */
/* The profile file; see profile.c. All of these are slow paths. */
#ifndef APROF_RT_PROFILE_H
#define APROF_RT_PROFILE_H

#include "rt/rt.h"

bool profile_reserve(void);          /* address range, with a header page that says "on" */
bool profile_keep_range(void);       /* in a child, before others take it; false: they have */
void profile_cover(void);            /* where it is not mapped in what should share our memory */
bool profile_open(void);             /* makes the file and maps it over the range */
bool profile_commit(uint64_t until); /* backs [0, until) with memory; rt.lock held */
void profile_note_refused(struct aprof_header *h); /* what rt.refused says */
bool profile_fd_ok(void);                          /* is rt.fd still the profile */
void profile_remove(void);                         /* its file, if the path still leads to it */
void profile_abandon(void);                        /* after fork: let go of the parent's */
void profile_none(void);                           /* the gates' flag is off, for good */
/* For a child that is forked inside an event: all that there is, outside the range. */
struct profile_copy {
  void *at; /* NULL: none */
  uint64_t size;
};
void profile_copy(struct profile_copy *copy);         /* in the parent, before */
void profile_copy_release(struct profile_copy *copy); /* in the parent, behind it */
bool profile_copy_use(struct profile_copy *copy);     /* in the child, for abandon; false: none */
int profile_reopen(void); /* a descriptor where the program closed ours; or -1 */

#endif
