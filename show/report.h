/* SPDX-License-Identifier: MIT */
/*
 * The report: one look at a view.
 *
 * Purpose: what the numbers mean, in this order: one line about the process,
 * findings in words, functions, and the awaits where time was really spent. No line has more
 * than FORMAT_WIDTH columns. Details where all is wanted, or of functions by name.
 * Cost: sorts; nothing is computed twice.
 * Locking: none.
 */
#ifndef APROF_SHOW_REPORT_H
#define APROF_SHOW_REPORT_H

#include "ask/requests.h"
#include "gates.h"

#include <stdio.h>

enum report_sort {
  SORT_EXEC,
  SORT_CALLS,
  SORT_WAITING,
  SORT_WALL,
  SORT_QUEUED,
  SORT_SLICE,
  SORT_WORST,
  SORT_CHILDREN,
  SORT_NAME,
};

enum { REPORT_NAMES = 16 };

struct report_options {
  enum report_sort sort;
  size_t functions, waits; /* rows; 0: all */
  int as_gcc;              /* findings only, as compilers write */
  bool all;                /* every section, and the code of libraries, too */
  bool has_rows;           /* somebody asked for so many */
  const char
      *name[REPORT_NAMES]; /* patterns (glob(7)) of the functions to tell all about, and these */
  size_t name_count;       /* alone; 0: of all what is worth a line */
  const struct request_filter *requests; /* which are meant, if not all; NULL: all, too */
  size_t finding_lines; /* that findings may take, but for the first one; 0: all they want */
  const char *target;   /* as the next command has to be given it; NULL: not known */
  struct ask_limits limits;
  struct gates gates; /* without an A */
};

/* report-functions.c. Names of report_sort, in its order; NULL ends them. */
extern const char *const report_sorts[];

/* Functions that did anything, in the order asked for; the caller frees the array. */
const struct view_function **report_functions(const struct view *, enum report_sort, size_t *count);

/* report-head.c: the first lines, to where files are. Shortens the names of files. */
void report_print_head(struct view *, const struct report_options *, FILE *out);

/* report-findings.c. `of`: those of this function alone, and nothing where there are none; or
   NULL. */
void report_print_findings(const struct view *, const struct report_options *,
                           const struct view_function *of, FILE *out);

size_t report_lines(const char *text);

/* How many active ones were left out, and how many of these are libraries'. */
struct report_rest {
  size_t functions, libraries, waits, kinds;
  uint64_t loop_exec; /* what those of libraries ran on loops */
};
void report_print_functions(const struct view *, const struct report_options *,
                            struct report_rest *, FILE *out);
/* A line: where it is, and between which two places its longest run lies. */
void report_print_place(const struct view_function *, FILE *out);
/* report-detail.c: all about those that are named. False: there is none of a name; a message says
   so. */
bool report_print_details(const struct view *, const struct report_options *, FILE *out);

enum { REPORT_INDENT = 4 };
/* report-rows.c: at spaces, from `column` on; the lines after the first are indented. */
void report_print_wrapped(FILE *out, const char *text, size_t column);
/* Tables of what happened on a path. */
enum { REPORT_TIMES = 3, REPORT_STEPS = 24 };
struct report_row {
  const char *step[REPORT_STEPS]; /* root first */
  size_t steps;
  const char *place; /* of the last; or NULL */
  uint64_t count, time[REPORT_TIMES];
  bool lacks[REPORT_TIMES], counts_lack; /* what is shown with a mark */
  bool only_count;                       /* no times */
};
void report_title(const char *title, const char *const *columns, FILE *out);
void report_print_row(const struct view *, const struct report_row *, FILE *out);
/* "and N more", where rows were left out. */
void report_print_more(size_t all, size_t shown, FILE *out);

/* report-waits.c: where the waiting was spent; or else what waits for new work. How many were left
   out. */
size_t report_print_waits(const struct view *, const struct report_options *, bool background,
                          FILE *out);

/* report-requests.c: by kind, a line each; nothing where there are none. Or all that is known of
   each kind. */
/* So many kinds have no row. */
size_t report_print_requests(const struct view *, const struct report_options *, FILE *out);
void report_print_kinds(const struct view *, FILE *out);

/* report-queue.c: who woke whom and how late it ran, and what blocked. `of`: of this function
   alone; or NULL. Nothing where there is nothing. */
void report_print_wakers(const struct view *, const struct report_options *,
                         const struct view_function *of, FILE *out);
void report_print_blocking(const struct view *, const struct report_options *,
                           const struct view_function *of, FILE *out);

/* report-miss.c: awaits outside any future, and ends, wakes and switches of keys that none
   has; by what was called, and not where it has found one elsewhere. All places, if all
   rows are asked for. */
void report_print_misses(const struct view *, const struct report_options *, FILE *out);

/* shorten.c: the directory, slash included, that all names of the functions' files
   share; "" where there is none. The caller frees it. */
char *report_directory(const struct view *);
/* Takes it off every name of a file and place. */
void report_shorten(struct view *, const char *directory);

/* Shortens the names of files in the view. False after a message where it has nothing of a name
   that was asked for. */
bool report_print(struct view *, const struct report_options *, FILE *out);
/* "waits": where the waiting was spent; `most` rows, or all (0). */
void report_emit_waits(struct emit *, const struct view *, size_t most);
/* ps.c: the members of `aprof ps --json` that tell what lives. */
void report_emit_live(struct emit *, const struct view *);
/* The command that digs deeper, where the target is `target`; NULL: there is none. free() it. */
char *report_next(const struct finding *, const char *target);
/* `result`: of its gates. */
void report_json(const struct view *, const struct report_options *,
                 const struct gate_result *result, FILE *out);

extern const struct report_options report_defaults;

#endif
