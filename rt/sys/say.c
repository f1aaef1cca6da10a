/* SPDX-License-Identifier: MIT */
/* Messages to the user; see say.h. */
#include "say.h"

#include <sys/stat.h>
#include <unistd.h>

#include "kernel.h"
#include "quiet.h"

static struct stat first_stderr; /* zero: it was closed */

void rt_say_start(void) {
  if (sys_fstat(STDERR_FILENO, &first_stderr) != 0)
    first_stderr.st_ino = 0;
}

/* The program may have closed it since, and have a file of its own there. */
bool rt_say_heard(void) {
  struct stat now;
  return first_stderr.st_ino != 0 && sys_fstat(STDERR_FILENO, &now) == 0 &&
         now.st_dev == first_stderr.st_dev && now.st_ino == first_stderr.st_ino &&
         now.st_rdev == first_stderr.st_rdev;
}

void rt_say(const char *what, const char *detail) {
  if (!rt_say_heard())
    return;
  char line[600];
  size_t n = 0;
  const char *const parts[] = {"aprof: ", what, detail, "\n"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    for (size_t k = 0; k < 290 && parts[i][k] != '\0'; k++)
      line[n++] = parts[i][k];
  struct quiet quiet;
  quiet_begin(&quiet);
  ssize_t ignored = sys_write(STDERR_FILENO, line, n);
  (void)ignored;
  quiet_end(&quiet);
}
