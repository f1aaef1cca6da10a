/* SPDX-License-Identifier: MIT */
/* aprof report: totals, a profile or a live process at one look. */
#include "cli.h"
#include "load.h"
#include "show/report.h"

#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct report_options report_defaults = {
    .sort = SORT_EXEC, .functions = 20, .waits = 10, .limits = ASK_DEFAULTS};

struct request {
  struct report_options options;
  const char *first, *second;
};

enum {
  OPTION_JSON = 256,
  OPTION_THRESHOLD,
  OPTION_STUCK,
  OPTION_LEAKED,
  OPTION_SPINS,
  OPTION_LOOP
};

static const struct argp_option options[] = {
    {"json", OPTION_JSON, NULL, 0, "Print JSON (aprof.report/1) instead of text", 0},
    {"sort", 's', "KEY", 0,
     "Order functions by KEY: exec (default), calls, waiting, wall, queued, slice, worst, "
     "children, name",
     0},
    {"top", 'n', "N", 0, "Show N functions and N waits (default 20 and 10; 0: all)", 0},
    {"threshold", OPTION_THRESHOLD, "MS", 0,
     "A hold of the loop, a blocking call, a time in the queue longer than this are findings "
     "(default 10)",
     0},
    {"stuck", OPTION_STUCK, "MS", 0,
     "A wait ten times the usual, and this long, is a finding; as is a future that is ready this "
     "long and never ran (default 1000)",
     0},
    {"leaked", OPTION_LEAKED, "N", 0,
     "So many old futures of one place at exit are a finding (default 10)", 0},
    {"spins", OPTION_SPINS, "N", 0,
     "So often waking itself for nothing is a finding (default 1000)", 0},
    {"loop", OPTION_LOOP, "TID", 0, "Only what thread TID ran: its loop (of a PID or a profile)",
     0},
    {0},
};

static enum report_sort parse_sort(const char *arg, struct argp_state *state) {
  for (int i = 0; report_sorts[i]; i++)
    if (!strcmp(arg, report_sorts[i]))
      return (enum report_sort)i;
  argp_error(state,
             "cannot sort by '%s'; the keys are exec, calls, waiting, wall, queued, slice, "
             "worst, children, name",
             arg);
  return SORT_EXEC;
}

static uint64_t parse_ms(const char *arg, struct argp_state *state) {
  char *end;
  double ms = strtod(arg, &end);
  if (*end || end == arg || !isfinite(ms) || ms < 0 || ms > 1e9)
    argp_error(state, "'%s' is no number of milliseconds", arg);
  return (uint64_t)(ms * 1e6);
}

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct request *request = state->input;
  uint64_t number;
  switch (key) {
  case OPTION_JSON:
    request->options.json = true;
    return 0;
  case 's':
    request->options.sort = parse_sort(arg, state);
    return 0;
  case 'n':
    if (!parse_number(arg, &number))
      argp_error(state, "'%s' is not a number of rows", arg);
    request->options.functions = request->options.waits = number;
    return 0;
  case OPTION_THRESHOLD:
    request->options.limits.held = parse_ms(arg, state);
    return 0;
  case OPTION_STUCK:
    request->options.limits.stuck = parse_ms(arg, state);
    return 0;
  case OPTION_LEAKED:
  case OPTION_SPINS:
    if (!parse_number(arg, &number))
      argp_error(state, "'%s' is not a number", arg);
    *(key == OPTION_LEAKED ? &request->options.limits.leaked : &request->options.limits.spins) =
        number;
    return 0;
  case OPTION_LOOP:
    if (!parse_number(arg, &number) || !number || number > INT32_MAX)
      argp_error(state, "'%s' is no thread; a report without --loop lists them", arg);
    request->options.loop = (int64_t)number;
    return 0;
  case ARGP_KEY_ARG:
    if (request->second)
      argp_error(state, "two totals at most: the interval lies between them");
    *(request->first ? &request->second : &request->first) = arg;
    return 0;
  case ARGP_KEY_END:
    if (request->second && !strcmp(request->first, "-") && !strcmp(request->second, "-"))
      argp_error(state, "only one of the two can be standard input");
    if (!request->first)
      argp_error(state, "a report on what? Give totals, a profile, a PID or a NAME");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    options,
    parse,
    "FILE|PID|NAME [FILE|PID|NAME]",
    "Shows totals (PROG.PID.json; - is standard input), a profile, or a live process: what is "
    "wrong, in words, then "
    "functions, then the awaits where time was really spent. With two totals of one process, "
    "what happened between them.\v"
    "Columns: calls: futures created. loop: share of the loop's time. exec/call: time on the CPU, "
    "children excluded. wait/call: time in awaits. wall p99: from creation to end. slice: one "
    "hold of the loop; worst: the longest, with the two places it lies between. children: what "
    "the children ran, per call. `-' is not measured.",
    NULL,
    NULL,
    NULL};

int report_targets(const char *first, const char *second, const struct report_options *o) {
  struct view *earlier = second ? view_load(first, o->loop) : NULL;
  struct view *v = second && !earlier ? NULL : view_load(second ? second : first, o->loop);
  int status = CLI_FAILED;
  if (v && (!second || view_subtract(v, earlier))) {
    if (o->json)
      report_json(v, o, stdout);
    else
      report_print(v, o, stdout);
    status = CLI_OK;
  }
  view_free(v);
  view_free(earlier);
  return status;
}

int cmd_report(int argc, char **argv) {
  struct request request = {.options = report_defaults};
  argp_parse(&argp, argc, argv, 0, NULL, &request);
  return report_targets(request.first, request.second, &request.options);
}
