/* SPDX-License-Identifier: MIT */
/* aprof merge: the totals of several processes as one. */
#include "arguments.h"
#include "cli.h"
#include "load.h"
#include "output.h"
#include "read/verify.h"

#include <stdlib.h>

struct merge {
  const char *output;
  bool apart;
};

static const struct option_row options[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct merge, output), "FILE",
     .text = "Write to FILE (default: standard output)"},
    {"per-process", 0, OPTION_FLAG, offsetof(struct merge, apart),
     .text = "Keep the functions of each process apart"},
    {0}};

/* All of them, as texts of the later ones are lent to the first. */
static struct view **load_all(char **target, size_t targets) {
  struct view **view = allocate(targets + 1, sizeof *view);
  for (size_t i = 0; i < targets; i++) {
    view[i] = view_load(target[i], &(struct view_request){0});
    for (size_t j = 0; view[i] && j < i; j++)
      if (view_shares_process(view[j], view[i])) {
        complain("%s and %s are of one process: sums of both would count it twice", target[j],
                 target[i]);
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
  struct arguments a = {
      .usage = "TARGET TARGET...",
      .offers = OFFER_TARGETS,
      .about =
          "Writes the totals of several processes as one: counts, sums and histograms are "
          "added, of maxima the greatest stays. Threads, loops and futures stay of the process "
          "that they are of.\v"
          "Two totals of one process are no two processes: `aprof report A B' shows what is "
          "between.",
      .table = {{options, &merge}},
      .least = 2,
      .most = SIZE_MAX,
      .lacking = "which totals? Give two or more: files, profiles, PIDs or NAMEs"};
  arguments_parse(&a, argc, argv);
  struct view **view = load_all(a.word, a.words);
  bool all = view[a.words - 1] != NULL;
  for (size_t i = 1; all && i < a.words; i++)
    view_merge(view[0], view[i], merge.apart);
  char *fault = all ? view_fault(view[0]) : NULL;
  if (fault)
    complain("these cannot be added up: %s", fault);
  char *place = all && !fault ? output_view(merge.output, true, -1, view[0]) : NULL;
  for (size_t i = 0; i < a.words; i++)
    view_free(view[i]);
  free(view);
  free(fault);
  int status = place ? CLI_OK : CLI_FAILED;
  free(place);
  return status;
}
