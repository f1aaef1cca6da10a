/* SPDX-License-Identifier: MIT */
/*
 * What is known of a unit: its functions, as blocks of steps, without a compiler.
 *
 * Purpose: a unit is parsed once, by a process of its own, and written down; rules are
 * judged over all units by who has read that. Rules and bindings are no part of it, so it
 * stays true when these change.
 * Cost: a few bytes per expression. Locking: none.
 *
 * A value is a text:
 *     #5      a number                $3      the variable 3 of the body
 *     %KEY    a function              @NAME   a variable outside functions
 *     !7      what step 7 returned    ?       something else
 * with ->f .f [i] behind and & * before it; a comparison has blanks around its sign.
 */
#ifndef APROF_CHECK_IR_H
#define APROF_CHECK_IR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "read/arena.h"

#define IR_FORMAT 9
#define IR_CLEANUP "~" /* the value of a call that the end of a scope makes */
enum { IR_SEPARATOR = 0x1f, IR_FROM = 0x1e }; /* between the parts of a field; of two places */

/* Of a function. */
enum {
  IR_STATIC = 1,
  IR_NORETURN = 2,
  IR_MEMBER = 4,  /* of a class, with an object */
  IR_VIRTUAL = 8, /* its calls may be another one's */
  IR_C_NAME = 16, /* its symbol is its name */
  IR_SYSTEM = 32, /* declared in a header of the system */
  IR_CXX = 64,
  IR_LAMBDA = 128,
  IR_STACKLESS = 256, /* a coroutine of C++20, ... */
  IR_COROUTINE = 512, /* ... which awaits, ... */
  IR_LAZY = 1024,     /* ... which begins when it is awaited */
  IR_DAMAGED = 2048,  /* what is in its body does not parse: it may do more than is seen */
  IR_MAKES = 4096     /* a constructor: no argument is its object */
};

struct ir_texts {
  const char **text;
  size_t count;
};

struct ir_function {
  const char *key; /* equal in all units */
  const char *name, *qualified, *symbol, *signature;
  unsigned flags;
  struct ir_texts files;       /* where it is declared */
  struct ir_texts types;       /* typedefs that it is given as */
  struct ir_texts fields;      /* places that it is put into: "struct.member@FILE", "=" before
                                  one of a table; "virtual:KEY" of what it overrides */
  struct ir_texts annotations; /* of APROF() */
  struct ir_texts parameters;  /* their types: as spelled */
  struct ir_body *body;        /* or NULL */
  struct ir_function *next;    /* of the program */
  bool given;                  /* its address is taken somewhere */
  void *judged;                /* the linker's: struct judged */
  bool forks;                  /* returns what fork() did */
  struct ir_locks *locks;      /* mutexes that it takes and frees: locks.c */
  void *reached;               /* from asynchronous code: of the rule that asks */
};

/* Of a variable. */
enum {
  IR_PARAMETER = 1,
  IR_KEPT = 2 /* static */,
  IR_THREAD = 4,
  IR_POINTER = 8,
  IR_REFERENCE = 16
};

struct ir_variable {
  const char *name, *type;
  const char *cleanup; /* who cleans it up: a function's name, "~" of an object, with the key of
                          its destructor behind; or NULL */
  unsigned flags, line;
};

enum ir_kind {
  IR_CALL = 'c',    /* of `to`, a function's key */
  IR_ICALL = 'i',   /* through `to`, a value; `value`: the place that it comes from */
  IR_SET = '=',     /* `to` becomes `value` */
  IR_DECLARE = 'd', /* the variable `to`, without a value */
  IR_USE = 'u',     /* the variable `to` is read */
  IR_ADDRESS = 'p', /* the address of the variable `to` is taken */
  IR_RETURN = 'r',
  IR_SCOPE = 'x', /* the variable `to` goes out of scope */
};

struct ir_step {
  enum ir_kind kind;
  unsigned line;
  int id; /* of a call: !id is its result */
  const char *to, *value;
  struct ir_texts argument;
  struct ir_function *callee;  /* of a call, once linked */
  struct ir_function **target; /* of one through a pointer: all that it may be; NULL: not known */
  size_t targets;
  bool judged; /* by the rule that asks */
};

/* Ends in `branch`: NULL or a value; with two ways on the first is where it is not zero. */
struct ir_block {
  struct ir_step *step;
  size_t steps;
  unsigned *next;
  size_t nexts;
  const char *branch;
  bool many;  /* a switch */
  bool apart; /* leads to no end of the function, or is another process: flow.h */
  unsigned line;
};

struct ir_body {
  const char *file;
  unsigned line;
  struct ir_variable *variable;
  size_t variables;
  struct ir_block *block; /* the first is the entry */
  size_t blocks;
  struct ir_step **call; /* by id; NULL until one is asked for */
  size_t calls;
  struct flow *flow; /* what walks know of it: flow.c */
};

struct ir_unit {
  struct ir_function **function;
  size_t functions;
  struct ir_texts files;    /* that it has read */
  struct ir_texts opened;   /* places for functions that get what is not known, or what is
                               in another place: behind IR_FROM */
  struct ir_texts problems; /* "FILE:LINE: what the parser said" */
  size_t errors;
};

/* Reads what ir_write() wrote: `text` is taken apart in place and must stay. False: it is not
   whole, or of another format. */
bool ir_read(struct ir_unit *, struct arena *, char *text);
void ir_write(const struct ir_unit *, FILE *);

/* A growing list: room for one more element behind the `count` that are there. */
void *ir_grow(void *list, size_t count, size_t size);

#endif
