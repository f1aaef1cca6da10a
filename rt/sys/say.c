/* SPDX-License-Identifier: MIT */
/* Messages to the user; see say.h. */
#include "say.h"

#include <sys/stat.h>
#include <unistd.h>

#include "bytes.h"
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
  text_join(line, sizeof line - 1, "aprof: ", what, detail, NULL);
  size_t n = strlen(line);
  line[n++] = '\n';
  struct quiet quiet;
  quiet_begin(&quiet);
  ssize_t ignored = sys_write(STDERR_FILENO, line, n);
  (void)ignored;
  quiet_end(&quiet);
}
