/* SPDX-License-Identifier: MIT */
/* A profile stays until its recorder has it; see hold.h. */
#include "hold.h"

#include "read/util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static char *file_in(const char *directory, int length) {
  return print_string("%.*s/hold", length, directory);
}

int hold_begin(const char *directory) {
  char *file = file_in(directory, (int)strlen(directory));
  int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    complain("cannot make %s: %s; a short program may end unseen", file, strerror(errno));
  else
    flock(fd, LOCK_EX);
  free(file);
  return fd;
}

void hold_end(const char *directory, int hold) {
  char *file = file_in(directory, (int)strlen(directory));
  if (hold >= 0) {
    unlink(file);
    close(hold);
  }
  free(file);
}

/* The last '/' of so much of a path. */
static int above(const char *path, int length) {
  while (length && path[--length] != '/')
    ;
  return length;
}

/* The program's run has a directory of its own in the recorder's. */
void hold_wait(const char *profile) {
  int run = above(profile, (int)strlen(profile));
  char *file = file_in(profile, above(profile, run));
  int fd = open(file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  for (int i = 0; fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) && i < HOLD_WAIT_S * 1000; i++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  if (fd >= 0)
    close(fd);
  free(file);
}
