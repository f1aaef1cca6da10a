/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One call (or store) while it is worked on: what goes before, around and behind.
 *
 * Purpose: between call.cc, which finds the lines and puts the pieces together,
 * and call-events.cc, which makes the pieces of each line.
 * Cost, locking: see pieces.h.
 */
#ifndef APROF_PLUGIN_CALL_EVENTS_H
#define APROF_PLUGIN_CALL_EVENTS_H

#include "announced.h"
#include "value.h"

namespace aprof {

/* Where a call stands. */
struct Caller {
  tree decl;                /* the function */
  bool is_body;             /* its body is a future */
  std::vector<tree> tokens; /* of its brackets, from the outside in; some may not be open */
  bool has_block = false;   /* ... or a block of it is (APROF_REQUEST), which has begun */
  bool outlined = false;    /* in what becomes a function of its own (OpenMP) */
  Announced *announced = nullptr;
};

/* A pair of opening and closing events around the call. */
struct Bracket {
  tree token = NULL_TREE;
  tree open = NULL_TREE;   /* statements before */
  tree normal = NULL_TREE; /* statements after it came to its end */
  tree close = NULL_TREE;  /* statements whichever way it is left */
  bool surely = false; /* the opening event is there on each way, and asks for no announcement */
};

struct CallWork {
  const Caller &in;
  gcall *call; /* null: an assignment */
  std::string callee;
  Frame frame;
  bool may_throw;
  bool enters = false; /* the callee's body is a future */
  tree variables = NULL_TREE;
  tree before = NULL_TREE, after = NULL_TREE;
  tree announcement = NULL_TREE; /* behind `before` */
  bool conditional = false;      /* ... is it */
  bool taken_back = false;       /* before `after` */
  bool jumped = false;           /* its result tells whether somebody has jumped to it */
  std::string tier = "";         /* of the span around the call, or empty */
  bool timed = false; /* a span, or whose tier it is, is around the call: what is announced to the
                         body that begins comes behind that */
  gimple_seq inner = nullptr;
  std::vector<Bracket> brackets = {};
  std::unordered_map<const Binding *, tree> objects = {}; /* what obj is to a line */
  const Binding *leaving = nullptr;                       /* an end from which nobody comes back */
  tree left = NULL_TREE;                                  /* that it was, where its when= decides */
};

/* The value of ret is needed by this line. */
bool uses_ret(const Binding &);

/* An end before a call that does not come back, so nothing above it will be closed:
   by its word, by the function's declaration, or since the call is where the future that
   it ends would wait. */
bool nobody_returns(const Binding &, gcall *, bool awaited);

/* Adds what the line asks for to the pieces. */
void add_line(CallWork *, const Binding *);

/* Messages about a line that holds for the call, and the notes of `aprof coverage`. */
void say_line(CallWork *, const Binding *);

/* The call of a function whose body is a future, announced. */
void add_announcement(CallWork *, const Binding *await);

} // namespace aprof

#endif
