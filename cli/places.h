/* SPDX-License-Identifier: MIT */
/*
 * Where the other parts of aprof are.
 *
 * Purpose: finds runtime, plugin and headers beside this executable, in the
 * build tree or in a prefix that may have been moved; else where `make install`
 * put them.
 * Locking: none.
 */
#ifndef APROF_CLI_PLACES_H
#define APROF_CLI_PLACES_H

#include <stdbool.h>

struct places {
  bool in_build_tree;
  char *runtime;  /* libaprof.so.0; NULL: not there */
  char *plugin;   /* aprof.so */
  char *include;  /* directory that holds aprof.h */
  char *library;  /* directory that -laprof is found in */
  char *bindings; /* directory of the shipped ones */
  char *prefix;   /* of an installed one */
};

void places_find(struct places *);
void places_release(struct places *);

#endif
