/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The work on one body, from its first look to its wrapping; see body.cc.
 *
 * Purpose: begin_body decides on the brackets, so that calls inside can refer to
 * their tokens; instrument_return is called for each return; finish_body wraps.
 * Cost, locking: see pieces.h.
 */
#ifndef APROF_PLUGIN_BODY_H
#define APROF_PLUGIN_BODY_H

#include "gate.h"
#include "plugin/match/body-lines.h"
#include "value.h"

namespace aprof {

struct BodyBracket {
  const Binding *run = nullptr; /* null: async, a switch or a span */
  Event closed_by = Event::leave;
  tree token = NULL_TREE;
  tree open = NULL_TREE;  /* statements at entry */
  tree how = NULL_TREE;   /* a constant or a variable */
  tree where = NULL_TREE; /* null pointer or a variable: RETURN site */
  int constant = 0;       /* how it ends where nothing else decides */
  Frame late;             /* arguments as they were at entry */
};

struct BodyWork {
  tree decl;
  Frame frame;
  tree variables = NULL_TREE;
  std::vector<BodyBracket> brackets; /* from the outside in */
  tree entry = NULL_TREE;            /* statements inside them all, before the body */
  bool is_future = false;            /* some of them make it one, ... */
  std::vector<tree> tokens; /* ... whose tokens these are, in their order, and its span's */
};

void begin_body(BodyWork *, const BodyLines &);
void instrument_return(BodyWork *, gimple_stmt_iterator *);
void finish_body(BodyWork *);

/* The way an unwound bracket ends: a C++ exception, or a cancellation in C. */
int unwound_how();

} // namespace aprof

#endif
