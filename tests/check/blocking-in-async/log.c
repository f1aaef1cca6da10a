/* SPDX-License-Identifier: MIT */
/* Plain functions of another unit, which knows no loop. */
#include "log.h"

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
