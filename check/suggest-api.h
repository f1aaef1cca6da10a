/* SPDX-License-Identifier: MIT */
/*
 * The functions of a library, as suggestions are made of them.
 *
 * Cost: none. Locking: none.
 */
#ifndef APROF_CHECK_SUGGEST_API_H
#define APROF_CHECK_SUGGEST_API_H

#include "lower.h"
#include "suggest-use.h"

enum { MOST = 16, NONE = -1 };

/* A function of the headers. */
struct api {
  CXCursor at;
  const char *name, *returns;
  const char *type[MOST], *parameter[MOST];
  CXType kind[MOST];
  int count, callback, key, data; /* which of them; NONE */
  int callback_key;               /* which of the callback's is the key */
  bool by_result, by_use;         /* by_use: only the program tells that it takes a callback */
};

struct library {
  struct arena arena;
  struct lower lower;
  struct api *list;
  size_t count;
  char *const *header;
  size_t headers;
  FILE *out;
  size_t creates, others, used;
  struct uses uses;
};

const char *suggest_text(struct library *, CXString);
/* The function that a callback's type points to; invalid: it is none. */
CXType suggest_function(CXType);
/* A pointer to a struct, and that struct; two of one, const or not. */
bool suggest_is_object(CXType);
CXCursor suggest_object(CXType);
bool suggest_same(CXType, CXType);
/* The file is one of the library's. */
bool suggest_is_of(const struct library *, const char *file);
/* Lines of a function that takes callbacks as members of a struct. */
void suggest_members(struct library *, const struct api *);

#endif
