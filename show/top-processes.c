/* SPDX-License-Identifier: MIT */
/* The table of processes; see top.h. */
#include "format.h"
#include "read/util.h"
#include "top.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { PID_WIDTH = 8, STATE_WIDTH = 8, NUMBER = 8, NUMBERS = 6, HOLD_FROM = 60 };

static const char *hold_of(const struct top_process *p, bool *edge) {
  const struct view *v = p->view;
  const char *function;
  uint64_t most = UNKNOWN;
  *edge = false;
  for (size_t i = 0; i < v->loops; i++) {
    bool is_edge;
    uint64_t hold = v->loop[i].thread && v->loop[i].thread->is_pool
                        ? UNKNOWN

                        : top_hold(p, &v->loop[i], &function, &is_edge);
    if (hold != UNKNOWN && (most == UNKNOWN || hold > most)) {
      most = hold;
      *edge = is_edge;
    }
  }
  return shown_short(most);
}

static void add_numbers(const struct top_process *p, FILE *out) {
  const struct view *v = p->view;
  uint64_t elapsed, busy = top_busy(v, &elapsed), ended = 0, live = 0, exec = 0;
  bool edge;
  char *hold;
  for (size_t i = 0; i < v->functions; i++) {
    ended += top_ended(&v->function[i]);
    live += v->function[i].live;
    exec += v->function[i].exec == UNKNOWN ? 0 : v->function[i].exec;
  }
  const char *longest = hold_of(p, &edge);
  hold = print_string("%s%s", edge ? "<" : "", longest);
  const char *number[NUMBERS] = {busy == UNKNOWN ? "-" : shown_share(busy, elapsed),
                                 hold,
                                 top_rate(ended, top_span(v)),
                                 shown_share(exec, top_span(v)),
                                 shown_count(live),
                                 v->health.overhead < 0 ? "-" : NULL};
  for (size_t i = 0; i < NUMBERS - 1; i++)
    print_right(out, number[i], NUMBER);
  if (v->health.overhead < 0)
    print_right(out, "-", NUMBER);
  else
    fprintf(out, "%*.1f%%", NUMBER - 1, v->health.overhead);
  free(hold);
}

static char *make_row(const struct sheet *s, const void *of) {
  const struct top_process *p = of;
  char *line = NULL;
  size_t length, width = s->width - PID_WIDTH - STATE_WIDTH - NUMBER * NUMBERS;
  FILE *out = open_memstream(&line, &length);
  if (s->width < PID_WIDTH + STATE_WIDTH + NUMBER * NUMBERS + 8)
    width = 8;
  fprintf(out, "%*" PRId64 " ", PID_WIDTH - 1, p->pid);
  print_left(out, cut_middle(p->name, width - 1), (int)width);
  print_left(out, top_states[p->state], STATE_WIDTH);
  if (p->view)
    add_numbers(p, out);
  else
    fputs("  cannot be read", out);
  fclose(out);
  return line;
}

void top_processes_page(struct sheet *s, const struct top_look *look,
                        const struct top_process *process, size_t processes) {
  size_t width = s->width - PID_WIDTH - STATE_WIDTH - NUMBER * NUMBERS;
  if (s->width < PID_WIDTH + STATE_WIDTH + NUMBER * NUMBERS + 8)
    width = 8;
  sheet_head(s, print_string(SHEET_TITLE "%zu profiled process%s" SHEET_PLAIN "  %s%s%s%s",
                             processes, processes == 1 ? "" : "es", top_windows[look->window].name,
                             look->frozen ? SHEET_ALARM "  frozen" SHEET_PLAIN : "",
                             look->clock ? "  " SHEET_FAINT : "", look->clock ? look->clock : ""));
  s->title = print_string("%*s %-*s%-*s%*s%*s%*s%*s%*s%*s", PID_WIDTH - 1, "PID", (int)width,
                          "PROCESS", STATE_WIDTH, "STATE", NUMBER, "BUSY", NUMBER, "HOLD", NUMBER,
                          "RATE/S", NUMBER, "EXEC", NUMBER, "LIVE", NUMBER, "COST");
  s->make = make_row;
  for (size_t i = 0; i < processes; i++) {
    const char *filter = look->filter;
    if (*filter && !strcasestr(process[i].name, filter))
      continue;
    if (process[i].pid == look->pid)
      s->selected = s->rows;
    const void *of = &process[i];
    sheet_rows(s, &of, 1);
  }
  if (!s->rows)
    sheet_row(s,
              print_string("%s", *look->filter ? "no process passes the filter"
                                               : "no live process is profiled; aprof list tells "
                                                 "of ended ones"),
              NULL);
}
