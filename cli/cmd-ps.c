/* SPDX-License-Identifier: MIT */
/* aprof ps: what lives in a process, at this moment or when it ended. */
#include "cli.h"
#include "core.h"
#include "find.h"
#include "load.h"
#include "show/ps.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

/* The view lists so many one by one; beyond it equal ones are one entry, without who created them.
 */
enum { LIVES = 100000, ROWS = 40 };

struct request {
  struct ps_options options;
  const char *target, *core;
  uint64_t loop;
};

enum { OPTION_JSON = 256, OPTION_ALL, OPTION_LOOP, OPTION_CORE };

static const struct argp_option options[] = {
    {"all", OPTION_ALL, NULL, 0, "Show all rows and listeners", 0},
    {"top", 'n', "N", 0, "Show N rows (default 40; 0: all)", 0},
    {"loop", OPTION_LOOP, "TID", 0, "Only what thread TID ran last: its loop", 0},
    {"core", OPTION_CORE, "FILE", 0, "Of the process that FILE is a core of", 0},
    {"json", OPTION_JSON, NULL, 0, "Print JSON (aprof.ps/1) instead of text", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct request *request = state->input;
  uint64_t rows;
  switch (key) {
  case OPTION_ALL:
    request->options.rows = 0;
    return 0;
  case 'n':
    if (!parse_number(arg, &rows))
      argp_error(state, "'%s' is not a number of rows", arg);
    request->options.rows = rows;
    return 0;
  case OPTION_LOOP:
    if (!parse_number(arg, &request->loop) || !request->loop || request->loop > INT32_MAX)
      argp_error(state, "'%s' is no thread; `aprof report' lists them", arg);
    return 0;
  case OPTION_CORE:
    request->core = arg;
    return 0;
  case OPTION_JSON:
    request->options.json = true;
    return 0;
  case ARGP_KEY_ARG:
    if (request->target)
      argp_error(state, "one target at a time");
    request->target = arg;
    return 0;
  case ARGP_KEY_END:
    if (request->core && request->target)
      argp_error(state, "a core, or a target: not both");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    options,
    parse,
    "[PID|NAME|FILE]",
    "Shows the futures that live, under those that created them: in which state, for how long, "
    "where "
    "they wait; who holds a loop, who is queued. Equal ones are one row. Of a process, running, "
    "stopped or hung; of totals, of a profile that a crash left, or of its core. Without a target: "
    "of the only live process.\v"
    "The process is not disturbed: its profile is read, no signal is sent.",
    NULL,
    NULL,
    NULL};

int cmd_ps(int argc, char **argv) {
  struct request request = {.options = {.rows = ROWS}};
  argp_parse(&argp, argc, argv, 0, NULL, &request);
  if (request.core && !core_is(request.core)) {
    complain("%s is no core", request.core);
    return CLI_FAILED;
  }
  const char *target = request.core ? request.core : request.target;
  char *only = target ? NULL : find_only_live();
  struct view *v = view_load_for(target ? target : only, &(struct view_request){
                                                             .without_histograms = true,
                                                             .lives = LIVES,
                                                             .loop = (int64_t)request.loop,
                                                         });
  free(only);
  if (v && request.options.json)
    ps_json(v, stdout);
  else if (v)
    ps_print(v, &request.options, stdout);
  view_free(v);
  return v ? CLI_OK : CLI_FAILED;
}
