/* SPDX-License-Identifier: MIT */
/* Commands that are programs of their own beside this one, so that no other command loads the
   libraries that they need. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum { ENDING = 16 };

int run_beside(const char *ending, const char *without, char **argv) {
  char path[PATH_MAX + ENDING] = "";
  ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - 1);
  if (length < 0)
    length = 0;
  memcpy(path + length, ending, strlen(ending) + 1);
  execv(path, argv);
  if (errno == ENOENT)
    complain("this aprof was built without %s", without);
  else
    complain("%s cannot be run: %s", path, strerror(errno));
  return CLI_FAILED;
}

int cmd_check(int argc, char **argv) {
  (void)argc;
  return run_beside("-check",
                    "libclang, so it has no `check' and no `suggest': install libclang-dev and "
                    "clang, then configure and build again",
                    argv);
}

/* The same program: its name says which it is. */
int cmd_suggest(int argc, char **argv) {
  return cmd_check(argc, argv);
}

int cmd_serve(int argc, char **argv) {
  (void)argc;
  return run_beside("-serve",
                    "libmicrohttpd, so it has no `serve': install libmicrohttpd-dev, then "
                    "configure and build again; `aprof export' writes the same metrics",
                    argv);
}
