/* SPDX-License-Identifier: MIT */
/* aprof coverage: what of a program the plugin saw, and what it did not. */
#include "cli.h"
#include "coverage.h"

#include <argp.h>
#include <stdlib.h>

struct request {
  struct coverage_options options;
  bool strict;
  const char **file;
  size_t files;
};

enum { OPTION_JSON = 256, OPTION_STRICT, OPTION_TOTALS };

static const struct argp_option options[] = {
    {"strict", OPTION_STRICT, NULL, 0, "Exit with status 1 if anything is amiss", 0},
    {"totals", OPTION_TOTALS, "FILE", 0, "Name the functions that never ran, by totals of a run",
     0},
    {"json", OPTION_JSON, NULL, 0, "Print JSON (aprof.coverage/1) instead of text", 0},
    {0},
};

static error_t parse(int key, char *arg, struct argp_state *state) {
  struct request *request = state->input;
  switch (key) {
  case OPTION_JSON:
    request->options.json = true;
    return 0;
  case OPTION_STRICT:
    request->strict = true;
    return 0;
  case OPTION_TOTALS:
    request->options.totals = arg;
    return 0;
  case ARGP_KEY_ARG:
    request->file = reallocate(request->file, request->files + 1, sizeof *request->file);
    request->file[request->files++] = arg;
    return 0;
  case ARGP_KEY_END:
    if (!request->files)
      argp_error(state, "coverage of what? Give a program, and its own shared objects");
    return 0;
  default:
    return ARGP_ERR_UNKNOWN;
  }
}

static const struct argp argp = {
    options,
    parse,
    "PROG|FILE...",
    "Tells what the plugin saw when it compiled PROG (and the shared objects, objects or archives "
    "named): async functions, awaits, bindings that matched; and what is amiss: async functions "
    "compiled without the plugin, awaits outside any async function, lines of your own bindings "
    "files that matched nothing.",
    NULL,
    NULL,
    NULL};

static int cover(const struct request *request, struct coverage *c) {
  for (size_t i = 0; i < request->files; i++)
    if (!coverage_read(c, request->file[i]))
      return CLI_FAILED;
  if (c->withouts == c->files) {
    complain("%s %s no notes of the plugin: nothing there is async, or it was compiled without; "
             "compile with CFLAGS=\"$(aprof cflags)\", and keep the section .aprof.coverage",
             request->file[0], request->files == 1 ? "carries" : "and the others carry");
    return CLI_FAILED;
  }
  coverage_finish(c);
  size_t amiss = coverage_print(c, &request->options, stdout);
  return amiss == SIZE_MAX || (request->strict && amiss) ? CLI_FAILED : CLI_OK;
}

int cmd_coverage(int argc, char **argv) {
  struct request request = {0};
  struct coverage coverage = {0};
  argp_parse(&argp, argc, argv, 0, NULL, &request);
  int status = cover(&request, &coverage);
  coverage_release(&coverage);
  free(request.file);
  return status;
}
