/* SPDX-License-Identifier: MIT */
/*
 * A screenful: lines above, rows that one walks through, and a line below.
 *
 * Purpose: what a screen shows is made without a terminal, so that it can be painted, printed and
 * tested alike. Rows are made when they are seen.
 * Cost: that of what is seen. Locking: none.
 */
#ifndef APROF_SHOW_SHEET_H
#define APROF_SHOW_SHEET_H

#include <stddef.h>
#include <stdio.h>

/* In a text: how it goes on from there. No name has such bytes (clean_text). Each line begins
   plain. */
#define SHEET_PLAIN "\1"
#define SHEET_TITLE "\2"
#define SHEET_FAINT "\3"
#define SHEET_ALARM "\4"
#define SHEET_BAR "\5"
#define SHEET_KEY "\6"
enum { SHEET_STYLES = 7 }; /* 0 is none */

struct sheet_row {
  char *text;     /* or NULL: made by `make` */
  const void *of; /* what it is about; or NULL */
};

struct sheet {
  size_t width; /* columns */
  char **head;
  size_t heads;
  char *title; /* of the rows; or NULL */
  struct sheet_row *row;
  size_t rows;
  size_t selected; /* a row */
  char *foot;      /* or NULL */
  char *(*make)(const struct sheet *, const void *of);
  const void *context; /* of `make` */
  void *held;          /* what rows are about, where that is the sheet's */
  void (*release)(void *held);
};

void sheet_release(struct sheet *);
/* Each takes the text. */
void sheet_head(struct sheet *, char *text);
void sheet_row(struct sheet *, char *text, const void *of);
/* Rows to be made. */
void sheet_rows(struct sheet *, const void *const *of, size_t count);
/* At spaces, in as many lines as it needs; the further ones are indented. */
void sheet_wrapped(struct sheet *, const char *label, const char *text, const void *of);
/* The row's text; free() it. */
char *sheet_text(const struct sheet *, size_t row);

/* How many rows fit below the head into so many lines. */
size_t sheet_room(const struct sheet *, size_t lines);

/* All of it without the foot, and at most `most` rows (0: all); with colours where style_choose
   (format.h) found them. */
void sheet_print(const struct sheet *, size_t most, FILE *out);

#endif
