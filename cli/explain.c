/* SPDX-License-Identifier: MIT */
/* Why a run has no totals; see explain.h. */
#include "explain.h"

#include "cli.h"
#include "coverage.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What execvp takes: the file of that name, or the first on the PATH. NULL: not found. */
static char *file_of(const char *program) {
  if (strchr(program, '/'))
    return print_string("%s", program);
  const char *path = getenv("PATH");
  char *copy = print_string("%s", path ? path : "/bin:/usr/bin"), *rest = copy, *item, *file = NULL;
  while (!file && (item = strsep(&rest, ":"))) {
    file = print_string("%s/%s", *item ? item : ".", program);
    if (access(file, X_OK)) {
      free(file);
      file = NULL;
    }
  }
  free(copy);
  return file;
}

enum { NAMED = 4 };

static void tell_passed(const struct coverage *c, const char *program) {
  const struct coverage_record *passed = c->of[COVERAGE_PASSED].record;
  size_t count = c->of[COVERAGE_PASSED].count, units = c->of[COVERAGE_UNIT].count;
  char *text = print_string("%s", "");
  for (size_t i = 0; i < count && i < NAMED; i++) {
    char *longer = print_string("%s%s`%s' to %s (%s)", text, i ? ", " : "", passed[i].name,
                                passed[i].in ? passed[i].in : "?", passed[i].place);
    free(text);
    text = longer;
  }
  complain("no totals: %s has the plugin in %zu unit%s and no async function. It passes %s%s. If "
           "such a one is a piece of work of its own, a line `async def:%s' in a FILE.aprof, and "
           "-fplugin-arg-aprof-bindings=FILE.aprof when it is compiled, make each call of it a "
           "future; doc/describe-your-library.md says how what it waits for is seen, too",
           program, units, units == 1 ? "" : "s", text,
           count > NAMED ? " and others (aprof coverage names them)" : "", passed[0].name);
  free(text);
}

static void tell_notes(const struct coverage *c, const char *program) {
  size_t functions = c->of[COVERAGE_FUNCTION].count, units = c->of[COVERAGE_UNIT].count;
  if (functions)
    complain("no totals: of the %zu async function%s of %s none was called in this run (`aprof "
             "coverage %s' names them), or a line above says why it was not profiled; what was "
             "compiled with autoload=no needs --preload",
             functions, functions == 1 ? "" : "s", program, program);
  else if (c->of[COVERAGE_PASSED].count)
    tell_passed(c, program);
  else if (units || c->built)
    complain("no totals: %s was compiled with the plugin, which found no async function in it. Say "
             "by lines which functions are pieces of work of their own, for a start `async "
             "def:NAME': see aprof-bindings(5)",
             program);
  else
    complain("no totals: no process of this run made a future. %s itself carries no notes of the "
             "plugin: it was compiled without (CFLAGS=\"$(aprof cflags)\"), or nothing in it is "
             "async by what it includes and by lines of yours, see aprof-bindings(5); `aprof "
             "coverage FILE' tells of another",
             program);
}

void explain_no_totals(const char *program) {
  struct coverage c = {0};
  struct stat st;
  char *file = file_of(program);
  if (file && stat(file, &st) == 0 && (st.st_mode & (S_ISUID | S_ISGID)))
    complain("no totals: %s has its file's rights (set-user-ID, set-group-ID), and such a program "
             "takes no runtime from whoever starts it",
             program);
  else if (file && coverage_try(&c, file)) {
    coverage_finish(&c);
    tell_notes(&c, program);
  } else
    complain("no totals: neither %s nor what it started made a future; `aprof coverage FILE' tells "
             "what of a program the plugin has seen",
             program);
  coverage_release(&c);
  free(file);
}
