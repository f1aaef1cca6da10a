/* SPDX-License-Identifier: MIT */
/* aprof merge: the totals of several processes as one, or the requests that they have in common. */
#include "arguments.h"
#include "ask/traces.h"
#include "cli.h"
#include "load.h"
#include "output.h"
#include "read/verify.h"
#include "recordings.h"
#include "show/format.h"
#include "show/traces.h"

#include <stdlib.h>

struct merge {
  const char *output;
  bool apart, traces, json;
  uint64_t rows;
};

enum { ROWS = 10 };

static const struct option_row options[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct merge, output), "FILE",
     .text = "Write to FILE (default: standard output)"},
    {"per-process", 0, OPTION_FLAG, offsetof(struct merge, apart),
     .text = "Keep the functions of each process apart"},
    {"traces", 0, OPTION_FLAG, offsetof(struct merge, traces),
     .text = "Show instead the slowest requests that several of them had a part in, joined by the "
             "traces of their tokens"},
    {"json", 0, OPTION_FLAG, offsetof(struct merge, json), .text = "--traces as JSON"},
    {"top", 'n', OPTION_COUNT, offsetof(struct merge, rows), "N",
     .text = "Show N --traces (default 10; 0: all)"},
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

static const char lacking[] = "which totals? Give two or more: files, profiles, PIDs or NAMEs";

static const char *fault_of(const struct arguments *a) {
  const struct merge *merge = a->context;
  if (merge->traces)
    return merge->apart
               ? "--traces shows no functions: there are none to keep apart (--per-process)"
               : NULL;
  return merge->json           ? "totals are JSON: --json is for --traces"
         : merge->rows != ROWS ? "--top is for --traces"
         : a->words < 2        ? lacking
                               : NULL;
}

struct shown {
  const struct merge *merge;
  const struct view *view;
};

static void write_traces(const void *of, FILE *out) {
  const struct shown *shown = of;
  const struct merge *m = shown->merge;
  style_choose(out);
  (m->json ? traces_json : traces_print)(shown->view, m->rows, out);
}

static bool write_merged(const struct merge *merge, const struct view *v) {
  if (merge->traces)
    return output_given(merge->output, write_traces, &(struct shown){merge, v});
  char *place = output_view(merge->output, true, -1, v);
  bool written = place != NULL;
  free(place);
  return written;
}

/* Of recordings all requests are known, and who asked for each. */
static bool merge_recorded(const struct merge *merge, char **target, size_t targets) {
  struct recordings all = {0};
  for (size_t i = 0; i < targets; i++)
    if (!story_is(target[i])) {
      complain("%s is no recording, and others are: --traces takes these, or totals", target[i]);
      return false;
    }
  if (!recordings_open(&all, target, targets, 0, NULL, NULL))
    return false;
  struct view *v = traces_recorded(all.story, all.stories);
  bool written = write_merged(merge, v);
  view_free(v);
  recordings_release(&all);
  return written;
}

int cmd_merge(int argc, char **argv) {
  struct merge merge = {.output = "-", .rows = ROWS};
  struct arguments a = {
      .usage = "TARGET TARGET...",
      .offers = OFFER_TARGETS,
      .about =
          "Writes the totals of several processes as one: counts, sums and histograms are "
          "added, of maxima the greatest stays. Threads, loops and futures stay of the process "
          "that they are of.\v"
          "Two totals of one process are no two processes: `aprof report A B' shows what is "
          "between.\n\n"
          "--traces takes totals that were merged before, too, one file then, or recordings, of "
          "which all "
          "requests are known, and which asked for which.",
      .table = {{options, &merge}},
      .least = 1,
      .most = SIZE_MAX,
      .lacking = lacking,
      .fault = fault_of,
      .context = &merge};
  arguments_parse(&a, argc, argv);
  if (merge.traces && recordings_are(a.word, a.words))
    return merge_recorded(&merge, a.word, a.words) ? CLI_OK : CLI_FAILED;
  struct view **view = load_all(a.word, a.words);
  bool all = view[a.words - 1] != NULL;
  for (size_t i = 1; all && i < a.words; i++)
    view_merge(view[0], view[i], merge.apart);
  char *fault = all ? view_fault(view[0]) : NULL;
  if (fault)
    complain("these cannot be added up: %s", fault);
  bool written = all && !fault && write_merged(&merge, view[0]);
  for (size_t i = 0; i < a.words; i++)
    view_free(view[i]);
  free(view);
  free(fault);
  return written ? CLI_OK : CLI_FAILED;
}
