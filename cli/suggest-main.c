/* SPDX-License-Identifier: MIT */
/* aprof suggest: a bindings file from a library's headers. */
#include "suggest-main.h"

#include "arguments.h"
#include "check/suggest.h"
#include "cli.h"
#include "output.h"

#include <stdlib.h>

struct request {
  const char *output;
};

static const struct option_row options[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct request, output), "FILE",
     .text = "Write to FILE, whole or not at all (default: standard output)"},
    {0}};

static void print(const void *text, FILE *out) {
  fputs(text, out);
}

int suggest_main(int argc, char **argv, char *const *flag, size_t flags) {
  struct request o = {.output = "-"};
  struct suggest_result result;
  struct arguments a = {
      .usage = "HEADER... [-- FLAG...]",
      .about =
          "Writes a bindings file, as far as names and types of a library's headers tell: what "
          "calls back, ends, wakes and waits, each line with its reason.\v"
          "HEADER: as #include <> has it, or a path. FLAGs are the compiler's.",
      .table = {{options, &o}},
      .least = 1,
      .most = SIZE_MAX,
      .lacking = "which headers?"};
  arguments_parse(&a, argc, argv);
  struct suggest_request request = {
      .header = a.word, .headers = a.words, .flag = flag, .flags = flags};
  if (!suggest_run(&request, &result))
    return CLI_FAILED;
  bool written = output_given(o.output, print, result.text);
  fprintf(stderr, "aprof suggest: %zu of %zu functions call back, %zu end, wake or wait\n",
          result.creates, result.functions, result.others);
  free(result.text);
  return written ? CLI_OK : CLI_FAILED;
}
