/* SPDX-License-Identifier: MIT */
/* aprof merge: the totals of several processes as one. */
#include "cli.h"
#include "load.h"
#include "output.h"
#include "read/verify.h"

#include <argp.h>
#include <stdlib.h>

struct merge {
  const char *output;
  bool apart;
  char **target;
  size_t targets;
};

enum { OPTION_APART = 256 };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0, "Write to FILE (default: standard output)", 0},
    {"per-process", OPTION_APART, NULL, 0, "Keep the functions of each process apart", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct merge *merge = state->input;
  switch (key) {
  case 'o':
    merge->output = arg;
    return 0;
  case OPTION_APART:
    merge->apart = true;
    return 0;
  case ARGP_KEY_ARGS:
    merge->target = state->argv + state->next;
    merge->targets = (size_t)(state->argc - state->next);
    return 0;
  case ARGP_KEY_END:
    if (merge->targets < 2)
      argp_error(state, "which totals? Give two or more: files, profiles, PIDs or NAMEs");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    options,
    parse,
    "FILE|PID|NAME FILE|PID|NAME...",
    "Writes the totals of several processes as one: counts, sums and histograms are added, of "
    "maxima the greatest stays. Threads, loops and futures stay of the process that they are of.\v"
    "Two totals of one process are no two processes: `aprof report A B' shows what is between.",
    NULL,
    NULL,
    NULL};

/* All of them, as texts of the later ones are lent to the first. */
static struct view **load_all(const struct merge *merge) {
  struct view **view = allocate(merge->targets + 1, sizeof *view);
  for (size_t i = 0; i < merge->targets; i++) {
    view[i] = view_load(merge->target[i], 0);
    for (size_t j = 0; view[i] && j < i; j++)
      if (view_shares_process(view[j], view[i])) {
        complain("%s and %s are of one process: sums of both would count it twice",
                 merge->target[j], merge->target[i]);
        view_free(view[i]);
        view[i] = NULL;
      }
    if (!view[i])
      break;
  }
  return view;
}

int cmd_merge(int argc, char **argv) {
  struct merge merge = {.output = "-"};
  argp_parse(&argp, argc, argv, 0, NULL, &merge);
  struct view **view = load_all(&merge);
  bool all = view[merge.targets - 1] != NULL;
  for (size_t i = 1; all && i < merge.targets; i++)
    view_merge(view[0], view[i], merge.apart);
  char *fault = all ? view_fault(view[0]) : NULL;
  if (fault)
    complain("these cannot be added up: %s", fault);
  char *place = all && !fault ? output_view(merge.output, true, -1, view[0]) : NULL;
  for (size_t i = 0; i < merge.targets; i++)
    view_free(view[i]);
  free(view);
  free(fault);
  int status = place ? CLI_OK : CLI_FAILED;
  free(place);
  return status;
}
