/* SPDX-License-Identifier: MIT */
/* aprof suggest: a bindings file from a library's headers. */
#include "suggest-main.h"

#include "arguments.h"
#include "check/suggest.h"
#include "cli.h"
#include "output.h"
#include "places.h"
#include "read/util.h"

#include <stdlib.h>
#include <unistd.h>

struct request {
  const char *output, *database;
  char **file; /* of the program that uses it */
  size_t files;
};

static char *take_file(void *options, const char *name) {
  struct request *r = options;
  r->file = reallocate(r->file, r->files + 1, sizeof *r->file);
  r->file[r->files++] = (char *)name;
  return NULL;
}

static const struct option_row options[] = {
    {"output", 'o', OPTION_TEXT, offsetof(struct request, output), "FILE",
     .text = "Write to FILE, whole or not at all (default: standard output)"},
    {"use", 'u', OPTION_OWN, 0, "FILE",
     .text = "Look at how this source uses the library, with the same FLAGs; may be repeated",
     .take = take_file},
    {"build", 'p', OPTION_TEXT, offsetof(struct request, database), "DIR",
     .text = "Look at the program of DIR/compile_commands.json (with --use: at these files of it)"},
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
          "Writes a bindings file, as far as names and types of a library's headers tell, and a "
          "program that uses it: what calls back, ends, wakes and waits, each line with its "
          "reason.\v"
          "HEADER: as #include <> has it, or a path. FLAGs are the compiler's.",
      .table = {{options, &o}},
      .least = 1,
      .most = SIZE_MAX,
      .lacking = "which headers?"};
  arguments_parse(&a, argc, argv);
  struct suggest_request request = {
      .header = a.word, .headers = a.words, .flag = flag, .flags = flags};
  struct places places;
  places_find(&places);
  struct check_request program = {.database = o.database,
                                  .file = o.file,
                                  .files = o.files,
                                  .flag = o.database ? NULL : flag,
                                  .flags = o.database ? 0 : flags,
                                  .shipped = places.bindings,
                                  .include = places.include,
                                  .jobs = (unsigned)sysconf(_SC_NPROCESSORS_ONLN)};
  if (o.database || o.files)
    request.program = &program;
  bool well = suggest_run(&request, &result);
  places_release(&places);
  if (!well)
    return CLI_FAILED;
  bool written = output_given(o.output, print, result.text);
  fprintf(stderr, "aprof suggest: %zu of %zu functions call back, %zu end, wake or wait\n",
          result.creates, result.functions, result.others);
  if (request.program)
    fprintf(stderr, "aprof suggest: the program calls %zu of them\n", result.used);
  free(result.text);
  return written ? CLI_OK : CLI_FAILED;
}
