/* SPDX-License-Identifier: MIT */
/* aprof check: a program of its own beside this one, so that no other command loads libclang. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

int cmd_check(int argc, char **argv) {
  char path[PATH_MAX + sizeof "-check"] = "";
  (void)argc;
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (length < 0)
    length = 0;
  memcpy(path + length, "-check", sizeof "-check");
  execv(path, argv);
  if (errno == ENOENT)
    complain("this aprof was built without libclang, so it has no `%s': install libclang-dev and "
             "clang, then configure and build again",
             argv[0] + sizeof "aprof");
  else
    complain("%s cannot be run: %s", path, strerror(errno));
  return CLI_FAILED;
}
