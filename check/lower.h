/* SPDX-License-Identifier: MIT */
/*
 * From libclang's tree to blocks of steps (ir.h).
 *
 * In: a unit's text behind the preprocessor, so that each token stands where the tree says it
 * does. Out: its functions. One process lowers one unit and ends: nothing is freed here.
 * Cost: linear in the tree. Locking: none.
 */
#ifndef APROF_CHECK_LOWER_H
#define APROF_CHECK_LOWER_H

#include <clang-c/Index.h>

#include "check.h"
#include "ir.h"
#include "unit.h"

/* Where break and continue lead, and how many variables are to be cleaned up there. */
struct lower_target {
  unsigned block;
  size_t clean;
};

struct lower_label {
  const char *name;
  unsigned block;
  size_t clean;
};

struct lower_goto {
  const char *name; /* NULL: computed, to any label whose address is taken */
  unsigned block;
  int *clean; /* the variables that are to be cleaned up, as they are there */
  size_t cleans;
};

/* The body that is being made. */
struct lower_body {
  struct ir_function *function;
  struct ir_body *ir;
  CXCursor *declared; /* of ir->variable */
  unsigned now;       /* the block that grows */
  int *clean;         /* variables in scope that have something to be called at its end */
  size_t cleans;
  struct lower_target *leave, *again; /* break, continue; NULL: none */
  int choice;                         /* the block of the switch, -1: none */
  bool has_default;
  struct lower_label *label;
  size_t labels;
  struct lower_goto *jump;
  size_t jumps;
  int calls;
  struct lower_body *outer; /* of a lambda */
  bool by_reference;        /* it returns a reference */
};

struct lower {
  struct arena *arena;
  const char *text; /* of the unit, behind the preprocessor */
  size_t length;
  struct ir_unit *unit;
  struct lower_body *body; /* NULL outside of functions */
  const char *slot;        /* of the array that is initialized */
  const char *whole;       /* the struct whose members a list gives values */
  void *known;             /* a tree of functions */
  bool cxx;
  struct units *shown;   /* how paths are shown, ... */
  const char *directory; /* ... from where they are */
  const char *last_file, *last_shown;
  struct check_place *error; /* what does not parse */
  size_t errors;
};

struct kids {
  CXCursor *at;
  size_t count;
};

/* lower.c */
const char *lower_say(struct lower *, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *lower_string(struct lower *, CXString);
struct kids kids_of(struct lower *, CXCursor);
unsigned lower_line(CXCursor);
const char *lower_file(struct lower *, CXCursor);
/* The text of the cursor, and what stands between two offsets, without blanks around. */
void lower_extent(CXCursor, unsigned *begin, unsigned *end);
const char *lower_between(struct lower *, unsigned begin, unsigned end);
struct ir_function *lower_function(struct lower *, CXCursor declaration);
/* The function with that key, which may be new. */
struct ir_function *lower_named(struct lower *, const char *key);
struct ir_function *lower_lambda(struct lower *, CXCursor lambda);
/* The lambda whose call operator this is; NULL: it is none. */
struct ir_function *lower_called_lambda(struct lower *, CXCursor method);
void lower_note(struct lower *, struct ir_texts *, const char *text);
/* Fills the unit. */
void lower_unit(struct lower *, CXTranslationUnit);

/* lower-block.c */
unsigned block_new(struct lower *, unsigned line);
void block_next(struct lower *, unsigned from, unsigned to);
void block_jump(struct lower *, unsigned to); /* from here, which ends */
void block_branch(struct lower *, const char *value, unsigned yes, unsigned no);
struct ir_step *block_step(struct lower *, enum ir_kind, unsigned line, const char *to);
int variable_new(struct lower *, CXCursor declaration);
int variable_of(const struct lower *, CXCursor declaration);
/* Named in a lambda that is made: who made it no longer knows what it is. */
void variable_captured(struct lower *, CXCursor declaration);
void block_clean(struct lower *, size_t down_to); /* steps for what goes out of scope */
void block_end(struct lower *, unsigned line);    /* nothing follows */
void block_settle(struct lower *);                /* labels are known */

/* lower-number.c */
const char *lower_number(struct lower *, CXCursor literal);
const char *lower_fold(struct lower *, const char *, const char *sign, const char *);
/* lower-value.c */
const char *lower_value(struct lower *, CXCursor);
const char *lower_place(struct lower *, CXCursor); /* what is assigned to */
CXCursor lower_bare(struct lower *, CXCursor);     /* without parentheses and conversions */
/* What a call returns goes where no value says so. */
void lower_hand_on(struct lower *, CXCursor at, const char *value);
/* What stands between two operands. */
const char *lower_sign(struct lower *, CXCursor, CXCursor);
/* lower-choice.c */
void lower_condition(struct lower *, CXCursor, unsigned yes, unsigned no);
const char *lower_choice(struct lower *, CXCursor);      /* a && b */
const char *lower_conditional(struct lower *, CXCursor); /* a ? b : c */
/* `to`, a variable's declaration or a place, becomes one of two values; false: `from` is none
   that a condition chooses. */
bool lower_chosen(struct lower *, CXCursor at, CXCursor to, CXCursor from);
/* lower-call.c */
const char *lower_call(struct lower *, CXCursor);
/* lower-slot.c */
/* The place for a function that this is; NULL: it is none. */
const char *lower_slot(struct lower *, CXCursor place);
/* A value, of the expression `from`, goes to such a place, ... */
void lower_put(struct lower *, const char *slot, const char *value, CXCursor from);
/* ... to a function as its argument `at`, ... */
void lower_pass(struct lower *, const struct ir_function *to, int at, const char *value, CXType,
                CXCursor from);
/* ... to what is declared so. */
void lower_given(struct lower *, const char *value, CXType to, CXCursor place, CXCursor from);
/* lower-await.c */
/* co_await or co_yield of this operand, which is a null cursor where there is none. */
bool lower_is_await(struct lower *, CXCursor, CXCursor *operand);
const char *lower_await(struct lower *, CXCursor, CXCursor operand);
bool lower_is_return(struct lower *, CXCursor);
void lower_coroutine(struct lower *, struct ir_function *, CXCursor body);
/* lower-statement.c */
void lower_statement(struct lower *, CXCursor);
/* lower-variable.c */
void lower_declaration(struct lower *, CXCursor variable);
/* What a reference becomes: an address. */
const char *lower_reference(struct lower *, CXCursor);

#endif
