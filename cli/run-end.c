/* SPDX-License-Identifier: MIT */
/* What `aprof run` says at the end; see run-end.h. */
#include "run-end.h"

#include "cli.h"
#include "explain.h"
#include "output.h"
#include "places.h"
#include "read/util.h"
#include "written-json.h"

#include <stdlib.h>
#include <string.h>

char *run_option(const char *list, const char *key) {
  char *copy = print_string("%s", list ? list : ""), *rest = copy, *item, *value = NULL;
  while ((item = strsep(&rest, ","))) {
    if (strncmp(item, key, strlen(key)))
      continue;
    free(value);
    value = print_string("%s", item + strlen(key));
  }
  free(copy);
  return value;
}

static void print_reports(const struct written *written) {
  for (size_t i = 0; i < written->count; i++) {
    if (written->count > 1)
      printf("%s%s\n", i ? "\n" : "", written->path[i]);
    show_plainly(&output_report, written->path[i]);
  }
}

/* Those of one directory in a line: a build has hundreds. */
static void tell_places(const struct written *written) {
  enum { NAMED = 4 };
  if (written->count == 1) {
    char *path = from_here(written->path[0]);
    complain("totals: %s; next: aprof report %s", path, path);
    free(path);
    return;
  }
  complain("totals of %zu processes (`aprof report' shows one, `aprof merge' adds them up):",
           written->count);
  for (size_t i = 0, same; i < written->count; i += same) {
    const char *path = written->path[i], *slash = strrchr(path, '/');
    size_t length = slash ? (size_t)(slash - path) + 1 : 0;
    char *names = print_string("%s", path);
    for (same = 1; i + same < written->count; same++) {
      const char *next = written->path[i + same];
      if (strncmp(next, path, length) || strchr(next + length, '/'))
        break;
      if (same >= NAMED)
        continue;
      char *longer = print_string("%s %s", names, next + length);
      free(names);
      names = longer;
    }
    if (same > NAMED)
      complain("  %s and %zu more there", names, same - NAMED);
    else
      complain("  %s", names);
    free(names);
  }
}

static void tell_why(const struct run_end *end) {
  char *at_exit = run_option(getenv("APROF_OPTIONS"), "exit:");
  if (at_exit && !strcmp(at_exit, "no"))
    complain("no totals: exit:no in APROF_OPTIONS asks for none at exit");
  else
    explain_no_totals(end->program);
  free(at_exit);
}

static void tell_unknown(void) {
  char *where = run_option(getenv("APROF_OPTIONS"), "dir:");
  complain(
      "totals of this run, if any, are PROG.PID.json in %s; whose were written is not known, as "
      "profiles were in memory, or were removed while it ran",
      where ? where : "the directory that each process started in");
  free(where);
}

static void tell_end(const struct run_end *end) {
  const struct written *written = end->written;
  const char *many = written->going == 1 ? "" : "es";
  if (!end->known)
    tell_unknown();
  else if (written->count && !end->report && !end->json)
    tell_places(written);
  if (written->going)
    complain("%zu process%s of this run live%s on: totals come when %s end%s", written->going, many,
             *many ? "" : "s", *many ? "they" : "it", *many ? "" : "s");
  else if (end->known && !written->count)
    tell_why(end);
}

void run_end(const struct run_end *end) {
  const struct written *written = end->written;
  if (end->report)
    print_reports(written);
  if (end->json)
    written_json(written->path, written->count,
                 &(struct written_run){end->status, written->going, end->known}, stdout);
  if (!end->quiet)
    tell_end(end);
}
