/* SPDX-License-Identifier: MIT */
/* The `aprof` command: the table of commands, beside that of outputs; finds one and hands over. */
#include "cli.h"
#include "complete.h"

#include <argp.h>
#include <errno.h>
#include <string.h>

#ifndef APROF_VERSION
#define APROF_VERSION "(unversioned build)"
#endif

/* As they are grouped in help. */
enum group { BUILD, COLLECT, CONTROL, LOOK, GIVE, GROUPS };
static const char *const groups[GROUPS] = {"build", "collect", "control", "look", "give"};

static const struct command {
  const char *name;
  enum group group;
  command_function *run;
  const char *summary;
} commands[] = {
    {"cflags", BUILD, cmd_cflags, "print the flags to compile (and link) with"},
    {"coverage", BUILD, cmd_coverage, "what of a program the plugin saw, and what it did not"},
    {"bindings", BUILD, cmd_bindings, "what bindings files say, and what is wrong with them"},
    {"check", BUILD, cmd_check, "what a program does wrong with its futures, before it runs"},
    {"suggest", BUILD, cmd_check, "a bindings file from a library's headers, to begin with"},
    {"run", COLLECT, cmd_run, "run a program with the profiler attached"},
    {"dump", COLLECT, cmd_dump, "write the totals of a live or left-over profile"},
    {"merge", COLLECT, cmd_merge, "write the totals of several processes as one"},
    {"record", COLLECT, cmd_record, "write what happens in a process, event by event"},
    {"top", LOOK, cmd_top, "watch live processes: loops, findings, functions"},
    {"diff", LOOK, cmd_diff, "what changed from some runs to others; gates for CI"},
    {"probe", LOOK, cmd_probe, "watch a line of a running program: how often, with which values"},
    {"export", GIVE, cmd_export, "write the numbers for other tools: metrics, stacks"},
    {"serve", GIVE, cmd_serve, "a live page and metrics of all processes, over HTTP"},
    {"list", CONTROL, cmd_list, "list the profiles of live and ended processes"},
    {"on", CONTROL, cmd_on, "switch profiling of a live process on"},
    {"off", CONTROL, cmd_off, "switch it off"},
    {"set", CONTROL, cmd_set, "how much it keeps of spans, and of which tier they are"},
    {"reset", CONTROL, cmd_reset, "start its totals again from zero"},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to) {
  fputs("Usage: aprof COMMAND [ARGUMENT...]\n"
        "The async profiler for C: where the time of futures went.\n",
        to);
  for (enum group group = 0; group < GROUPS; group++) {
    fprintf(to, "\n%s\n", groups[group]);
    for (size_t i = 0; i < COMMANDS; i++)
      if (commands[i].group == group)
        fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].summary);
    for (size_t i = 0; group == LOOK && outputs[i]; i++)
      fprintf(to, "  %-9s %s\n", outputs[i]->name, outputs[i]->summary);
  }
  fputs("\n  --help     this text; `aprof COMMAND --help` tells about one command\n"
        "  --version  the version\n\n"
        "First steps:  cc $(aprof cflags) -g -o prog prog.c && aprof run --report -- ./prog\n",
        to);
}

/* Nothing that a command takes can be empty: it is a shell's variable that is not set. What stands
   behind the `--' of record is a program's. */
static bool has_empty(int argc, char **argv) {
  bool starts = !strcmp(argv[1], "record");
  for (int i = 2; i < argc && !(starts && !strcmp(argv[i], "--")); i++)
    if (!*argv[i]) {
      complain("argument %d of `aprof %s' is empty: is a variable not set?", i - 1, argv[1]);
      return true;
    }
  return false;
}

static int dispatch(int argc, char **argv);

/* For shells, which the words up to the one that is being typed are given by; see complete.h. */
static int complete(int argc, char **argv) {
  if (argc == 3) {
    for (size_t i = 0; i < COMMANDS; i++)
      complete_offer(argv[2], commands[i].name, commands[i].summary);
    for (size_t i = 0; outputs[i]; i++)
      complete_offer(argv[2], outputs[i]->name, outputs[i]->summary);
    complete_offer(argv[2], "--help", "tell about all commands");
    complete_offer(argv[2], "--version", "the version");
  }
  if (argc < 4)
    return CLI_OK;
  argv[1] = argv[2];
  argv[2] = (char *)COMPLETE_MARK;
  return dispatch(argc, argv);
}

static int dispatch(int argc, char **argv) {
  const char *name = argv[1];
  command_function *run = NULL;
  const struct output *output = NULL;
  for (size_t i = 0; i < COMMANDS; i++)
    if (!strcmp(name, commands[i].name))
      run = commands[i].run;
  for (size_t i = 0; outputs[i]; i++)
    if (!strcmp(name, outputs[i]->name))
      output = outputs[i];
  if (!run && !output) {
    complain("there is no command '%s'; `aprof --help` lists them", name);
    return CLI_USAGE;
  }
  bool typed = argc > 2 && !strcmp(argv[2], COMPLETE_MARK);
  if (run != cmd_run && !typed && has_empty(argc, argv))
    return CLI_USAGE;
  /* argp prints argv[0] in its usage lines and error messages. */
  argv[1] = print_string("aprof %s", name);
  return run ? run(argc - 1, argv + 1) : show_output(output, argc - 1, argv + 1);
}

int main(int argc, char **argv) {
  argp_err_exit_status = CLI_USAGE;
  const char *name = argc < 2 ? "help" : argv[1];
  if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "-?") ||
      !strcmp(name, "help")) {
    print_help(stdout);
    return fflush(stdout) ? CLI_FAILED : CLI_OK;
  }
  if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
    puts("aprof " APROF_VERSION);
    return fflush(stdout) ? CLI_FAILED : CLI_OK;
  }
  int status = !strcmp(name, "complete") ? complete(argc, argv) : dispatch(argc, argv);
  if (fflush(stdout) || ferror(stdout)) {
    complain("cannot write standard output: %s", strerror(errno));
    return status ? status : CLI_FAILED;
  }
  return status;
}
