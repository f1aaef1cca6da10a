/* SPDX-License-Identifier: MIT */
/* Pages, and what leads from one to another; see top.h. */
#include "top.h"

#include "format.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

static const char *const help[] = {
    "Up Down PgUp PgDn Home End   move",
    "Enter        open: a process, a kind of requests, a function, await, caller",
    "+ -          open all kinds, or close them;  k  functions alone, and back",
    "l            all about a kind: its times, the slowest, its tiers and functions",
    "t            what differs in its slowest requests;  b  who made them late;",
    "r            the slowest laid out in time;  x  what all of them spend it on:",
    "             these four record the process while one looks",
    "c            sample it: where its processor time goes, beneath the function",
    "p            probe the function while one looks: how often, called by whom",
    "Esc          back; on the first page it clears the filter",
    "w            the window: last 10 s, last 1 min, since the start",
    "s > F6       sort by the next column;  S < the one before;  I the other way",
    "P            sort by exec;  N by name",
    "/ F4         filter by a part of the name or file; Enter keeps it, Esc drops it",
    "f            all findings in full",
    "Space        freeze, and go on",
    "h F1 ?       this text;  q F10  quit",
    "",
    "EXEC         its running, of one processor",
    "RATE/S       futures, or requests, that ended;  RUNS/S how often it ran",
    "QUEUED/1     ready and not run yet, of each;  WAIT/1 waits;  EXEC/1 runs",
    "P50 P99      of the lives of futures, or requests, that ended in the window",
    "WORST        the longest run without a pause, which holds the loop",
    "LIVE         alive now;  [db]  a tier: of requests that were in it",
    "<            not longer than that: the window has no maximum of its own",
    "~            it lacks something: detail was shed;  -  is none;  ?  unknown",
    "",
    "man aprof-top tells more.",
};

static char *foot_of(const struct top_look *look) {
  if (look->typing)
    return print_string("filter: %s_   " SHEET_KEY "Enter" SHEET_PLAIN " keep  " SHEET_KEY
                        "Esc" SHEET_PLAIN " drop",
                        look->filter);
#define KEY(key, text) SHEET_KEY key SHEET_PLAIN " " text " "
  const char *keys =
      look->page == TOP_HELP    ? KEY("Esc", "back") KEY("q", "quit")
      : look->page == TOP_ASKED ? KEY("F1", "help") KEY("t", "tail") KEY("b", "blame")
                                      KEY("r", "slow") KEY("x", "all") KEY("c", "cpu")
                                          KEY("p", "probe") KEY("Space", "freeze") KEY("Esc", "end")
                                              KEY("q", "quit")
      : look->page == TOP_FUNCTION || look->page == TOP_KIND || look->page == TOP_FINDINGS
          ? KEY("F1", "help") KEY("w", "window") KEY("Enter", "open") KEY("l", "slow")
                KEY("t", "tail") KEY("b", "blame") KEY("r", "laid out") KEY("c", "cpu")
                    KEY("Esc", "back")
          : KEY("F1", "help") KEY("/", "filter") KEY("s", "sort") KEY("Enter", "open")
                KEY("l", "slow") KEY("t", "tail") KEY("b", "blame") KEY("p", "probe")
                    KEY("f", "found") KEY("q", "quit");
  return *look->filter /* first, as 80 columns have no room behind the keys */
             ? print_string(SHEET_ALARM "/%s" SHEET_PLAIN " %s", look->filter, keys)
             : print_string("%s", keys);
}

void top_make(struct sheet *s, const struct top_look *look, const struct top_process *process,
              size_t processes, size_t lines) {
  const struct top_process *p = top_opened(look, process, processes);
  s->foot = foot_of(look);
  if (look->page == TOP_HELP) {
    s->title = print_string("HELP");
    for (size_t i = 0; i < sizeof help / sizeof *help; i++)
      sheet_row(s, print_string("%s", help[i]), NULL);
  } else if (look->page == TOP_PROCESSES)
    top_processes_page(s, look, process, processes);
  else if (!p || !p->view)
    sheet_row(s, print_string("process %lld is gone, or cannot be read", (long long)look->pid),
              NULL);
  else if (look->page == TOP_FUNCTION)
    top_function_page(s, look, p);
  else if (look->page == TOP_KIND)
    top_kind_page(s, look, p);
  else if (look->page == TOP_ASKED)
    top_asked_page(s, look, p);
  else if (look->page == TOP_FINDINGS)
    top_findings_page(s, look, p);
  else {
    top_head(s, look, p, lines);
    top_functions_page(s, look, p);
  }
  if (look->page != TOP_PROCESSES && look->page != TOP_FUNCTIONS)
    s->selected = look->row < s->rows ? look->row : s->rows ? s->rows - 1 : 0;
}

