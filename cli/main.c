/* SPDX-License-Identifier: MIT */
/* The `aprof` command: finds the subcommand and hands over. */
#include "cli.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#ifndef APROF_VERSION
#define APROF_VERSION "(unversioned build)"
#endif

static const struct command {
  const char *name;
  int (*run)(int argc, char **argv);
  const char *summary;
} commands[] = {
    {"run", cmd_run, "run a program with the profiler attached"},
    {"report", cmd_report, "show totals, or the interval between two of them"},
    {"flame", cmd_flame, "draw where the time of futures went, as a flame graph (SVG)"},
    {"ps", cmd_ps, "show what lives: who waits for what, who holds a loop"},
    {"dump", cmd_dump, "write the totals of a live or left-over profile"},
    {"merge", cmd_merge, "write the totals of several processes as one"},
    {"list", cmd_list, "list the profiles of live and ended processes"},
    {"on", cmd_on, "switch profiling of a live process on"},
    {"off", cmd_off, "switch it off"},
    {"reset", cmd_reset, "start its totals again from zero"},
    {"coverage", cmd_coverage, "what of a program the plugin saw, and what it did not"},
    {"bindings", cmd_bindings, "what bindings files say, and what is wrong with them"},
    {"cflags", cmd_cflags, "print the flags to compile (and link) with"},
};

enum { COMMANDS = sizeof commands / sizeof *commands };

static void print_help(FILE *to) {
  fputs("Usage: aprof COMMAND [ARGUMENT...]\n"
        "The async profiler for C: where the time of futures went.\n\n",
        to);
  for (size_t i = 0; i < COMMANDS; i++)
    fprintf(to, "  %-9s %s\n", commands[i].name, commands[i].summary);
  fputs("\n  --help     this text; `aprof COMMAND --help` tells about one command\n"
        "  --version  the version\n\n"
        "First steps:  cc $(aprof cflags) -g -o prog prog.c && aprof run --report -- ./prog\n",
        to);
}

/* Nothing that a command takes can be empty: it is a shell's variable that is not set. */
static bool has_empty(int argc, char **argv) {
  for (int i = 2; i < argc; i++)
    if (!*argv[i]) {
      complain("argument %d of `aprof %s' is empty: is a variable not set?", i - 1, argv[1]);
      return true;
    }
  return false;
}

int main(int argc, char **argv) {
  argp_err_exit_status = CLI_USAGE;
  if (argc < 2) {
    print_help(stderr);
    return CLI_USAGE;
  }
  const char *name = argv[1];
  if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "-?") ||
      !strcmp(name, "help")) {
    print_help(stdout);
    return fflush(stdout) ? CLI_FAILED : CLI_OK;
  }
  if (!strcmp(name, "--version") || !strcmp(name, "-V")) {
    puts("aprof " APROF_VERSION);
    return fflush(stdout) ? CLI_FAILED : CLI_OK;
  }
  for (size_t i = 0; i < COMMANDS; i++) {
    if (strcmp(name, commands[i].name))
      continue;
    if (commands[i].run != cmd_run && has_empty(argc, argv))
      return CLI_USAGE;
    /* argp prints argv[0] in its usage lines and error messages. */
    argv[1] = print_string("aprof %s", name);
    int status = commands[i].run(argc - 1, argv + 1);
    if (fflush(stdout) || ferror(stdout)) {
      complain("cannot write standard output: %s", strerror(errno));
      return status ? status : CLI_FAILED;
    }
    return status;
  }
  complain("there is no command '%s'; `aprof --help` lists them", name);
  return CLI_USAGE;
}
