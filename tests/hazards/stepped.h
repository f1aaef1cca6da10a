/* SPDX-License-Identifier: MIT */
/*
 * Of a program that is stepped through: where its runtime lies, and what to do when it cannot be
 * followed. For programs of one file (stepper.c, and steps.c of tests/crash).
 */
#ifndef APROF_TESTS_STEPPED_H
#define APROF_TESTS_STEPPED_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

static pid_t victim;
static unsigned long low, high; /* of the library's code; high 0: it is not there */

static void fail(const char *what) {
  perror(what);
  if (victim > 0)
    kill(victim, SIGKILL);
  exit(97);
}

/* Where the library is mapped for execution; nothing where it is not. */
static void find_library(const char *library) {
  char path[64], line[1024], kind[8], name[800];
  snprintf(path, sizeof path, "/proc/%d/maps", (int)victim);
  FILE *maps = fopen(path, "r");
  if (maps == NULL)
    fail(path);
  while (fgets(line, sizeof line, maps) != NULL) {
    unsigned long from, to;
    if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %799s", &from, &to, kind, name) == 4 &&
        strcmp(name, library) == 0 && kind[2] == 'x') {
      low = from;
      high = to;
    }
  }
  fclose(maps);
}

#endif
