/* SPDX-License-Identifier: MIT */
/* Pages, and what leads from one to another; see top.h. */
#include "top.h"

#include "format.h"
#include "read/util.h"

#include <stdlib.h>
#include <string.h>

static const char *const help[] = {
    "Up Down PgUp PgDn Home End   move",
    "Enter        open: a process, a function, what an await is for, a caller",
    "Esc          back; on the first page it clears the filter",
    "w            the window: last 10 s, last 1 min, since the start",
    "s > F6       sort by the next column;  S < the one before;  I the other way",
    "P            sort by exec;  N by name",
    "/ F4         filter by a part of the name or file; Enter keeps it, Esc drops it",
    "f            all findings in full",
    "Space        freeze, and go on",
    "h F1 ?       this text",
    "q F10        quit",
    "",
    "EXEC         its running, of one processor",
    "RATE/S       futures that ended, a second;  RUNS/S how often it ran",
    "QUEUED/1     ready and not run yet, per future;  WAIT/1 waits;  EXEC/1 runs",
    "P50 P99      of the lives of futures that ended in the window",
    "WORST        the longest run without a pause, which holds the loop",
    "LIVE         futures alive now",
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
  const char *keys = look->page == TOP_HELP ? KEY("Esc", "back") KEY("q", "quit")
                     : look->page == TOP_FUNCTION || look->page == TOP_FINDINGS
                         ? KEY("F1", "help") KEY("w", "window") KEY("Enter", "open")
                               KEY("Space", "freeze") KEY("Esc", "back") KEY("q", "quit")
                         : KEY("F1", "help") KEY("/", "filter") KEY("s", "sort") KEY("w", "window")
                               KEY("Enter", "open") KEY("Space", "freeze") KEY("f", "findings")
                                   KEY("q", "quit");
  return *look->filter ? print_string("%s" SHEET_ALARM "/%s", keys, look->filter)
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

void top_select(struct top_look *look, const struct sheet *s, size_t row) {
  row = s->rows ? row < s->rows ? row : s->rows - 1 : 0;
  const void *of = s->rows ? s->row[row].of : NULL;
  if (look->page == TOP_PROCESSES)
    look->pid = of ? ((const struct top_process *)of)->pid : look->pid;
  else if (look->page == TOP_FUNCTIONS)
    put_function(look, 0, of);
  else
    look->row = row;
}

void top_open(struct top_look *look, const struct sheet *s) {
  const void *of = s->selected < s->rows ? s->row[s->selected].of : NULL;
  if (!of || look->page == TOP_HELP)
    return;
  if (look->page == TOP_PROCESSES) {
    look->pid = ((const struct top_process *)of)->pid;
    look->page = TOP_FUNCTIONS;
    look->filter[0] = 0;
    return;
  }
  if (look->page == TOP_FUNCTIONS)
    put_function(look, 0, of);
  look->depth += look->depth + 1 < TOP_DEPTH;
  put_function(look, look->depth, of);
  look->page = TOP_FUNCTION;
  look->row = 0;
}

bool top_back(struct top_look *look) {
  look->row = 0;
  if (look->page == TOP_HELP)
    look->page = look->before;
  else if (look->page == TOP_FINDINGS)
    look->page = TOP_FUNCTIONS;
  else if (look->page == TOP_FUNCTION) {
    look->depth -= look->depth > 0;
    look->page = look->depth ? TOP_FUNCTION : TOP_FUNCTIONS;
  } else if (*look->filter)
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
}
