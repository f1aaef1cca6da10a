/* SPDX-License-Identifier: MIT */
/* aprof check: what a program does wrong with its futures, told before it runs. */
#include "arguments.h"
#include "check-json.h"
#include "check-text.h"
#include "check/select.h"
#include "cli.h"
#include "complete.h"
#include "output.h"
#include "places.h"
#include "suggest-main.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHECK_FOUND = 3 };

struct request {
  const char *database, *output, *baseline, *new_baseline, *diff, *cache;
  uint64_t jobs;
  bool unseen, rules, json, sarif, no_cache;
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
    {"json", 0, OPTION_FLAG, offsetof(struct request, json), .text = "Print JSON"},
    {"sarif", 0, OPTION_FLAG, offsetof(struct request, sarif),
     .text = "Print SARIF 2.1.0, as code hosts and editors read it"},
    {"output", 'o', OPTION_TEXT, offsetof(struct request, output), "FILE",
     .text = "Write to FILE, whole or not at all (default: standard output)"},
    {"baseline", 0, OPTION_TEXT, offsetof(struct request, baseline), "FILE",
     .text = "Leave out findings that FILE knows"},
    {"write-baseline", 0, OPTION_TEXT, offsetof(struct request, new_baseline), "FILE",
     .text = "Write all findings to FILE, as known from now on"},
    {"diff", 0, OPTION_TEXT, offsetof(struct request, diff), "FILE",
     .text = "Only what lines that a unified diff adds have to do with (-: standard input)"},
    {"cache", 0, OPTION_TEXT, offsetof(struct request, cache), "DIR",
     .text = "Keep there what was read of units (default: ~/.cache/aprof/check)"},
    {"no-cache", 0, OPTION_FLAG, offsetof(struct request, no_cache), .text = "Read all units anew"},
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

/* Where `--` stands. */
static size_t split(int argc, char **argv) {
  size_t words = 1;
  while (words < (size_t)argc && strcmp(argv[words], "--"))
    words++;
  return words;
}

/* Makes the folder and those above it; false: it cannot be. */
static bool make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(path, 0700);
    *slash = '/';
  }
  return (mkdir(path, 0700) == 0 || errno == EEXIST) && access(path, W_OK | X_OK) == 0;
}

/* NULL: there is none. One that was asked for is missed with a message. */
static char *cache_of(const struct request *o) {
  const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
  char *path = o->no_cache     ? NULL
               : o->cache      ? print_string("%s", o->cache)
               : base && *base ? print_string("%s/aprof/check", base)
               : home && *home ? print_string("%s/.cache/aprof/check", home)
                               : NULL;
  if (path && make_folders(path))
    return path;
  if (path && o->cache)
    complain("nothing is kept in %s: %s", path, strerror(errno));
  free(path);
  return NULL;
}

static void print(const void *result, FILE *out) {
  check_print(result, out);
}

static void print_rest(const struct request *o, const struct check_result *r) {
  check_print_unseen(r, o->unseen, stderr);
  fprintf(stderr, "aprof check: %zu %s in %zu %s of %zu functions", r->findings,
          r->findings == 1 ? "finding" : "findings", r->units, r->units == 1 ? "unit" : "units",
          r->functions);
  if (r->left_out)
    fprintf(stderr, "; %zu left out, known or of unchanged lines", r->left_out);
  fputc('\n', stderr);
}

static int give(const struct request *o, struct check_result *r) {
  if (o->new_baseline) {
    if (!output_given(o->new_baseline, select_write, r))
      return CLI_FAILED;
    fprintf(stderr, "aprof check: %zu %s written to %s\n", r->findings,
            r->findings == 1 ? "finding" : "findings", o->new_baseline);
    return CLI_OK;
  }
  if ((o->baseline && !select_unknown(r, o->baseline)) || (o->diff && !select_changed(r, o->diff)))
    return CLI_FAILED;
  if (!output_given(o->output, o->json ? check_json : o->sarif ? check_sarif : print, r))
    return CLI_FAILED;
  fflush(stdout);
  print_rest(o, r);
  return r->unread == r->units ? CLI_FAILED : r->findings ? CHECK_FOUND : CLI_OK;
}

/* The database that is meant if none is named. */
static bool find_program(struct request *o, size_t files, bool given) {
  if (!o->database && !given && has_database("."))
    o->database = ".";
  if (!o->database && !given && has_database("build"))
    o->database = "build";
  if (!o->database && !files)
    complain("which program? there is no compile_commands.json here or in build/: name its folder "
             "with -p, or files, and their flags behind --");
  return o->database || files;
}

static int check(struct request *o, char *const *file, size_t files, char *const *flag,
                 size_t flags) {
  struct places places;
  struct check_result result;
  places_find(&places);
  char *cache = cache_of(o);
  struct check_request request = {.database = o->database,
                                  .file = file,
                                  .files = files,
                                  .flag = flag,
                                  .flags = flags,
                                  .bindings = o->bindings,
                                  .binding_files = o->binding_files,
                                  .shipped = places.bindings,
                                  .include = places.include,
                                  .cache = cache,
                                  .jobs = (unsigned)o->jobs};
  int status = check_run(&request, &result) ? give(o, &result) : CLI_FAILED;
  places_release(&places);
  free(cache);
  return status;
}

static const char *fault_of(const struct arguments *a) {
  const struct request *o = a->context;
  return o->json && o->sarif ? "JSON, or SARIF: not both"
         : !o->jobs          ? "--jobs is 1 at least"
                             : NULL;
}

/* The words, and the flags behind `--`, which are the compiler's: argp must not see them. */
static int check_main(int argc, char **argv, char *const *flag, size_t flags, bool given) {
  struct request o = {.output = "-", .jobs = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN)};
  struct arguments a = {
      .usage = "[FILE...] [-- FLAG...]",
      .about =
          "Finds, before a program runs, what it does wrong with its futures: each finding with "
          "the path that proves it and a way to mend it.\v"
          "Without -p and without flags behind --, the units are those of compile_commands.json "
          "here or in build/; FILEs are those that are wanted of them. With flags, FILEs are the "
          "program, each compiled with them. Status 3: something was found.",
      .table = {{options, &o}},
      .most = SIZE_MAX,
      .fault = fault_of,
      .context = &o};
  arguments_parse(&a, argc, argv);
  if (o.rules) {
    print_rules();
    return CLI_OK;
  }
  if (given && o.database) {
    complain("flags behind -- or -p, not both: compile_commands.json has flags of its own");
    return CLI_USAGE;
  }
  return find_program(&o, a.words, given) ? check(&o, a.word, a.words, flag, flags) : CLI_USAGE;
}

int main(int argc, char **argv) {
  bool typed = argc > 1 && !strcmp(argv[1], COMPLETE_MARK);
  size_t words = typed ? (size_t)argc : split(argc, argv);
  bool given = words < (size_t)argc;
  char *const *flag = argv + words + given;
  size_t flags = (size_t)argc - words - given;
  argp_err_exit_status = CLI_USAGE;
  argv[0] = strncmp(argv[0], "aprof ", 6) ? (char *)"aprof check" : argv[0];
  argv[words] = NULL;
  int status = strcmp(argv[0], "aprof suggest") ? check_main((int)words, argv, flag, flags, given)
                                                : suggest_main((int)words, argv, flag, flags);
  if (fflush(stdout) || ferror(stdout)) {
    complain("cannot write standard output: %s", strerror(errno));
    return CLI_FAILED;
  }
  return status;
}
