/* SPDX-License-Identifier: MIT */
/* aprof check: what a program does wrong with its futures, told before it runs. */
#include "arguments.h"
#include "check-text.h"
#include "cli.h"
#include "complete.h"
#include "places.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHECK_FOUND = 3 };

struct request {
  const char *database;
  uint64_t jobs;
  bool unseen, rules;
  const char **bindings;
  size_t binding_files;
};

static char *take_bindings(void *options, const char *name) {
  struct request *r = options;
  r->bindings = reallocate(r->bindings, r->binding_files + 1, sizeof *r->bindings);
  r->bindings[r->binding_files++] = name;
  return NULL;
}

static const struct option_row options[] = {
    {"build", 'p', OPTION_TEXT, offsetof(struct request, database), "DIR",
     .text = "Check the program of DIR/compile_commands.json (default: that of the current "
             "directory, or of build/)"},
    {"bindings", 'b', OPTION_OWN, 0, "NAME|FILE",
     .text = "Lines that hold, too: a file, or the name of a shipped one; may be repeated",
     .take = take_bindings},
    {"jobs", 'j', OPTION_COUNT, offsetof(struct request, jobs), "N",
     .text = "Parse N units at a time (default: as many as there are processors)"},
    {"unseen", 0, OPTION_FLAG, offsetof(struct request, unseen),
     .text = "List all that could not be seen: units, and calls through pointers"},
    {"rules", 0, OPTION_FLAG, offsetof(struct request, rules), .text = "List the rules instead"},
    {0}};

static bool has_database(const char *folder) {
  char *path = print_string("%s/compile_commands.json", folder);
  bool is = access(path, R_OK) == 0;
  free(path);
  return is;
}

static void print_rules(void) {
  const struct check_rule *rule;
  for (size_t row = 0; (rule = check_rule(row)); row++)
    printf("%s\n    %s\n", rule->name, rule->text);
}

/* The flags behind `--` are the compiler's: argp must not see them. */
static size_t split(int argc, char **argv) {
  size_t words = 1;
  while (words < (size_t)argc && strcmp(argv[words], "--"))
    words++;
  return words;
}

static int check(struct request *o, char *const *file, size_t files, char *const *flag,
                 size_t flags, bool given) {
  struct places places;
  struct check_result result;
  places_find(&places);
  if (!o->database && !given && has_database("."))
    o->database = ".";
  if (!o->database && !given && has_database("build"))
    o->database = "build";
  if (!o->database && !files) {
    complain("which program? there is no compile_commands.json here or in build/: name its folder "
             "with -p, or files, and their flags behind --");
    return CLI_USAGE;
  }
  struct check_request request = {.database = o->database,
                                  .file = file,
                                  .files = files,
                                  .flag = flag,
                                  .flags = flags,
                                  .bindings = o->bindings,
                                  .binding_files = o->binding_files,
                                  .shipped = places.bindings,
                                  .include = places.include,
                                  .jobs = (unsigned)o->jobs};
  bool done = check_run(&request, &result);
  if (done) {
    check_print(&result, stdout);
    fflush(stdout);
    check_print_unseen(&result, o->unseen, stderr);
    fprintf(stderr, "aprof check: %zu %s in %zu %s of %zu functions\n", result.findings,
            result.findings == 1 ? "finding" : "findings", result.units,
            result.units == 1 ? "unit" : "units", result.functions);
  }
  places_release(&places);
  return !done || result.unread == result.units ? CLI_FAILED
         : result.findings                      ? CHECK_FOUND
                                                : CLI_OK;
}

int main(int argc, char **argv) {
  struct request o = {.jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN)};
  argp_err_exit_status = CLI_USAGE;
  bool typed = argc > 1 && !strcmp(argv[1], COMPLETE_MARK);
  size_t words = typed ? (size_t)argc : split(argc, argv);
  bool given = words < (size_t)argc;
  struct arguments a = {
      .usage = "[FILE...] [-- FLAG...]",
      .about =
          "Finds, before a program runs, what it does wrong with its futures: each finding with "
          "the path that proves it and a way to mend it.\v"
          "Without -p and without flags behind --, the units are those of compile_commands.json "
          "here or in build/; FILEs are those that are wanted of them. With flags, FILEs are the "
          "program, each compiled with them. Status 3: something was found.",
      .table = {{options, &o}},
      .most = SIZE_MAX};
  argv[0] = strncmp(argv[0], "aprof ", 6) ? (char *)"aprof check" : argv[0];
  char *flags_begin = argv[words];
  argv[words] = NULL;
  arguments_parse(&a, (int)words, argv);
  argv[words] = flags_begin;
  if (o.rules) {
    print_rules();
    return CLI_OK;
  }
  if (given && o.database) {
    complain("flags behind -- or -p, not both: compile_commands.json has flags of its own");
    return CLI_USAGE;
  }
  int status =
      check(&o, a.word, a.words, argv + words + given, (size_t)argc - words - given, given);
  if (fflush(stdout) || ferror(stdout)) {
    complain("cannot write standard output: %s", strerror(errno));
    return CLI_FAILED;
  }
  return status;
}
