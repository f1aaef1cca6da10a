/* SPDX-License-Identifier: MIT */
/* aprof coverage: what of a program the plugin saw, and what it did not. */
#include "arguments.h"
#include "cli.h"
#include "coverage.h"

struct request {
  struct coverage_options options;
  bool strict;
};

static const struct option_row options[] = {
    {"strict", 0, OPTION_FLAG, offsetof(struct request, strict),
     .text = "Exit with status 1 if anything is amiss"},
    {"totals", 0, OPTION_TEXT, offsetof(struct request, options.totals), "FILE",
     .text = "Name the functions that never ran, by totals of a run"},
    {"json", 0, OPTION_FLAG, offsetof(struct request, options.json),
     .text = "Print JSON (aprof.coverage/1) instead of text"},
    {0}};

static int cover(const struct request *request, char **file, size_t files, struct coverage *c) {
  for (size_t i = 0; i < files; i++)
    if (!coverage_read(c, file[i]))
      return CLI_FAILED;
  if (c->withouts == c->files) {
    complain("%s %s no notes of the plugin: nothing there is async, or it was compiled without; "
             "compile with CFLAGS=\"$(aprof cflags)\", and keep the section .aprof.coverage",
             file[0], files == 1 ? "carries" : "and the others carry");
    return CLI_FAILED;
  }
  coverage_finish(c);
  size_t amiss = coverage_print(c, &request->options, stdout);
  return amiss == SIZE_MAX || (request->strict && amiss) ? CLI_FAILED : CLI_OK;
}

int cmd_coverage(int argc, char **argv) {
  struct request request = {0};
  struct coverage coverage = {0};
  struct arguments a = {
      .usage = "PROG|FILE...",
      .about =
          "Tells what the plugin saw when it compiled PROG (and the shared objects, objects or "
          "archives named): async functions, awaits, bindings that matched; and what is amiss: "
          "async functions compiled without the plugin, awaits outside any async function, "
          "lines of your own bindings files that matched nothing.",
      .table = {{options, &request}},
      .least = 1,
      .most = SIZE_MAX,
      .lacking = "coverage of what? Give a program, and its own shared objects"};
  arguments_parse(&a, argc, argv);
  int status = cover(&request, a.word, a.words, &coverage);
  coverage_release(&coverage);
  return status;
}
