/* SPDX-License-Identifier: MIT */
/*
 * Where profiles are, and whose they are.
 *
 * Purpose: a PID or a file to an open profile; the profile directories; whether the
 * process of a profile still lives (a number alone does not tell: it may have
 * been given to another process, or the process may have become another program
 * by exec).
 * Cost: a walk over /proc/PID/fd, or over the profile directories.
 * Locking: a shared flock is tried and given back at once.
 */
#ifndef APROF_CLI_FIND_H
#define APROF_CLI_FIND_H

#include "read/profile.h"

#include <time.h>

struct found {
  int fd;
  char *path; /* of the file; NULL for a memfd */
  char *what; /* for messages: the path, or "process PID" */
  long pid;   /* of one that was found by its process; else 0 */
  enum profile_state state;
};

void found_release(struct found *found);
/* By a signal, or a debugger. */
bool find_is_stopped(long pid);
/* A file found in a directory that is open: whatever is renamed meanwhile, it is that
   directory's. */
struct entry {
  int directory;           /* or AT_FDCWD */
  const char *name, *path; /* within it; for messages */
};

/* False after a message; a symbolic link, a pipe, a device is refused. `writable` asks for a
   descriptor that can be mapped for writing; where that is refused and not needed (`writable`
   false), it is read only. */
bool find_entry(const struct entry *, bool writable, struct found *found);
bool find_file(const char *path, bool writable, struct found *found);
/* The same of a live process. */
bool find_process(long pid, bool writable, struct found *found);

/* As find_entry, and true, for a profile that is known to be one and that nobody here can
   read: of another version, or never finished. Nothing is said. `found->state` is
   PROFILE_LIVE or PROFILE_LEFT. */
bool find_unreadable(const struct entry *, struct found *found, enum profile_kind *kind);

enum profile_state profile_state(int fd, const struct aprof_header *header);

/*
 * Calls `visit` with each *.aprof in the profile directories
 * ($XDG_RUNTIME_DIR/aprof, /dev/shm/aprof-UID and those beside it, for root each user's, and the
 * private ones of `aprof run` below them), or in `directory` alone if given; one that is not there
 * has none. Then `leave`, if given, with each of those private ones, which is open, and had last
 * changed at `changed` when it was entered. A default directory that is not ours alone, a link, a
 * pipe, a file of somebody else than the directory's owner is left out: false then, after a message
 * for each. find-walk.c
 */
typedef void (*find_leave)(const struct entry *, int directory, time_t changed, void *context);
bool find_all(const char *directory, void (*visit)(const struct entry *, void *context),
              find_leave leave, void *context);

/* Calls `visit` with the profile of each live process of ours (for root: of anybody) that
   has it open, wherever it is: a memfd, too. */
void find_live(void (*visit)(struct found *, void *context), void *context);

/* "....aprof" */
bool is_profile_name(const char *path);

/* The directory where new profiles go, made if need be; NULL where there is none. Says it if that
   is not /dev/shm/aprof-UID because that is not ours alone. */
char *profile_directory(void);

/* Why the runtime takes no profiles to `path`, which is made if it is not there; or NULL. */
const char *directory_fault(const char *path);

#endif
