/* SPDX-License-Identifier: MIT */
/*
 * Processes as requests name them: a number alone is one on its host only.
 * Cost, locking: none; data.
 */
#ifndef APROF_CLI_SERVE_PROCESS_H
#define APROF_CLI_SERVE_PROCESS_H

#include "read/util.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* In a question "" is any host, and 0 any process. */
struct process_name {
  char host[256];
  int64_t pid;
};

struct process_names {
  struct process_name *of; /* free() it */
  size_t count;
};

static inline bool process_fits(const struct process_name *wanted, const char *host, int64_t pid) {
  return (!wanted->pid || wanted->pid == pid) &&
         (!*wanted->host || !strncmp(wanted->host, host, sizeof wanted->host - 1));
}

static inline void process_add(struct process_names *all, const char *host, int64_t pid) {
  all->of = reallocate(all->of, all->count + 1, sizeof *all->of);
  struct process_name *name = &all->of[all->count++];
  *name = (struct process_name){.pid = pid};
  strncpy(name->host, host, sizeof name->host - 1);
}

struct history;

/* What is known of a process beside its numbers. */
struct looked {
  bool ended; /* that is how it did */
  bool own;   /* it is of the user who runs us, who would read the sources that it names, too */
  const struct history *history; /* until the next look; or NULL */
};

#endif
