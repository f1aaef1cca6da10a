/* SPDX-License-Identifier: MIT */
/* How far something is; see progress.h. */
#include "progress.h"

#include "read/clock.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { PATIENCE = 1000000000, AGAIN = 100000000 };

static uint64_t began, said; /* ns; 0: not yet */

void progress_say(const char *format, ...) {
  uint64_t now = clock_monotonic();
  if (!began)
    began = now;
  if (now - began < PATIENCE || (said && now - said < AGAIN) || !isatty(STDERR_FILENO))
    return;
  va_list args;
  va_start(args, format);
  fputs("\r", stderr);
  vfprintf(stderr, format, args);
  fputs("\033[K", stderr);
  fflush(stderr);
  va_end(args);
  said = now;
}

void progress_end(void) {
  if (said)
    fputs("\r\033[K", stderr);
  began = said = 0;
}
