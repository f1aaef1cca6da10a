/* SPDX-License-Identifier: MIT */
/*
 * The units of a program, and how each becomes a summary (ir.h).
 *
 * In: a compilation database, or files and flags. Out: a file per unit, made by a process of
 * its own: one that crashes the parser, or never ends, is named, and the others go on. A summary
 * is kept in a cache under a hash of all that it depends on.
 * Cost: the preprocessor and libclang's parser; of a unit that has not changed, a stat() of each
 * file that it reads. Locking: none; several runs may share a cache.
 */
#ifndef APROF_CHECK_UNIT_H
#define APROF_CHECK_UNIT_H

#include "ir.h"

struct unit {
  const char *file;      /* as it is shown */
  const char *directory; /* where it is compiled */
  const char *source;    /* its name there */
  const char **flag;     /* of its command, those that the parser needs */
  size_t flags;
  bool cxx;
  const char *trouble; /* why it is not read; NULL: it is */
};

struct units {
  struct unit *unit;
  size_t count;
  struct ir_texts bindings; /* files that the commands give to the plugin */
  const char *base;         /* the current directory */
  struct arena arena;
};

/* Each false after a message. */
bool units_of_database(struct units *, const char *directory, char *const *files, size_t count);
bool units_of_files(struct units *, char *const *files, size_t count, char *const *flags,
                    size_t flag_count);
void unit_add_flag(struct unit *, const char *flag);
/* A path as it is shown: beneath the current directory without it. */
const char *units_show(struct units *, const char *directory, const char *path);

struct summaries {
  const char *folder; /* of this run; N.ir for the unit N */
  const char *cache;  /* NULL: none */
  unsigned jobs;
  size_t parsed, kept; /* out: anew, from the cache */
};
/* Has each unit summarized; `trouble` of those that could not be. */
void units_summarize(struct units *, struct summaries *);

/* One of them, in this process; the status it ends with. */
enum { UNIT_PARSED = 0, UNIT_KEPT = 10, UNIT_FAILED = 11 };
int unit_summarize(const struct unit *, const char *base, const char *to, const char *cache);

#endif
