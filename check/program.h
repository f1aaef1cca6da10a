/* SPDX-License-Identifier: MIT */
/*
 * A program: the functions of all its units, linked by name, and what lines say about them.
 *
 * Purpose: rules ask here who calls whom, which bodies are futures, and what a call means.
 * Cost: some look-ups for each function that is named. Locking: none.
 */
#ifndef APROF_CHECK_PROGRAM_H
#define APROF_CHECK_PROGRAM_H

#include "check.h"
#include "ir.h"
#include "lang/lang.h"

/* Why a body is asynchronous: a line about it, or a call that was given it; without a line, it is a
   coroutine of C++20. */
struct why {
  const struct lang_about *about;
  const struct ir_function *in; /* NULL: the line is about the body itself */
  const char *to;               /* the function that it was given to */
  unsigned line;                /* of that call */
};

/* Lines about a function, and what follows from them. */
struct judged {
  struct lang_about *call, *body;
  size_t calls, bodies;
  bool tells_call, tells_body; /* one of these says more than whose time it is */
  bool async;                  /* its body is a future's, on a loop */
  bool worker;                 /* its body runs on a thread of its own, which may block */
  bool awaits;                 /* a call of it may wait; ... */
  const struct ir_step *await; /* ... here, in its body, or NULL: each call of it does */
  struct why why;
};

struct program {
  struct arena arena;
  struct ir_function *first; /* in the order of their units */
  size_t functions;
  void *by_key;           /* a tree */
  struct ir_texts opened; /* places for functions that get what is not known: ir.h */
  struct slots *slots;    /* what is put where: program-pointer.c */
  struct lang_set *lines;
  void *files; /* a tree of the names of all that was read */
  struct check_finding *finding;
  size_t findings;
  struct check_unseen *trouble, *pointer;
  size_t troubles, pointers;
  size_t unread; /* units */
  bool part;     /* of the program only */
};

struct program_size {
  size_t units, kept; /* kept: from the cache */
};
/* Reads all units, each by a process of its own (run.c). False after a message. */
bool program_read(struct program *, const struct check_request *, struct program_size *);

/* Takes the functions of a unit in. */
void program_add(struct program *, struct ir_unit *);
/* All functions that the program puts into a variable of a function; how many. */
size_t program_given(struct program *, const struct ir_function *, const char *value,
                     struct ir_function ***list);
/* What calls through pointers are, of program_link(). */
void program_point(struct program *);
/* Where the pointer of such a call comes from, for users; whether it has a name for them. */
bool pointer_is_named(const struct ir_step *);
const char *pointer_text(struct program *, const struct ir_step *);

/* Once all units are there: callees, lines, which bodies are asynchronous. */
void program_link(struct program *);

/* Once it is known which ways lead to an end: which calls may wait. */
void program_await(struct program *);

struct ir_function *program_function(struct program *, const char *key);
static inline const struct judged *judged_of(const struct ir_function *f) {
  return f->judged;
}

/* A value, with what a variable is known to be in its place. */
const char *program_value(const struct ir_body *, const char *value);
/* An address or a pointer, "&$2->m" or "$2->m", where variables that are set once are what they are
   set to: two names of one thing become one. */
const char *program_place(const struct ir_body *, const char *value);
/* The function that a value is; NULL: not known. */
struct ir_function *program_function_of(struct program *, const struct ir_body *,
                                        const char *value);

/* A value, with what a variable is that is set once, to a call's result, in its place: "!7". */
const char *program_call(const struct ir_body *, const char *value);
/* The call whose result a value is, "!7"; NULL: it is none. */
struct ir_step *body_call(const struct ir_body *, const char *value);

/* The line with that verb that holds at the call for certain; NULL: none does. */
const struct lang_about *line_at(const struct ir_body *, const struct ir_step *, enum lang_verb);
/* A call of it may wait, in it or in what it calls, before it returns. */
static inline bool program_awaits(const struct ir_function *f) {
  return judged_of(f)->awaits;
}
/* The call waits, whatever function it is. */
bool step_awaits(const struct ir_body *, const struct ir_step *);
/* One of the functions that are called; NULL: it is not known. */
static inline struct ir_function *step_function(const struct ir_step *s) {
  return s->callee ? s->callee : s->targets ? s->target[0] : NULL;
}
/* A body or a call that nobody described. */
bool is_plain(const struct ir_function *);

#define EACH_FUNCTION(p, f) for (struct ir_function *f = (p)->first; f; f = f->next)
/* Of blocks on a way to the function's end, in its process. */
#define EACH_LIVE_STEP(body, s)                                                                    \
  for (struct ir_block *k_ = (body)->block; k_ < (body)->block + (body)->blocks; k_++)             \
    for (struct ir_step *s = k_->step; s < k_->step + (k_->apart ? 0 : k_->steps); s++)
#define EACH_STEP(body, s)                                                                         \
  for (struct ir_block *k_ = (body)->block; k_ < (body)->block + (body)->blocks; k_++)             \
    for (struct ir_step *s = k_->step; s < k_->step + k_->steps; s++)

#endif
