/* SPDX-License-Identifier: MIT */
/*
 * Processes as they move: what `aprof top' shows, and what each key changes of it.
 *
 * In: views of processes, over the window that is asked for and since they started, and what the
 * user looks at. Out: a sheet; or JSON (aprof.top/1).
 * Cost: a sort, and the rows that are seen. Locking: none.
 */
#ifndef APROF_SHOW_TOP_H
#define APROF_SHOW_TOP_H

#include "ask/ask.h"
#include "ask/beneath.h"
#include "ask/requests.h"
#include "question.h"
#include "sheet.h"

enum top_page {
  TOP_PROCESSES,
  TOP_FUNCTIONS,
  TOP_FUNCTION,
  TOP_KIND,
  TOP_ASKED,
  TOP_FINDINGS,
  TOP_HELP
};

enum top_state { TOP_RUNS, TOP_STOPPED, TOP_ENDED };
extern const char *const top_states[];

/* A process. */
struct top_process {
  int64_t pid;
  long seen; /* the number by which we see it */
  const char *name;
  enum top_state state;
  const struct view *view;  /* over the window, or since its start; NULL: it cannot be read */
  const struct view *whole; /* since its start, with the same loops; or NULL */
};

/* To a question, while its page is looked at. */
struct top_answer {
  const char *text;                   /* the newest; NULL: none has come yet */
  const char *fault;                  /* why none comes; or NULL */
  const struct question_state *state; /* of the recording; NULL: there is none */
  bool watches;                       /* a probe does */
};

struct top_windows {
  uint64_t ns; /* 0: since the start */
  const char *name;
};
enum { TOP_WINDOWS = 3 };
extern const struct top_windows top_windows[TOP_WINDOWS];

enum { TOP_FILTER = 64, TOP_DEPTH = 16, TOP_TURNED = 256 };

/* What the user looks at. */
struct top_look {
  enum top_page page, before, from;    /* before: help; from: a question was asked */
  int sort;                            /* top_sorts */
  bool reverse, frozen, typing, alone; /* alone: there is no table of processes */
  int window;                          /* top_windows */
  char filter[TOP_FILTER];
  int64_t pid;
  struct request_filter requests;
  bool flat;                 /* functions alone */
  bool open;                 /* kinds are, but: */
  char *turned[TOP_TURNED];  /* keys of those that are not so; NULL ends them */
  char *picked;              /* key of the row of the table; NULL: the first */
  char *kind;                /* of the page TOP_KIND: its key */
  char *function[TOP_DEPTH]; /* [1] and so on: those opened */
  size_t depth;              /* of the page TOP_FUNCTION; 0: it is not open */
  int asked;                 /* of the page TOP_ASKED: number of a question, */
  char *asked_kind;          /* of which requests; NULL: all */
  char *asked_function;      /* that a probe is of; NULL: none is selected */
  bool asked_whole_kind;     /* no function is: that one is where its requests begin */
  const struct top_answer *answer;
  size_t row;        /* on other pages */
  const char *clock; /* or NULL */
  struct ask_limits limits;
};

/* A row of the table. */
struct top_row {
  const struct view_kind *kind;         /* or what the row lies in; NULL: none */
  const struct view_tier *tier;         /* of that; or NULL */
  const struct view_function *function; /* or NULL */
  bool is_part; /* the function ran in other kinds, too: its sums are of this place */
  bool is_open; /* of a kind: rows of it follow */
  size_t kinds; /* of a function in a kind: so many begin there, and it is of all of these */
};
struct top_table {
  struct top_row *row;
  size_t count, room;
  bool by_kind;
  struct beneath beneath;
};

#define TOP_UNKNOWN (UNKNOWN - 1) /* there is one, which is not known; UNKNOWN: there is none */
struct top_numbers {
  uint64_t ended, runs, exec, exec_each, worst, queued_each, waiting_each, p50, p99, live;
  bool is_edge; /* the worst is not longer than that */
  bool lacks_exec, lacks_queued, lacks_waiting, lacks_points, lacks_worst;
};