/* -- keys ------------------------------------------------------------------------------- */

static void put_function(struct top_look *look, size_t depth, const struct view_function *f) {
  char *key = f ? top_key(f) : NULL;
  free(look->function[depth]);
  look->function[depth] = key;
}

static void put_text(char **to, char *text) {
  free(*to);
  *to = text;
}

void top_select(struct top_look *look, const struct sheet *s, size_t row) {
  row = s->rows ? row < s->rows ? row : s->rows - 1 : 0;
  const void *of = s->rows ? s->row[row].of : NULL;
  if (look->page == TOP_PROCESSES)
    look->pid = of ? ((const struct top_process *)of)->pid : look->pid;
  else if (look->page == TOP_FUNCTIONS)
    put_text(&look->picked, of ? top_row_key(of) : NULL);
  else
    look->row = row;
}

static const void *selected(const struct sheet *s) {
  return s->selected < s->rows ? s->row[s->selected].of : NULL;
}

/* The other way about than kinds are. */
static void turn(struct top_look *look, const struct view_kind *kind) {
  char *key = top_kind_key(kind);
  size_t at = 0, count = 0;
  while (count < TOP_TURNED && look->turned[count])
    count++;
  while (at < count && strcmp(look->turned[at], key) != 0)
    at++;
  if (at == count && count + 1 < TOP_TURNED)
    look->turned[count] = key;
  else
    free(key);
  if (at < count) {
    free(look->turned[at]);
    look->turned[at] = look->turned[count - 1];
    look->turned[count - 1] = NULL;
  }
}

void top_open_all(struct top_look *look, bool open) {
  look->open = open;
  for (size_t i = 0; i < TOP_TURNED; i++)
    put_text(&look->turned[i], NULL);
}

/* In whose requests it mostly ran. */
static const struct view_kind *kind_above(const struct view *v, const struct view_function *f) {
  const struct view_kind **all = ask_kinds_above(v), *kind = NULL;
  for (size_t i = 0; i < v->functions; i++)
    if (&v->function[i] == f)
      kind = all[i];
  free(all);
  return kind;
}

/* Of what is selected or open; NULL: of none, or of several. */
static const struct view_kind *kind_meant(const struct top_look *look, const struct sheet *s,
                                          const struct top_process *p) {
  const struct top_row *row = look->page == TOP_FUNCTIONS ? selected(s) : NULL;
  const struct view_function *f = row ? row->function : NULL;
  if (!p || !p->view)
    return NULL;
  if (look->page == TOP_KIND)
    return top_find_kind(p->view, look->kind);
  if (look->page == TOP_FUNCTION)
    f = top_find_function(p->view, look->function[look->depth]);
  return row && row->kind ? row->kind : f ? kind_above(p->view, f) : NULL;
}

/* Of what is selected or open; of a kind the one that its requests begin in. */
static const char *function_meant(const struct top_look *look, const struct sheet *s,
                                  const struct top_process *p, const struct view_kind *kind) {
  const struct top_row *row = look->page == TOP_FUNCTIONS ? selected(s) : NULL;
  const struct view_function *f = row ? row->function : NULL;
  if (look->page == TOP_FINDINGS)
    f = selected(s);
  if (look->page == TOP_FUNCTION && p && p->view)
    f = top_find_function(p->view, look->function[look->depth]);
  return f ? f->name : kind ? kind->function : NULL;
}

/* Not of a function. */
static bool is_of_kind(const struct top_look *look, const struct sheet *s) {
  const struct top_row *row = look->page == TOP_FUNCTIONS ? selected(s) : NULL;
  return look->page == TOP_KIND || (row && !row->function);
}

