/* SPDX-License-Identifier: MIT */
/* Where the other parts of aprof are; see places.h. */
#include "places.h"

#include "cli.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef APROF_LIBDIR
#define APROF_LIBDIR "/usr/lib"
#endif
#ifndef APROF_INCLUDEDIR
#define APROF_INCLUDEDIR "/usr/include"
#endif

/* The first of "FROM/NAME" that exists, as a clean absolute path; NULL: none. */
static char *first_of(const char *from, const char *const *names) {
  for (; *names; names++) {
    char *path = **names == '/' ? print_string("%s", *names) : print_string("%s/%s", from, *names);
    char *real = realpath(path, NULL);
    free(path);
    if (real)
      return real;
  }
  return NULL;
}

/* Strips the last component; "" becomes "/". */
static char *parent_of(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash && slash != path ? print_string("%.*s", (int)(slash - path), path)
                                : print_string("/");
}

static void find_in_build_tree(struct places *p, const char *here) {
  static const char *const headers[] = {"rt/include/aprof.h", NULL};
  static const char *const runtime[] = {"rt/.libs/libaprof.so.0", NULL};
  static const char *const plugin[] = {"plugin/aprof.so", NULL};
  static const char *const library[] = {"rt/.libs", NULL};
  char *bindings = print_string("%s/bindings", here), *real = realpath(bindings, NULL);
  p->bindings = real ? print_string("%s", real) : NULL;
  char *beside = print_string("%s/../rt/include/aprof.h", real ? real : bindings);
  char *header = first_of(here, headers);
  if (!header) /* `bindings` is a link into the source tree where the two are apart */
    header = realpath(beside, NULL);
  p->include = header ? parent_of(header) : NULL;
  p->runtime = first_of(here, runtime);
  p->plugin = first_of(here, plugin);
  p->library = first_of(here, library);
  free(header);
  free(beside);
  free(real);
  free(bindings);
}

static void find_installed(struct places *p, const char *here) {
  char *prefix = parent_of(here);
  /* Where this prefix keeps libraries: as configured if the prefix is, else by name. */
  const char *libraries[] = {"lib/libaprof.so.0", "lib64/libaprof.so.0",
                             "lib/x86_64-linux-gnu/libaprof.so.0", APROF_LIBDIR "/libaprof.so.0",
                             NULL};
  const char *plugins[] = {"lib/aprof.so", "lib64/aprof.so", "lib/x86_64-linux-gnu/aprof.so",
                           APROF_LIBDIR "/aprof.so", NULL};
  const char *headers[] = {"include/aprof.h", APROF_INCLUDEDIR "/aprof.h", NULL};
  char *found = first_of(prefix, libraries), *header = first_of(prefix, headers);
  p->runtime = found;
  p->plugin = first_of(prefix, plugins);
  p->library = found ? parent_of(found) : NULL;
  p->include = header ? parent_of(header) : NULL;
  p->prefix = prefix;
  char *bindings = print_string("%s/share/aprof/bindings", prefix);
  p->bindings = realpath(bindings, NULL);
  free(bindings);
  free(header);
}

void places_find(struct places *p) {
  char exe[PATH_MAX] = "";
  memset(p, 0, sizeof *p);
  ssize_t length = readlink("/proc/self/exe", exe, sizeof exe - 1);
  exe[length > 0 ? length : 0] = 0;
  char *here = parent_of(exe);
  char *mark = print_string("%s/config.status", here);
  p->in_build_tree = access(mark, F_OK) == 0;
  if (p->in_build_tree)
    find_in_build_tree(p, here);
  else
    find_installed(p, here);
  free(mark);
  free(here);
}

void places_release(struct places *p) {
  free(p->runtime);
  free(p->plugin);
  free(p->include);
  free(p->library);
  free(p->bindings);
  free(p->prefix);
}
