/* SPDX-License-Identifier: MIT */
/* aprof cflags: what to compile with, for the way aprof is installed here. */
#include "arguments.h"
#include "cli.h"
#include "places.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef APROF_GCC_PLUGIN_DIRS
#define APROF_GCC_PLUGIN_DIRS ""
#endif

static const struct option_row options[] = {
    {"libs", 0, OPTION_FLAG, 0,
     .text = "Print the flags to link with instead (only needed to link the runtime in: for static "
             "programs, or without autoload)"},
    {0}};

/* Directories that GCC and the dynamic loader look in without being told. */
static bool is_standard(const char *directory, const char *const *standard) {
  for (; *standard; standard++)
    if (!strcmp(directory, *standard))
      return true;
  return false;
}

/* Whether each GCC this was built for has our link in its plugin directory:
   "12:/usr/lib/gcc/x86_64-linux-gnu/12/plugin ...". */
static bool has_links(void) {
  char *pairs = print_string("%s", APROF_GCC_PLUGIN_DIRS), *rest = pairs, *pair;
  bool all = *pairs != 0;
  while (all && (pair = strsep(&rest, " "))) {
    const char *colon = strchr(pair, ':');
    if (!colon)
      continue;
    char *link = print_string("%s/aprof.so", colon + 1);
    all = access(link, R_OK) == 0;
    free(link);
  }
  free(pairs);
  return all;
}

static int print_cflags(const struct places *p) {
  static const char *const standard[] = {"/usr/include", "/usr/local/include", NULL};
  if (!p->plugin) {
    complain("the plugin (aprof.so) is not beside this command: %s",
             p->in_build_tree ? "build it with `make plugins`" : "install aprof again");
    return CLI_FAILED;
  }
  if (!p->in_build_tree && !strcmp(p->prefix, "/usr"))
    printf("-fplugin=aprof.so");
  else if (!p->in_build_tree && has_links())
    printf("-fplugin=aprof");
  else
    printf("-fplugin=%s", p->plugin);
  if (p->include && !is_standard(p->include, standard))
    printf(" -I%s", p->include);
  putchar('\n');
  return CLI_OK;
}

static int print_libs(const struct places *p) {
  static const char *const standard[] = {"/usr/lib", "/usr/lib64", "/usr/lib/x86_64-linux-gnu",
                                         "/usr/local/lib", NULL};
  if (!p->library) {
    complain("the runtime (libaprof) is not beside this command: %s",
             p->in_build_tree ? "build it with `make rt/libaprof.la`" : "install aprof again");
    return CLI_FAILED;
  }
  if (!is_standard(p->library, standard))
    printf("-L%s -Wl,-rpath,%s ", p->library, p->library);
  /* Its uses are weak, which get no archive's member, and no shared object where only those that
     are needed are linked, as many compilers ask for. */
  puts("-Wl,-u,__aprof_attach -Wl,--push-state,--no-as-needed -laprof -Wl,--pop-state");
  return CLI_OK;
}

int cmd_cflags(int argc, char **argv) {
  bool libs = false;
  struct places places;
  struct arguments a = {
      .about = "Prints the flags to compile with: cc $(aprof cflags) -g -c prog.c\v"
               "Flags are all a build needs: an instrumented program finds the runtime by itself "
               "where aprof is installed, and runs as ever where it is not.",
      .table = {{options, &libs}}};
  arguments_parse(&a, argc, argv);
  places_find(&places);
  int status = libs ? print_libs(&places) : print_cflags(&places);
  places_release(&places);
  return status;
}
