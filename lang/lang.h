/* SPDX-License-Identifier: MIT */
/*
 * The language of bindings, for C: what the `aprof` command asks of lang/.
 *
 * Purpose: a file of bindings comes in; its lines with what they mean go out, and what is
 * wrong with it; and the table of words.
 * Cost: none worth a thought. Locking: none.
 */
#ifndef APROF_LANG_LANG_H
#define APROF_LANG_LANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lang_line {
  unsigned line; /* from 1 */
  const char *text;
  const char *meaning;
};

struct lang_error {
  const char *file;
  unsigned line, column; /* from 1; 0: the file as a whole */
  unsigned width;
  const char *source; /* that line */
  const char *text;
  const char *remedy; /* may be empty */
  bool note;          /* tells more about the error before it */
};

struct lang_file {
  const struct lang_line *line; /* from the top */
  size_t lines;
  const struct lang_error *error;
  size_t errors;
};

/* Never null: a file that cannot be read has an error that says so. Valid until lang_file_free. */
struct lang_file *lang_file_read(const char *path);
void lang_file_free(struct lang_file *);

struct lang_word {
  const char *kind; /* verb, place, word */
  const char *name;
  const char *form;      /* of its value, or null; a place's name */
  const char *goes_with; /* of a verb: its places; of a word: its verbs; else null */
  const char *text;
  bool bare; /* it stands without a value, too */
};
/* Row after row of the grammar's table, NULL behind the last. Valid until the next call. */
const struct lang_word *lang_word(size_t row);

/*
 * What lines say about the functions of a program, for who reads it without compiling it.
 * A set holds the shipped files, each for the functions that its headers declare, and those
 * that the user names, before them.
 */
struct lang_set;

struct lang_set *lang_set_new(const char *shipped); /* the folder of the shipped ones */
/* A path, or the name of a shipped file. What is wrong with it is in `error`. Until the set goes.
 */
const struct lang_file *lang_set_add(struct lang_set *, const char *name);
/* A file that the program reads: shipped lines about such headers hold from here on. */
void lang_set_reads(struct lang_set *, const char *file);

/* A function. Texts may be null. */
struct lang_function {
  const char *name, *qualified, *symbol;
  const char *signature;   /* "int (struct pt *, long)", as declared */
  const char *const *file; /* where it is declared, ... */
  size_t files;
  const char *const *type; /* typedefs of the parameters, ... that it is given as */
  size_t types;
  bool namesake; /* of a function of C, which a bare name means then */
};

enum { LANG_FUNCTIONS = 4, LANG_PENDING = 8 };
enum lang_verb {
  LANG_ASYNC,
  LANG_CREATE,
  LANG_RUN,
  LANG_AWAIT,
  LANG_SWITCH,
  LANG_WAKE,
  LANG_END,
  LANG_IDLE,
  LANG_BLOCKING,
  LANG_HELPER,
  LANG_SPAN,
  LANG_LABEL
};

/* An argument: its index, from the end if negative; as it is, what it points to, or a member. */
struct lang_argument {
  enum { LANG_OTHER, LANG_ARGUMENT, LANG_POINTEE, LANG_MEMBER, LANG_RESULT, LANG_CURRENT } kind;
  int index;
  const char *member;
};

/* What a line says. Texts belong to the set. */
struct lang_about {
  enum lang_verb verb;
  const char *text;
  const char *file; /* null: an attribute */
  unsigned line;
  const char *library; /* the name of a shipped file, else null */
  const char *space;   /* of the key; empty: none */
  bool has_key;
  struct lang_argument key;
  struct lang_argument function[LANG_FUNCTIONS]; /* fn= */
  size_t functions;
  bool has_when, worker, names, noreturn, own_runs; /* own_runs: what is asked for calls back */
  bool of_body;                                     /* not of calls */
  bool inert;          /* of a create: its future does not run, nor is it called, by itself */
  bool names_function; /* `name` is one function's, and no list's, pattern's or type's */
  const char *name;
  int arguments;   /* how many there must be */
  bool run_worker; /* the `| run` of it is on a thread of a pool */
  int64_t pending[LANG_PENDING];
  size_t pendings;
  const void *binding;
};

/* Lines about calls of the function, or about its body: those that hold, in their order. */
size_t lang_calls(struct lang_set *, const struct lang_function *, struct lang_about *,
                  size_t room);
size_t lang_bodies(struct lang_set *, const struct lang_function *, struct lang_about *,
                   size_t room);
/* An attribute's text; false: it is no line. */
bool lang_attribute(struct lang_set *, const char *text, struct lang_about *);

/* The constant that an argument is; false: it is not known to be one. */
typedef bool lang_constant(const void *call, int index, int64_t *value);
enum lang_truth { LANG_NO, LANG_YES, LANG_UNKNOWN };
/* Whether the line's when= holds at a call. */
enum lang_truth lang_when(const struct lang_about *, lang_constant *, const void *call);

/* Lines of the user's files, for those that no function is about. */
size_t lang_user_lines(struct lang_set *, struct lang_about *, size_t room);

#ifdef __cplusplus
}
#endif

#endif
