/*
 * After a run: the totals of processes that could not write their own.
 *
 * Purpose: makes totals (reason "recovered") of every profile left in a
 * directory and removes those profiles; and finds the totals that a run wrote.
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
  size_t count;
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

/* Adds the totals in `output` that were made from profiles in `directory` since
   `start`: those that the processes wrote themselves. */
void recover_find_totals(const char *output, const char *directory, time_t start,
                         struct written *written);
void written_release(struct written *written);

#endif
