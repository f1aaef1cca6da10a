/* SPDX-License-Identifier: MIT */
/* Sentences, in which numbers are numbers still; see sentence.h. */
#include "sentence.h"

#include "read/util.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A number is BEGIN, '~' where it lacks something, the letter of its kind, its digits and those of
   its whole, END. No name has such characters: clean_text replaces them. */
enum { BEGIN = '\001', END = '\002' };
static const char kinds[] = {
    [SENTENCE_TIME] = 't', [SENTENCE_COUNT] = 'c', [SENTENCE_PERCENT] = 'p'};

struct sentence sentence(const char *format, ...) {
  struct sentence result;
  va_list arguments;
  va_start(arguments, format);
  result.parts = print_list(format, arguments);
  va_end(arguments);
  return result;
}

void sentence_free(struct sentence s) {
  free(s.parts);
}

static const char *told(enum sentence_kind kind, uint64_t number, uint64_t whole) {
  return turn_text("%c%c%" PRIu64 "/%" PRIu64 "%c", BEGIN, kinds[kind], number, whole, END);
}

const char *told_time(uint64_t ns) {
  return told(SENTENCE_TIME, ns, 0);
}

const char *told_count(uint64_t count) {
  return told(SENTENCE_COUNT, count, 0);
}

const char *told_percent(uint64_t part, uint64_t whole) {
  return told(SENTENCE_PERCENT, part, whole);
}

const char *told_mark(bool lacks, const char *number) {
  return lacks ? turn_text("%c~%s", BEGIN, number + 1) : number;
}

struct sentence_part sentence_next(const char **at) {
  struct sentence_part part = {.kind = **at ? SENTENCE_TEXT : SENTENCE_END, .text = *at};
  if (part.kind == SENTENCE_END)
    return part;
  const char *letter = *at + (**at == BEGIN);
  part.lacks = *letter == '~';
  letter += part.lacks;
  const char *kind = **at == BEGIN && *letter ? memchr(kinds + SENTENCE_TIME, *letter, 3) : NULL;
  if (!kind) {
    part.length = (int)strcspn(*at + 1, (const char[]){BEGIN, 0}) + 1;
    *at += part.length;
    return part;
  }
  char *end;
  part.kind = (enum sentence_kind)(kind - kinds);
  part.number = strtoull(letter + 1, &end, 10);
  part.whole = *end == '/' ? strtoull(end + 1, &end, 10) : 0;
  *at = end + (*end == END);
  return part;
}