/* What the rows are sorted by, as options call it; NULL ends them. */
extern const char *const top_sorts[];

/* `lines`: of the screen, as more findings are told where there is room; 0: all. */
void top_make(struct sheet *, const struct top_look *, const struct top_process *, size_t processes,
              size_t lines);
/* The process that is open; NULL on the page of processes, or where it is not there. */
const struct top_process *top_opened(const struct top_look *, const struct top_process *,
                                     size_t processes);

/* Each changes what is looked at. To that row: */
void top_select(struct top_look *, const struct sheet *, size_t row);
/* All about the kind that the selected row is of, or that what is open mostly ran in; false: there
   is none. `opened`: see top_opened. */
bool top_open_kind(struct top_look *, const struct sheet *, const struct top_process *opened);
/* The page of a question about these requests, or about all. */
void top_ask(struct top_look *, const struct sheet *, const struct top_process *opened,
             enum question_number);
/* Somebody looks at an answer, so that there has to be a recording. */
bool top_asks(const struct top_look *);
/* All kinds, or none. */
void top_open_all(struct top_look *, bool open);
/* What the selected row is about. */
void top_open(struct top_look *, const struct sheet *, const struct top_process *opened);
/* False where there is nothing to go back to. */
bool top_back(struct top_look *);
void top_sort(struct top_look *, int by);
void top_look_release(struct top_look *);

/* top-head.c: the process, its loops, findings. */
void top_head(struct sheet *, const struct top_look *, const struct top_process *, size_t lines);
void top_head_line(struct sheet *, const struct top_look *, const struct top_process *);
/* top-lines.c: of a page that is no table. What comes now; and what it is, with numbers behind it.
 */
void top_title(struct sheet *, const char *title, const char *columns);
void top_line(struct sheet *, const char *what, const char *const *number, size_t count,
              const void *of);
/* The rows of the pages, in files of their names. */
void top_functions_page(struct sheet *, const struct top_look *, const struct top_process *);
void top_function_page(struct sheet *, const struct top_look *, const struct top_process *);
void top_kind_page(struct sheet *, const struct top_look *, const struct top_process *);
void top_asked_page(struct sheet *, const struct top_look *, const struct top_process *);
void top_findings_page(struct sheet *, const struct top_look *, const struct top_process *);
void top_processes_page(struct sheet *, const struct top_look *, const struct top_process *,
                        size_t processes);

/* top-numbers.c */

/* For so long the numbers of the view are, ns. */
uint64_t top_span(const struct view *);
/* So many a second; static text, as those of format.h. */
const char *top_rate(uint64_t count, uint64_t span);
/* Futures that ended. */
uint64_t top_ended(const struct view_function *);
/* Of its sum, per future; UNKNOWN: not known, or none. */
uint64_t top_per_call(const struct view *, const struct view_function *, uint64_t sum);
/* Busy and elapsed of its loops, ns; busy UNKNOWN: no poller. */
uint64_t top_busy(const struct view *, uint64_t *elapsed);
/* So much of its elapsed it was busy; or `ran` futures, where no poller is known. */
double top_share(const struct view_loop *, bool *ran);
/* The loop's longest hold; `edge`: it is not longer than that, which is all that is known.
   UNKNOWN: not known, or none. */
uint64_t top_hold(const struct top_process *, const struct view_loop *, const char **function,
                  bool *edge);

/* top-rows.c */

/* As they are sorted, without what filters leave out. */
struct top_table *top_rows(const struct top_look *, const struct view *);
void top_table_free(void *);
void top_number(struct top_numbers *, const struct view *, const struct top_row *);
/* Which function, kind or row that is, in whatever view; the files without their directories.
   free() it. */
char *top_key(const struct view_function *);
char *top_kind_key(const struct view_kind *);
char *top_row_key(const struct top_row *);

/* What has that key; NULL: the view does not have it. */
const struct view_function *top_find_function(const struct view *, const char *key);
const struct view_kind *top_find_kind(const struct view *, const char *key);

/* top-json.c */
void top_json(const struct top_look *, const struct top_process *, size_t processes, FILE *);

#endif
