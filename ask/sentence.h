/* SPDX-License-Identifier: MIT */
/*
 * Sentences, in which numbers are numbers still.
 *
 * Purpose: what is wrong is told here, and show/ alone says how people read a number: a sentence
 * holds each as a part, which shown_sentence (show/format.h) writes.
 * Locking: none; parts take turns, as those of turn_text do (read/util.h).
 */
#ifndef APROF_ASK_SENTENCE_H
#define APROF_ASK_SENTENCE_H

#include <stdbool.h>
#include <stdint.h>

struct sentence {
  char *parts; /* NULL: none */
};

struct sentence sentence(const char *format, ...) __attribute__((format(printf, 1, 2)));
void sentence_free(struct sentence);

/* Numbers, for a "%s" of sentence() or of a text that becomes a part of one. */
const char *told_time(uint64_t ns);
const char *told_count(uint64_t);
const char *told_percent(uint64_t part, uint64_t whole);
/* With the mark of a number that lacks something (LACKS). */
const char *told_mark(bool lacks, const char *number);

enum sentence_kind { SENTENCE_END, SENTENCE_TEXT, SENTENCE_TIME, SENTENCE_COUNT, SENTENCE_PERCENT };
struct sentence_part {
  enum sentence_kind kind;
  const char *text; /* so long: */
  int length;
  uint64_t number, whole;
  bool lacks;
};
/* The part at `*at`, which moves behind it. */
struct sentence_part sentence_next(const char **at);

#endif