static void keep_picked(struct top_look *look, const struct sheet *s) {
  const struct top_row *row = look->page == TOP_FUNCTIONS ? selected(s) : NULL;
  if (row)
    put_text(&look->picked, top_row_key(row));
}

bool top_open_kind(struct top_look *look, const struct sheet *s, const struct top_process *p) {
  const struct view_kind *kind = look->page == TOP_KIND ? NULL : kind_meant(look, s, p);
  if (!kind)
    return false;
  keep_picked(look, s);
  put_text(&look->kind, top_kind_key(kind));
  look->depth = 0;
  look->page = TOP_KIND;
  look->row = 0;
  return true;
}

void top_ask(struct top_look *look, const struct sheet *s, const struct top_process *p,
             enum question_number number) {
  if (look->page == TOP_PROCESSES || look->page == TOP_HELP)
    return;
  if (look->page != TOP_ASKED) {
    const struct view_kind *kind = kind_meant(look, s, p);
    keep_picked(look, s);
    const char *function = function_meant(look, s, p, kind);
    put_text(&look->asked_kind, kind ? print_string("%s", kind->kind) : NULL);
    put_text(&look->asked_function, function ? print_string("%s", function) : NULL);
    look->asked_whole_kind = kind && is_of_kind(look, s);
    look->from = look->page == TOP_FINDINGS ? TOP_FUNCTIONS : look->page;
    look->page = TOP_ASKED;
  }
  look->asked = (int)number;
  look->row = 0;
}

bool top_asks(const struct top_look *look) {
  bool open = look->page == TOP_ASKED || (look->page == TOP_HELP && look->before == TOP_ASKED);
  return open && !look->frozen;
}

/* A kind unfolds, a tier leads to all about its kind. */
static void open_row(struct top_look *look, const struct sheet *s, const struct top_process *p) {
  const struct top_row *row = selected(s);
  put_text(&look->picked, top_row_key(row));
  if (row->tier)
    top_open_kind(look, s, p);
  else if (!row->function)
    turn(look, row->kind);
  else {
    look->depth = 1;
    put_function(look, 1, row->function);
    look->page = TOP_FUNCTION;
    look->row = 0;
  }
}

void top_open(struct top_look *look, const struct sheet *s, const struct top_process *p) {
  const void *of = selected(s);
  if (!of || look->page == TOP_HELP || look->page == TOP_ASKED)
    return;
  if (look->page == TOP_PROCESSES) {
    look->pid = ((const struct top_process *)of)->pid;
    look->page = TOP_FUNCTIONS;
    look->filter[0] = 0;
    return;
  }
  if (look->page == TOP_FUNCTIONS) {
    open_row(look, s, p);
    return;
  }
  look->depth += look->depth + 1 < TOP_DEPTH;
  put_function(look, look->depth, of);
  look->page = TOP_FUNCTION;
  look->row = 0;
}

/* From a function to the one before it, or to where the first one was opened. */
static enum top_page before_function(struct top_look *look) {
  look->depth -= look->depth > 0;
  return look->depth ? TOP_FUNCTION : look->kind ? TOP_KIND : TOP_FUNCTIONS;
}

bool top_back(struct top_look *look) {
  look->row = 0;
  if (look->page == TOP_HELP)
    look->page = look->before;
  else if (look->page == TOP_ASKED)
    look->page = look->from;
  else if (look->page == TOP_FINDINGS || look->page == TOP_KIND) {
    put_text(&look->kind, NULL);
    look->page = TOP_FUNCTIONS;
  } else if (look->page == TOP_FUNCTION)
    look->page = before_function(look);
  else if (*look->filter)
    look->filter[0] = 0;
  else if (look->page == TOP_FUNCTIONS && !look->alone)
    look->page = TOP_PROCESSES;
  else
    return false;
  return true;
}

void top_sort(struct top_look *look, int by) {
  int count = 0;
  while (top_sorts[count])
    count++;
  look->sort = (by + count) % count;
}

void top_look_release(struct top_look *look) {
  for (size_t i = 0; i < TOP_DEPTH; i++)
    free(look->function[i]);
  top_open_all(look, false);
  free(look->picked);
  free(look->kind);
  free(look->asked_kind);
  free(look->asked_function);
}
