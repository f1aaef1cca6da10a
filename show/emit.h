/* SPDX-License-Identifier: MIT */
/*
 * JSON, written member by member.
 *
 * Purpose: the one place that knows how JSON is spelt: commas, quotes, integers of 64 bits.
 * Cost: a buffer; memory does not grow with the output. Locking: none.
 */
#ifndef APROF_SHOW_EMIT_H
#define APROF_SHOW_EMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { EMIT_BUFFER = 32 * 1024 };

struct emit {
  FILE *out;
  const char *gap; /* before the next member or bracket, once; then a colon has a space behind it */
  bool inside;     /* something stands in this object or array already */
  bool in_page;    /* of HTML, so that nothing in a text may end the element: no '<' */
  size_t used;
  char buffer[EMIT_BUFFER];
};

/* One object. `schema`: of which it is, its first member; or NULL. */
void emit_begin(struct emit *, FILE *out, const char *schema);
void emit_end(struct emit *);

/* The name is NULL in arrays. `bracket`: '{' or '['. */
void emit_open(struct emit *, const char *name, char bracket);
void emit_close(struct emit *, char bracket);
/* An array that has lines of its own. */
void emit_list(struct emit *, const char *name);

void emit_null(struct emit *, const char *name);
void emit_number(struct emit *, const char *name, uint64_t value);
void emit_signed(struct emit *, const char *name, int64_t value);
void emit_bool(struct emit *, const char *name, bool value);
/* null for a NULL text */
void emit_text(struct emit *, const char *name, const char *text);
/* A document that is JSON already. */
void emit_document(struct emit *, const char *name, const char *json);
/* With so many digits behind the point; null for what is no number. */
void emit_float(struct emit *, const char *name, double value, int digits);
/* The same; null for less than 0, too. */
void emit_share(struct emit *, const char *name, double value, int digits);
/* null where `known` is false */
void emit_maybe(struct emit *, const char *name, uint64_t value, bool known);
/* "file:line", "file" or null */
void emit_place(struct emit *, const char *name, const char *file, uint64_t line);
/* What was shed, by name. */
void emit_shed(struct emit *, const char *name, unsigned shed);

/* An array whose elements have a line each; nothing where it is empty. */
static inline void emit_row(struct emit *e) {
  e->gap = "\n  ";
}

#endif
