/* SPDX-License-Identifier: MIT */
/*
 * After a run: the totals of processes that could not write their own.
 *
 * Purpose: makes totals (reason "recovered") of every profile left in a
 * directory and removes those profiles; and knows which totals a run wrote.
 * Cost: waits up to RECOVER_WAIT_S for dumps that are under way.
 * Locking: none.
 */
#ifndef APROF_CLI_RECOVER_H
#define APROF_CLI_RECOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

enum { RECOVER_WAIT_S = 30 };

struct written {
  char **path;
  size_t count, going; /* going: so many processes live on */
};

/* Of a process that a signal ended: its number, what the kernel called it then, and when that
   was, by CLOCK_MONOTONIC. What ran in it ran until then. */
struct killed {
  pid_t pid; /* 0: it ended otherwise */
  char name[16];
  uint64_t at_ns;
};

/* Every profile in `directory` whose process has ended. False if one failed. */
bool recover_all(const char *directory, const struct killed *killed, struct written *written);

/* A directory gets its list within this time. */
enum { RECOVER_BEGIN_S = 60 };

/*
 * Where the processes of a run put the totals that they make themselves: whoever makes them tells
 * it in the run's directory of profiles. written_begin: before the run. written_tell: totals of
 * this profile lie at `place`; nothing is done where no run waits for them. written_end: adds
 * those that are there still, and removes the directory if nothing else is in it; false where
 * nobody could tell, as the list is gone. written_awaited: a run waits for this profile.
 * written_leave: this profile is gone; so is the directory of a run that is over, if it was the
 * last. written_abandoned: whether nobody waits for the run of `directory`, which is open and last
 * changed then, any more. written_sweep: removes such a one if nothing else is in it; false if it
 * stays.
 */
void written_begin(const char *directory);
bool written_awaited(const char *profile);
bool written_abandoned(int directory, time_t changed);
bool written_sweep(int parent, const char *name, int directory);
void written_tell(const char *profile, const char *place);
void written_leave(const char *profile);
bool written_end(const char *directory, struct written *written);
void written_release(struct written *written);

#endif
