/* SPDX-License-Identifier: MIT */
/*
 * The table of fields: each member of the view by its name in totals.
 *
 * Purpose: one row says how a number is written, read, tested, subtracted, merged and
 * described. The writer (show/totals.c), the reader (view-totals.c), the verifier (verify.c),
 * intervals and merges (fold.c) walk these rows; the schema and aprof-totals(5) are held to
 * them by a test. A new number is a member in view.h, a row here, and who fills it.
 * Cost: none. Locking: none.
 */
#ifndef APROF_READ_FIELDS_H
#define APROF_READ_FIELDS_H

#include "view.h"

/* What lies at the offset, and which of it is null in totals. */
enum field_type {
  FIELD_COUNT,      /* uint64_t: of things, of nanoseconds; 0 .. 2^63 - 1 */
  FIELD_MAYBE,      /* the same; UNKNOWN is null */
  FIELD_NONZERO,    /* the same; 0 is null */
  FIELD_INDEX,      /* the same; UNKNOWN is null; of a list */
  FIELD_ID,         /* uint64_t, all of it; 0 is null */
  FIELD_SIGNED,     /* int64_t */
  FIELD_TID,        /* int64_t; 0 is null */
  FIELD_SHARE,      /* double, not negative; a negative one is null */
  FIELD_TEXT,       /* const char *, never NULL */
  FIELD_MAYBE_TEXT, /* const char * */
  FIELD_FLAG,       /* uint8_t */
  FIELD_MAYBE_FLAG, /* uint8_t; FLAG_UNKNOWN is null */
  FIELD_HISTOGRAM,  /* struct distribution; an empty one is null */
  FIELD_PAIR,       /* const char *[2]; two NULLs are null */
  FIELD_SHED,       /* unsigned: bits of enum aprof_step, as their names */
  FIELD_LIST,       /* pointer and size_t */
  FIELD_STEPS,      /* one for each of enum aprof_step, in place */
  FIELD_OBJECT,     /* in place */
};

/* What becomes of it between two moments of a process, and over two processes. */
enum field_fold {
  FOLD_SAME, /* describes: the later one's; the first one's */
  FOLD_KEY,  /* the same, and of elements of a list what tells one from another */
  FOLD_SUM,  /* the difference; the sum */
  FOLD_NOW,  /* the later one's; the sum */
  FOLD_MAX,  /* the later one's, if it is new; the greater */
  FOLD_WITH, /* goes with the maximum `of_max` */
  FOLD_ANY,  /* the later one's; either's, if it is set */
  FOLD_ALL,  /* the later one's; set if both are */
};

enum { NOT_LATER, LATER, LATER_TRUE }; /* may be missing in older totals, and is true then */

struct layout;

struct field {
  const char *name; /* in totals; NULL: not there */
  enum field_type type;
  enum field_fold fold;
  size_t at;     /* offset in the struct */
  uint8_t later; /* NOT_LATER ... */
  bool is_file;  /* begins with the name of a file */
  size_t of_max; /* of a histogram and FOLD_WITH: offset of the maximum; 0: none */
  size_t is;     /* of an object that may be null: offset of the bool that says so; 0: never */
  const struct layout *of; /* of an object, a list, steps */
  unsigned lack;           /* enum lack, where no rule of field_lack says it */
  const char *was; /* in aprof.totals/1, where that differs; "": not there */
  const char *says;
};

struct layout {
  const char *name;          /* of its definition in the schema; NULL: it has none */
  size_t size;               /* of an element */
  const struct field *field; /* a row of type COUNT without name and text ends them */
  size_t fields;
  /* Elements without `unless` are of another layout, and have this bool set. */
  const struct layout *other;
  const char *unless;
  size_t is_other;
  unsigned lack; /* of all its numbers, if not 0 */
};

extern const struct layout layout_totals; /* of struct view */
extern const struct layout layout_process, layout_function, layout_path, layout_await_path,
    layout_await, layout_blocking, layout_waker, layout_thread, layout_loop, layout_live,
    layout_kind, layout_tier, layout_slow, layout_pending, layout_span;

/* What the number at this offset lacks where anything of its kind does: an enum lack, or 0. */
unsigned field_lack(const struct layout *, size_t at);
/* Whether a number lacks something, by the `lacks` of its function, thread or future. */
#define LACKS(lacks, kind, member)                                                                 \
  (((lacks)&field_lack(&layout_##kind, offsetof(struct view_##kind, member))) != 0)

static inline void *field_of(const void *object, const struct field *field) {
  return (char *)object + field->at;
}

/* A list's elements, and the layout of one. */
size_t field_count(const void *object, const struct field *field);
void *field_element(const void *object, const struct field *field, size_t index);
const struct layout *layout_of(const struct layout *, const void *element);

#endif
