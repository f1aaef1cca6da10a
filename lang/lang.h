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

/* Never null: that it cannot be read is an error in it. Until lang_file_free. */
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

#ifdef __cplusplus
}
#endif

#endif
