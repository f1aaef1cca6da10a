/* SPDX-License-Identifier: MIT */
/* Plain functions of another unit, which knows no loop. */
#include "log.h"

#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#define SYNC(fd) fdatasync(fd)

static void flush(int descriptor) {
  if (descriptor > 2)
    fsync(descriptor); /* BAD */
  else
    SYNC(descriptor); /* BAD */
}

void audit(long count) {
  for (; count > 0; count--)
    flush(2);
}

void store(int descriptor) {
  fsync(descriptor);
}

/* What leads to the end of the program, or is another process, holds no loop. */
static pid_t start(void) {
  return fork();
}

static void die(void) {
  sleep(1);
  abort();
}

void save(int descriptor) {
  pid_t child;
  if ((child = start()) == 0) {
    fsync(descriptor);
    _exit(0);
  }
  if (child < 0)
    die();
  if (!fork())
    sleep(1);
  else
    sleep(2); /* BAD */
  pid_t other = fork();
  if (other > 0)
    usleep(1); /* BAD */
}
