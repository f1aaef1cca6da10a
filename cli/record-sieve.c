/* SPDX-License-Identifier: MIT */
/* Requests taken out of recordings; see record-sieve.h. */
#include "record-sieve.h"

#include "read/util.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BESIDE = 16, STANDS_BACK = 10 };

static pid_t beside[BESIDE]; /* 0: none */

/* NULL, or what is wrong with the file that was to take its place. */
static char *make(const char *path, const char *made, const struct sieve_wish *wish,
                  uint64_t *left_out) {
  int to = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (to < 0)
    return print_string("%s", strerror(errno));
  char *fault = sieve(path, to, wish, left_out);
  if (close(to) && !fault)
    fault = print_string("%s", strerror(errno));
  return fault;
}

bool record_sieve(const char *path, const struct sieve_wish *wish, uint64_t *left_out) {
  char *made = print_string("%s~", path), *fault = make(path, made, wish, left_out);
  if (!fault && access(path, F_OK) && errno == ENOENT)
    unlink(made); /* its turn has come meanwhile */
  else if (!fault && rename(made, path))
    fault = print_string("%s", strerror(errno));
  if (fault) {
    complain("cannot take requests out of %s: %s; it has all of them", path, fault);
    unlink(made);
  }
  free(made);
  free(fault);
  return !fault;
}

static pid_t *free_place(void) {
  for (size_t i = 0; i < BESIDE; i++)
    if (!beside[i] || waitpid(beside[i], NULL, WNOHANG) != 0) {
      beside[i] = 0;
      return &beside[i];
    }
  return NULL;
}

void record_sieve_beside(const char *path, const struct sieve_wish *wish) {
  pid_t *place = free_place();
  uint64_t left_out;
  fflush(NULL);
  pid_t child = place ? fork() : -1;
  if (child == 0) {
    signal(SIGINT, SIG_IGN); /* the recorder's */
    if (nice(STANDS_BACK) < 0)
      errno = 0;
    _exit(!record_sieve(path, wish, &left_out));
  }
  if (child > 0)
    *place = child;
  else
    complain("cannot take requests out of %s: %s; it has all of them", path,
             place ? strerror(errno) : "so many others are being looked at");
}

void record_sieve_wait(void) {
  for (size_t i = 0; i < BESIDE; i++)
    if (beside[i]) {
      while (waitpid(beside[i], NULL, 0) < 0 && errno == EINTR)
        ;
      beside[i] = 0;
    }
}
